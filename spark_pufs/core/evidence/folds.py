"""Cross-validation on positive-unlabelled rows: every label is held out once, with its rows."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["corrected_error", "half_of_each", "pu_folds"]


def pu_folds(
    label: NDArray[np.uint8], group: NDArray[np.intp], folds: int, rng: np.random.Generator
) -> NDArray[np.uint8]:
    """The fold (n,) of every row: groups of equal rows stay together, each label state is spread evenly.

    ``label`` (n,) states, ``group`` (n,): rows of one group are equal and share their state.

    >>> label, group = np.array([1, 1, 0, 0, 0, 0], np.uint8), np.array([0, 1, 2, 2, 3, 4])
    >>> fold = pu_folds(label, group, 2, np.random.default_rng(0))
    >>> bool(fold[0] != fold[1]), bool(fold[2] == fold[3])
    (True, True)
    """
    groups, first = np.unique(group, return_index=True)
    of_group = np.empty(len(groups), np.uint8)
    for state in np.unique(label):
        own = rng.permutation(np.flatnonzero(label[first] == state))
        of_group[own] = np.arange(len(own)) % folds
    fold: NDArray[np.uint8] = of_group[np.searchsorted(groups, group)]
    return fold


def half_of_each(label: NDArray[np.uint8], rng: np.random.Generator) -> NDArray[np.intp]:
    """Half of the rows of every label state, rounded up: a subsample as stability needs it."""
    parts = [
        rng.permutation(rows)[: -(-len(rows) // 2)] for rows in (np.flatnonzero(label == s) for s in np.unique(label))
    ]
    return np.sort(np.concatenate(parts))


def corrected_error(values: ArrayLike, folds: int) -> float:
    """Standard error of the mean of fold scores (J,); training parts overlap, so it is larger than that of J draws.

    Nadeau & Bengio 2003: variance times 1/J + n_test/n_train.

    >>> round(corrected_error([0.8, 0.9, 0.7, 0.8], folds=4), 4)
    0.0624
    """
    found = np.asarray(values, np.float64)
    if len(found) < 2:
        return math.nan
    return math.sqrt(float(found.var(ddof=1)) * (1 / len(found) + 1 / (folds - 1)))
