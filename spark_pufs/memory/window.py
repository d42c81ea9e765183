"""The partitions of a window as one table: an engine that answers from counts, and has no rows."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import NoReturn, cast

import numpy as np
from numpy.typing import NDArray

from spark_pufs.core.clusters.diagonal_em import MixtureSettings
from spark_pufs.core.counting.counts import (
    CountTable,
    FeatureKernel,
    LabelKernel,
    PairKernel,
    SubsetKernel,
)
from spark_pufs.core.counting.grouped_counts import GroupKernel
from spark_pufs.core.counting.kernel import Held, Kernel
from spark_pufs.core.counting.profile import ProfileKernel, ProfileState
from spark_pufs.core.counting.row_sample import RowSample
from spark_pufs.core.information.surrogate import Labels
from spark_pufs.core.schema import label_states
from spark_pufs.engines.base import Blocks, Packer, Result, RowLister, Shared, Unit, raw_width, record
from spark_pufs.engines.local import LocalBlocks, each_in_threads
from spark_pufs.engines.thread_scorer import ThreadScorer
from spark_pufs.errors import ConfigError, Fault
from spark_pufs.findings.run_facts import Pass, Reading
from spark_pufs.memory.counts import PartitionState
from spark_pufs.memory.kept_rows import WindowRows
from spark_pufs.memory.reference import Reference
from spark_pufs.memory.row_answers import KeptSource
from spark_pufs.types import LABELLED_NEGATIVE, LABELLED_POSITIVE, UNLABELLED, Bins, Block, Column, LabelRule, RawBatch

__all__ = ["Window", "WindowEngine", "WithoutRows", "no_rows"]

Counts = NDArray[np.int64]


def no_rows(what: str) -> ConfigError:
    """What to tell who asks a memory for rows."""
    found = f"{what} needs rows, and of this memory there are counts alone"
    return ConfigError(Fault("Option 'memory'", found, "Use a method of this package, or leave memory out."))


@dataclass(frozen=True)
class Window:
    """The counts of all partitions, merged, by the cut points of ``reference``."""

    reference: Reference
    state: PartitionState
    rows: WindowRows | None = None

    @property
    def states(self) -> Mapping[str, int]:
        """What label values mean; all of them were declared."""
        values: dict[str | None, int] = dict((self.state.profile.labels or {}).items())
        return label_states(values, self.reference.label)[0]

    @property
    def known(self) -> Labels:
        """Rows by what their label says."""
        rows = self.labels[:, self.reference.layout.span(0)].sum(axis=1).tolist()
        return Labels(rows[LABELLED_POSITIVE], rows[LABELLED_NEGATIVE], rows[UNLABELLED])

    @property
    def labels(self) -> Counts:
        """Label x level, (3, L)."""
        return self.state.labels

    def bins(self) -> tuple[Bins, ...]:
        """Those of the reference, with a level for missing and for other values only where rows have such."""
        rows, layout = self.labels.sum(axis=0), self.reference.layout
        return tuple(_closed(one, rows[layout.span(i)]) for i, one in enumerate(self.reference.bins))


def _closed(bins: Bins, rows: Counts) -> Bins:
    """Bins without the last levels that no row (levels,) is in; of text with all others pooled before missing."""
    own = replace(bins, missing=bool(rows[-1]))
    return replace(own, pooled=bool(rows[-2])) if bins.kind == "text" else own


class WithoutRows:
    """What an engine of a memory does where others go through all rows: it works in threads, or refuses."""

    def likely_positives(self, model: RowLister, rule: LabelRule, keep: Sequence[str]) -> NoReturn:
        raise no_rows("a list of likely positives")

    def each(
        self, function: Callable[[Shared, Unit], Result], shared: Shared, units: Sequence[Unit], result: type[Result]
    ) -> list[Result]:
        return each_in_threads(function, shared, units)

    def mask_scorer(self, sample: RowSample, settings: MixtureSettings) -> ThreadScorer:
        return ThreadScorer(sample, settings)


class WindowEngine(WithoutRows):
    """A table of which only counts are left."""

    reading: Reading

    def __init__(self, window: Window, name: str, passes: list[Pass]) -> None:
        self._window = window
        self.name = name
        self.passes = passes
        self.reading = Reading(rows="counts kept in a memory")

    def columns(self) -> list[Column]:
        return list(self._window.reference.columns)

    def source(self, numeric: Sequence[str], text: Sequence[str], label: str) -> WindowSource:
        return WindowSource(self._window, tuple(numeric), tuple(text), self.passes)


@dataclass(frozen=True)
class WindowSource:
    """Some columns of a window."""

    window: Window
    numeric: tuple[str, ...]
    text: tuple[str, ...]
    passes: list[Pass]

    def scan(self, kernel: Kernel[RawBatch, Held], what: str) -> Held:
        if isinstance(kernel, ProfileKernel):
            return cast(Held, self._profile())
        began = time.perf_counter()
        kept = self._kept(f"'{what}'")
        state, width = kept.scan(kernel), raw_width(len(self.numeric), len(self.text))
        record(self.passes, f"{what}, of rows kept", began, len(kept.rows.label), width)
        return state

    def pack(self, packer: Packer) -> Blocks:
        if packer.grader is not None:
            kept = self._kept("soft labels")
            return LocalBlocks([packer.pack(kept.batch(kept.rows.alike))], self.passes)
        own = {row: bins for _, row, bins in (*packer.numeric, *packer.text)}
        places = tuple(_levels(self.window.reference, own[row]) for row in range(packer.features))
        rows = None if self.window.rows is None else partial(self._packed, packer)
        return WindowBlocks(self.window.state.counts.counts, places, rows)

    def _profile(self) -> ProfileState:
        reference = self.window.reference
        places = [reference.numeric.index(name) for name in self.numeric]
        words = [reference.text.index(name) for name in self.text]
        return self.window.state.profile.of(places, words)

    def _kept(self, what: str) -> KeptSource:
        window = self.window
        if window.rows is None:
            raise no_rows(what)
        return KeptSource(window.reference, window.rows, window.known, window.states, self.numeric, self.text)

    def _packed(self, packer: Packer, alike: bool) -> Block:
        kept = self._kept("rows")
        return packer.pack(kept.batch(kept.rows.alike if alike else kept.rows))


def _levels(reference: Reference, bins: Bins) -> NDArray[np.int64]:
    """Where the levels of ``bins`` lie among those that are counted."""
    place = [one.name for one in reference.bins].index(bins.name)
    kept, first = reference.bins[place], int(reference.layout.offsets[place])
    known = len(kept.edges) + 1 if kept.kind == "numeric" else len(kept.categories) + bins.pooled
    missing = [kept.levels - 1] if bins.missing else []
    return first + np.array([*range(known), *missing], np.int64)


@dataclass(frozen=True)
class WindowBlocks:
    """Counts of some features: ``places`` has for each the levels (l,) it has among the counts (3, L, L) or (3, L).

    ``rows``: those that are kept, all or (True) drawn alike; they are halved where they are all there are.
    """

    counts: Counts
    places: tuple[NDArray[np.int64], ...]
    rows: Callable[[bool], Block] | None = None

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
        if self.rows is None:
            raise no_rows(f"'{what}'")
        return kernel.add(kernel.start(), self.rows(kind is not GroupKernel))

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
