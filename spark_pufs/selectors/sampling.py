"""The bounded sample a search works on: all labelled rows, unlabelled rows up to a byte budget."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spark_pufs.core.row_sample import ALL, HeavyKernel, RowSample, SampleKernel, Wanted, heavy_hashes, read_sample
from spark_pufs.selectors.base import Task

__all__ = ["Cleaning", "draw_sample"]

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


def draw_sample(task: Task, megabytes: int) -> tuple[RowSample, Cleaning]:
    """Rows for the search, without missing or infinite values, the same for any partitioning of the table."""
    plan = task.table.plan
    columns = tuple(plan.schema.numeric.index(name) for name in task.table.names)
    wanted = Wanted(columns, plan.states, task.request.seed)
    labels = plan.labels
    others = labels.unlabelled + labels.negative
    capacity = megabytes * 2**20 // (8 * len(columns))
    # Labelled rows are all kept; however many they are, unlabelled ones to compare them with need their half.
    room = max(capacity - labels.positive, capacity // 2, 1)
    threshold, heavy = ALL, np.zeros(0, np.uint64)
    if others > room:
        threshold = int(room / others * 2**64)
        heavy = _heavy(task, wanted, HEAVY * others / room)
    kernel = SampleKernel(wanted, threshold, heavy)
    rows = read_sample(kernel, plan.source.scan(kernel, "sample"), others)
    cleaning = _cleaning(rows.X, plan.profile.low[list(columns)], plan.profile.high[list(columns)])
    clean = np.clip(rows.X, cleaning.low, cleaning.high)
    return RowSample(np.where(np.isnan(clean), cleaning.fill, clean), rows.labelled, rows.weight), cleaning


def _heavy(task: Task, wanted: Wanted, least: float) -> NDArray[np.uint64]:
    source = task.table.plan.source
    cells = source.scan(HeavyKernel(wanted), "repeated rows")["cells"]
    crowded = np.flatnonzero(cells >= least)
    if not len(crowded):
        return np.zeros(0, np.uint64)
    return heavy_hashes(source.scan(HeavyKernel(wanted, crowded), "heavy rows"), least)


def _cleaning(X: Floats, low: Floats, high: Floats) -> Cleaning:
    finite = np.where(np.isfinite(X), X, np.nan)
    empty = np.isnan(finite).all(axis=0)
    finite[:, empty] = 0.0
    fill = np.nanmedian(finite, axis=0)
    # A column without one finite value has no range: it becomes constant.
    return Cleaning(np.where(np.isfinite(low), low, 0.0), np.where(np.isfinite(high), high, 0.0), fill)
