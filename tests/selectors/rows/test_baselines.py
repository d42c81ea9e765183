"""What every baseline owes behind the common interface."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import spark_pufs
from spark_pufs.errors import ConfigError
from spark_pufs.selectors.rows.baselines import METHODS

NAMES = [method.name for method in METHODS]
QUICK: dict[str, dict[str, Any]] = {
    "es-mcrfs": {"steps": 40, "trees": 2},
    "jsfs": {"iterations": 10},
    "ndfs": {"iterations": 10},
    "jelsr": {"iterations": 5},
}
COLUMNS = [f"x{i}" for i in range(6)]


def make_table(rows: int = 120, seed: int = 0) -> pd.DataFrame:
    """x1 and x4 tell the class; 40 % of the positives are labelled."""
    rng = np.random.default_rng(seed)
    y = rng.random(rows) < 0.4
    X = rng.normal(size=(rows, 6))
    X[:, 1] += 4 * y
    X[:, 4] -= 3 * y
    return pd.DataFrame(X, columns=COLUMNS).assign(label=(y & (rng.random(rows) < 0.4)).astype(int))


def choose(table: pd.DataFrame, method: str, **options: Any) -> spark_pufs.Selection:
    return spark_pufs.select(table, label="label", method=method, **{**QUICK.get(method, {}), **options})


def test_all_of_them_are_here() -> None:
    assert set(NAMES) == {
        "mrmr-ufs", "sselect", "jsfs", "es-mcrfs", "rfs", "jelsr", "ndfs", "rrpc", "cls", "semifs", "fw-semifs",
    }  # fmt: skip


@pytest.mark.parametrize("method", NAMES)
def test_k_best_first_with_scores(method: str) -> None:
    selection = choose(make_table(), method, k=3)
    assert len(selection.names) == 3
    assert set(selection.names) <= set(COLUMNS)
    assert np.isfinite([feature.score for feature in selection.features]).all()
    if method != "rrpc" and method != "fw-semifs":  # there a score is of the moment of choice
        assert list(selection.scores) == sorted(selection.scores, reverse=True)
    assert selection.details["sample"] == "all 120 rows"


@pytest.mark.parametrize("method", [name for name in NAMES if name not in ("mrmr-ufs", "es-mcrfs", "jelsr", "ndfs")])
def test_those_that_read_labels_find_what_tells_the_class(method: str) -> None:
    # fw-semifs may take anything after a first feature that says it all
    assert choose(make_table(300), method, k=2).names[0] in ("x1", "x4")


def test_es_mcrfs_with_what_the_paper_lacks() -> None:
    found = choose(make_table(300), "es-mcrfs", k=2, steps=400, trees=3, reward="auc", answer="policy", seed=1)
    assert found.names[0] in ("x1", "x4")


@pytest.mark.parametrize("method", NAMES)
def test_one_and_all(method: str) -> None:
    table = make_table()
    assert len(choose(table, method, k=1).names) == 1
    assert sorted(choose(table, method, k=6).names) == COLUMNS


@pytest.mark.parametrize("method", NAMES)
def test_column_order_does_not_matter(method: str) -> None:
    table = make_table()
    shuffled = table[["x3", "x5", "label", "x0", "x4", "x2", "x1"]]
    a, b = choose(table, method, k=3), choose(shuffled, method, k=3)
    assert a.names == b.names
    assert a.scores == b.scores


@pytest.mark.parametrize("method", NAMES)
def test_row_order_does_not_matter_and_seeds_repeat(method: str) -> None:
    table = make_table()
    first, again = choose(table, method, k=3, seed=4), choose(table, method, k=3, seed=4)
    assert first.features == again.features
    assert choose(table.sample(frac=1.0, random_state=1), method, k=3, seed=4).features == first.features


@pytest.mark.parametrize("method", [name for name in NAMES if name not in ("es-mcrfs", "mrmr-ufs")])
def test_copies_tie_and_go_in_column_order(method: str) -> None:
    table = make_table()
    table.insert(3, "copy", table["x1"])
    table.insert(0, "twin", table["x1"])
    selection = choose(table, method, k=8, copies="all")
    score = {feature.name: feature.score for feature in selection.features}
    if method not in ("rrpc", "fw-semifs"):
        assert score["twin"] == score["x1"] == score["copy"]
    places = [selection.names.index(name) for name in ("twin", "x1", "copy")]
    assert places == sorted(places)


@pytest.mark.parametrize("method", ["es-mcrfs", "mrmr-ufs"])
def test_copies_are_taken_like_any_other(method: str) -> None:
    table = make_table().assign(copy=lambda t: t["x1"])
    assert len(set(choose(table, method, k=4, copies="all").names)) == 4


@settings(max_examples=15)
@given(st.sampled_from(NAMES), st.integers(1, 5), st.sets(st.sampled_from(COLUMNS[:3]), max_size=1))
def test_must_never_and_k(method: str, k: int, must: set[str]) -> None:
    selection = choose(make_table(60), method, k=k, must=sorted(must), never=["x4"])
    assert len(selection.names) == k
    assert must <= set(selection.names)
    assert "x4" not in selection.names


@pytest.mark.parametrize("method", NAMES)
def test_budget(method: str) -> None:
    selection = choose(make_table(), method, k=None, budget=4, costs={"x1": 3.0, "x4": 2.0}, must=["x2"])
    assert selection.cost <= 4
    assert selection.names[0] == "x2"
    left = set(COLUMNS) - set(selection.names)
    costs = {"x1": 3.0, "x4": 2.0}
    assert all(selection.cost + costs.get(name, 1.0) > 4 for name in left)  # nothing more could be paid for


@pytest.mark.parametrize("method", NAMES)
def test_a_budget_of_three_at_unit_costs_is_k_of_three(method: str) -> None:
    """Two copies of each column, so that it matters how many are wanted."""
    table = make_table()
    table = table.assign(**{f"{name}_too": table[name] + 1e-3 * table["x0"] for name in COLUMNS})
    assert choose(table, method, budget=3).features == choose(table, method, k=3).features


@pytest.mark.parametrize("method", ["mrmr-ufs", "es-mcrfs"])
@pytest.mark.parametrize("name", COLUMNS)
def test_where_so_many_are_wanted_a_feature_never_chosen_takes_no_place(method: str, name: str) -> None:
    table = make_table()
    without = choose(table.drop(columns=name), method, k=3)
    assert choose(table, method, k=3, never=[name]).names == without.names


@pytest.mark.parametrize("method", NAMES)
def test_labelled_negatives_constants_and_missing_values(method: str) -> None:
    table = make_table().assign(flat=1.0)
    table.loc[table.index[table["label"] == 0][:20], "label"] = -1
    table.loc[::9, "x0"] = np.nan
    selection = choose(table, method, k=3, negative=[-1])
    assert "flat" not in selection.names


@pytest.mark.parametrize("method", NAMES)
def test_a_sample_says_that_it_is_one(method: str) -> None:
    selection = choose(make_table(400), method, k=2, rows=150)
    assert "of 400 rows" in selection.details["sample"]


@pytest.mark.parametrize("method", NAMES)
def test_very_few_rows(method: str) -> None:
    table = make_table(400)
    few = pd.concat([table[table["label"] == 1].head(2), table[table["label"] == 0].head(4)])
    assert len(choose(few, method, k=2).names) == 2


@pytest.mark.parametrize(
    ("method", "option", "message"),
    [
        ("cls", {"neighbours": 0}, "'neighbours': must be a whole number of at least 1, got 0"),
        ("sselect", {"smoothness": 1.5}, "'smoothness': must be a number from 0 up to 1, got 1.5"),
        ("rfs", {"gamma": 0}, "'gamma': must be a number above 0, got 0"),
        ("semifs", {"reach": 1}, "'reach': must be a number above 0 up to 0.999999, got 1"),
        ("es-mcrfs", {"reward": "f1"}, "'reward': must be one of accuracy, auc, got 'f1'"),
        ("rrpc", {"second_class": "x"}, "'second_class': must be one of plausible, unlabelled, none, got 'x'"),
        ("jsfs", {"mu": float("nan")}, "'mu': must be a number from 0, got nan"),
    ],
)
def test_bad_options(method: str, option: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        choose(make_table(30), method, k=2, **option)
