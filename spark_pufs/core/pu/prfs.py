"""PRFS: how often a labelled row ranks above an unlabelled one, feature by feature.

Sellamanickam, Garg & Keerthi 2011 rank features by the AUC of a pairwise rank SVM trained on each alone (as told by
Han & Shen 2016). On one feature such a machine is w x and orders rows as x does or the other way round, so its AUC is
that of the feature in the better direction. It is counted here, not trained: labelled values cut the line into cells,
one pass counts labelled and other rows in every cell, and the counts give the AUC and DeLong's standard error.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spark_pufs.core.counting.counts import CountTable
from spark_pufs.core.counting.row_sample import Wanted, label_codes
from spark_pufs.types import LABELLED_POSITIVE, RawBatch

__all__ = ["CellKernel", "PositiveKernel", "cell_auc", "grids_of"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class DistinctRows:
    """Different rows (U, D) in order of their ``hash`` (U,), the first ``most``."""

    hash: NDArray[np.uint64]
    rows: Floats
    most: int

    def merge(self, other: DistinctRows) -> DistinctRows:
        hashes, first = np.unique(np.concatenate([self.hash, other.hash]), return_index=True)
        rows = np.concatenate([self.rows, other.rows])
        return DistinctRows(hashes[: self.most], rows[first[: self.most]], self.most)


@dataclass(frozen=True)
class PositiveKernel:
    """Distinct rows labelled positive: the ``most`` with the smallest hashes, the same for any partitioning."""

    wanted: Wanted
    most: int

    def start(self) -> DistinctRows:
        return DistinctRows(np.zeros(0, np.uint64), np.zeros((0, self.wanted.width)), self.most)

    def add(self, state: DistinctRows, batch: RawBatch) -> DistinctRows:
        X, labels, hashes = self.wanted.read(batch)
        positive = labels == LABELLED_POSITIVE
        return state.merge(DistinctRows(hashes[positive], X[positive], self.most))


def grids_of(rows: Floats) -> tuple[Floats, ...]:
    """The distinct values of every column of rows (n, D), in order, without NaN.

    >>> [grid.tolist() for grid in grids_of(np.array([[2.0, np.nan], [1.0, 5.0], [2.0, 5.0]]))]
    [[1.0, 2.0], [5.0]]
    """
    return tuple(np.unique(column[~np.isnan(column)]) for column in rows.T)


@dataclass(frozen=True)
class CellKernel:
    """Rows by cell: counts (2, C) of other and of labelled rows, the cells of all features side by side.

    A grid of q values has 2q + 1 cells in order, below the first value, at it, between it and the next, and so on, and
    one more for missing values.
    """

    columns: tuple[int, ...]
    states: Mapping[str, int]
    grids: tuple[Floats, ...]

    @property
    def ends(self) -> Ints:
        return np.cumsum([0, *(2 * len(grid) + 2 for grid in self.grids)])

    def start(self) -> CountTable:
        return CountTable(np.zeros((2, int(self.ends[-1])), np.int64))

    def add(self, state: CountTable, batch: RawBatch) -> CountTable:
        positive = (label_codes(batch, self.states) == LABELLED_POSITIVE).astype(np.int64)
        ends = self.ends
        for position, column in enumerate(self.columns):
            cells = _cells(batch.numeric[:, column], self.grids[position])
            width = int(ends[position + 1] - ends[position])
            counts = np.bincount(positive * width + cells, minlength=2 * width).reshape(2, width)
            state.counts[:, ends[position] : ends[position + 1]] += counts
        return state

    def aucs(self, state: CountTable) -> tuple[Floats, Floats]:
        """AUC (D,) of every feature and its standard error (D,)."""
        parts = np.split(state.counts, self.ends[1:-1], axis=1)
        auc, error = zip(*(cell_auc(part[1], part[0]) for part in parts), strict=True)
        return np.array(auc), np.array(error)


def _cells(values: Floats, grid: Floats) -> Ints:
    cells = np.searchsorted(grid, values, side="left") + np.searchsorted(grid, values, side="right")
    cells[np.isnan(values)] = 2 * len(grid) + 1
    return cells


def cell_auc(high: Ints, low: Ints) -> tuple[float, float]:
    """AUC of rows counted in ``high`` (C,) against those in ``low`` (C,), and DeLong's standard error of it.

    Cells are in order; rows of one cell tie, and a row in the last cell, missing, ties with every row.

    >>> auc, error = cell_auc(np.array([0, 1, 0, 1, 0]), np.array([1, 0, 1, 0, 0]))
    >>> auc, round(error**2, 4)
    (0.75, 0.125)
    """
    m, n = int(high.sum()), int(low.sum())
    beaten = _share_below(low, n)  # DeLong's V10: low rows below a high row of each cell
    beating = 1 - _share_below(high, m)  # V01: high rows above a low row of each cell
    auc = float(high @ beaten / m)
    variance = sum(
        float(count @ (share - auc) ** 2) / (total - 1) / total
        for count, share, total in ((high, beaten, m), (low, beating, n))
        if total > 1
    )
    return auc, float(np.sqrt(variance))


def _share_below(count: Ints, total: int) -> Floats:
    """For a row in each cell, the share of the counted rows that lie below it, ties as a half."""
    known, missing = count[:-1], int(count[-1])
    twice = 2 * np.cumsum(known) - known + missing  # whole numbers: exact
    return np.append(twice, total) / (2 * total)
