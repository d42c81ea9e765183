"""Chi-square scores from sums equal scikit-learn's."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.feature_selection import chi2
from sklearn.preprocessing import minmax_scale

from spark_pufs.core.baselines.chi_square import LabelSums, ScaledSums, chi_square
from spark_pufs.types import RawBatch, Text

STATES = {"p": 1, "n": 2, "u": 0}


def batch(X: np.ndarray, label: np.ndarray) -> RawBatch:
    return RawBatch(X, np.zeros(X.shape[1], np.int64), [], Text(label.astype(np.int32), ["u", "p", "n"]))


def table(seed: int, rows: int = 200, features: int = 5) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    label = rng.choice([-1, 0, 1, 2], rows, p=[0.3, 0.3, 0.3, 0.1])
    return rng.normal(size=(rows, features)) * 10 + (label == 1)[:, None] * np.arange(features), label


def summed(X: np.ndarray, label: np.ndarray, columns: tuple[int, ...], cuts: tuple[int, ...] = ()) -> LabelSums:
    finite = np.where(np.isfinite(X), X, np.nan)
    low, high = np.nanmin(finite, axis=0), np.nanmax(finite, axis=0)
    kernel = ScaledSums(columns, low[list(columns)], high[list(columns)], STATES)
    state = kernel.start()
    for rows, own in zip(np.split(X, cuts), np.split(label, cuts), strict=True):
        state = kernel.add(kernel.start(), batch(rows, own)).merge(state)
    return state


@pytest.mark.parametrize("seed", range(3))
def test_against_scikit_learn(seed: int) -> None:
    X, label = table(seed)
    expected = chi2(minmax_scale(X), label == 1)[0]
    assert chi_square(summed(X, label, (0, 1, 2, 3, 4))) == pytest.approx(expected, rel=1e-6)
    assert chi_square(summed(X, label, (3, 1))) == pytest.approx(expected[[3, 1]], rel=1e-6)


@given(st.lists(st.integers(0, 200), max_size=5))
def test_sums_are_the_same_for_any_partitioning(cuts: list[int]) -> None:
    X, label = table(7)
    whole, parts = summed(X, label, (0, 1, 2)), summed(X, label, (0, 1, 2), tuple(sorted(cuts)))
    for name in ("sums", "rows"):
        np.testing.assert_array_equal(getattr(whole, name), getattr(parts, name))


def test_missing_values_are_left_out_and_infinities_are_the_ends() -> None:
    X, label = table(8)
    X[::3, 0], X[0, 1], X[1, 1] = np.nan, np.inf, -np.inf
    present = ~np.isnan(X[:, 0])
    bounded = X[:, 1:2].copy()
    bounded[:2, 0] = X[2:, 1].max(), X[2:, 1].min()
    scores = chi_square(summed(X, label, (0, 1)))
    assert scores[0] == pytest.approx(chi2(minmax_scale(X[present, :1]), label[present] == 1)[0][0], rel=1e-6)
    assert scores[1] == pytest.approx(chi2(minmax_scale(bounded), label == 1)[0][0], rel=1e-6)


def test_huge_ranges_do_not_overflow() -> None:
    X = np.array([[-1.7e308], [1.7e308], [0.0], [1.7e308]])
    label = np.array([0, 1, 0, 1])
    # scaled to 0, 1, 0.5, 1: labelled rows have 2 of 2.5, expected 1.25 each
    assert chi_square(summed(X, label, (0,))) == pytest.approx([2 * 0.75**2 / 1.25])
