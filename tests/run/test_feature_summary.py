from __future__ import annotations

import json
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import mutual_info_score

from spark_pufs import Selection, select
from spark_pufs.run.feature_summary import MOST_LEVELS, SHOWN, interval_names, symmetric_uncertainty


def table() -> pd.DataFrame:
    """Ten rows by hand: a flag, a share with a hole, a word with a blank, and a copy of the word."""
    word = ["red", "red", "blue", "red", "", "red", "blue", "red", "red", None]
    return pd.DataFrame(
        {
            "flag": [0, 1, 1, 0, 0, 0, 0, 1, 0, 0],
            "share": [0.0, 0.9, 1.0, 0.1, None, 0.5, 0.2, 0.8, 0.1, 0.3],
            "word": word,
            "copy": word,
            "label": [0, 1, 1, 0, 0, 0, 0, 1, -1, 0],
        }
    )


def levels(selection: Selection, name: str) -> list[tuple[Any, ...]]:
    found = next(d for d in selection.details["distributions"] if d["name"] == name)
    return [(x["level"], x["labelled"], x["unlabelled"], x["negative"]) for x in found["levels"]]


def test_distributions_by_hand() -> None:
    found = select(table(), label="label", negative=-1, method="mim", bins=2, k="all")
    assert levels(found, "flag") == [("0", 0, 6, 1), ("1", 3, 0, 0)]
    assert levels(found, "share") == [("below 0.5", 0, 4, 1), ("0.5 and up", 3, 1, 0), ("missing", 0, 1, 0)]
    assert levels(found, "word") == [("red", 2, 3, 1), ("blue", 1, 1, 0), ("(blank)", 0, 1, 0), ("missing", 0, 1, 0)]
    assert json.loads(json.dumps(found.details)) == found.details


def test_redundancy_is_one_for_a_copy_and_agrees_with_a_peer() -> None:
    every = select(table(), label="label", negative=-1, method="mim", bins=2, k="all", copies="all")
    found = every.details["redundancy"]
    assert every.details["near_copies"] == [{"representative": "word", "copies": ["copy"], "shared": 1.0}]
    values = pd.DataFrame(found["values"], found["names"], found["names"])
    assert values.loc["word", "copy"] == 1
    codes = table()[["flag", "word"]].astype(str)
    own = [mutual_info_score(codes[name], codes[name]) for name in codes]
    expected = 2 * mutual_info_score(codes["flag"], codes["word"]) / sum(own)
    assert values.loc["flag", "word"] == pytest.approx(expected, abs=1e-6)
    assert (values.to_numpy() == values.to_numpy().T).all()


def wide(columns: int, rows: int = 300) -> pd.DataFrame:
    rng = np.random.default_rng(1)
    X = pd.DataFrame(rng.integers(0, 9, (rows, columns)), columns=[f"f{i}" for i in range(columns)])
    return X.assign(label=(rng.random(rows) < 0.1).astype(int))


def passes(selection: Selection) -> list[str]:
    return [step.what for step in selection.run.passes]


@pytest.mark.parametrize(
    ("method", "memory", "own"),
    [
        ("jmi", 256, ["all pairs"]),
        ("jmi", 0, ["label x feature", "pairs with f"]),
        ("mim", 256, ["label x feature", "pairs of chosen features"]),
    ],
)
def test_the_same_from_all_pairs_step_by_step_and_in_a_small_pass(method: str, memory: int, own: list[str]) -> None:
    options: dict[str, Any] = {"label": "label", "k": 2, "must": ["f3", "f1"]}
    found = select(wide(30), method=method, pair_memory_mb=memory, **options)
    alone = select(wide(30), method="jmi", **options)
    both = [dict(zip(s.details["redundancy"]["names"], s.details["redundancy"]["values"][0], strict=True))
            for s in (found, alone)]  # fmt: skip
    assert sorted(both[0].values()) == sorted(both[1].values())
    seen = passes(found)[2:]
    assert len(seen) == len(own)
    assert all(what.startswith(start) for what, start in zip(seen, own, strict=True))


