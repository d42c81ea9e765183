"""Contingency counts by soft labels: blocks whose labels are grades, from 0 (not positive) to ``FULL_GRADE``.

Tables have two states in place of three: what rows lack of the full grade, and their grades. Both are integers, so that
sums are the same for any partitioning; over ``FULL_GRADE`` they are rows.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from spark_pufs.core.counting.counts import CountTable, FeatureKernel, LabelKernel, PairKernel, level_sums, one_hot
from spark_pufs.types import FULL_GRADE, Block

__all__ = ["SOFT_STATES", "SoftFeatureKernel", "SoftLabelKernel", "SoftPairKernel"]

SOFT_STATES = 2


class SoftLabelKernel(LabelKernel):
    """State x level: counts (2, L)."""

    states = SOFT_STATES

    def add(self, state: CountTable, block: Block) -> CountTable:
        grade = block.label.astype(np.float32)
        return state.merge(CountTable(level_sums(np.vstack([FULL_GRADE - grade, grade]), block.codes, self.layout)))


class SoftPairKernel(PairKernel):
    """State x level x level, all pairs at once: counts (2, L, L)."""

    states = SOFT_STATES

    def add(self, state: CountTable, block: Block) -> CountTable:
        hot = one_hot(block.codes, self.layout)
        _move(state.counts, hot @ hot.T, (hot * block.label.astype(np.float32)) @ hot.T)
        return state


class SoftFeatureKernel(FeatureKernel):
    """State x level of some ``features``, one after the other, x level of every feature: counts (2, l, L)."""

    states = SOFT_STATES

    def add(self, state: CountTable, block: Block) -> CountTable:
        groups = one_hot(block.codes[list(self.features)], self.part)
        graded = groups * block.label.astype(np.float32)
        rows, grades = (level_sums(own, block.codes, self.layout) for own in (groups, graded))
        _move(state.counts, rows, grades)
        return state


def _move(counts: NDArray[np.int64], rows: NDArray[np.generic], grades: NDArray[np.generic]) -> None:
    """Add so many rows and the sums of their grades; float32 holds both exactly, a block having below 2^16 rows."""
    given = grades.astype(np.int64)
    counts[0] += FULL_GRADE * rows.astype(np.int64) - given
    counts[1] += given
