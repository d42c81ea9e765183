"""Folds by the content of a row: equal rows share one, and a training sample is distributed evenly."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spark_pufs.core.counting.hashing import mix

__all__ = ["HashedFolds", "code_hashes"]

Codes = NDArray[np.uint8]
Bools = NDArray[np.bool_]
Hashes = NDArray[np.uint64]

ROW_SALT = 0x5FE1
DIFFERENT = 4  # different rows to a fold, below which equal ones are not kept together


@dataclass(frozen=True)
class HashedFolds:
    """Fold borders on the axis of row hashes, each (folds - 1,), of labelled rows and of the others.

    Rows outside the training sample fall between the same borders, so that a model fitted without a fold has
    seen none of the rows that it is to judge, nor their equals.
    """

    labelled_cuts: Hashes
    other_cuts: Hashes
    seed: int

    @classmethod
    def of(cls, codes: Codes, labelled: Bools, folds: int, seed: int) -> HashedFolds:
        """Borders that deal out the rows of codes (D, n) evenly."""
        hashes = code_hashes(codes, seed)
        return cls(_cuts(hashes[labelled], folds), _cuts(hashes[~labelled], folds), seed)

    @property
    def count(self) -> int:
        return len(self.other_cuts) + 1

    def fold(self, codes: Codes, labelled: Bools) -> NDArray[np.uint8]:
        """The fold (n,) of rows with codes (D, n)."""
        return self._between(code_hashes(codes, self.seed), labelled)

    def _between(self, hashes: Hashes, labelled: Bools) -> NDArray[np.uint8]:
        found = np.empty(len(labelled), np.uint8)
        for rows, cuts in ((labelled, self.labelled_cuts), (~labelled, self.other_cuts)):
            found[rows] = np.searchsorted(cuts, hashes[rows], side="right")
        return found

    def training_fold(self, codes: Codes, labelled: Bools) -> NDArray[np.uint8]:
        """The fold (n,) of the rows that the borders were made from.

        Where so few rows differ that a fold would be another table, equal rows are distributed one by one.
        """
        hashes = code_hashes(codes, self.seed)
        found = self._between(hashes, labelled)
        for rows in (labelled, ~labelled):
            own = hashes[rows]
            if len(np.unique(own)) < DIFFERENT * self.count:
                found[rows] = np.argsort(np.argsort(own, kind="stable"), kind="stable") % self.count
        return found


def code_hashes(codes: Codes, seed: int) -> Hashes:
    """A hash (n,) of each row of codes (D, n)."""
    salt = mix(np.arange(len(codes), dtype=np.uint64) + np.uint64((seed + ROW_SALT) % 2**64)) | np.uint64(1)
    total = np.zeros(codes.shape[1], np.uint64)
    for row, mark in zip(codes, salt, strict=True):
        total += (row.astype(np.uint64) + np.uint64(1)) * mark
    return mix(total)


def _cuts(hashes: Hashes, folds: int) -> Hashes:
    """The hashes at which a new fold begins, so that each holds about as many different ones."""
    different = np.unique(hashes)
    if not len(different):
        return np.zeros(folds - 1, np.uint64)
    first = np.minimum(np.ceil(len(different) * np.arange(1, folds) / folds).astype(np.intp), len(different) - 1)
    return different[first]
