"""Counts per group of rows, gathered in one pass: half-samples of a table of any size without reading it again.

A label state with many rows is counted in ``GROUPS`` groups, dealt by a hash of the rows' content: half of the groups
are half of the rows (McCarthy 1966, "Replication: an approach to the analysis of data from complex surveys"). A state
with few rows, as labelled rows mostly are, is kept row by row, so that halves of it are exact.

Equal rows have equal hashes and stay together. Where they are many, halves would differ by more than the draw of single
rows: the sizes of the groups tell, since they spread as far as sums of whole bunches do.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from spark_pufs.core.counting.counts import ROWS, add_products, all_pairs, one_hot, with_first_levels
from spark_pufs.core.counting.hashing import one_form
from spark_pufs.core.counting.pass_checksum import row_marks
from spark_pufs.types import LABEL_STATES, Block, Layout, RawBatch

__all__ = [
    "GROUPS",
    "GroupKernel",
    "GroupedCounts",
    "Half",
    "HalfSamples",
    "crowded_states",
    "group_bytes",
    "row_groups",
]

GROUPS = 16
FEW = 4096  # rows of a label state that are kept row by row
UNEVEN = 2.5  # variance of the groups' sizes over their mean: one table of different rows in a thousand exceeds it

Ints = NDArray[np.int64]


def row_groups(batch: RawBatch) -> NDArray[np.uint8]:
    """The group (n,) of every row, by its content alone."""
    marks = row_marks(replace(batch, numeric=one_form(batch.numeric)))
    return (marks >> np.uint64(60)).astype(np.uint8)


def crowded_states(rows: Sequence[int]) -> tuple[int, ...]:
    """Label states with too many ``rows`` (3,) to be kept one by one.

    >>> crowded_states([1_000_000, 50, 0])
    (0,)
    """
    return tuple(state for state, count in enumerate(rows) if count > FEW)


@dataclass(frozen=True)
class GroupedCounts:
    """Per crowded label state and group: ``sums`` (S, G, L - D), or of pairs (S, G, L - D, L - D), without each
    feature's first level, and ``rows`` (S, G). Of other states the rows: ``codes`` (D, m) with their ``label`` (m,)."""

    sums: Ints
    rows: Ints
    codes: NDArray[np.uint8]
    label: NDArray[np.uint8]

    def merge(self, other: GroupedCounts) -> GroupedCounts:
        codes = np.concatenate([self.codes, other.codes], axis=1)
        label = np.concatenate([self.label, other.label])
        return GroupedCounts(self.sums + other.sums, self.rows + other.rows, codes, label)


@dataclass(frozen=True)
class GroupKernel:
    """Counts of the ``crowded`` label states by group, of ``pairs`` or of each feature; rows of the others as they
    are."""

    layout: Layout
    crowded: tuple[int, ...]
    pairs: bool

    def start(self) -> GroupedCounts:
        levels = self.layout.total - self.layout.features
        shape = (len(self.crowded), GROUPS, *([levels, levels] if self.pairs else [levels]))
        rows = np.zeros((len(self.crowded), GROUPS), np.int64)
        none = np.zeros((self.layout.features, 0), np.uint8), np.zeros(0, np.uint8)
        return GroupedCounts(np.zeros(shape, np.int64), rows, *none)

    def add(self, state: GroupedCounts, block: Block) -> GroupedCounts:
        for place, label in enumerate(self.crowded):
            self._count(state.sums[place], state.rows[place], block, np.flatnonzero(block.label == label))
        own = np.flatnonzero(~np.isin(block.label, self.crowded))
        codes = np.concatenate([state.codes, block.codes[:, own]], axis=1)
        return replace(state, codes=codes, label=np.concatenate([state.label, block.label[own]]))

    def take(self, sums: Ints, codes: NDArray[np.uint8]) -> None:
        """Add rows of codes (D, n) to their sums."""
        for first in range(0, codes.shape[1], ROWS):
            hot = one_hot(codes[:, first : first + ROWS], self.layout, skip=1)
            if self.pairs:
                add_products(sums, hot)
            else:
                sums += hot.sum(axis=1).astype(np.int64)

    def nothing(self) -> Ints:
        """The counts of no rows."""
        return np.zeros((self.layout.total,) * (2 if self.pairs else 1), np.int64)

    def filled(self, sums: Ints, rows: int) -> Ints:
        """The sums of so many rows with those at the first levels."""
        if self.pairs:
            return all_pairs(sums, rows, self.layout)
        return with_first_levels(sums[:, None], np.array([rows]), self.layout)[:, 0]

    def _count(self, sums: Ints, rows: Ints, block: Block, own: NDArray[np.intp]) -> None:
        """Add the rows ``own`` (n,) of a block to the sums of each group."""
        if block.group is None:
            raise ValueError("the rows were packed without their groups")
        own = own[np.argsort(block.group[own], kind="stable")]
        codes, count = block.codes[:, own], np.bincount(block.group[own], minlength=GROUPS)
        ends = np.cumsum(count)
        for group in np.flatnonzero(count):
            self.take(sums[group], codes[:, ends[group] - count[group] : ends[group]])
        rows += count


