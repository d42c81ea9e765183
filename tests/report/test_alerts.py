"""Dangers: which are told, in which order, with what to do; and the direction of a feature."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import spark_pufs
from spark_pufs.core.evidence.drift import ColumnCounts
from spark_pufs.report.alerts import alerts_of
from spark_pufs.report.directions import direction
from spark_pufs.types import Bins


def test_the_worst_comes_first_and_each_has_a_next_step() -> None:
    rng = np.random.default_rng(0)
    rows = 1200
    frame = pd.DataFrame({"a": rng.normal(size=rows), "b": rng.normal(size=rows)})
    frame["label"] = (frame["a"] > 1.5) * 1
    frame["leak"] = np.where(frame["label"] == 1, "x", "y")
    frame["copy"] = frame["b"]
    frame["code"] = np.where(rng.random(rows) < 0.1, -999, rng.normal(size=rows))
    frame["number"] = np.arange(rows)
    frame["when"] = rng.permutation(pd.date_range("2026-01-01", periods=rows, freq="min"))
    frame["name"] = [f"n{i}" for i in range(rows)]
    found = alerts_of(spark_pufs.select(frame, label="label", method="semi-mim", k=3))
    assert [alert.title for alert in found] == ["Leak", "Identifier", "Code for missing", "Copies", "Many levels"]
    assert [alert.level for alert in found] == ["danger", "caution", "caution", "note", "note"]
    assert all(alert.next_step for alert in found)
    assert not any("'when'" in alert.text for alert in found)  # a time numbers no rows


def test_a_level_that_is_nearly_the_label_is_a_question() -> None:
    rng = np.random.default_rng(0)
    label = rng.random(1000) < 0.1
    state = np.where(label & (rng.random(1000) < 0.97), "closed", "open")
    frame = pd.DataFrame({"state": state, "b": rng.normal(size=1000), "label": label * 1})
    found = alerts_of(spark_pufs.select(frame, label="label", method="semi-mim", k=1))
    assert [alert.title for alert in found] == ["Leak?"]


@pytest.mark.parametrize(
    ("unlabelled", "labelled", "words"),
    [
        ((20, 20, 20, 20, 20), (0, 0, 0, 4, 6), "high: 3 and up"),
        ((20, 20, 20, 20, 20), (7, 3, 0, 0, 0), "low: below 2"),
        ((20, 20, 20, 20, 20), (0, 0, 10, 0, 0), "in a range: 2 to 3"),
        ((20, 20, 20, 20, 20), (5, 0, 0, 0, 5), "high or low, not between"),
        ((20, 20, 20, 20, 20), (2, 2, 2, 2, 2), "no clear direction"),
        ((20, 20, 20, 20, 20), (0, 5, 0, 5, 0), "in several ranges, most at 1 to 2"),
    ],
)
def test_direction_of_numbers(unlabelled: tuple[int, ...], labelled: tuple[int, ...], words: str) -> None:
    bins = Bins("a", "numeric", edges=(1.0, 2.0, 3.0, 4.0))
    assert direction(ColumnCounts(bins, (unlabelled, labelled, (0,) * 5))) == words


def test_direction_of_text_and_of_missing_values() -> None:
    bins = Bins("a", "text", categories=("x", "y"), pooled=True, missing=True)
    none = (0, 0, 0, 0)
    assert direction(ColumnCounts(bins, ((25, 25, 25, 25), (0, 10, 0, 0), none))) == "in a category: “y”"
    assert direction(ColumnCounts(bins, ((25, 25, 25, 25), (0, 0, 10, 0), none))) == "in rare categories"
    assert direction(ColumnCounts(bins, ((25, 25, 25, 25), (0, 0, 0, 10), none))) == "missing"
    assert direction(ColumnCounts(bins, (none, none, none))) == ""


def test_a_column_that_labels_follow_is_a_danger_where_it_was_chosen() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 4))
    X[:800, :3] += 4
    labelled = (np.arange(2000) < 800) & (rng.random(2000) < np.where(X[:, 3] > 0, 0.5, 0.1))
    frame = pd.DataFrame(X, columns=["a", "b", "c", "region"]).assign(label=labelled * 1)
    found = spark_pufs.select(frame, label="label", method="semi-mim", k=4, check_labels=True)
    first = alerts_of(found)[0]
    assert (first.level, first.title) == ("danger", "Labels follow a column")
    assert "'region'" in first.next_step
    assert "labelled_by" in first.next_step
    apart = spark_pufs.select(frame, label="label", method="semi-mim", k=2, check_labels=True, never="region")
    assert [one.level for one in alerts_of(apart) if one.title == "Labels follow a column"] == ["caution"]
