"""The newest partition against the others of its window: seen the day it comes, and still days are left alone."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import spark_pufs
from spark_pufs.findings.parts import NewestDrift
from support.memory_days import OPTIONS, day, days


def newest(table: pd.DataFrame, path: Path) -> tuple[NewestDrift, ...]:
    found = spark_pufs.select(table, memory=path, partition="day", **OPTIONS).findings.memory
    assert found is not None
    return found.newest


def test_still_days(tmp_path: Path) -> None:
    newest(days(1, 3), tmp_path)
    assert [newest(day(number), tmp_path) for number in range(4, 12)] == [()] * 8


def test_a_shift_is_seen_on_its_day(tmp_path: Path) -> None:
    newest(days(1, 3), tmp_path)
    moved = day(4).assign(d=lambda table: table["d"] * 1000)
    with pytest.warns(
        spark_pufs.PufsWarning, match=r"Partition '2026-01-04' is not like the others .*'d' .* rows moved"
    ):
        found = newest(moved, tmp_path)
    assert {one.name for one in found} == {"d"}


def test_labels_that_begin_to_follow_a_column(tmp_path: Path) -> None:
    newest(days(1, 3), tmp_path)
    table = day(4, rows=1000)
    table["label"] = ((table["d"] > 0) & (np.arange(1000) % 4 == 0)).astype(int)
    assert ("d", "labelled") in {(one.name, one.rows) for one in newest(table, tmp_path)}


def test_the_share_by_hand(tmp_path: Path) -> None:
    """Nine of ten rows held x, now all hold y: nine of ten moved."""
    words = pd.DataFrame({"word": ["x"] * 900 + ["y"] * 100, "label": [1] * 100 + [0] * 800 + [1] * 10 + [0] * 90})
    before = words.assign(z=np.arange(1000) % 3, day=1)
    after = before.assign(word="y", day=2)
    newest(before, tmp_path)
    found = {one.rows: one.share for one in newest(after, tmp_path) if one.name == "word"}
    assert found == {"unlabelled": round(800 / 890, 4), "labelled": round(100 / 110, 4)}


def test_a_usual_day_after_odd_ones_is_no_alarm(tmp_path: Path) -> None:
    """Two of five days before it are in another unit: their rows are told from all others, and the day is not."""
    odd = [day(number).assign(d=lambda table: table["d"] * 1000) for number in (4, 5)]
    newest(days(1, 3), tmp_path)
    assert {one.name for one in newest(odd[0], tmp_path)} == {"d"}
    newest(odd[1], tmp_path)
    assert newest(day(6), tmp_path) == ()


def test_the_verdict_of_diff_is_that_of_the_day(tmp_path: Path) -> None:
    """A window of many days hardly moves with one of them."""

    def run(table: pd.DataFrame) -> spark_pufs.Selection:
        return spark_pufs.select(table, memory=tmp_path, partition="day", **OPTIONS)

    first, usual = run(days(1, 12)), run(day(13))
    assert spark_pufs.diff(first, usual).verdict == "unchanged"
    other = run(day(14).assign(d=lambda table: table["d"] * 1000))
    found = spark_pufs.diff(usual, other)
    assert (found.verdict, found.exit_code) == ("changed", 11)
    assert found.reasons[0].startswith("partition 2026-01-14 is unlike the others: d, ")
    chosen = run(day(15).assign(a=lambda table: table["a"] * 1000))
    found = spark_pufs.diff(other, chosen)
    assert found.verdict == "refit needed"
    assert any("a (chosen), unlabelled rows" in reason for reason in found.reasons)
    assert spark_pufs.diff(chosen, chosen).verdict == "unchanged"
