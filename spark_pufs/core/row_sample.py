"""A bounded sample of rows that does not depend on how the table is partitioned.

All labelled rows are kept. Unlabelled rows are kept when a hash of their content falls below a threshold, so the same
rows are drawn wherever they lie. Equal rows share a hash and come or stay away together, which would be a gamble for a
row that makes up much of the table; such heavy rows are found by counting and are always kept. Equal rows are one row
of the sample with a weight.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spark_pufs.core.hashing import row_hashes
from spark_pufs.core.kernel import State
from spark_pufs.types import LABELLED_POSITIVE, RawBatch

__all__ = ["HeavyKernel", "RowSample", "SampleKernel", "Wanted", "heavy_hashes", "label_codes", "read_sample"]

CELLS_BITS = 18
ALL = 2**64 - 1


def label_codes(batch: RawBatch, states: Mapping[str, int]) -> NDArray[np.uint8]:
    """The label state (n,) of every row."""
    lookup = np.array([states[value] for value in batch.label.values] + [0], np.uint8)
    codes: NDArray[np.uint8] = lookup[batch.label.codes]  # -1, null, picks the last entry: unlabelled
    return codes


@dataclass(frozen=True)
class Wanted:
    """Which columns of a batch are read, what its labels mean, and the seed of the hashes."""

    columns: tuple[int, ...]
    states: Mapping[str, int]
    seed: int

    def read(self, batch: RawBatch) -> tuple[NDArray[np.float64], NDArray[np.uint8], NDArray[np.uint64]]:
        """Values (n, D), label states (n,) and row hashes (n,)."""
        X = batch.numeric[:, list(self.columns)]
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
        _, labels, hashes = self.wanted.read(batch)
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
    """Labelled rows, heavy rows, and rows with a hash up to ``threshold``; state in order of hashes."""

    wanted: Wanted
    threshold: int
    heavy: NDArray[np.uint64]

    def start(self) -> State:
        return {
            "hash": np.zeros(0, np.uint64),
            "rows": np.zeros((0, len(self.wanted.columns))),
            "label": np.zeros(0, np.uint8),
            "count": np.zeros(0, np.int64),
        }

    def add(self, state: State, batch: RawBatch) -> State:
        X, labels, hashes = self.wanted.read(batch)
        keep = (labels == LABELLED_POSITIVE) | (hashes <= np.uint64(self.threshold)) | np.isin(hashes, self.heavy)
        kept = {"hash": hashes[keep], "rows": X[keep], "label": labels[keep], "count": np.ones(keep.sum(), np.int64)}
        return self.merge(state, kept)

    def merge(self, left: State, right: State) -> State:
        both = {name: np.concatenate([left[name], right[name]]) for name in ("hash", "rows", "label", "count")}
        hashes, first, position = np.unique(both["hash"], return_index=True, return_inverse=True)
        count = np.zeros(len(hashes), np.int64)
        np.add.at(count, position, both["count"])
        return {"hash": hashes, "rows": both["rows"][first], "label": both["label"][first], "count": count}


@dataclass(frozen=True)
class RowSample:
    """X (n, D) float64 as in the table, ``labelled`` (n,) bool, ``weight`` (n,): rows of the table it stands for."""

    X: NDArray[np.float64]
    labelled: NDArray[np.bool_]
    weight: NDArray[np.float64]


def read_sample(kernel: SampleKernel, state: State, unlabelled: int) -> RowSample:
    """The sample, with the weights of drawn rows scaled so that unlabelled rows sum to ``unlabelled``."""
    labelled = state["label"] == LABELLED_POSITIVE
    weight = state["count"].astype(np.float64)
    drawn = ~labelled & ~np.isin(state["hash"], kernel.heavy)
    certain = weight[~labelled & ~drawn].sum()
    if drawn.any():
        weight[drawn] *= (unlabelled - certain) / weight[drawn].sum()
    return RowSample(state["rows"], labelled, weight)
