"""The bounded sample a search works on: labelled rows first, unlabelled rows up to a byte budget."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from spark_pufs.core.counting.row_sample import (
    ALL,
    FirstSampleKernel,
    HeavyKernel,
    LabelledRows,
    RowSample,
    SampledRows,
    SampleKernel,
    Wanted,
    heavy_hashes,
    read_sample,
    spread,
)
from spark_pufs.core.information.surrogate import Labels
from spark_pufs.selectors.base import Task
from spark_pufs.table.numbers import TableRows, numeric_view
from spark_pufs.types import Bins

__all__ = [
    "Cleaning",
    "Rows",
    "draw_rows",
    "draw_sample",
    "feature_columns",
    "picked_rows",
    "raw_sample",
    "rows_in",
    "taken",
    "with_heavy",
]

Floats = NDArray[np.float64]
HEAVY = 10  # a row expected more than ten times in the sample is kept for certain


@dataclass(frozen=True)
class Cleaning:
    """What stands for infinities and missing values of each feature: ``low``, ``high``, ``fill``, each (D,)."""

    low: Floats
    high: Floats
    fill: Floats

    def of(self, features: NDArray[np.intp]) -> tuple[Floats, Floats, Floats]:
        return self.low[features], self.high[features], self.fill[features]


@dataclass(frozen=True)
class Rows:
    """Rows without weights: X (n, D) scaled to [0, 1], no missing values; ``label`` (n,) states.

    ``note``: what they are, for the user.
    """

    X: Floats
    label: NDArray[np.uint8]
    note: str

    @property
    def plain(self) -> LabelledRows:
        """The rows alone, as they travel."""
        return LabelledRows(self.X, self.label)


def draw_rows(task: Task, most: int) -> Rows:
    """A bounded sample for methods that need rows and take no weights; the same for any partitioning of the table."""
    sample, cleaning = draw_sample(task, most)
    picked = picked_rows(task, sample, most)
    low, high = cleaning.low / 2, cleaning.high / 2  # in halves: the range of a column of huge values would overflow
    X = (sample.X[picked] / 2 - low) / np.where(high > low, high - low, 1.0)
    return Rows(X, sample.label[picked], taken(len(picked), task))


def picked_rows(task: Task, sample: RowSample, most: int) -> NDArray[np.intp]:
    """Rows of a sample without their weights, at most ``most``, and no more than could be drawn: a row that stands for
    many would come many times."""
    there = task.table.plan.drawn_from
    return spread(sample, most if there is None else min(most, there.rows))


def taken(rows: int, task: Task) -> str:
    """What so many rows of the table are, for the user."""
    total = task.table.rows
    return f"all {rows:,} rows" if rows == total else f"a sample of {rows:,} of {total:,} rows"


def draw_sample(task: Task, capacity: int) -> tuple[RowSample, Cleaning]:
    """About ``capacity`` rows, every feature a number, text too, without missing or infinite values."""
    view = numeric_view(task.table, task.counter)
    rows = _drawn(task, view.rows, Wanted(view.columns, task.table.plan.states, task.request.seed), capacity)
    cleaning = _cleaning(rows.X, view.low, view.high)
    clean = np.clip(rows.X, cleaning.low, cleaning.high)
    return RowSample(np.where(np.isnan(clean), cleaning.fill, clean), rows.label, rows.weight), cleaning


def raw_sample(task: Task, capacity: int) -> RowSample:
    """About ``capacity`` rows as they are, numeric features first, then the codes of text features.

    All labelled rows are in it while they fill at most half of it, else a part of them like the others; it is the same
    for any partitioning of the table.
    """
    plan = task.table.plan
    columns, text = feature_columns(task)
    return _drawn(task, plan.source, Wanted(columns, plan.states, task.request.seed, text), capacity)


def _drawn(task: Task, source: TableRows, wanted: Wanted, capacity: int) -> RowSample:
    labels = task.table.plan.labels
    there = task.table.plan.drawn_from or labels
    others = there.unlabelled + there.negative
    half = max(capacity // 2, 1)
    room = max(capacity - there.positive, half)
    threshold = ALL if others <= room else int(room / others * 2**64)
    known = ALL if there.positive <= half else int(half / there.positive * 2**64)
    kernel = SampleKernel(wanted, threshold, np.zeros(0, np.uint64), known)
    if others <= room:
        state = source.scan(kernel, "sample")
    else:
        kernel, state = with_heavy(source, kernel, HEAVY * others / room)
    return _of_all(read_sample(kernel, state, there.positive, others), there, labels)


def _of_all(sample: RowSample, there: Labels, labels: Labels) -> RowSample:
    """The sample with weights that sum to the rows of the table, where it was drawn from a part of them."""
    if there == labels:
        return sample
    known = labels.positive / max(there.positive, 1)
    rest = (labels.unlabelled + labels.negative) / max(there.unlabelled + there.negative, 1)
    return replace(sample, weight=sample.weight * np.where(sample.labelled, known, rest))


def feature_columns(task: Task) -> tuple[tuple[int, ...], tuple[tuple[int, Bins], ...]]:
    """Positions of the numeric features among the numeric columns, and of the text features with their categories."""
    schema, names = task.table.plan.schema, task.table.names
    bins = dict(zip(names, task.table.bins, strict=True))
    numeric = tuple(schema.numeric.index(name) for name in names if name in schema.numeric)
    return numeric, tuple((schema.text.index(name), bins[name]) for name in names if name in schema.text)


def rows_in(megabytes: int, task: Task) -> int:
    """How many rows of float64 features fit."""
    return megabytes * 2**20 // (8 * len(task.table.names))


def with_heavy(source: TableRows, kernel: SampleKernel, least: float) -> tuple[SampleKernel, SampledRows]:
    """The sample, with every row that occurs at least ``least`` times in it; three passes where there are such rows."""
    state = source.scan(FirstSampleKernel(kernel), "sample")
    crowded = np.flatnonzero(state.cells.counts >= least)
    if not len(crowded):
        return kernel, state.sample
    heavy = heavy_hashes(source.scan(HeavyKernel(kernel.wanted, crowded), "heavy rows"), least)
    if not len(heavy):
        return kernel, state.sample
    kernel = replace(kernel, heavy=heavy)
    return kernel, source.scan(kernel, "sample with heavy rows")


def _cleaning(X: Floats, low: Floats, high: Floats) -> Cleaning:
    finite = np.where(np.isfinite(X), X, np.nan)
    empty = np.isnan(finite).all(axis=0)
    finite[:, empty] = 0.0
    fill = 2 * np.nanmedian(finite / 2, axis=0)  # the sum of two huge values would overflow
    # A column without one finite value has no range: it becomes constant.
    return Cleaning(np.where(np.isfinite(low), low, 0.0), np.where(np.isfinite(high), high, 0.0), fill)