def test_what_does_not_fit_is_left_out_and_what_is_many_is_limited() -> None:
    found = select(wide(30), label="label", method="mim", pair_memory_mb=0, k="all")
    assert "redundancy" not in found.details
    assert passes(found) == ["profile", "pack", "label x feature"]
    assert len(found.details["distributions"]) == SHOWN
    assert len(select(wide(30), label="label", method="mim", k="all").details["redundancy"]["names"]) == 25
    assert "redundancy" not in select(wide(30), label="label", method="mim", k=1).details


@pytest.mark.parametrize("kind", ["numeric", "text"])
@pytest.mark.parametrize("count", [11, 12, 13, 14, 40])
def test_many_levels_are_pooled_and_no_row_is_lost(kind: str, count: int) -> None:
    rng = np.random.default_rng(2)
    values = np.concatenate([np.arange(count), rng.integers(0, count, 500)]) + 0.5
    frame = pd.DataFrame({"x": values if kind == "numeric" else [f"c{v}" for v in values]})
    frame["x"] = frame["x"].mask(rng.random(len(frame)) < 0.05)
    frame["label"] = (rng.random(len(frame)) < 0.3).astype(int)
    found = select(frame, label="label", method="mim", bins=count, max_categories=count - 2, k="all")
    shown = levels(found, "x")
    assert len(shown) <= MOST_LEVELS + 1
    assert shown[-1][0] == "missing"
    assert shown[-1][1] + shown[-1][2] == frame["x"].isna().sum()
    assert sum(x[1] for x in shown) == frame["label"].sum()
    assert sum(x[2] for x in shown) == (1 - frame["label"]).sum()
    assert len({x[0] for x in shown}) == len(shown)


def test_infinities_belong_to_the_outer_intervals() -> None:
    frame = pd.DataFrame({"x": [0.0, 1.0, np.inf, -np.inf] * 5, "label": [0, 1, 1, 0] * 5})
    found = select(frame, label="label", method="mim", bins=2, k="all")
    assert levels(found, "x") == [("up to 0", 0, 10, 0), ("1 and up", 10, 0, 0)]


@given(st.lists(st.floats(-1e12, 1e12, allow_subnormal=False), min_size=1, max_size=12, unique=True))
def test_intervals_have_names_of_their_own(edges: list[float]) -> None:
    names = interval_names(sorted(edges), -2e12, 2e12)
    assert len(set(names)) == len(edges) + 1


@given(st.lists(st.lists(st.integers(0, 50), min_size=3, max_size=3), min_size=2, max_size=5))
def test_symmetric_uncertainty_is_symmetric_and_a_share(rows: list[list[int]]) -> None:
    counts = np.array(rows)
    if counts.sum():
        value = symmetric_uncertainty(counts)
        assert 0 <= value <= 1
        assert value == pytest.approx(symmetric_uncertainty(counts.T), abs=1e-12)


@pytest.mark.spark
def test_both_engines_give_the_same_summary(spark: Any) -> None:
    frame = wide(6).assign(word=lambda t: t["f0"].map(lambda v: f"sort {v % 3}"))
    options: dict[str, Any] = {"label": "label", "method": "mim", "k": 5}
    found = select(spark.createDataFrame(frame).repartition(3), **options)
    assert found.details == select(frame, **options).details
    assert passes(found)[-1] == "pairs of chosen features"


def test_near_copies_are_groups_behind_the_first_of_the_ranking() -> None:
    """A monotone function has the same bins of equal frequency; a flag that is hardly ever set says too little."""
    rng = np.random.default_rng(9)
    a, rare = rng.normal(size=1000), np.arange(1000) < 10
    frame = pd.DataFrame({"exp": np.exp(a), "a": a, "minus": -a, "b": rng.normal(size=1000), "rare": rare * 1})
    frame = frame.assign(scarce=frame["rare"] * 2, label=(a + rng.normal(size=1000) > 1).astype(int))
    settings = {"label": "label", "binning": "equal-frequency", "must": ["a"], "copies": "all"}
    group = {"representative": "a", "copies": ["exp", "minus"], "shared": 1.0}
    for method, k in (("mim", "all"), ("jmi", 1)):
        found = select(frame, method=method, k=k, **settings)
        assert found.details["near_copies"] == [group]
    assert "near_copies" not in select(frame, method="mim", k=1, **settings).details
