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
from spark_pufs.core.counting.hashing import row_hashes
from spark_pufs.core.counting.kernel import State
from spark_pufs.types import LABELLED_POSITIVE, Bins, RawBatch

__all__ = [
    "FirstSampleKernel",
    "HeavyKernel",
    "RowSample",
    "SampleKernel",
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
class HeavyKernel:
    """Rows per hash: first by its leading bits, cells (2^18,); then, given ``crowded`` cells, exactly."""

    wanted: Wanted
    crowded: NDArray[np.int64] | None = None

    def start(self) -> State:
        if self.crowded is None:
            return {"cells": np.zeros(1 << CELLS_BITS, np.int64)}
        return {"hash": np.zeros(0, np.uint64), "count": np.zeros(0, np.int64)}

    def add(self, state: State, batch: RawBatch) -> State:
        return self.take(state, *self.wanted.read(batch)[1:])

    def take(self, state: State, labels: NDArray[np.uint8], hashes: NDArray[np.uint64]) -> State:
        """The state with rows of these label states (n,) and hashes (n,)."""
        hashes = hashes[labels != LABELLED_POSITIVE]
        cell = (hashes >> np.uint64(64 - CELLS_BITS)).astype(np.int64)
        if self.crowded is None:
            state["cells"] += np.bincount(cell, minlength=1 << CELLS_BITS)
            return state
        inside, count = np.unique(hashes[np.isin(cell, self.crowded)], return_counts=True)
        return self.merge(state, {"hash": inside, "count": count})

    def merge(self, left: State, right: State) -> State:
        if self.crowded is None:
            return {"cells": left["cells"] + right["cells"]}
        hashes, position = np.unique(np.concatenate([left["hash"], right["hash"]]), return_inverse=True)
        count = np.zeros(len(hashes), np.int64)
        np.add.at(count, position, np.concatenate([left["count"], right["count"]]))
        return {"hash": hashes, "count": count}


def heavy_hashes(state: State, least: float) -> NDArray[np.uint64]:
    """Hashes of rows that occur at least ``least`` times, from a state of exact counts."""
    heavy: NDArray[np.uint64] = state["hash"][state["count"] >= least]
    return heavy


@dataclass(frozen=True)
class SampleKernel:
    """Labelled rows, heavy rows, and rows with a hash up to ``threshold``; state in order of hashes.

    ``labelled`` is the threshold of labelled rows, all of them by default.
    """

    wanted: Wanted
    threshold: int
    heavy: NDArray[np.uint64]
    labelled: int = ALL

    def start(self) -> State:
        return {
            "hash": np.zeros(0, np.uint64),
            "rows": np.zeros((0, self.wanted.width)),
            "label": np.zeros(0, np.uint8),
            "count": np.zeros(0, np.int64),
        }

    def add(self, state: State, batch: RawBatch) -> State:
        return self.take(state, *self.wanted.read(batch))

    def take(
        self, state: State, X: NDArray[np.float64], labels: NDArray[np.uint8], hashes: NDArray[np.uint64]
    ) -> State:
        """The state with rows X (n, D), of which few are kept."""
        limit = np.where(labels == LABELLED_POSITIVE, np.uint64(self.labelled), np.uint64(self.threshold))
        keep = (hashes <= limit) | np.isin(hashes, self.heavy)
        rows = np.ascontiguousarray(X[keep])  # what is computed from a sample must not hang on the layout of batches
        kept = {"hash": hashes[keep], "rows": rows, "label": labels[keep], "count": np.ones(keep.sum(), np.int64)}
        return self.merge(state, kept)

    def merge(self, left: State, right: State) -> State:
        both = {name: np.concatenate([left[name], right[name]]) for name in ("hash", "rows", "label", "count")}
        hashes, first, position = np.unique(both["hash"], return_index=True, return_inverse=True)
        count = np.zeros(len(hashes), np.int64)
        np.add.at(count, position, both["count"])
        return {"hash": hashes, "rows": both["rows"][first], "label": both["label"][first], "count": count}


@dataclass(frozen=True)
class FirstSampleKernel:
    """The sample without regard to heavy rows, and what tells whether there are any: one pass where there are none."""

    sample: SampleKernel

    @property
    def _heavy(self) -> HeavyKernel:
        return HeavyKernel(self.sample.wanted)

    def start(self) -> State:
        return {**self.sample.start(), **self._heavy.start()}

    def add(self, state: State, batch: RawBatch) -> State:
        X, labels, hashes = self.sample.wanted.read(batch)
        return {
            **self.sample.take(state, X, labels, hashes),
            **self._heavy.take({"cells": state["cells"]}, labels, hashes),
        }

    def merge(self, left: State, right: State) -> State:
        return {**self.sample.merge(left, right), **self._heavy.merge(left, right)}


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


def read_sample(kernel: SampleKernel, state: State, labelled: int, others: int) -> RowSample:
    """The sample, with weights scaled so that labelled rows sum to ``labelled`` and the others to ``others``."""
    positive = state["label"] == LABELLED_POSITIVE
    weight = state["count"].astype(np.float64)
    drawn = ~positive & ~np.isin(state["hash"], kernel.heavy)
    certain = weight[~positive & ~drawn].sum()
    for rows, total in ((drawn, others - certain), (positive, labelled)):
        if rows.any():
            weight[rows] *= total / weight[rows].sum()
    return RowSample(state["rows"], state["label"], weight)


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
