"""The guide to methods names every method as the package has it; pictures are there, used and made by their scripts."""

from __future__ import annotations

import re

import pytest

from spark_pufs.selectors.registry import METHODS
from support.pages import PAGES, ROOT, name_of, script

DOCS = ROOT / "docs"
CHOOSING = (DOCS / "choosing.md").read_text(encoding="utf-8")


def part(title: str) -> str:
    found = re.search(rf"^## {title}\n(.*?)(?=^## |\Z)", CHOOSING, re.DOTALL | re.MULTILINE)
    assert found is not None, title
    return found[1]


def named(text: str) -> set[str]:
    return set(re.findall(r"`([\w-]+)`", text))


@pytest.mark.parametrize("title", ["What each assumes", "What each costs"])
def test_every_method_has_its_line(title: str) -> None:
    assert set(METHODS) - named(part(title)) <= ({"auto"} if title == "What each assumes" else set())


def test_methods_of_the_front_page_exist() -> None:
    table = (ROOT / "README.md").read_text(encoding="utf-8").split("## Which method")[1].split("\n## ")[0]
    cells = [line.split("|")[2] for line in table.splitlines() if line.startswith("|") and "`" in line]
    assert {name for cell in cells for name in named(cell)} - {"prior"} <= set(METHODS)


def test_methods_that_decide_the_size_are_named() -> None:
    own = {name for name, method in METHODS.items() if method.own_size}
    assert {"semi-iamb", "pucfs"} <= own
    assert own - named(part("How many features")) == set()


def test_overview_is_what_its_script_draws() -> None:
    drawn = script("make_overview")
    assert drawn.picture() == (DOCS / "images" / "overview.svg").read_text(encoding="utf-8")


def test_every_picture_is_used_and_every_figure_is_there() -> None:
    text = "".join(page.read_text(encoding="utf-8") for page in PAGES)
    pictures = {path.name for path in (DOCS / "images").iterdir()}
    assert {name for name in pictures if f"images/{name}" not in text} == set()
    pytest.importorskip("matplotlib", reason="the figures are drawn with the extra `plots`")
    assert {f"{name}.svg" for name in script("make_figures").FIGURES} | {"overview.svg", "report.png"} == pictures


def test_figures_of_the_picture_are_the_tutorial_s() -> None:
    tutorial = (DOCS / "tutorial.md").read_text(encoding="utf-8")
    assert "960 flows to look at; 955 of them are attacks" in tutorial
    names = [name for name, _, _ in script("make_overview").COLUMNS]
    assert "\n".join(names) in tutorial


def test_pages_do_not_name_places_of_one_machine() -> None:
    assert [name_of(page) for page in PAGES if re.search(r"/(?:root|work|home)/", page.read_text("utf-8"))] == []
