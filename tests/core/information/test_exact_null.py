"""The exact tail of G: against enumeration of all tables, Fisher's test and strata by hand."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy.special import comb

from spark_pufs.core.information.exact_null import exact_log_p


def divergence(a: np.ndarray, c: np.ndarray) -> float:
    share = a.sum() / c.sum()
    total = 0.0
    for own, size in zip(a, c, strict=True):
        for count, expected in ((own, size * share), (size - own, size * (1 - share))):
            total += count * math.log(count / expected) if count else 0.0
    return total


def tables(c: np.ndarray, n: int) -> list[tuple[np.ndarray, float]]:
    """Every way to put n labels on levels c, with its chance."""
    ways = itertools.product(*(range(min(n, size) + 1) for size in c))
    found = [np.array(a) for a in ways if sum(a) == n]
    return [(a, float(np.prod(comb(c, a)) / comb(c.sum(), n))) for a in found]


@pytest.mark.parametrize(("c", "a"), [([9, 7, 4], [1, 1, 3]), ([30, 5, 5, 2], [2, 0, 3, 1]), ([12, 12, 3], [10, 9, 0])])
def test_the_tail_is_that_of_enumeration(c: list[int], a: list[int]) -> None:
    sizes, own = np.array(c), np.array(a)
    least = divergence(own, sizes) * (1 - 1e-9)
    exact = sum(chance for table, chance in tables(sizes, own.sum()) if divergence(table, sizes) >= least)
    found = math.exp(exact_log_p(sizes[None], own[None]))
    assert exact * (1 - 1e-9) <= found <= exact * 1.1  # rounding is on the safe side


def test_strata_are_dealt_independently() -> None:
    first, second = np.array([6, 4]), np.array([5, 7])
    a, b = np.array([3, 0]), np.array([0, 2])
    least = (divergence(a, first) + divergence(b, second)) * (1 - 1e-9)
    pairs = itertools.product(tables(first, 3), tables(second, 2))
    exact = sum(p * q for (t, p), (u, q) in pairs if divergence(t, first) + divergence(u, second) >= least)
    found = math.exp(exact_log_p(np.array([first, second]), np.array([a, b])))
    assert exact * (1 - 1e-9) <= found <= exact * 1.1


def test_two_levels_are_the_hypergeometric_distribution() -> None:
    """8 of 8 labels on 10 of 100 rows: C(10, 8) / C(100, 8)."""
    found = exact_log_p(np.array([[10, 90]]), np.array([[8, 0]]))
    assert found == pytest.approx(math.log(comb(10, 8) / comb(100, 8)), rel=1e-9)


def test_a_table_as_expected_and_a_stratum_without_labels_tell_nothing() -> None:
    assert exact_log_p(np.array([[10, 10, 10]]), np.array([[1, 1, 1]])) == 0
    assert exact_log_p(np.array([[10, 10], [5, 5]]), np.array([[0, 0], [5, 5]])) == 0


def test_the_majority_may_be_labelled() -> None:
    sizes, own = np.array([[9, 7, 4]]), np.array([[1, 1, 3]])
    assert exact_log_p(sizes, sizes - own) == pytest.approx(exact_log_p(sizes, own), rel=1e-12)
