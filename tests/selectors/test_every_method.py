"""What every method owes, whatever it computes. A method that is registered is tested here by itself."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest

from spark_pufs import Selection, select
from spark_pufs.errors import ConfigError, DataError
from spark_pufs.selectors.registry import METHODS

# Work cut down to what shows the rules; a method takes those of its options that are named here.
QUICK: dict[str, Any] = {
    "generation_size": 16,
    "generations": 1,
    "pairs": 4,
    "evaluations": 2,
    "trees": 3,
    "steps": 5,
    "iterations": 5,
    "samplings": 2,
    "folds": 2,
    "repeats": 1,
    "nodes": 8,
}
OWN: dict[str, dict[str, Any]] = {
    "lgbm-opt": {"search": "paper"},
    "pucfs": {"prior": 0.5},
    "auto": {"methods": ["semi-mim", "k-best"]},
}
NAMES = ["a", "b", "c", "d", "e"]
COSTS = {"a": 3.0, "b": 1.0, "c": 2.0, "d": 1.5, "e": 0.5}
# Their own tests or merits decide how many features there are; k is then the most.
DECIDES = {"semi-iamb", "iamb", "listwise-iamb", "pairwise-iamb"}
# Chance enters by the place of a column: masks are drawn by place, and so are the folds of a comparison.
BY_PLACE = {"auto", "fscpu", "fscpu-mi", "lgbm-opt"}

every_method = pytest.mark.parametrize("method", list(METHODS))


def table(rows: int = 150, positives: int = 25, negatives: int = 20) -> pd.DataFrame:
    """``a`` and ``d`` tell of the class, ``b`` follows ``a``, the others are noise; labels 1, -1, 0 for none."""
    rng = np.random.default_rng(3)
    y = np.arange(rows) % 2
    X = rng.normal(size=(rows, 5)).round(3)
    X[:, 0] += 2 * y
    X[:, 3] -= 1.5 * y
    X[:, 1] = (X[:, 0] + 0.8 * X[:, 1]).round(3)
    label = np.zeros(rows, np.int64)
    label[np.flatnonzero(y == 1)[:positives]] = 1
    label[np.flatnonzero(y == 0)[:negatives]] = -1
    return pd.DataFrame(X, columns=NAMES).assign(label=label)


def run(method: str, frame: pd.DataFrame, **more: Any) -> Selection:
    quick = {name: value for name, value in QUICK.items() if name in METHODS[method].options}
    settings = {"label": "label", "negative": -1, "method": method, "seed": 1, **quick, **OWN.get(method, {})}
    return select(frame, **{**settings, **more})


@cache
def two_of_five(method: str) -> Selection:
    return run(method, table(), k=2)


def features(selection: Selection) -> list[tuple[Any, ...]]:
    return [(f.name, f.rank, f.score, f.standard_error, f.selected) for f in selection.features]


def scores(selection: Selection) -> dict[str, float]:
    return {f.name: f.score for f in selection.features}


@every_method
def test_it_says_what_it_is(method: str) -> None:
    told = METHODS[method]
    assert told.name == method
    for words in (told.summary, told.assumes, told.cost, told.use_when):
        assert 8 < len(words) < 140
        assert not words.endswith(".")
    for option in told.options.values():
        assert option.ok(option.default)
        assert option.what


@every_method
def test_the_answer_is_a_ranking_of_all_features(method: str) -> None:
    found = two_of_five(method)
    assert sorted(f.name for f in found.features) == NAMES
    assert [f.rank for f in found.features] == [1, 2, 3, 4, 5]
    assert found.names == [f.name for f in found.features if f.selected]
    assert found.names == [f.name for f in found.features][: len(found.names)]
    assert all(np.isfinite([f.score, f.standard_error]).all() and f.standard_error >= 0 for f in found.features)
    left = [(-f.score, NAMES.index(f.name)) for f in found.features if not f.selected]
    assert left == sorted(left)  # ties in the order of the columns
    assert found.method == method


@every_method
def test_as_many_as_asked_for(method: str) -> None:
    few, one, every = two_of_five(method), run(method, table(), k=1), run(method, table(), k=5)
    if method in DECIDES:
        assert (len(few.names) <= 2, len(one.names) <= 1) == (True, True)
    else:
        assert (len(few.names), len(one.names), len(every.names)) == (2, 1, 5)


@every_method
def test_more_than_there_are_is_all_of_them_with_a_word(method: str) -> None:
    found = run(method, table(), k=50)
    assert len(found.names) == 5 or method in DECIDES
    assert any(w.startswith("Asked for 50 features, 5 can be chosen") for w in found.warnings)


@every_method
def test_same_seed_same_bits_for_any_order_of_rows(method: str) -> None:
    again = run(method, table().sample(frac=1.0, random_state=4), k=2)
    assert features(again) == features(two_of_five(method))
    assert again.fingerprint == two_of_five(method).fingerprint


@every_method
def test_another_seed_is_another_request_but_no_fault(method: str) -> None:
    other = run(method, table(), k=2, seed=2**40)
    assert other.fingerprint != two_of_five(method).fingerprint
    assert len(other.names) <= 2


@every_method
def test_constant_columns_are_left_out(method: str) -> None:
    wide = table().assign(always=7.0)[[*NAMES[:2], "always", *NAMES[2:], "label"]]
    found = run(method, wide, k=2)
    assert found.dropped == {"always": "constant"}
    assert features(found) == features(two_of_five(method))


@every_method
def test_relevance_falls_from_one_to_zero(method: str) -> None:
    found = [(f.relevance, f.relevance_error) for f in two_of_five(method).features]
    values, errors = np.array(found).T
    assert (np.diff(values) <= 0).all()
    assert set(values[:1]) <= {0.0, 1.0}  # 0: the first is no better than chance
    assert ((values >= 0) & (values <= 1)).all()
    assert (np.isfinite(errors) & (errors >= 0)).all()


@every_method
def test_a_copy_of_a_column_changes_nothing(method: str) -> None:
    found = run(method, table().assign(copy=table()["a"]), k=2)
    last = found.features[-1]
    assert (last.name, last.selected, last.relevance, last.notes) == ("copy", False, 0, "copy of 'a'")
    if method not in BY_PLACE:  # the copy is part of the rows, of which chance is made
        assert features(found)[:-1] == features(two_of_five(method))


@every_method
def test_a_copy_of_a_column_may_be_a_feature_like_any_other(method: str) -> None:
    found = run(method, table().assign(copy=table()["a"]), k=3, copies="all")
    assert sorted(f.name for f in found.features) == sorted([*NAMES, "copy"])
    assert all(np.isfinite([f.score, f.standard_error]).all() for f in found.features)
    rank = {f.name: f.rank for f in found.features}
    score = scores(found)
    assert score["a"] != score["copy"] or rank["a"] < rank["copy"]


@every_method
def test_missing_and_infinite_values_are_borne(method: str) -> None:
    holes = table()
    holes.loc[::7, "a"], holes.loc[::5, "c"], holes.loc[3, "d"], holes.loc[4, "d"] = np.nan, np.nan, np.inf, -np.inf
    found = run(method, holes, k=2)
    assert all(np.isfinite([f.score, f.standard_error]).all() for f in found.features)


@every_method
def test_a_range_beyond_the_largest_float_is_borne(method: str) -> None:
    """Scaled by a power of two, ``a`` is the same column but for its range of 7.8 * 2^1022."""
    plain = table().assign(a=lambda t: (t["a"] - 1).clip(-3.9, 3.9).mask(t.index % 7 == 0))
    huge = plain.assign(a=np.ldexp(plain["a"], 1022))
    found = run(method, huge, k=2)
    assert np.isfinite([(f.score, f.standard_error) for f in found.features]).all()
    if method not in {
        "auto",
        "fscpu",
        "fscpu-mi",
    }:  # other values are other rows, and folds and starts are drawn from those
        assert scores(found) == pytest.approx(scores(run(method, plain, k=2)), rel=1e-9)


@every_method
def test_must_and_never(method: str) -> None:
    found = run(method, table(), k=2, must=["c"], never=["a", "e"])
    assert "c" in found.names
    assert not {"a", "e"} & set(found.names)
    assert len(found.names) == 2 or method in DECIDES


@every_method
@pytest.mark.parametrize("limit", [{"k": 2}, {"budget": 2.5}])
def test_must_may_take_all_the_room_there_is(method: str, limit: dict[str, Any]) -> None:
    assert set(run(method, table(), must=["a", "c"], **limit).names) == {"a", "c"}


@every_method
def test_a_third_of_a_column_may_be_infinite(method: str) -> None:
    """More than fits one bin of five: the last bin of equal frequency is infinity alone."""
    days = pd.Series(np.arange(150) % 40, dtype=float).mask(np.arange(150) % 3 == 0, np.inf)
    found = run(method, table().assign(days=days), must=["days"], k=3, binning="equal-frequency")
    assert np.isfinite([(f.score, f.standard_error) for f in found.features]).all()
    levels = next(one["levels"] for one in found.details["distributions"] if one["name"] == "days")
    assert levels[-1]["level"] == "infinite"
    assert sum(levels[-1][key] for key in ("labelled", "unlabelled", "negative")) == 50


@every_method
def test_a_budget_is_kept_and_scaling_all_costs_changes_nothing(method: str) -> None:
    found = run(method, table(), costs=COSTS, budget=3.5, must=["d"])
    assert sum(COSTS[name] for name in found.names) <= 3.5
    assert "d" in found.names
    scaled = run(method, table(), costs={name: 8 * cost for name, cost in COSTS.items()}, budget=28, must=["d"])
    assert scaled.names == found.names


def answer_or_fault(method: str, frame: pd.DataFrame, **more: Any) -> Selection | DataError:
    try:
        return run(method, frame, k=2, **more)
    except DataError as error:
        return error


@every_method
def test_one_labelled_row_gives_an_answer_or_a_clear_fault(method: str) -> None:
    found = answer_or_fault(method, table(positives=1))
    if isinstance(found, DataError):
        assert "label" in str(found)
        assert len(found.faults) == 1
    else:
        assert all(np.isfinite([f.score, f.standard_error]).all() for f in found.features)


@every_method
def test_positives_alone_give_an_answer_or_ask_for_negatives(method: str) -> None:
    found = answer_or_fault(method, table(negatives=0), negative=())
    if isinstance(found, DataError):
        assert "needs rows labelled negative" in str(found)
    else:
        assert len(found.names) == 2 or method in DECIDES


@every_method
def test_one_feature_is_enough(method: str) -> None:
    found = run(method, table()[["a", "label"]], k=1)
    assert found.names == ["a"] or method in DECIDES


@every_method
def test_unknown_options_are_named(method: str) -> None:
    with pytest.raises(ConfigError) as error:
        run(method, table(), k=2, neihbors=3)
    assert f"Option 'neihbors': is not an option of method '{method}'." in str(error.value)


@every_method
def test_bad_values_say_what_they_must_be(method: str) -> None:
    options = METHODS[method].options
    bad = object()
    if not options:
        return
    with pytest.raises(ConfigError) as error:
        run(method, table(), k=2, **dict.fromkeys(options, bad))
    assert len(error.value.faults) == len(options)
    for name, option in options.items():
        assert f"Option '{name}': must be {option.what}, got <object" in str(error.value)


@pytest.mark.parametrize("method", ["rrpc", "fw-semifs", "es-mcrfs", "mrmr-ufs", "dt-rfe", "ndfs", "lasso"])
def test_flags_of_equal_counts_in_any_order_of_columns(method: str) -> None:
    """Two flags are set in as many labelled and as many other rows: sorted by their values they are the same."""
    rng = np.random.default_rng(5)
    frame = table(negatives=0)[["c", "label"]]
    for name in ("p", "q"):
        frame[name] = frame.groupby("label")["c"].transform(lambda c: rng.permutation(np.arange(len(c)) % 2))
    first, turned = (run(method, frame[[*order, "label"]], k=2) for order in ("cpq", "qcp"))
    assert scores(turned) == pytest.approx(scores(first), rel=1e-9)
    assert set(turned.names) == set(first.names)


COARSE = {"pufs": 1e-3}  # a descent that stops before its end


@pytest.mark.parametrize("method", [name for name in METHODS if name not in BY_PLACE])
def test_any_order_of_columns_gives_the_same_scores(method: str) -> None:
    turned = run(method, table()[[*reversed(NAMES), "label"]], k=2)
    assert set(turned.names) == set(two_of_five(method).names)
    assert scores(turned) == pytest.approx(scores(two_of_five(method)), rel=1e-5, abs=COARSE.get(method, 1e-9))
