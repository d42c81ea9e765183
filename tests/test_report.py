from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import spark_pufs

NASTY = "<script>alert('x')</script>|`b`"


@pytest.fixture(scope="module")
def selection() -> spark_pufs.Selection:
    rng = np.random.default_rng(3)
    table = pd.DataFrame(rng.normal(size=(400, 3)), columns=[NASTY, "plain", "unused"])
    table["constant<b>"] = 1.0
    table["label"] = np.where(table[NASTY] > 1, 1, 0)
    return spark_pufs.select(table, label="label", k=2)


class Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: set[str] = set()
        self.text = ""

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.seen.add(tag)
        if tag not in ("meta", "br"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def test_names_are_shown_and_never_run(selection: spark_pufs.Selection, tmp_path: Path) -> None:
    selection.write_report(tmp_path / "report.html")
    page = Tags()
    page.feed((tmp_path / "report.html").read_text())
    assert "script" not in page.seen
    assert "b" not in page.seen
    assert NASTY in page.text
    assert page.open == []


def test_page_needs_no_network_and_stays_small(selection: spark_pufs.Selection, tmp_path: Path) -> None:
    selection.write_report(tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text()
    assert not re.search(r"(src|href)\s*=|@import|url\(", page)
    assert len(page) < 2_000_000


def test_markdown_table_keeps_its_shape(selection: spark_pufs.Selection, tmp_path: Path) -> None:
    selection.write_report(tmp_path / "report.md")
    lines = (tmp_path / "report.md").read_text().splitlines()
    rows = [line for line in lines if line.startswith("|")]
    assert len(rows) == 2 + len(selection.names)
    assert {len(re.findall(r"(?<!\\)\|", row)) for row in rows} == {7}
    assert "- constant&lt;b>: constant" in lines
