"""The partitions of a window as one table: an engine that answers from counts, and has no rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NoReturn, cast

import numpy as np
from numpy.typing import NDArray

from spark_pufs.core.clusters.cluster_model import ClusterModel
from spark_pufs.core.clusters.diagonal_em import MixtureSettings
from spark_pufs.core.counting.counts import (
    CountTable,
    FeatureKernel,
    LabelKernel,
    PairKernel,
    SubsetKernel,
)
from spark_pufs.core.counting.kernel import Held, Kernel
from spark_pufs.core.counting.profile import ProfileKernel
from spark_pufs.core.counting.row_sample import RowSample
from spark_pufs.engines.base import Packer, Pass, Result, Shared, Unit
from spark_pufs.engines.local import each_in_threads
from spark_pufs.errors import ConfigError, Fault
from spark_pufs.memory.counts import PartitionState
from spark_pufs.memory.reference import Reference
from spark_pufs.types import Bins, Block, Column, LabelRule, RawBatch

__all__ = ["Window", "WindowEngine", "no_rows"]

Counts = NDArray[np.int64]


def no_rows(what: str) -> ConfigError:
    """What to tell who asks a memory for rows."""
    fix = "Use semi-mim, semi-jmi, pucfs or another method that counts, with k given; or leave memory out."
    return ConfigError(Fault("Option 'memory'", f"{what} needs rows, and a memory keeps counts", fix))


@dataclass(frozen=True)
class Window:
    """The counts of all partitions, merged, by the cut points of ``reference``."""

    reference: Reference
    state: PartitionState

    @property
    def labels(self) -> Counts:
        """Label x level, (3, L)."""
        counts = self.state.counts.counts
        return np.diagonal(counts, axis1=1, axis2=2) if counts.ndim == 3 else counts

    def bins(self) -> tuple[Bins, ...]:
        """Those of the reference, with a level for missing and for other values only where rows have such."""
        rows, layout = self.labels.sum(axis=0), self.reference.layout
        return tuple(_closed(one, rows[layout.span(i)]) for i, one in enumerate(self.reference.bins))


def _closed(bins: Bins, rows: Counts) -> Bins:
    """Bins without the last levels that no row (levels,) is in; of text with all others pooled before missing."""
    own = replace(bins, missing=bool(rows[-1]))
    return replace(own, pooled=bool(rows[-2])) if bins.kind == "text" else own


class WindowEngine:
    """A table of which only counts are left."""

    how: dict[str, str]

    def __init__(self, window: Window, name: str, passes: list[Pass]) -> None:
        self._window = window
        self.name = name
        self.passes = passes
        self.how = {"rows": "counts kept in a memory"}

    def columns(self) -> list[Column]:
        return list(self._window.reference.columns)

    def source(self, numeric: Sequence[str], text: Sequence[str], label: str) -> WindowSource:
        return WindowSource(self._window, tuple(numeric), tuple(text))

    def likely_positives(self, model: ClusterModel, rule: LabelRule, keep: Sequence[str]) -> NoReturn:
        raise no_rows("a list of likely positives")

    def each(
        self, function: Callable[[Shared, Unit], Result], shared: Shared, units: Sequence[Unit], result: type[Result]
    ) -> list[Result]:
        return each_in_threads(function, shared, units)

    def mask_scorer(self, sample: RowSample, settings: MixtureSettings) -> NoReturn:
        raise no_rows("a search of clusters")


@dataclass(frozen=True)
class WindowSource:
    """Some columns of a window."""

    window: Window
    numeric: tuple[str, ...]
    text: tuple[str, ...]

    def scan(self, kernel: Kernel[RawBatch, Held], what: str) -> Held:
        if not isinstance(kernel, ProfileKernel):
            raise no_rows(f"'{what}'")
        reference = self.window.reference
        places = [reference.numeric.index(name) for name in self.numeric]
        words = [reference.text.index(name) for name in self.text]
        return cast(Held, self.window.state.profile.of(places, words))

    def pack(self, packer: Packer) -> WindowBlocks:
        if packer.grader is not None:
            raise no_rows("soft labels")
        own = {row: bins for _, row, bins in (*packer.numeric, *packer.text)}
        places = tuple(_levels(self.window.reference, own[row]) for row in range(packer.features))
        return WindowBlocks(self.window.state.counts.counts, places)


def _levels(reference: Reference, bins: Bins) -> NDArray[np.int64]:
    """Where the levels of ``bins`` lie among those that are counted."""
    place = [one.name for one in reference.bins].index(bins.name)
    kept, first = reference.bins[place], int(reference.layout.offsets[place])
    known = len(kept.edges) + 1 if kept.kind == "numeric" else len(kept.categories) + bins.pooled
    missing = [kept.levels - 1] if bins.missing else []
    return first + np.array([*range(known), *missing], np.int64)


@dataclass(frozen=True)
class WindowBlocks:
    """Counts of some features: ``places`` has for each the levels (l,) it has among the counts (3, L, L) or (3, L)."""

    counts: Counts
    places: tuple[NDArray[np.int64], ...]

    def scan(self, kernel: Kernel[Block, Held], what: str) -> Held:
        # By the very class: kernels of soft labels derive from these and count something else.
        kind: object = type(kernel)
        every = range(len(self.places))
        if kind is LabelKernel:
            return cast(Held, CountTable(self._labels()[:, self._levels(every)]))
        if kind is PairKernel:
            return cast(Held, CountTable(self._pairs(every, every)))
        if isinstance(kernel, SubsetKernel):
            return cast(Held, CountTable(self._pairs(kernel.features, kernel.features)))
        if isinstance(kernel, FeatureKernel) and kind is FeatureKernel:
            return cast(Held, CountTable(self._pairs(kernel.features, every)))
        raise no_rows(f"'{what}'")

    def release(self) -> None:
        """Nothing is held besides the window."""

    def _labels(self) -> Counts:
        return self.counts if self.counts.ndim == 2 else np.diagonal(self.counts, axis1=1, axis2=2)

    def _levels(self, features: Sequence[int]) -> NDArray[np.int64]:
        return np.concatenate([self.places[one] for one in features] or [np.zeros(0, np.int64)])

    def _pairs(self, rows: Sequence[int], columns: Sequence[int]) -> Counts:
        if self.counts.ndim < 3:
            fix = "Raise pair_memory_mb and set refit: now, or use semi-mim, which needs no pairs."
            found = "holds no pairs of features: they did not fit into pair_memory_mb when it was made"
            raise ConfigError(Fault("Option 'memory'", found, fix))
        return np.ascontiguousarray(self.counts[:, self._levels(rows)[:, None], self._levels(columns)])
