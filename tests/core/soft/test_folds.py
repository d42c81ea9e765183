"""Folds by content: even, the same for equal rows, and known for rows outside the training sample."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from spark_pufs.core.soft.folds import HashedFolds


@given(seed=st.integers(0, 2**31), folds=st.integers(2, 7))
def test_folds_are_even_and_depend_on_the_row_alone(seed: int, folds: int) -> None:
    rng = np.random.default_rng(seed)
    codes, labelled = rng.integers(0, 30, (6, 210)).astype(np.uint8), np.arange(210) < 42
    found = HashedFolds.of(codes, labelled, folds, seed)
    fold = found.training_fold(codes, labelled)
    for rows in (labelled, ~labelled):
        sizes = np.bincount(fold[rows], minlength=folds)
        assert sizes.max() - sizes.min() <= 1
    order = rng.permutation(210)
    assert np.array_equal(found.fold(codes[:, order], labelled[order]), fold[order])
    assert found.fold(rng.integers(0, 30, (6, 50)).astype(np.uint8), np.zeros(50, bool)).max() < folds


def test_without_labelled_rows_there_are_folds_too() -> None:
    codes = np.arange(40, dtype=np.uint8)[None]
    found = HashedFolds.of(codes, np.zeros(40, bool), 4, 0)
    assert np.bincount(found.training_fold(codes, np.zeros(40, bool))).tolist() == [10, 10, 10, 10]
