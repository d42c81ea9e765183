from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spark_pufs.core.pu.cfs import Correlations, Subset


def correlations(seed: int, features: int = 6) -> tuple[Correlations, np.ndarray]:
    """With U (D, D) in both directions, as the merit's formula has it."""
    rng = np.random.default_rng(seed)
    U = rng.random((features, features))
    both = U + U.T
    np.fill_diagonal(both, 0.0)
    return Correlations(rng.random(features), rng.random(features) / 10, lambda j: both[j]), U


def merit(features: list[int], known: Correlations, U: np.ndarray) -> float:
    """G as printed (Calvo et al. 2009, section 2.1), the mean of r_ii' over ordered pairs."""
    k = len(features)
    between = [U[i, j] for i in features for j in features if i != j]
    return k * known.relevance[features].mean() / np.sqrt(k + k * (k - 1) * (np.mean(between) if between else 0.0))


def built(features: list[int], known: Correlations) -> Subset:
    subset = Subset.empty(len(known.relevance))
    for feature in features:
        subset = subset.add(feature, known)
    return subset


@given(st.integers(0, 20), st.lists(st.integers(0, 5), min_size=1, max_size=6, unique=True))
def test_merit_against_the_formula(seed: int, features: list[int]) -> None:
    known, U = correlations(seed)
    assert built(features, known).merit == pytest.approx(merit(features, known, U))


def test_one_more_and_one_fewer() -> None:
    known, U = correlations(3)
    subset = built([4, 1, 0], known)
    with_one = subset.merits_with(known)
    assert with_one[[2, 3, 5]] == pytest.approx([merit([4, 1, 0, f], known, U) for f in (2, 3, 5)])
    without_one = subset.merits_without(known, [[4], [1], [0]])
    assert without_one == pytest.approx([merit(s, known, U) for s in ([1, 0], [4, 0], [4, 1])])
    assert subset.merits_without(known, [[4, 0], [1]]) == pytest.approx([merit([1], known, U), merit([4, 0], known, U)])
    assert subset.without([1], known).merit == pytest.approx(merit([4, 0], known, U))
    assert subset.without([1], known).features == (4, 0)
    assert subset.without([4, 0], known).features == (1,)


def test_a_copy_adds_nothing_and_an_independent_equal_adds_root_two() -> None:
    """r = .5 each. A copy: 2 x .5 / sqrt(2 + 2) = .5; an independent feature: 2 x .5 / sqrt(2)."""
    both = np.array([[0.0, 2.0, 0.0], [2.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
    known = Correlations(np.full(3, 0.5), np.full(3, 0.1), lambda j: both[j])
    subset = built([0], known)
    assert subset.merits_with(known)[1:] == pytest.approx([0.5, np.sqrt(0.5)])
    assert built([0, 2], known).merit_error == pytest.approx(0.2 / np.sqrt(2))
    assert built([0, 1], known).merit_error == pytest.approx(0.2 / np.sqrt(2 + 2))


def test_nothing_is_worse_than_any_set() -> None:
    assert Subset.empty(3).merit < 0
    assert Subset.empty(3).merit_error == 0.0
