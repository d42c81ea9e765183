"""Tests by scores: against enumeration, uniform under the null, and the combination of tests."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy.special import comb

from spark_pufs.core.information.score_tests import combined_p, score_p_values

SCORES = np.array([-1.3, -0.7, -0.3, 0.1, 0.4, 0.9, 1.7])


def test_the_tail_is_that_of_enumeration() -> None:
    """All ways to deal 6 labels over seven levels of 8 rows."""
    sizes, n = np.full(7, 8), 6
    ways = [a for a in itertools.product(range(7), repeat=7) if sum(a) == n]
    sums = np.array([np.dot(a, SCORES) for a in ways])
    chance = np.array([np.prod(comb(sizes, a)) for a in ways]) / comb(56, n)
    for own in ([0, 0, 0, 0, 1, 2, 3], [3, 2, 1, 0, 0, 0, 0], [0, 1, 0, 1, 1, 1, 2]):
        x, sign = np.dot(own, SCORES), np.sign(np.dot(own, SCORES) - n * SCORES.mean())
        tail = np.mean([chance[sign * (sums - x) >= edge].sum() for edge in (-1e-9, 1e-9)])  # half of the ties
        found = score_p_values(sizes[None], np.array([own]), SCORES[None])[0]
        assert found == pytest.approx(min(1, 2 * tail), rel=0.12)


@pytest.mark.parametrize("n", [10, 60])
def test_labels_dealt_at_random_pass_as_often_as_they_may(n: int) -> None:
    sizes, draws = np.array([400, 50, 50, 60, 60, 80, 80, 90, 90, 100]), 4_000
    dealt = np.random.default_rng(n).multivariate_hypergeometric(sizes, n, draws)
    scores = np.tile(np.linspace(-1, 2, 10) ** 2, (draws, 1))
    p = score_p_values(np.tile(sizes, (draws, 1)), dealt, scores)
    for level in (0.1, 0.05, 0.01):
        assert (p <= level).mean() <= level + 3 * math.sqrt(level * (1 - level) / draws)
    assert (p <= 0.1).mean() > 0.07


def test_the_mean_the_ends_and_nothing_at_all() -> None:
    sizes = np.full((4, 3), 10)
    own = np.array([[2, 2, 2], [0, 0, 6], [0, 0, 0], [10, 10, 10]])
    found = score_p_values(sizes, own, np.tile([-1.0, 0.0, 1.0], (4, 1)))
    assert found[0] == pytest.approx(1, abs=0.01)
    assert 0 < found[1] < 0.01
    assert found[2:].tolist() == [1, 1]
    assert score_p_values(sizes[:1], own[:1], np.ones((1, 3))).tolist() == [1]


def test_combined_tests() -> None:
    """Equal p-values stay; of two tests the lower counts half; a p-value of 0 is one of 1e-300."""
    assert combined_p(np.array([[0.03], [0.03]])) == pytest.approx([0.03])
    assert combined_p(np.array([[1e-6], [0.5]])) == pytest.approx([2e-6])
    assert combined_p(np.array([[0.0], [1.0]]))[0] < 1e-200
