"""Numbers for levels of text: worked by hand, and how often the labels shape them by chance."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import chi2_contingency

from spark_pufs.core.information.level_numbers import differ, level_numbers, smoothed_lift


def test_the_test_is_the_g_test() -> None:
    """Beside scipy's, around the level."""
    for labelled in range(3, 12):
        table = np.array([[labelled, 12 - labelled // 2, 6], [60, 60, 60]])
        p = chi2_contingency(table, lambda_="log-likelihood", correction=False).pvalue
        assert differ(table[0], table.sum(axis=0)) == (p < 0.01)


def test_lift_by_hand() -> None:
    """50 of 100 rows are labelled: every level gets ten rows, five of them labelled."""
    assert smoothed_lift(np.array([40, 10]), np.array([50, 50])).tolist() == pytest.approx([45 / 60 * 2, 15 / 60 * 2])
    assert smoothed_lift(np.array([50, 0]), np.array([99, 1]))[1] == pytest.approx(5 / 11 * 2)


def test_levels_that_differ_are_ordered_by_the_label_and_others_by_frequency() -> None:
    told = level_numbers(np.array([[90, 60, 10], [0, 30, 20], [10, 0, 0]]))
    assert (np.argsort(told) == [0, 1, 2]).all()
    untold = level_numbers(np.array([[90, 60, 11], [9, 6, 1], [0, 0, 0]]))
    assert untold.tolist() == pytest.approx([99 / 177, 66 / 177, 12 / 177])


def test_a_level_without_rows_and_a_single_level_tell_nothing() -> None:
    assert not differ(np.array([5, 0]), np.array([50, 0]))
    assert level_numbers(np.array([[45, 0], [5, 0], [0, 0]])).tolist() == [1, 0]


@pytest.mark.parametrize(("labels", "levels"), [(10, 3), (20, 10), (60, 30), (20, 30)])
def test_random_levels_are_rarely_ordered_by_the_label(labels: int, levels: int) -> None:
    rng = np.random.default_rng(1)
    passed = 0
    for _ in range(1000):
        codes = rng.integers(0, levels, 400)
        labelled = np.bincount(codes[:labels], minlength=levels)
        passed += differ(labelled, np.bincount(codes, minlength=levels))
    assert passed <= 45
