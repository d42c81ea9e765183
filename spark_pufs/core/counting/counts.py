"""Contingency counts over packed blocks: one-hot matrix products whose sums are integers.

Every table has the label axis first (unlabelled, labelled positive, labelled negative), so that each surrogate of the
class is a sum along it, taken after the counting.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from spark_pufs.types import LABEL_STATES, LABELLED_NEGATIVE, LABELLED_POSITIVE, UNLABELLED, Block, Layout

__all__ = [
    "CountTable",
    "FeatureKernel",
    "LabelKernel",
    "PairKernel",
    "SetKernel",
    "SetTable",
    "SubsetKernel",
    "add_products",
    "all_pairs",
    "level_sums",
    "one_hot",
    "pair_bytes",
    "pair_sums",
    "with_first_levels",
]

SHIFT, PACKED = 12, 4096
ROWS = PACKED - 1  # multiplied at a time
LEAF = 200  # levels that are multiplied without packing
CHUNK = 64  # features whose one-hot rows are in memory at once where not all are needed


def one_hot(codes: NDArray[np.uint8], layout: Layout, skip: int = 0) -> NDArray[np.float32]:
    """Indicators (L, n) of codes (D, n), without the first ``skip`` levels of each feature; float32 so that counting is
    a BLAS product, exact below 2^24 rows.

    >>> one_hot(np.array([[0, 1], [2, 0]], np.uint8), Layout((2, 3))).astype(int).tolist()
    [[1, 0], [0, 1], [0, 1], [0, 0], [1, 0]]
    >>> one_hot(np.array([[0, 1], [2, 0]], np.uint8), Layout((2, 3)), skip=1).astype(int).tolist()
    [[0, 1], [0, 0], [1, 0]]
    """
    levels = np.maximum(np.array(layout.levels, np.int64) - skip, 0)
    first = np.cumsum(levels) - levels
    hot = np.empty((int(levels.sum()), codes.shape[1]), np.float32)
    for level in range(max(levels, default=0)):  # a call per level, not per feature: wide blocks have few rows
        own = levels > level
        hot[first[own] + level] = (codes if own.all() else codes[own]) == level + skip
    return hot


def level_sums(groups: NDArray[np.float32], codes: NDArray[np.uint8], layout: Layout) -> NDArray[np.int64]:
    """Rows of each group (G, n) at every level of codes (D, n): (G, L).

    >>> groups, codes = np.array([[1, 1], [0, 1]], np.float32), np.array([[0, 1], [2, 0]], np.uint8)
    >>> level_sums(groups, codes, Layout((2, 3))).tolist()
    [[1, 1, 1, 0, 1], [0, 1, 1, 0, 0]]
    """
    sums, total = np.empty((layout.total, len(groups)), np.int64), groups.sum(axis=1).astype(np.int64)
    for first in range(0, layout.features, CHUNK):
        part = Layout(layout.levels[first : first + CHUNK])
        start = int(layout.offsets[first])
        product = one_hot(codes[first : first + CHUNK], part, skip=1) @ groups.T
        sums[start : start + part.total] = with_first_levels(product.astype(np.int64), total, part)
    return sums.T


def pair_sums(codes: NDArray[np.uint8], layout: Layout) -> NDArray[np.int64]:
    """Rows of codes (D, n) at every pair of levels: (L, L).

    >>> pair_sums(np.array([[0, 1, 1], [2, 0, 2]], np.uint8), Layout((2, 3))).tolist()
    [[1, 0, 0, 0, 1], [0, 2, 1, 0, 1], [0, 1, 1, 0, 0], [0, 0, 0, 0, 0], [1, 1, 0, 0, 2]]
    """
    product = np.zeros(2 * [layout.total - layout.features], np.int64)
    for first in range(0, codes.shape[1], ROWS):
        add_products(product, one_hot(codes[:, first : first + ROWS], layout, skip=1))
    return all_pairs(product, codes.shape[1], layout)


def add_products(sums: NDArray[np.int64], hot: NDArray[np.float32]) -> None:
    """Add the rows at every pair of levels of indicators (L, n) to sums (L, L), above the diagonal; n is below 4096.

    A float32 holds 24 bits: two counts of 12 bits each come out of one product of one half of the levels plus 4096
    times the other. So the upper half of the levels is paired with all, and the lower one is cut into halves again.

    >>> sums = np.zeros((2, 2), np.int64)
    >>> add_products(sums, np.array([[1, 0, 1], [0, 1, 1]], np.float32))
    >>> sums.tolist()
    [[2, 1], [1, 2]]
    """
    levels = len(hot)
    if levels <= LEAF:
        sums += (hot @ hot.T).astype(np.int64)  # numpy sees a matrix times its own transpose: half the work
        return
    half = -(-levels // 2)
    packed = hot[levels - half :] * np.float32(PACKED)
    packed += hot[:half]
    both = (packed @ hot[half:].T).astype(np.int32)
    sums[:half, half:] += both & (PACKED - 1)
    # Of an odd number of levels the middle one is in both halves, and is counted with the lower one.
    sums[half:, half:] += (both >> SHIFT)[2 * half - levels :]
    add_products(sums[:half, :half], hot[:half])


def all_pairs(product: NDArray[np.int64], rows: int, layout: Layout) -> NDArray[np.int64]:
    """Sums (L, L) at every pair of levels, from those without the first level of each feature (L - D, L - D),
    of which what is below the diagonal is not looked at."""
    product = np.triu(product) + np.triu(product, 1).T
    alone = np.diagonal(product)
    every = with_first_levels(alone[:, None], np.array([rows]), layout)[:, 0]
    return with_first_levels(with_first_levels(product, alone, layout).T, every, layout)


def with_first_levels(sums: NDArray[np.int64], total: NDArray[np.int64], layout: Layout) -> NDArray[np.int64]:
    """Sums (L, m) over rows at every level, from those at all but the first level of each feature (L - D, m).

    Rows at the first level are what is left of ``total`` (m,). Of five levels to a feature, it takes a third off a
    product of all pairs not to count them.
    """
    ends = np.cumsum(np.array(layout.levels) - 1)
    added = np.vstack([np.zeros((1, sums.shape[1]), np.int64), np.cumsum(sums, axis=0)])
    first = layout.offsets[:-1]
    filled = np.empty((layout.total, sums.shape[1]), np.int64)
    filled[np.delete(np.arange(layout.total), first)] = sums
    filled[first] = total - np.diff(added[np.append(0, ends)], axis=0)
    return filled


def pair_bytes(layout: Layout, states: int = LABEL_STATES) -> int:
    """Size of the table of all pairs."""
    return states * layout.total**2 * 8


@dataclass(frozen=True)
class CountTable:
    """Rows per cell."""

    counts: NDArray[np.int64]

    def merge(self, other: CountTable) -> CountTable:
        return CountTable(self.counts + other.counts)


@dataclass(frozen=True)
class LabelKernel:
    """Label x level: counts (3, L)."""

    states: ClassVar[int] = LABEL_STATES
    layout: Layout

    def start(self) -> CountTable:
        return CountTable(np.zeros((self.states, self.layout.total), np.int64))

    def add(self, state: CountTable, block: Block) -> CountTable:
        for feature, column in enumerate(block.codes):
            state.counts[:, self.layout.span(feature)] += _cross(
                block.label, column, LABEL_STATES, self.layout.levels[feature]
            )
        return state


@dataclass(frozen=True)
class PairKernel:
    """Label x level x level, all pairs at once: counts (3, L, L)."""

    states: ClassVar[int] = LABEL_STATES
    layout: Layout

    def start(self) -> CountTable:
        return CountTable(np.zeros((self.states, self.layout.total, self.layout.total), np.int64))

    def add(self, state: CountTable, block: Block) -> CountTable:
        counts = state.counts
        counts[UNLABELLED] += pair_sums(block.codes, self.layout)
        for state_of_label in (LABELLED_POSITIVE, LABELLED_NEGATIVE):  # few rows, counted once more and moved over
            rows = np.flatnonzero(block.label == state_of_label)
            if len(rows):
                sums = pair_sums(block.codes[:, rows], self.layout)
                counts[state_of_label] += sums
                counts[UNLABELLED] -= sums
        return state


@dataclass(frozen=True)
class SubsetKernel:
    """Label x level x level of the pairs among a few ``features``: counts (3, l, l)."""

    layout: Layout  # of these features alone
    features: tuple[int, ...]

    def start(self) -> CountTable:
        return PairKernel(self.layout).start()

    def add(self, state: CountTable, block: Block) -> CountTable:
        return PairKernel(self.layout).add(state, Block(block.codes[list(self.features)], block.label))


@dataclass(frozen=True)
class FeatureKernel:
    """Label x level of some ``features``, one after the other, x level of every feature: counts (3, l, L)."""

    states: ClassVar[int] = LABEL_STATES
    layout: Layout
    features: tuple[int, ...]

    @property
    def part(self) -> Layout:
        """Where the levels of ``features`` lie on the second axis."""
        return Layout(tuple(self.layout.levels[feature] for feature in self.features))

    def start(self) -> CountTable:
        return CountTable(np.zeros((self.states, self.part.total, self.layout.total), np.int64))

    def add(self, state: CountTable, block: Block) -> CountTable:
        groups = one_hot(block.codes[list(self.features)], self.part)
        counts = state.counts
        counts[UNLABELLED] += level_sums(groups, block.codes, self.layout)
        for state_of_label in (LABELLED_POSITIVE, LABELLED_NEGATIVE):  # few rows, counted once more and moved over
            own = block.label == state_of_label
            if own.any():
                sums = level_sums(np.ascontiguousarray(groups[:, own]), block.codes[:, own], self.layout)
                counts[state_of_label] += sums
                counts[UNLABELLED] -= sums
        return state


@dataclass(frozen=True)
class SetTable:
    """Rows (U, L) at every level of every feature, by ``keys`` (U,) sorted."""

    keys: NDArray[np.int64]
    counts: NDArray[np.int64]

    def merge(self, other: SetTable) -> SetTable:
        keys, position = np.unique(np.concatenate([self.keys, other.keys]), return_inverse=True)
        counts = np.zeros((len(keys), self.counts.shape[1]), np.int64)
        np.add.at(counts, position, np.concatenate([self.counts, other.counts]))
        return SetTable(keys, counts)


@dataclass(frozen=True)
class SetKernel:
    """Configuration of a set of features x label x level of every feature, only where rows are.

    A key is configuration * 3 + label state, in mixed radix.
    """

    layout: Layout
    given: tuple[int, ...]

    def start(self) -> SetTable:
        return SetTable(np.zeros(0, np.int64), np.zeros((0, self.layout.total), np.int64))

    def add(self, state: SetTable, block: Block) -> SetTable:
        if not len(block.label):
            return state
        keys, position = np.unique(self._keys(block), return_inverse=True)
        counts = np.empty((len(keys), self.layout.total), np.int64)
        for feature, column in enumerate(block.codes):
            counts[:, self.layout.span(feature)] = _cross(position, column, len(keys), self.layout.levels[feature])
        return state.merge(SetTable(keys, counts))

    def _keys(self, block: Block) -> NDArray[np.int64]:
        key = np.zeros(len(block.label), np.int64)
        for feature in self.given:
            key = key * self.layout.levels[feature] + block.codes[feature]
        return key * LABEL_STATES + block.label


def _cross(rows: NDArray[np.integer], columns: NDArray[np.integer], height: int, width: int) -> NDArray[np.int64]:
    """Joint counts (height, width) of two code vectors."""
    joint = rows.astype(np.int64) * width + columns
    return np.bincount(joint, minlength=height * width).reshape(height, width)
