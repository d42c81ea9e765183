"""What is kept of a partition: its profile and how its rows fall into levels, by label and in pairs."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from spark_pufs.core.counting.counts import CountTable, LabelKernel, PairKernel
from spark_pufs.core.counting.profile import ProfileKernel, ProfileState
from spark_pufs.core.schema import label_states
from spark_pufs.engines.base import Packer
from spark_pufs.types import UNLABELLED, LabelRule, RawBatch

__all__ = ["PackedCounts", "PartitionKernel", "PartitionState", "packed", "unpacked"]


@dataclass(frozen=True)
class PartitionState:
    """``profile`` without its sample; ``counts`` (3, L, L) of pairs, or (3, L) where these would be too many."""

    profile: ProfileState
    counts: CountTable

    @property
    def labels(self) -> NDArray[np.int64]:
        """Label x level, (3, L)."""
        counts = self.counts.counts
        return np.diagonal(counts, axis1=1, axis2=2) if counts.ndim == 3 else counts

    def merge(self, other: PartitionState) -> PartitionState:
        return PartitionState(self.profile.merge(other.profile), self.counts.merge(other.counts))


@dataclass(frozen=True)
class PartitionKernel:
    """Profile and counts in one pass, by cut points that are known.

    A label value that the rule does not name counts as unlabelled; the profile tells it, and who reads it refuses it.
    """

    profile: ProfileKernel
    packer: Packer
    counts: PairKernel | LabelKernel
    rule: LabelRule

    def start(self) -> PartitionState:
        return PartitionState(self.profile.start(), self.counts.start())

    def add(self, state: PartitionState, batch: RawBatch) -> PartitionState:
        if not batch.rows:
            return state
        known, _ = label_states(dict.fromkeys(batch.label.values, 0), self.rule)
        states = {value: known.get(value, UNLABELLED) for value in batch.label.values}
        block = replace(self.packer, states=states).pack(batch)
        return PartitionState(self.profile.add(state.profile, batch), self.counts.add(state.counts, block))


@dataclass(frozen=True)
class PackedCounts:
    """A partition as it is stored: of pairs one half, since they are symmetric, in as few bytes as hold the largest."""

    profile: ProfileState
    levels: int
    pairs: bool
    counts: NDArray[np.unsignedinteger]


def packed(state: PartitionState) -> PackedCounts:
    """In its stored form.

    >>> from spark_pufs.core.counting.profile import ProfileKernel
    >>> pairs = CountTable(np.array([[[3, 1], [1, 300]]]))
    >>> packed(PartitionState(ProfileKernel(0, 0).start(), pairs)).counts
    array([[  3,   1, 300]], dtype=uint16)
    """
    counts = state.counts.counts
    pairs, levels = counts.ndim == 3, counts.shape[-1]
    flat = counts[:, *np.triu_indices(levels)] if pairs else counts
    kind = np.min_scalar_type(int(flat.max(initial=0)))
    return PackedCounts(state.profile, levels, pairs, flat.astype(kind))


def unpacked(stored: PackedCounts) -> PartitionState:
    """What ``packed`` was given."""
    if not stored.pairs:
        return PartitionState(stored.profile, CountTable(stored.counts.astype(np.int64)))
    counts = np.zeros((len(stored.counts), stored.levels, stored.levels), np.int64)
    rows, columns = np.triu_indices(stored.levels)
    counts[:, rows, columns] = stored.counts
    counts[:, columns, rows] = stored.counts
    return PartitionState(stored.profile, CountTable(counts))
