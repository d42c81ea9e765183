"""Counts on demand: all pairs in one pass while they fit, else some features to a pass."""

from __future__ import annotations

import logging
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from spark_pufs.core.counting.counts import FeatureKernel, LabelKernel, PairKernel, SetKernel, SubsetKernel, pair_bytes
from spark_pufs.core.counting.grouped_counts import GroupKernel, HalfSamples, group_bytes
from spark_pufs.core.counting.soft_counts import SoftFeatureKernel, SoftLabelKernel, SoftPairKernel
from spark_pufs.engines.base import Blocks
from spark_pufs.types import LABEL_STATES, Layout

__all__ = ["BY_GRADE", "BY_LABEL", "CountKernels", "Countable", "Counter", "SetCounts"]

log = logging.getLogger("spark_pufs")

PASS_LEVELS = 64  # levels of all features that one pass pairs with every feature: a dozen features of five


class Countable(Protocol):
    """Packed rows with the names of their features: a PU table, or a sample that never was a table."""

    @property
    def rows(self) -> int: ...

    @property
    def names(self) -> tuple[str, ...]: ...

    @property
    def layout(self) -> Layout: ...

    @property
    def blocks(self) -> Blocks: ...


@dataclass(frozen=True)
class CountKernels:
    """How rows are counted: each feature by the label, all pairs of features, and pairs with some of them."""

    label: type[LabelKernel]
    pairs: type[PairKernel]
    feature: type[FeatureKernel]


BY_LABEL = CountKernels(LabelKernel, PairKernel, FeatureKernel)
BY_GRADE = CountKernels(SoftLabelKernel, SoftPairKernel, SoftFeatureKernel)  # of blocks with soft labels


@dataclass(frozen=True)
class SetCounts:
    """Counts given a set of features: ``digits`` (C, set) the occupied configurations, ``counts`` (3, C, L)."""

    digits: NDArray[np.int64]
    counts: NDArray[np.int64]