def group_bytes(kernel: GroupKernel) -> int:
    """Size of the counts per group."""
    levels = kernel.layout.total - kernel.layout.features
    cells: int = levels ** (2 if kernel.pairs else 1)
    return len(kernel.crowded) * GROUPS * cells * 8


@dataclass(frozen=True)
class Half:
    """Half of the rows of each label state: label x level (3, L), or x level of every pair (3, L, L); ``rows`` (3,)."""

    counts: Ints
    rows: Ints


class HalfSamples:
    """What a pass with a ``GroupKernel`` came to."""

    def __init__(self, kernel: GroupKernel, state: GroupedCounts) -> None:
        order = np.lexsort([*state.codes, state.label])  # rows come in any order, and leave in one
        self._kernel = kernel
        self._state = replace(state, codes=state.codes[:, order], label=state.label[order])

    @property
    def even(self) -> bool:
        """Whether groups differ in size by no more than single rows dealt at random would make them."""
        mean = self._state.rows.mean(axis=1, keepdims=True)
        spread = ((self._state.rows - mean) ** 2).sum(axis=1) / (GROUPS - 1)
        return bool((spread <= UNEVEN * mean[:, 0]).all())

    def whole(self) -> Ints:
        """Counts of all rows."""
        everything = {label: np.flatnonzero(self._state.label == label) for label in range(LABEL_STATES)}
        return self._part(dict.fromkeys(self._kernel.crowded, np.arange(GROUPS)), everything).counts

    def half(self, rng: np.random.Generator) -> Half:
        """Half of the groups, and half of the single rows of each label state, rounded up."""
        groups = {label: rng.permutation(GROUPS)[: GROUPS // 2] for label in self._kernel.crowded}
        own = {label: np.flatnonzero(self._state.label == label) for label in range(LABEL_STATES)}
        return self._part(groups, {label: rng.permutation(rows)[: -(-len(rows) // 2)] for label, rows in own.items()})

    def _part(self, groups: dict[int, NDArray[np.intp]], single: dict[int, NDArray[np.intp]]) -> Half:
        """Counts of some groups of the crowded label states, and of some single rows of the others."""
        kernel, state = self._kernel, self._state
        counts, rows = [], []
        for label in range(LABEL_STATES):
            if label in groups:
                place, picked = kernel.crowded.index(label), groups[label]
                sums, count = state.sums[place, picked].sum(axis=0), int(state.rows[place, picked].sum())
            else:
                sums, count = np.zeros(state.sums.shape[2:], np.int64), len(single[label])
                kernel.take(sums, state.codes[:, single[label]])
            counts.append(kernel.filled(sums, count) if count else kernel.nothing())
            rows.append(count)
        return Half(np.stack(counts), np.array(rows))
