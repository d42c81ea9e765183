"""Order statistics of many columns by radix counting: integer sums, so the same for any partitioning.

A float64 maps to an integer that sorts alike. Each pass counts the next ten bits among the values that share the
bits already known, and so narrows every wanted rank by a factor of 1,024. Four passes fix 40 bits: the edge is the
order statistic rounded down by less than one part in 10^8.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spark_pufs.core.counting.counts import CountTable
from spark_pufs.types import RawBatch

__all__ = ["PASSES", "RadixKernel", "edges_from_prefixes", "narrow", "wanted_ranks"]

DIGIT, PASSES = 10, 4
_CELLS = 1 << DIGIT
_SIGN = np.uint64(1 << 63)


def wanted_ranks(present: NDArray[np.int64], bins: int) -> NDArray[np.int64]:
    """Ranks (D, bins - 1), counted from 0, of the values that open the second to last bin.

    >>> wanted_ranks(np.array([10]), 5)
    array([[2, 4, 6, 8]])
    """
    return present[:, None] * np.arange(1, bins) // bins


@dataclass(frozen=True)
class RadixKernel:
    """Counts (D, targets, 1024) of the next digit below each target's ``prefixes`` (D, targets) of ``known`` digits."""

    prefixes: NDArray[np.uint64]
    known: int

    def start(self) -> CountTable:
        return CountTable(np.zeros((*self.prefixes.shape, _CELLS), np.int64))

    def add(self, state: CountTable, batch: RawBatch) -> CountTable:
        keys = _sortable(batch.numeric + 0.0)
        for column, prefixes in enumerate(self.prefixes):
            present = keys[~np.isnan(batch.numeric[:, column]), column]
            digits = (present >> np.uint64(64 - DIGIT * (self.known + 1))) & np.uint64(_CELLS - 1)
            for target, prefix in enumerate(prefixes):
                inside = digits[_head(present, self.known) == prefix]
                state.counts[column, target] += np.bincount(inside.astype(np.int64), minlength=_CELLS)
        return state


def narrow(
    kernel: RadixKernel, state: CountTable, ranks: NDArray[np.int64]
) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """One digit more of every prefix, and each rank relative to its smaller bucket."""
    below = np.cumsum(state.counts, axis=2)
    digit = np.minimum((below <= ranks[:, :, None]).sum(axis=2), _CELLS - 1)
    before = np.take_along_axis(below - state.counts, digit[:, :, None], axis=2)[:, :, 0]
    return (kernel.prefixes << np.uint64(DIGIT)) | digit.astype(np.uint64), ranks - before


def edges_from_prefixes(prefixes: NDArray[np.uint64]) -> NDArray[np.float64]:
    """The smallest float64 of each bucket (D, targets)."""
    keys = prefixes << np.uint64(64 - DIGIT * PASSES)
    bits = np.where(keys & _SIGN, keys ^ _SIGN, ~keys)
    edges = bits.view(np.float64)
    # The bucket of -inf begins among the NaN with a sign; a column without values ends among those without.
    return np.where(np.isnan(edges) & np.signbit(edges), -np.inf, edges)


def _head(keys: NDArray[np.uint64], digits: int) -> NDArray[np.uint64]:
    # A shift by 64 is undefined in C, hence the case of no digit.
    return keys >> np.uint64(64 - DIGIT * digits) if digits else np.zeros_like(keys)


def _sortable(values: NDArray[np.float64]) -> NDArray[np.uint64]:
    """Unsigned integers in the order of the values (n, D)."""
    bits = values.view(np.uint64)
    return np.where(bits & _SIGN, ~bits, bits | _SIGN)
