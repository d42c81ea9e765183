"""Bounds by hand: how many features, at what cost, which in any case and which never."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spark_pufs import select
from spark_pufs.errors import ConfigError
from spark_pufs.request import Request
from spark_pufs.selectors.by_score import by_score
from spark_pufs.selectors.evidence.trial import Trial, _first
from spark_pufs.table.limits import Limits, asked_for_more, limits_of
from spark_pufs.types import LabelRule

NAMES = ("a.x", "a.y", "b", "c")


def limits(**options: Any) -> tuple[Limits, tuple[str, ...]]:
    request = Request(LabelRule("s"), "mim", **options)
    found = limits_of(request, NAMES, NAMES)
    return found, asked_for_more(request, found)


def open_names(found: Limits, chosen: list[int]) -> list[str]:
    return [NAMES[i] for i in np.flatnonzero(found.open(chosen))]


def test_no_limits() -> None:
    found, warnings = limits()
    assert (found.k, found.budget, found.must, warnings) == (4, np.inf, (), ())
    assert open_names(found, [2]) == ["a.x", "a.y", "c"]


def test_k_closes_everything() -> None:
    found, _ = limits(k=2)
    assert open_names(found, [0]) == ["a.y", "b", "c"]
    assert open_names(found, [0, 1]) == []


def test_must_comes_first_and_never_never() -> None:
    found, _ = limits(must=("b", "c"), never=("a.x",), k=3)
    assert open_names(found, []) == ["b", "c"]
    assert open_names(found, [2]) == ["c"]
    assert open_names(found, [2, 3]) == ["a.y"]


def test_budget_by_hand() -> None:
    found, _ = limits(budget=5, costs={"a.*": 3, "b": 2.0})
    assert found.costs.tolist() == [3, 3, 2, 1]
    assert open_names(found, [0]) == ["b", "c"]  # 2 left
    assert open_names(found, [0, 2]) == []
    assert open_names(found, [2, 3]) == []  # 2 left, both a cost 3


@pytest.mark.parametrize("costs", [{"*": 5, "b": 1}, {"b": 1, "*": 5}])
def test_a_name_wins_over_a_glob_and_a_later_glob_over_an_earlier(costs: dict[str, float]) -> None:
    assert limits(costs=costs)[0].costs.tolist() == [5, 5, 1, 5]
    assert limits(costs={**costs, "a.*": 2})[0].costs.tolist() == [2, 2, 1, 5]


def test_a_column_called_like_a_glob_is_that_column_also_when_it_is_no_feature() -> None:
    request = Request(LabelRule("s"), "mim", costs={"b[1]": 3}, must=("b[1]",))
    found = limits_of(request, ("b[1]", "b1"), ("b[1]", "b1", "s"))
    assert (found.costs.tolist(), found.must) == ([3, 1], (0,))
    request = Request(LabelRule("s"), "mim", costs={"b[1]": 3}, never=("b[1]",))
    found = limits_of(request, ("b1", "c"), ("b[1]", "b1", "c", "s"))
    assert (found.costs.tolist(), found.never.tolist()) == ([1, 1], [False, False])


def test_a_column_called_like_a_glob_from_the_front_door() -> None:
    table = pd.DataFrame({"b[1]": [1, 2] * 50, "b1": [1, 1, 2, 2] * 25, "c": [3, 4] * 50, "s": [1, 0] * 50})
    assert "b1" in select(table, label="s", method="mim", k=2, never=["b[1]"], copies="all").names
    assert select(table, label="s", method="mim", k=1, must=["b[1]"]).names == ["b[1]"]
    costs = {f.name: f.cost for f in select(table, label="s", method="mim", k=1, costs={"b[1]": 9}).features}
    assert costs == {"b[1]": 9, "b1": 1, "c": 1}


@given(st.lists(st.floats(0.01, 100), min_size=4, max_size=4), st.floats(1e-6, 1e6), st.integers(1, 4))
def test_scaling_costs_and_budget_together_changes_nothing(costs: list[float], scale: float, paid: int) -> None:
    """The budget pays for the first ``paid`` features exactly: the hardest case for rounding."""
    budget = float(np.sum(costs[:paid]))
    plain, _ = limits(costs=dict(zip(NAMES, costs, strict=True)), budget=max(budget, min(costs)))
    scaled, _ = limits(
        costs={n: c * scale for n, c in zip(NAMES, costs, strict=True)}, budget=max(budget, min(costs)) * scale
    )
    for chosen in ([], [0], [0, 1], [1, 0], [0, 1, 2]):
        if len(chosen) < paid:
            assert NAMES[paid - 1] in open_names(plain, chosen) or len(chosen) < paid - 1
            assert open_names(scaled, chosen) == open_names(plain, chosen)


def test_a_budget_of_many_equal_costs_is_spent_to_the_last() -> None:
    """A thousand features at 0.1 sum to 99.99999999999987 or 100.00000000000014, by the order of adding."""
    names = tuple(f"f{i}" for i in range(1_001))
    found = limits_of(Request(LabelRule("s"), "mim", budget=100.0, costs={"*": 0.1}), names, names)
    chosen: list[int] = []
    while found.open(chosen).any():
        chosen.append(int(np.argmax(found.open(chosen))))
    assert len(chosen) == 1_000


def test_a_small_cost_beside_a_large_one_fits_exactly() -> None:
    """1000000.1 - 1000000 is 0.09999999998."""
    found, _ = limits(budget=1_000_000.1, costs={"a.*": 1e6, "b": 0.1})
    assert open_names(found, [0]) == ["b"]
    assert by_score(np.array([4.0, 3.0, 2.0, 1.0]), found) == [0, 2]
    unit = Trial("mim", costs=tuple(found.costs.tolist()), cap=found.budget)
    assert _first(np.arange(4), 4, unit).tolist() == [0, 2]
    assert _first(np.array([3, 2]), 4, unit).tolist() == [2, 3]  # of a method that reads some columns only


@given(
    st.lists(st.integers(0, 3), min_size=4, max_size=4),
    st.lists(st.sampled_from([0.1, 0.2, 0.3, 1.0]), min_size=4, max_size=4),
    st.floats(0.3, 2.0),
    st.integers(1, 4),
    st.sampled_from([(), ("c",), ("c", "a.y")]),
)
def test_by_score_is_the_best_open_feature_again_and_again(
    scores: list[int], costs: list[float], budget: float, k: int, must: tuple[str, ...]
) -> None:
    options = {"costs": dict(zip(NAMES, costs, strict=True)), "budget": budget + 2, "never": ("b",)}
    found, _ = limits(**options, k=max(k, len(must)), must=must)
    chosen: list[int] = []
    while (free := found.open(chosen)).any():
        chosen.append(int(np.argmax(np.where(free, scores, -np.inf))))
    assert by_score(np.array(scores, float), found) == chosen


def test_the_most_that_can_be_chosen_by_hand() -> None:
    costs = {"a.x": 3, "a.y": 2, "b": 1, "c": 1}
    assert limits(costs=costs)[0].most() == 4
    assert limits(costs=costs, k=2)[0].most() == 2
    assert limits(costs=costs, budget=4)[0].most() == 3  # 1 + 1 + 2
    assert limits(costs=costs, budget=4, never=("b",))[0].most() == 2  # 1 + 2
    assert limits(costs=costs, budget=4, must=("a.x",))[0].most() == 2  # 3 + 1


def test_must_may_spend_the_whole_budget() -> None:
    found, _ = limits(budget=0.3, costs={"*": 0.1}, must=("a.*", "b"))
    assert found.must == (0, 1, 2)


def test_more_than_there_are_is_a_warning() -> None:
    found, warnings = limits(k=9, never=("b",))
    assert found.k == 3
    assert warnings == ("Asked for 9 features, 3 can be chosen: all of them are.",)


def test_never_alone_is_no_warning() -> None:
    found, warnings = limits(never=("b",))
    assert (found.k, warnings) == (3, ())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"must": ("a.*",), "k": 1}, "Option 'must': names 2 features, k is 1. Raise k or name fewer."),
        (
            {"must": ("a.*",), "budget": 5, "costs": {"*": 3}},
            "Option 'must': its features cost 6, the budget is 5. Raise the budget or name fewer.",
        ),
        (
            {"budget": 0.8, "costs": {"b": 0.75}, "never": ("b",)},
            "Option 'budget': 0.8 pays for no feature. 'a.x' costs 1.",
        ),
        (
            {"budget": 0.5, "costs": {"b": 0.75}},
            "Option 'budget': 0.5 pays for no feature. 'b' costs 0.75.",
        ),
        (
            {"must": ("a.x",), "never": ("a.*",)},
            "Options 'must' and 'never': both name 'a.x'. Name a feature in one of them.",
        ),
        ({"never": ("*",)}, "Option 'never': names every feature. Leave some to choose from."),
    ],
)
def test_limits_that_cannot_be(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        limits(**options)
    assert str(caught.value) == message


def test_limits_on_some_of_the_features() -> None:
    found, _ = limits(costs={"a.*": 3, "b": 2}, must=("c", "a.y"), never=("b",), k=3)
    own = found.of([3, 2, 1])
    assert (own.k, own.costs.tolist(), own.must, own.never.tolist()) == (2, [1, 2, 3], (2, 0), [False, True, False])
    assert found.of([0, 2]).must == ()