class Counter:
    """What the information-based selectors know of a table; the first axis of counts is the label's S states."""

    def __init__(
        self,
        table: Countable,
        pair_memory_mb: int,
        kernels: CountKernels = BY_LABEL,
        halved: GroupKernel | None = None,
    ) -> None:
        """``halved``: how a pass gathers half-samples too, of a table whose blocks are grouped."""
        self._table = table
        self._kernels = kernels
        self._halved = halved
        self._halves: HalfSamples | None = None
        self._limit = pair_memory_mb * 2**20
        self._pairs: NDArray[np.int64] | None = None
        self._labels: NDArray[np.int64] | None = None
        self._steps: dict[int, NDArray[np.int64]] = {}

    @classmethod
    def of(cls, table: Countable, pair_memory_mb: int, counts: NDArray[np.int64]) -> Counter:
        """One that knows ``counts`` of each feature (3, L), or of all pairs (3, L, L)."""
        counter = cls(table, pair_memory_mb)
        counter._pairs, counter._labels = (counts, None) if counts.ndim > 2 else (None, counts)
        return counter

    @property
    def layout(self) -> Layout:
        return self._table.layout

    def halves(self) -> HalfSamples | None:
        """Half-samples of the rows, where a pass has gathered them and rows are different enough to be dealt out."""
        return self._halves if self._halves is not None and self._halves.even else None

    def labels(self) -> NDArray[np.int64]:
        """Label x level, (S, L)."""
        if self._labels is None:
            if self._pairs is not None:  # the diagonal pairs every level with itself
                self._labels = np.diagonal(self._pairs, axis1=1, axis2=2)
            else:
                self._labels = self._counted(self._kernels.label(self.layout), "label x feature", pairs=False)
        return self._labels

    def expect_pairs(self) -> None:
        """Pairs will be asked for: where all of them fit, one pass serves the labels too."""
        if self.pairs_fit():
            self._all_pairs()

    def with_feature(self, feature: int, ahead: Sequence[int] = ()) -> NDArray[np.int64]:
        """Label x level of ``feature`` x level of every feature, (S, B, L).

        ``ahead``: features that are likely to be asked for next, the likeliest first. A pass that has to be made counts
        some of them too: most of its cost is reading the rows.
        """
        if self.pairs_fit():
            return self._all_pairs()[:, self.layout.span(feature), :]
        if feature not in self._steps:
            self._step((feature, *self._room_for(feature, ahead)))
        return self._steps[feature]

    def _room_for(self, feature: int, ahead: Sequence[int]) -> list[int]:
        """Those of ``ahead`` that are not known yet, while their levels fit a pass."""
        new = [f for f in ahead if f != feature and f not in self._steps]
        levels = self.layout.levels[feature] + np.cumsum([self.layout.levels[f] for f in new])
        return new[: int(np.searchsorted(levels, PASS_LEVELS, side="right"))]

    def _step(self, features: tuple[int, ...]) -> None:
        kernel = self._kernels.feature(self.layout, features)
        others = f" and {len(features) - 1} more" if len(features) > 1 else ""
        what = f"pairs with {self._table.names[features[0]]}{others}"
        counts = self._table.blocks.scan(kernel, what).counts
        for position, feature in enumerate(features):
            self._steps[feature] = counts[:, kernel.part.span(position)]

    def known_pairs(self) -> NDArray[np.int64] | None:
        """Label x level x level of all features, (S, L, L), where a pass has counted them; no pass is made."""
        return self._pairs

    def among(self, features: tuple[int, ...]) -> NDArray[np.int64] | None:
        """Level x level of these features over all rows, (l, l): from counts already made, else by one small pass.

        None where the table would not stay within the byte budget.
        """
        part = Layout(tuple(self.layout.levels[f] for f in features))
        levels = np.concatenate([np.arange(self.layout.total)[self.layout.span(f)] for f in features])
        if self._pairs is not None:
            pairs: NDArray[np.int64] = self._pairs[:, levels[:, None], levels].sum(axis=0)
            return pairs
        if all(f in self._steps for f in features[:-1]):
            return self._from_steps(features, part, levels)
        if pair_bytes(part) > self._limit:
            return None
        kernel = SubsetKernel(part, features)
        counts: NDArray[np.int64] = self._table.blocks.scan(kernel, "pairs of chosen features").counts.sum(axis=0)
        return counts

    def given(self, features: tuple[int, ...]) -> SetCounts:
        """Configurations of ``features`` x label x level of every feature."""
        names = ", ".join(self._table.names[f] for f in features) or "nothing"
        state = self._table.blocks.scan(SetKernel(self.layout, features), f"given {names}")
        configuration, label = np.divmod(state.keys, LABEL_STATES)
        occupied, position = np.unique(configuration, return_inverse=True)
        counts = np.zeros((LABEL_STATES, len(occupied), self.layout.total), np.int64)
        counts[label, position] = state.counts
        return SetCounts(self._digits(occupied, features), counts)

    def set_fits(self, features: tuple[int, ...]) -> bool:
        """Whether counts given these features stay within the byte budget, and their key within 64 bits."""
        configurations = math.prod(self.layout.levels[f] for f in features)
        occupied = min(configurations, self._table.rows)
        size = LABEL_STATES * occupied * self.layout.total * 8
        return size <= max(self._limit, 2**20) and configurations * LABEL_STATES < 2**62

    def pair_bytes(self) -> int:
        """Size of the table of all pairs."""
        return pair_bytes(self.layout, self._kernels.pairs.states)

    def pairs_fit(self) -> bool:
        """Whether the table of all pairs stays within the byte budget."""
        size = self.pair_bytes()
        fit = size <= self._limit
        log.debug("all pairs take %d bytes of %d: %s", size, self._limit, "one pass" if fit else "steps")
        return fit

    def _all_pairs(self) -> NDArray[np.int64]:
        if self._pairs is None:
            self._pairs = self._counted(self._kernels.pairs(self.layout), "all pairs", pairs=True)
        return self._pairs

    def _counted(self, kernel: LabelKernel | PairKernel, what: str, pairs: bool) -> NDArray[np.int64]:
        """One pass, which gathers half-samples on the way where they are wanted and fit."""
        halved = self._halved
        if halved is None or halved.pairs != pairs or group_bytes(halved) > self._limit:
            return self._table.blocks.scan(kernel, what).counts
        self._halves = HalfSamples(halved, self._table.blocks.scan(halved, what))
        return self._halves.whole()

    def _from_steps(self, features: tuple[int, ...], part: Layout, levels: NDArray[np.int64]) -> NDArray[np.int64]:
        pairs = np.diag(self.labels()[:, levels].sum(axis=0))
        for position, feature in enumerate(features[:-1]):
            rows = self._steps[feature].sum(axis=0)[:, levels]
            pairs[part.span(position)], pairs[:, part.span(position)] = rows, rows.T
        return pairs

    def _digits(self, key: NDArray[np.int64], features: tuple[int, ...]) -> NDArray[np.int64]:
        digits = np.empty((len(key), len(features)), np.int64)
        for position in reversed(range(len(features))):
            key, digits[:, position] = np.divmod(key, self.layout.levels[features[position]])
        return digits
