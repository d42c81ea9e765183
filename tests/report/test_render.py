from __future__ import annotations

import math
import re
from dataclasses import replace
from html.parser import HTMLParser
from importlib import resources
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import spark_pufs
from spark_pufs import Selection
from spark_pufs.findings import Findings
from spark_pufs.report import to_html, to_markdown
from spark_pufs.report.render import _cell
from support.example_selections import CHECK, COMPARISON, NASTY, SCRIPT, SIZES, STABILITY, full, huge, plain, searched

VOID = ("meta", "br", "input")


class Page(HTMLParser):
    """What a browser would see of a page: tags, attributes, text; every tag must be closed in order."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: set[str] = set()
        self.attributes: set[tuple[str, str]] = set()
        self.text = ""
        self.feed(html)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {(name, value or "") for name, value in attrs}
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def renamed(selection: Selection, name: str) -> Selection:
    """The same selection with another name for its first feature, everywhere."""
    first = selection.features[0]
    levels = selection.details["distributions"][0]["levels"]
    details = {
        **selection.details,
        "distributions": [{"name": name, "levels": [{**level, "level": name} for level in levels]}],
        "redundancy": {"names": [name, "other"], "values": [[1, 0.7], [0.7, 1]]},
    }
    features = (replace(first, name=name, notes=name), *selection.features[1:])
    label = replace(selection.request.label, column=name)
    request = replace(selection.request, must=(name,), label=label)
    return replace(
        selection,
        features=features,
        findings=Findings.from_dict(details),
        request=request,
        warnings=(name,),
        dropped={name: name},
    )


@pytest.mark.parametrize("make", [plain, full], ids=["plain", "full"])
def test_names_are_shown_and_never_run(make: Any) -> None:
    page = Page(to_html(make()))
    assert not page.tags & {"i", "iframe", "img", "link", "object"}
    assert not [name for name, _ in page.attributes if name.startswith("on")]
    assert (NASTY if make is plain else SCRIPT) in page.text


@pytest.mark.parametrize("make", [plain, full], ids=["plain", "full"])
def test_the_only_script_is_ours(make: Any) -> None:
    own = (resources.files("spark_pufs.report") / "script.js.jinja").read_text(encoding="utf-8")
    assert [one.strip() for one in re.findall(r"<script.*?>(.*?)</script>", to_html(make()), re.DOTALL)] == [
        own.strip()
    ]


@given(st.text(min_size=1, max_size=80))
@settings(max_examples=40)
def test_any_name_keeps_the_shape_of_page_and_tables(name: str) -> None:
    selection = renamed(plain(), name)
    page = Page(to_html(selection))
    assert page.tags == Page(to_html(renamed(plain(), "name"))).tags
    for line in table_rows(to_markdown(selection)):
        assert len(re.findall(r"(?<!\\)(?:\\\\)*\|", line)) == 10


def table_rows(markdown: str) -> list[str]:
    """Table lines outside the fences."""
    fence, rows = "", []
    for line in markdown.split("\n"):
        mark = re.match(r"`{3,}", line)
        if mark and (not fence or line == fence):
            fence = "" if fence else mark.group()
        elif not fence and line.startswith("|"):
            rows.append(line)
    return rows


@pytest.mark.parametrize("make", [plain, full], ids=["plain", "full"])
def test_page_needs_no_network(make: Any) -> None:
    html = to_html(make())
    assert not re.search(r"\bsrc\s*=|@import|url\(|https?://", html)
    anchors = re.findall(r'href="(.*?)"', html)
    assert anchors
    assert all(f'id="{target[1:]}"' in html for target in anchors)


def test_what_shares_much_is_a_group_behind_the_first() -> None:
    values = [[1, 0.8, 0.1, 0.6], [0.8, 1, 0.1, 0.2], [0.1, 0.1, 1, 0.5], [0.6, 0.2, 0.5, 1]]
    details = {**plain().details, "redundancy": {"names": list("abcd"), "values": values}}
    page = Page(to_html(replace(plain(), findings=Findings.from_dict(details))))
    told = " ".join(page.text.split())
    assert "one of each may do. a: b, d (shared 0.60 or more)" in told  # d is spoken for: c stands alone


def test_terms_are_explained_where_they_stand() -> None:
    page = Page(to_html(plain()))
    titles = [value for name, value in page.attributes if name == "title"]
    assert any(text.startswith("One scale for all methods") for text in titles)
    assert any("tells nothing of who is labelled" in text for text in titles)


def test_pictures_are_well_formed() -> None:
    pictures = re.findall(r"<svg class=.*?</svg>(?=</t|</f|<| )", to_html(full()), re.DOTALL)
    whole = re.findall(r'<figure class="picture">(.*?)</figure>', to_html(full()), re.DOTALL)
    assert len(pictures) > 100
    assert len(whole) == 3
    for picture in whole:
        assert ElementTree.fromstring(picture).get("aria-label")


def test_thousands_of_features_stay_small_and_what_is_left_out_is_said() -> None:
    selection = huge()
    html, markdown = to_html(selection), to_markdown(selection)
    assert len(html.encode()) < 2_000_000
    assert len(markdown.encode()) < 2_000_000
    text = Page(html).text
    assert text.count("more are not drawn here") == 5  # chosen, others, warnings, left out, stability
    assert "2,300 more" in text
    assert "Drawn are the 120 of 5,000 features that moved most." in text
    assert "Too long to show here" in text
    assert selection.features[0].name not in text


PARTS: dict[str, tuple[Any, str]] = {
    "stability": (STABILITY, "Stability"),
    "sizes": (SIZES, "How many features"),
    "comparison": (COMPARISON, "Methods compared"),
    "choice": ({"method": "semi-jmi", "why": "It is as good and faster."}, "Methods compared"),
    "check": (CHECK, "Clusters"),
    "check_before": (CHECK, "Clusters"),
    "copies": ([{"representative": "a", "copies": ["b"]}], "Copies"),
    "near_copies": ([{"representative": "a", "copies": ["b"], "shared": 0.97}], "Copies"),
    "redundancy": ({"names": ["a", "b"], "values": [[1, 0.7], [0.7, 1]]}, "What the chosen features share"),
}


@pytest.mark.parametrize("key", PARTS)
def test_each_part_is_there_when_its_facts_are(key: str) -> None:
    bare = replace(plain(), findings=Findings())
    value, title = PARTS[key]
    for render, heading in ((to_html, f">{title}</h2>"), (to_markdown, f"## {title}\n")):
        assert heading not in render(bare)
        assert heading in render(replace(bare, findings=Findings.from_dict({key: value})))


def test_the_facts_are_in_both_forms() -> None:
    page, markdown = Page(to_html(full())).text, to_markdown(full())
    for fact in (
        "25 of 50 features chosen",
        "200 rows labelled positive",
        "It has the best held-out PU-AUC.",
        "0.71",
        "0.940",
        "5 is the smallest number within one standard error of the best.",
        "The LL score of the clusters is 1.41.",
        "All 200 labelled rows and 2,400 of 4,300 unlabelled rows.",
        "method='fscpu'",
        "generations: 3",
        "numpy",
    ):
        assert fact in page, fact
        assert fact in markdown, fact


def test_the_first_feature_has_the_longest_bar_of_relevance() -> None:
    rng = np.random.default_rng(3)
    y = rng.random(800) < 0.4
    frame = pd.DataFrame(rng.normal(size=(800, 6)) + np.outer(y, [1.5, 1.2, 1, 0.8, 0, 0]), columns=list("abcdef"))
    found = spark_pufs.select(
        frame.assign(label=y.astype(int)), label="label", method="semi-jmi", correction="none", k="all"
    )
    page = to_html(found)
    wide = [float(width) for width in re.findall(r'class="bar".*?<rect[^>]*? width="([\d.]+)%"', page)][:6]
    assert found.scores != sorted(found.scores, reverse=True)
    assert wide == sorted(wide, reverse=True)
    assert wide[0] > 60
    assert 'aria-label="relevance 1"' in page
    assert "0 is what chance gives, 1 the first feature" in Page(page).text


def test_a_selection_without_relevance_is_drawn_by_its_scores() -> None:
    old = replace(plain(), features=tuple(replace(f, relevance=None, relevance_error=None) for f in plain().features))
    page, markdown = to_html(old), to_markdown(old)
    assert 'data-column="3">score</th>' in page
    assert "what chance gives" not in page + markdown
    assert all(line.count("|") == 10 for line in table_rows(markdown)[:3])


def test_copies_are_groups_with_one_representative() -> None:
    groups = [{"representative": f"a{i}", "copies": [f"c{i}.{j}" for j in range(15)]} for i in range(120)]
    near = [{"representative": SCRIPT, "copies": ["z"], "shared": 0.97}]
    found = replace(plain(), findings=Findings.from_dict({"copies": groups, "near_copies": near}))
    page, markdown = Page(to_html(found)).text, to_markdown(found)
    assert "a0 stands for c0.0, c0.1," in " ".join(page.split())
    assert "c0.11 and 3 more" in page
    assert "20 more are not drawn here: see selection.json." in page
    assert SCRIPT in page
    assert "- **a0** stands for c0.0, c0.1," in markdown
    assert "- and 20 groups more in selection.json" in markdown
    assert ": z (shared 0.97)" in markdown


def test_figures_that_are_missing_are_dashes() -> None:
    nothing = {**STABILITY, "nogueira": math.nan, "low": math.nan, "high": math.nan, "kuncheva": None, "frequency": {}}
    details = {**full().details, "stability": nothing, "sizes": {**SIZES, "points": []}}
    text = Page(to_html(replace(full(), findings=Findings.from_dict(details)))).text
    assert "Nogueira's index– (– to –)" in re.sub(r"\s*\n\s*", "", text)
    assert "nan" not in text.lower()
    assert "How many features" not in text
    assert "Nogueira's index – (– to –)" in to_markdown(replace(full(), findings=Findings.from_dict(details)))


def test_nothing_chosen_and_everything_chosen() -> None:
    none, every = (
        replace(plain(), features=tuple(replace(f, selected=chosen) for f in plain().features), findings=Findings())
        for chosen in (False, True)
    )
    assert "None of 4 features was chosen" in to_html(none)
    assert f"{plain().method} chose nothing." in to_markdown(none)
    assert "All 4 features, ranked" in to_html(every)
    assert "not chosen" not in Page(to_html(every)).text


def test_markdown_tables_keep_their_shape() -> None:
    lines = to_markdown(plain()).splitlines()
    assert len(table_rows("\n".join(lines))) == 2 + len(plain().names)
    assert "- constant&lt;b>: constant" in lines


def test_a_fence_is_longer_than_what_it_holds() -> None:
    markdown = to_markdown(renamed(plain(), "a ```` b"))
    assert "\n`````python\n" in markdown
    assert "\n`````yaml\n" in markdown


def luminance(colour: str) -> float:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    """WCAG 2 contrast ratio."""
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
def test_text_and_pictures_have_contrast(theme: int) -> None:
    css = (resources.files("spark_pufs.report") / "style.css.jinja").read_text()
    colours = dict(re.findall(r"--(\w+): (#\w{6})", css.split("@media screen")[theme].split("* {")[0]))
    for ground in ("page", "card", "warn"):
        assert contrast(colours["ink"], colours[ground]) > 10
        for name in ("soft", "good", "fair", "poor"):
            assert contrast(colours[name], colours[ground]) >= 4.5, (name, ground)
    for name in ("accent", "other"):  # WCAG 1.4.11: 3 for graphics
        assert contrast(colours[name], colours["card"]) >= 2.6, name
    assert contrast(colours["accent"], colours["page"]) >= 4.5


def test_clusters_and_search_are_drawn() -> None:
    text = Page(to_html(searched())).text
    assert "How the search settled" in text
    assert text.count("positive") > 1
    assert "Cluster assumption" in text


def test_links_and_mentions_in_names_are_inert_in_markdown() -> None:
    found = _cell("[x](http://a.b) @all www.c.d")
    assert found == "\\[x\\](http&#58;//a.b) &#64;all www&#46;c.d"
