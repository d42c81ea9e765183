"""Columns that are equal in every row: who stands for whom, and when a copy is chosen after all."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from spark_pufs import Selection, compare, select
from spark_pufs.errors import ConfigError
from spark_pufs.jobs.config import parse
from spark_pufs.local import PUSelector
from spark_pufs.run.copies import copy_warning
from spark_pufs.selectors.registry import METHODS


def table() -> pd.DataFrame:
    """``a`` tells the label, ``c`` tells less, ``b`` is noise; ``a2`` and ``a3`` repeat ``a``, ``word2`` ``word``."""
    rng = np.random.default_rng(5)
    y = np.arange(400) % 4 == 0
    a = (rng.normal(size=400) + 2 * y).round(2)
    b = rng.normal(size=400).round(2)
    c = (rng.normal(size=400) + y).round(2)
    word = np.where(rng.random(400) < 0.5 + 0.2 * y, "x", "y")
    label = (y & (np.arange(400) < 200)).astype(int)
    return pd.DataFrame(
        {"a2": a, "b": b, "a": a, "c": c, "a3": a, "word": word, "word2": word, "label": label}
    )[["a", "b", "a2", "c", "a3", "word", "word2", "label"]]  # fmt: skip


def chosen(frame: pd.DataFrame | None = None, **more: Any) -> Selection:
    settings = {"label": "label", "method": "semi-mim", "k": 2, **more}
    return select(table() if frame is None else frame, **settings)


def lines(selection: Selection) -> list[tuple[str, bool, str]]:
    return [(f.name, f.selected, f.notes) for f in selection.features]


def test_one_stands_for_its_copies_and_they_come_last() -> None:
    found = chosen()
    assert found.names == ["a", "c"]
    assert [f.name for f in found.features][4:] == ["a2", "a3", "word2"]
    assert lines(found)[4:] == [
        ("a2", False, "copy of 'a'"),
        ("a3", False, "copy of 'a'"),
        ("word2", False, "copy of 'word'"),
    ]
    assert [f.rank for f in found.features] == list(range(1, 8))
    assert found.details["copies"] == [
        {"representative": "a", "copies": ["a2", "a3"]},
        {"representative": "word", "copies": ["word2"]},
    ]
    said = "Some columns are copies of each other: 'a' stands for 'a2', 'a3'; 'word' stands for 'word2'."
    assert found.warnings == (said,)
    assert found.facts["features"] == 7
    assert list(found.apply(table())) == ["a", "c", "label"]


def test_the_answer_is_that_of_the_table_without_copies() -> None:
    alone = chosen(table().drop(columns=["a2", "a3", "word2"]))
    assert lines(chosen())[:4] == lines(alone)
    assert [f.score for f in chosen().features][:4] == [f.score for f in alone.features]
    assert alone.warnings == ()
    assert alone.details["copies"] == []


def test_all_treats_each_as_a_feature_of_its_own() -> None:
    found = chosen(copies="all", k=3)
    assert found.names == ["a", "a2", "a3"]
    assert found.warnings == ()
    assert found.details["copies"] == []


@pytest.mark.parametrize(
    ("limits", "stands"),
    [
        ({"must": ["a3"]}, "a3"),
        ({"costs": {"a": 3, "a2": 2, "a3": 2}}, "a2"),
        ({"costs": {"a": 3}, "must": ["a"]}, "a"),
        ({"never": ["a"]}, "a2"),
        ({"never": ["a", "a2"], "costs": {"a3": 9}}, "a3"),
        ({"never": ["a", "a2", "a3"]}, "a"),
    ],
)
def test_who_stands_for_the_group(limits: dict[str, Any], stands: str) -> None:
    groups = {group["representative"]: group["copies"] for group in chosen(**limits).details["copies"]}
    assert groups[stands] == sorted({"a", "a2", "a3"} - {stands})
    barred = {"a", "a2", "a3"} <= set(limits.get("never", ()))
    assert (stands in chosen(**limits).names) is not barred


def test_copies_that_are_both_asked_for_are_both_chosen() -> None:
    found = chosen(must=["a", "a3"], k=3)
    assert set(found.names) == {"a", "a3", "c"}
    assert found.details["copies"][0] == {"representative": "a", "copies": ["a2"]}


def test_copies_are_chosen_when_nothing_else_is_left() -> None:
    assert chosen(k=5).names == ["a", "c", "word", "b", "a2"]
    assert chosen(k="all").names[4:] == ["a2", "a3", "word2"]
    found = chosen(k=20)
    assert len(found.names) == 7
    assert found.warnings[1] == "Asked for 20 features, 7 can be chosen: all of them are."


def test_never_holds_for_copies_too() -> None:
    found = chosen(k="all", never=["a2", "b"])
    assert found.names == ["a", "c", "word", "a3", "word2"]
    assert dict(zip([f.name for f in found.features], [f.notes for f in found.features], strict=True))["a2"] == (
        "never; copy of 'a'"
    )


def test_a_budget_pays_for_no_copy_unless_a_number_asks_for_it() -> None:
    assert chosen(k=None, budget=100).names == ["a", "c", "word", "b"]
    assert chosen(k=6, budget=5).names == ["a", "c", "word", "b", "a2"]


def test_a_blanket_takes_no_copies() -> None:
    found = chosen(method="semi-iamb", k="all", alpha=0.9999, pair_memory_mb=4)
    assert not {"a2", "a3", "word2"} & set(found.names)


def test_the_same_values_in_other_rows_are_no_copy() -> None:
    frame = table().assign(turned=table()["a"].to_numpy()[::-1], almost=table()["a"].mask(table().index == 7, 0.123))
    assert {"turned", "almost"} & {c for g in chosen(frame).details["copies"] for c in g["copies"]} == set()


def test_numbers_of_any_type_and_missing_values_are_compared_by_value() -> None:
    rng = np.random.default_rng(1)
    whole = rng.integers(0, 4, 200)
    frame = pd.DataFrame(
        {
            "whole": whole.astype(np.int8),
            "float": whole.astype(np.float32),
            "nullable": pd.array(whole, "Int64"),
            "text": whole.astype(str),
            "hole": np.where(whole == 3, np.nan, -0.0 * whole),
            "null": pd.array([None if v == 3 else 0 for v in whole], "Int64"),
            "label": np.arange(200) % 5 == 0,
        }
    )
    found = select(frame, label="label", positive=True, unlabelled=False, method="mim", k=1)
    assert found.details["copies"] == [
        {"representative": "whole", "copies": ["float", "nullable"]},
        {"representative": "hole", "copies": ["null"]},
    ]


def test_many_groups_are_told_in_one_short_warning() -> None:
    copies = {f"{name}{i}": name for name in "abcdefg" for i in range(1, 9 if name == "a" else 2)}
    assert copy_warning(copies) == (
        "Some columns are copies of each other: 'a' stands for 'a1', 'a2', 'a3', 'a4', 'a5' and 3 more; 'b' stands for "
        "'b1'; 'c' stands for 'c1'; 'd' stands for 'd1'; 'e' stands for 'e1'; and 2 groups more."
    )


def test_doors_pass_the_option_on() -> None:
    X, s = table()[["a", "a2", "c"]], table()["label"]
    one, every = (PUSelector("semi-mim", 2, copies=copies).fit(X, s) for copies in ("one", "all"))
    assert one.support_.tolist() == [True, False, True]
    assert every.support_.tolist() == [True, True, False]
    assert one.relevance_[1] == 0
    values = {"source": {"path": "t"}, "label": {"column": "label"}, "output": {"path": "o"}}
    assert parse({**values, "select": {"copies": "all"}}).request().copies == "all"
    assert parse(values).request().copies == "one"
    with pytest.raises(ConfigError, match="Option 'copies': must be one of one, exact, all, got 'none'"):
        chosen(copies="none")
    found = compare(table(), label="label", methods=["semi-mim"], k=2, folds=2, repeats=1)
    assert {one.method: one.features for one in found.standings} == {"semi-mim": 2, "all": 4}


@pytest.mark.parametrize("method", ["semi-jmi", "fscpu", "k-best", "dt-rfe", "mrmr"])
def test_no_method_chooses_a_copy_before_anything_else(method: str) -> None:
    quick = {"generations": 2, "generation_size": 16, "clusters": 2, "trees": 5}
    options = {name: value for name, value in quick.items() if name in METHODS[method].options}
    found = chosen(table().drop(columns=["word", "word2"]), method=method, k=3, **options)
    assert set(found.names) == {"a", "b", "c"}


def test_stability_speaks_of_the_columns_chosen_from() -> None:
    found = chosen(stability=4)
    assert set(found.details["stability"]["frequency"]) == {"a", "b", "c", "word"}
