"""A bounded sample of rows that does not depend on how the table is partitioned.

Labelled rows are all kept, unless they alone would overfill the sample. Other rows are kept when a hash of their
content falls below a threshold, so the same rows are drawn wherever they lie. Equal rows share a hash and come or stay
away together, which would be a gamble for a row that makes up much of the table; such heavy rows are found by counting
and are always kept. Equal rows are one row of the sample with a weight.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spark_pufs.core.counting.bins import code_text
from spark_pufs.core.counting.counts import CountTable
from spark_pufs.core.counting.hashing import row_hashes
from spark_pufs.types import LABELLED_POSITIVE, Bins, RawBatch

__all__ = [
    "FirstSample",
    "FirstSampleKernel",
    "HashCellKernel",
    "HashCounts",
    "HeavyKernel",
    "LabelledRows",
    "RowSample",
    "SampleKernel",
    "SampledRows",
    "Wanted",
    "heavy_hashes",
    "label_codes",
    "read_sample",
    "spread",
]

CELLS_BITS = 18
ALL = 2**64 - 1


def label_codes(batch: RawBatch, states: Mapping[str, int]) -> NDArray[np.uint8]:
    """The label state (n,) of every row."""
    lookup = np.array([states[value] for value in batch.label.values] + [0], np.uint8)
    codes: NDArray[np.uint8] = lookup[batch.label.codes]  # -1, null, picks the last entry: unlabelled
    return codes


@dataclass(frozen=True)
class Wanted:
    """Which columns of a batch are read, what its labels mean, and the seed of the hashes.

    Text columns come after the numeric ones, each as the code of its category.
    """

    columns: tuple[int, ...]
    states: Mapping[str, int]
    seed: int
    text: tuple[tuple[int, Bins], ...] = ()

    @property
    def width(self) -> int:
        return len(self.columns) + len(self.text)

    def read(self, batch: RawBatch) -> tuple[NDArray[np.float64], NDArray[np.uint8], NDArray[np.uint64]]:
        """Values (n, D), label states (n,) and row hashes (n,)."""
        X = batch.numeric[:, list(self.columns)]
        if self.text:
            X = np.column_stack([X, *(code_text(batch.text[column], bins) for column, bins in self.text)])
        labels = label_codes(batch, self.states)
        return X, labels, row_hashes(X, labels, self.seed)


@dataclass(frozen=True)
class HashCellKernel:
    """Rows that are not labelled positive, by the leading bits of their hash: cells (2^18,)."""

    wanted: Wanted

    def start(self) -> CountTable:
        return CountTable(np.zeros(1 << CELLS_BITS, np.int64))

    def add(self, state: CountTable, batch: RawBatch) -> CountTable:
        return self.take(state, *self.wanted.read(batch)[1:])

    def take(self, state: CountTable, labels: NDArray[np.uint8], hashes: NDArray[np.uint64]) -> CountTable:
        """The state with rows of these label states (n,) and hashes (n,)."""
        cells = state.counts
        cells += np.bincount(_cell(hashes[labels != LABELLED_POSITIVE]), minlength=len(cells))
        return state


@dataclass(frozen=True)
class HashCounts:
    """Rows per ``hash`` (U,) sorted."""

    hash: NDArray[np.uint64]
    count: NDArray[np.int64]

    def merge(self, other: HashCounts) -> HashCounts:
        hashes, position = np.unique(np.concatenate([self.hash, other.hash]), return_inverse=True)
        count = np.zeros(len(hashes), np.int64)
        np.add.at(count, position, np.concatenate([self.count, other.count]))
        return HashCounts(hashes, count)


@dataclass(frozen=True)
class HeavyKernel:
    """Rows that are not labelled positive, per hash, in ``crowded`` cells of ``HashCellKernel``."""

    wanted: Wanted
    crowded: NDArray[np.int64]

    def start(self) -> HashCounts:
        return HashCounts(np.zeros(0, np.uint64), np.zeros(0, np.int64))

    def add(self, state: HashCounts, batch: RawBatch) -> HashCounts:
        _, labels, hashes = self.wanted.read(batch)
        hashes = hashes[labels != LABELLED_POSITIVE]
        return state.merge(HashCounts(*np.unique(hashes[np.isin(_cell(hashes), self.crowded)], return_counts=True)))


def _cell(hashes: NDArray[np.uint64]) -> NDArray[np.int64]:
    return (hashes >> np.uint64(64 - CELLS_BITS)).astype(np.int64)


def heavy_hashes(state: HashCounts, least: float) -> NDArray[np.uint64]:
    """Hashes of rows that occur at least ``least`` times."""
    return state.hash[state.count >= least]


@dataclass(frozen=True)
class SampledRows:
    """Different rows (U, D) in order of their ``hash`` (U,), their label states (U,), and how often each occurs."""

    hash: NDArray[np.uint64]
    rows: NDArray[np.float64]
    label: NDArray[np.uint8]
    count: NDArray[np.int64]

    def merge(self, other: SampledRows) -> SampledRows:
        both = np.concatenate([self.hash, other.hash])
        hashes, first, position = np.unique(both, return_index=True, return_inverse=True)
        count = np.zeros(len(hashes), np.int64)
        np.add.at(count, position, np.concatenate([self.count, other.count]))
        rows, label = np.concatenate([self.rows, other.rows]), np.concatenate([self.label, other.label])
        return SampledRows(hashes, rows[first], label[first], count)


@dataclass(frozen=True)
class SampleKernel:
    """Labelled rows, heavy rows, and rows with a hash up to ``threshold``; state in order of hashes.

    ``labelled`` is the threshold of labelled rows, all of them by default.
    """

    wanted: Wanted
    threshold: int
    heavy: NDArray[np.uint64]
    labelled: int = ALL

    def start(self) -> SampledRows:
        empty = np.zeros((0, self.wanted.width))
        return SampledRows(np.zeros(0, np.uint64), empty, np.zeros(0, np.uint8), np.zeros(0, np.int64))

    def add(self, state: SampledRows, batch: RawBatch) -> SampledRows:
        return self.take(state, *self.wanted.read(batch))

    def take(
        self, state: SampledRows, X: NDArray[np.float64], labels: NDArray[np.uint8], hashes: NDArray[np.uint64]
    ) -> SampledRows:
        """The state with rows X (n, D), of which few are kept."""
        limit = np.where(labels == LABELLED_POSITIVE, np.uint64(self.labelled), np.uint64(self.threshold))
        keep = (hashes <= limit) | np.isin(hashes, self.heavy)
        rows = np.ascontiguousarray(X[keep])  # what is computed from a sample must not hang on the layout of batches
        return state.merge(SampledRows(hashes[keep], rows, labels[keep], np.ones(int(keep.sum()), np.int64)))


@dataclass(frozen=True)
class FirstSample:
    """A sample, and rows by the leading bits of their hash."""

    sample: SampledRows
    cells: CountTable

    def merge(self, other: FirstSample) -> FirstSample:
        return FirstSample(self.sample.merge(other.sample), self.cells.merge(other.cells))


@dataclass(frozen=True)
class FirstSampleKernel:
    """The sample without regard to heavy rows, and what tells whether there are any: one pass where there are none."""

    sample: SampleKernel

    @property
    def _cells(self) -> HashCellKernel:
        return HashCellKernel(self.sample.wanted)

    def start(self) -> FirstSample:
        return FirstSample(self.sample.start(), self._cells.start())

    def add(self, state: FirstSample, batch: RawBatch) -> FirstSample:
        X, labels, hashes = self.sample.wanted.read(batch)
        sample = self.sample.take(state.sample, X, labels, hashes)
        return FirstSample(sample, self._cells.take(state.cells, labels, hashes))


@dataclass(frozen=True)
class LabelledRows:
    """Rows without weights: X (n, D) and ``label`` (n,) states."""

    X: NDArray[np.float64]
    label: NDArray[np.uint8]


@dataclass(frozen=True)
class RowSample:
    """X (n, D) float64 as in the table, ``label`` (n,) states, ``weight`` (n,): rows of the table it stands for."""

    X: NDArray[np.float64]
    label: NDArray[np.uint8]
    weight: NDArray[np.float64]

    @property
    def labelled(self) -> NDArray[np.bool_]:
        """Rows (n,) labelled positive."""
        positive: NDArray[np.bool_] = self.label == LABELLED_POSITIVE
        return positive


def read_sample(kernel: SampleKernel, state: SampledRows, labelled: int, others: int) -> RowSample:
    """The sample, with weights scaled so that labelled rows sum to ``labelled`` and the others to ``others``."""
    positive = state.label == LABELLED_POSITIVE
    weight = state.count.astype(np.float64)
    drawn = ~positive & ~np.isin(state.hash, kernel.heavy)
    certain = weight[~positive & ~drawn].sum()
    for rows, total in ((drawn, others - certain), (positive, labelled)):
        if rows.any():
            weight[rows] *= total / weight[rows].sum()
    return RowSample(state.rows, state.label, weight)


def spread(sample: RowSample, most: int) -> NDArray[np.intp]:
    """Rows of the sample, at most ``most``, that stand for the table without weights: a row of weight w comes w times.

    Where they are too many, rows are taken at even steps through the cumulated weights, labelled positives first to
    at most half of the room.

    >>> spread(RowSample(np.zeros((3, 1)), np.array([1, 0, 0], np.uint8), np.array([1.0, 2, 1])), 10).tolist()
    [0, 1, 1, 2]
    >>> spread(RowSample(np.zeros((3, 1)), np.array([1, 0, 0], np.uint8), np.array([1.0, 6, 2])), 5).tolist()
    [0, 1, 1, 1, 2]
    """
    positive, other = np.flatnonzero(sample.labelled), np.flatnonzero(~sample.labelled)
    known, rest = sample.weight[positive].sum(), sample.weight[other].sum()
    room = min(round(known), max(most // 2, most - round(rest)))
    picked = [
        _even_steps(positive, sample.weight, room),
        _even_steps(other, sample.weight, min(round(rest), most - room)),
    ]
    return np.sort(np.concatenate(picked))


def _even_steps(rows: NDArray[np.intp], weight: NDArray[np.float64], count: int) -> NDArray[np.intp]:
    if not len(rows) or count < 1:
        return rows[:0]
    ends = np.cumsum(weight[rows])
    steps = (np.arange(count) + 0.5) * ends[-1] / count
    picked: NDArray[np.intp] = rows[np.searchsorted(ends, steps)]
    return picked
