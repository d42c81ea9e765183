"""What results show of themselves in notebooks."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pandas as pd

import spark_pufs
from spark_pufs.findings import Findings
from support.example_selections import NASTY, SCRIPT, full, plain


class Balance(HTMLParser):
    """Tags that were opened and not closed."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def check(html: str) -> str:
    """Well formed, without script, style sheet or anything from a network."""
    parser = Balance()
    parser.feed(html)
    assert parser.open == []
    assert not re.search(r"<(script|style|link|img|iframe)|https?:|url\(", html)
    return html


def test_a_selection_shows_verdict_ranking_and_warnings() -> None:
    html = check(plain()._repr_html_())
    assert "Held-out AUC: 2 chosen" in html
    assert "Only 60 rows" not in html
    assert SCRIPT not in html
    assert NASTY not in html
    assert "&lt;script&gt;" in html
    for warning in plain().warnings[:5]:
        assert warning.split(":")[0].replace("'", "&#x27;") in html


def test_a_bar_is_as_long_as_the_relevance() -> None:
    first, second, *others = plain().features
    ranked = (replace(first, relevance=1.0), replace(second, relevance=0.25), *others)
    html = check(replace(plain(), features=ranked)._repr_html_())
    assert "width:100%" in html
    assert "width:25%" in html


def test_colours_follow_the_verdict() -> None:
    def edge(verdict: str | None, warnings: tuple[str, ...] = ()) -> str:
        shown = replace(plain(), findings=Findings(verdict=verdict), warnings=warnings)._repr_html_()
        return re.findall(r"border-left:4px solid (#\w+)", shown)[0]

    good, fair = edge("Better than chance"), edge("Better than chance", ("look",))
    assert len({good, fair, edge("No better than chance"), edge(None)}) == 4


def test_a_selection_with_everything_and_one_of_an_earlier_version() -> None:
    check(full()._repr_html_())
    old = tuple(replace(one, relevance=None, relevance_error=None) for one in plain().features)
    assert ">score</th>" in check(replace(plain(), features=old)._repr_html_())


def test_other_results() -> None:
    X = np.random.default_rng(0).normal(size=(200, 3))
    table = pd.DataFrame(X, columns=["a<i>", "b", "c"]).assign(label=(X[:, 1] > 1) * 1)
    asked = {"label": "label", "method": "semi-mim"}
    one, two = (spark_pufs.select(table, k=k, **asked) for k in (1, 2))
    assert "Verdict: changed within error" in check(spark_pufs.diff(one, two)._repr_html_())
    compared = spark_pufs.compare(table, label="label", methods=["mim", "mint"], k=1, repeats=1)._repr_html_()
    assert "mim has the best held-out PU-AUC of 3" in check(compared) or "all has the best" in compared
    assert "failed in" in compared  # mint needs negatives
    assert "Cluster assumption: " in check(spark_pufs.check_clusters(table, label="label")._repr_html_())
    assert "<pre" in check(spark_pufs.power_report(prior=0.05, labelled=60, rows=10_000)._repr_html_())
    scored = spark_pufs.scores(X[:, 1] > 1, X[:, 1] > 1.2, rho=0.5)
    assert "<pre" in check(scored._repr_html_())
