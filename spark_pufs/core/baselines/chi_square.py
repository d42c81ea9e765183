"""The chi-square score of K-Best over all rows: scikit-learn's ``chi2`` from sums that any partitioning gives alike.

Values are scaled to [0, 1] by the table's range and rounded to multiples of 2^-30, so that their sums are integers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spark_pufs.core.counting.row_sample import label_codes
from spark_pufs.types import LABELLED_POSITIVE, RawBatch

__all__ = ["ScaledSums", "chi_square"]

Floats = NDArray[np.float64]
UNIT = 2.0**30  # sums of up to 2^33 rows stay below 2^63


@dataclass(frozen=True)
class LabelSums:
    """``sums`` of scaled values and ``rows`` with a value, each (2, D)."""

    sums: NDArray[np.int64]
    rows: NDArray[np.int64]

    def merge(self, other: LabelSums) -> LabelSums:
        return LabelSums(self.sums + other.sums, self.rows + other.rows)


@dataclass(frozen=True)
class ScaledSums:
    """Sums of scaled values and rows with a value, each (2, D): of labelled positives, then of all others."""

    columns: tuple[int, ...]
    low: Floats
    high: Floats
    states: Mapping[str, int]

    def start(self) -> LabelSums:
        shape = (2, len(self.columns))
        return LabelSums(np.zeros(shape, np.int64), np.zeros(shape, np.int64))

    def add(self, state: LabelSums, batch: RawBatch) -> LabelSums:
        scaled, present = self._scaled(batch.numeric[:, list(self.columns)])
        labelled = label_codes(batch, self.states) == LABELLED_POSITIVE
        for place, rows in enumerate((labelled, ~labelled)):
            state.sums[place] += scaled[rows].sum(axis=0)
            state.rows[place] += present[rows].sum(axis=0)
        return state

    def _scaled(self, X: Floats) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        present = ~np.isnan(X)
        # In halves: the range of a column of huge values would overflow.
        share = (np.clip(X, self.low, self.high) / 2 - self.low / 2) / (self.high / 2 - self.low / 2)
        return np.rint(np.where(present, share, 0.0) * UNIT).astype(np.int64), present


def chi_square(state: LabelSums) -> Floats:
    """Scores (D,): sum over the two classes of (observed - expected)^2 / expected; missing values are left out.

    >>> sums = np.array([[3.0, 2], [1, 2]]) * UNIT
    >>> chi_square(LabelSums(sums, np.array([[4, 4], [4, 4]])))
    array([1., 0.])
    """
    observed = state.sums / UNIT
    rows = state.rows.astype(np.float64)
    expected = observed.sum(axis=0) * rows / np.maximum(rows.sum(axis=0), 1)
    parts = np.divide((observed - expected) ** 2, expected, out=np.zeros_like(observed), where=expected > 0)
    score: Floats = parts.sum(axis=0)
    return score
