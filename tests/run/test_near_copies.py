"""Columns that nearly repeat another one: who stands for whom, on both engines, and what is no near copy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from spark_pufs import Selection, select
from spark_pufs.selectors.registry import METHODS

ROWS = 1_200
LEVELS = ["u", "v", "w", "x"]


def table() -> pd.DataFrame:
    """``a`` and ``c`` tell the label, ``b`` and ``word`` do not; the others nearly repeat one of them."""
    rng = np.random.default_rng(8)
    y = np.arange(ROWS) % 4 == 0
    labelled = y & (np.arange(ROWS) < 400)
    a, b, c = rng.normal(size=ROWS) + 2 * y, rng.normal(size=ROWS), rng.normal(size=ROWS) + y
    word = pd.Series(rng.choice(LEVELS, ROWS))
    columns = {
        "a": a,
        "noisy": a + 0.05 * rng.normal(size=ROWS),
        "bent": np.exp(2 * a),
        "scaled": 3 - 40 * a,
        "b": b,
        "c": c,
        "word": word,
        "renamed": word.map(dict(zip(LEVELS, ["4", "two", "-", "one"], strict=True))),
        "code": word.map(dict(zip(LEVELS, [7, 1, 3, 2], strict=True))),
        "label": labelled.astype(int),
    }
    return pd.DataFrame(columns)


def chosen(frame: pd.DataFrame | None = None, **more: Any) -> Selection:
    settings = {"label": "label", "method": "semi-mim", "k": 2, **more}
    return select(table() if frame is None else frame, **settings)


def stands_for(selection: Selection) -> dict[str, list[str]]:
    return {group["representative"]: list(group["copies"]) for group in selection.details.get("near_copies", ())}


def test_one_stands_for_its_near_copies_and_they_come_last() -> None:
    found = chosen()
    assert found.names == ["a", "c"]
    assert [(f.name, f.notes) for f in found.features][4:] == [
        ("noisy", "near copy of 'a'"),
        ("bent", "near copy of 'a'"),
        ("scaled", "near copy of 'a'"),
        ("renamed", "near copy of 'word'"),
        ("code", "near copy of 'word'"),
    ]
    groups = found.details["near_copies"]
    assert stands_for(found) == {"a": ["noisy", "bent", "scaled"], "word": ["renamed", "code"]}
    assert 0.99 < groups[0]["shared"] < 1 == groups[1]["shared"]
    told = "'a' stands for 'noisy', 'bent', 'scaled'; 'word' stands for 'renamed', 'code'."
    assert found.warnings == (f"Some columns are near copies of each other: {told}",)


def test_the_answer_is_that_of_the_table_without_near_copies() -> None:
    alone = chosen(table()[["a", "b", "c", "word", "label"]])
    assert [(f.name, f.score) for f in chosen().features][:4] == [(f.name, f.score) for f in alone.features]
    assert alone.warnings == ()


def test_the_switch() -> None:
    exact = chosen(table().assign(a2=lambda t: t["a"]), copies="exact", k=4)
    assert set(exact.names) == {"a", "noisy", "bent", "scaled"}
    assert [f.notes for f in exact.features if f.name == "a2"] == ["copy of 'a'"]
    every = chosen(table().assign(a2=lambda t: t["a"]), copies="all", k=5)
    assert set(every.names) == {"a", "noisy", "bent", "scaled", "a2"}


def test_limits_say_who_stands() -> None:
    assert stands_for(chosen(must=["bent"]))["bent"] == ["a", "noisy", "scaled"]
    assert stands_for(chosen(never=["a"]))["noisy"] == ["a", "bent", "scaled"]
    assert stands_for(chosen(costs={"scaled": 0.5}))["scaled"] == ["a", "noisy", "bent"]
    both = chosen(must=["bent", "a"])
    assert set(both.names) == {"a", "bent"}
    assert [f.name for f in both.features if f.notes == "near copy of 'a'"] == ["noisy", "scaled"]
    assert stands_for(both)["a"] == ["bent"]  # told, since both are features


def test_copies_of_a_near_copy_follow_it() -> None:
    found = chosen(table()[["a", "noisy", "b", "label"]].assign(twice=lambda t: t["noisy"]), k="all")
    assert found.names == ["a", "b", "noisy", "twice"]
    assert [f.notes for f in found.features][2:] == ["near copy of 'a'", "copy of 'noisy'"]


def test_near_copies_are_chosen_when_nothing_else_is_left() -> None:
    assert set(chosen(k=5).names) == {"a", "b", "c", "word", "noisy"}


def test_columns_that_differ_where_rows_are_labelled_are_no_copies() -> None:
    """A balance before and after: the same in 97 of 100 rows, and not where it matters."""
    frame = table()[["b", "c", "label"]]
    frame["after"] = np.where(frame["label"] == 1, frame["b"] - 3, frame["b"])
    few = frame.assign(label=frame["label"].where(frame.index < 160, 0), after=lambda t: np.where(
        t["label"] == 1, t["b"] - 3, t["b"]
    ))  # fmt: skip
    assert np.corrcoef(few["b"].rank(), few["after"].rank())[0, 1] > 0.9
    for one in (frame, few):
        found = chosen(one, k=1)
        assert found.names == ["after"]
        assert stands_for(found) == {}


@pytest.mark.parametrize("name", ["coarse", "loose", "gaps"])
def test_what_is_no_near_copy(name: str) -> None:
    frame = table()[["a", "b", "word", "label"]]
    rng = np.random.default_rng(1)
    frame["coarse"] = frame["word"].map({"u": "A", "v": "A", "w": "B", "x": "C"})
    frame["loose"] = frame["a"] + 0.5 * rng.normal(size=ROWS)
    frame["gaps"] = frame["a"].mask(rng.random(ROWS) < 0.3)
    assert stands_for(chosen(frame[["a", "b", "word", name, "label"]])) == {}


def test_rare_events_are_no_copies_of_each_other() -> None:
    rng = np.random.default_rng(2)
    frame = table()[["a", "label"]]
    for i in range(4):
        frame[f"t{i}"] = np.where(rng.random(ROWS) < 0.004, "yes", "no")
        frame[f"n{i}"] = (rng.random(ROWS) < 0.004).astype(float)
    assert stands_for(chosen(frame)) == {}


@pytest.mark.parametrize("method", ["distil", "semi-jmi", "mrmr", "k-best"])
def test_of_a_group_one_is_chosen_by_every_kind_of_method(method: str) -> None:
    quick = {"trees": 10, "judge": False} if method == "distil" else {}
    found = chosen(method=method, k=3, **quick)
    assert len({"a", "noisy", "bent", "scaled"} & set(found.names)) == 1
    assert method in METHODS


@pytest.mark.spark
def test_both_engines_find_the_same(spark: Any) -> None:
    frame = table()
    rows = spark.createDataFrame(frame).repartition(5)
    one, other = chosen(frame), chosen(rows)
    assert one.features == other.features
    assert one.details["near_copies"] == other.details["near_copies"]
