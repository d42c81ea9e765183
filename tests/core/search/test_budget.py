from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spark_pufs.core.search.budget import Budget, repair

Case = tuple[np.ndarray, np.ndarray, np.ndarray, float, np.ndarray, np.ndarray]


@st.composite
def cases(draw: st.DrawFn) -> Case:
    size = draw(st.integers(1, 12))
    vector = lambda values: np.array(draw(st.lists(values, min_size=size, max_size=size)))  # noqa: E731
    costs = vector(st.integers(1, 9)).astype(float)
    role = vector(st.sampled_from(["free", "free", "free", "must", "never"]))
    must, never = role == "must", role == "never"
    budget = costs[must].sum() + draw(st.integers(1, 30))
    return vector(st.booleans()), vector(st.floats(0, 1)), costs, budget, must, never


@given(cases(), st.integers(0, 9))
def test_within_budget_maximal_and_obedient(case: Case, seed: int) -> None:
    mask, theta, costs, budget, must, never = case
    out = repair(mask, theta, costs, budget, np.random.default_rng(seed), must, never)
    assert costs[out].sum() <= budget + 1e-9
    assert out[must].all()
    assert not out[never].any()
    left_out = ~out & ~never
    assert (costs[left_out] > budget - costs[out].sum()).all()


@given(cases(), st.integers(0, 9), st.sampled_from([0.001, 0.1, 3.7, 1e6]))
def test_another_currency_changes_nothing(case: Case, seed: int, rate: float) -> None:
    mask, theta, costs, budget, must, never = case
    one = repair(mask, theta, costs, budget, np.random.default_rng(seed), must, never)
    two = repair(mask, theta, costs * rate, budget * rate, np.random.default_rng(seed), must, never)
    assert (one == two).all()


@given(cases(), st.integers(0, 9))
def test_a_maximal_mask_is_left_alone(case: Case, seed: int) -> None:
    mask, theta, costs, budget, must, never = case
    rng = np.random.default_rng(seed)
    once = repair(mask, theta, costs, budget, rng, must, never)
    assert (repair(once, theta, costs, budget, rng, must, never) == once).all()


def test_drops_are_drawn_by_one_minus_theta() -> None:
    """One of two features goes: P(drop the second) = 0.3 / (0.1 + 0.3)."""
    rng = np.random.default_rng(1)
    kept = [repair([1, 1], [0.9, 0.7], [1, 1], 1, rng)[0] for _ in range(4000)]
    assert np.mean(kept) == pytest.approx(0.75, abs=0.03)


def test_additions_are_drawn_by_theta_among_those_that_fit() -> None:
    """The third costs too much; P(first) = 0.2 / (0.2 + 0.6)."""
    rng = np.random.default_rng(2)
    first = [repair([0, 0, 0], [0.2, 0.6, 0.9], [2, 2, 5], 3, rng)[0] for _ in range(4000)]
    assert np.mean(first) == pytest.approx(0.25, abs=0.03)


@pytest.mark.parametrize(
    ("costs", "budget", "must", "never", "words"),
    [
        ([1, 0], 1, None, None, "positive"),
        ([1, 1], 0, None, None, "budget"),
        ([1, 1], 1, [1, 1], None, "more than the budget"),
        ([1, 1], 1, [1, 0], [1, 0], "both"),
        ([1, 1], 1, [1], None, "shape"),
    ],
)
def test_impossible_budgets_say_why(costs, budget, must, never, words) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(ValueError, match=words):
        Budget.of(costs, budget, must, never)
