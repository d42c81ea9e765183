"""Folds of positive-unlabelled rows, and the error of a mean over them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spark_pufs.core.evidence.folds import corrected_error, half_of_each, pu_folds


@given(st.integers(0, 1000), st.integers(2, 6), st.integers(6, 40), st.integers(6, 60))
def test_every_state_is_spread_evenly_and_equal_rows_stay_together(
    seed: int, folds: int, labelled: int, others: int
) -> None:
    rng = np.random.default_rng(seed)
    label = np.repeat([1, 0], [labelled, others]).astype(np.uint8)
    copies = rng.integers(1, 4, len(label))
    group = np.repeat(np.arange(len(label)), copies)
    fold = pu_folds(label[group], group, folds, rng)
    assert all(len(set(fold[group == g])) == 1 for g in range(len(label)))
    first = np.searchsorted(group, np.arange(len(label)))
    for state in (0, 1):
        sizes = np.bincount(fold[first][label == state], minlength=folds)
        assert sizes.max() - sizes.min() <= 1


def test_half_of_each_state() -> None:
    label = np.array([1] * 5 + [0] * 8 + [2] * 2, np.uint8)
    rows = half_of_each(label, np.random.default_rng(3))
    assert np.bincount(label[rows]).tolist() == [4, 3, 1]
    assert len(set(rows.tolist())) == len(rows)


def test_the_error_grows_with_the_overlap_of_training_parts() -> None:
    values = [0.7, 0.8, 0.9, 0.8, 0.7, 0.9]
    plain = np.std(values, ddof=1) / np.sqrt(6)
    assert corrected_error(values, 3) == pytest.approx(plain * np.sqrt(1 + 6 / 2))
    assert np.isnan(corrected_error([0.5], 2))
    assert corrected_error([0.6, 0.8], 2) == pytest.approx(np.sqrt(0.02 * (1 / 2 + 1)))
