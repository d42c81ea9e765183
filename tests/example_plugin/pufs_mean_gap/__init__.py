"""A method of spark_pufs in a package of its own: how far the mean of labelled rows lies from that of the others."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spark_pufs.core.counting.row_sample import LabelledRows
from spark_pufs.findings import Findings
from spark_pufs.selectors.base import Method, Outcome, Task
from spark_pufs.selectors.by_score import by_score
from spark_pufs.selectors.one_task import in_one_task
from spark_pufs.selectors.options import Options, flag, whole
from spark_pufs.selectors.sampling import draw_rows
from spark_pufs.types import LABELLED_POSITIVE

__all__ = ["MEAN_GAP"]


@dataclass(frozen=True)
class MeanGapOptions(Options):
    """Options of mean-gap."""

    rows: int = whole(10_000, least=100)
    squared: bool = flag(False)


@dataclass(frozen=True)
class Gaps:
    """The gap (D,) in units of each column's deviation, and its error (D,)."""

    gap: NDArray[np.float64]
    error: NDArray[np.float64]


def mean_gap(rows: LabelledRows, options: MeanGapOptions) -> Gaps:
    """How far the means lie apart."""
    X, labelled = rows.X, rows.label == LABELLED_POSITIVE
    deviation = X.std(axis=0)
    gap = np.abs(X[labelled].mean(axis=0) - X[~labelled].mean(axis=0)) / np.where(deviation > 0, deviation, 1.0)
    error = np.full(len(gap), np.sqrt(1 / labelled.sum() + 1 / (~labelled).sum()))
    return Gaps(gap**2 if options.squared else gap, error)


def _run(task: Task) -> Outcome:
    options = task.options_as(MeanGapOptions)
    rows = draw_rows(task, options.rows)
    found = in_one_task(task, mean_gap, rows, options, Gaps)
    return Outcome(by_score(found.gap, task.limits), found.gap, found.error, findings=Findings(sample=rows.note))


MEAN_GAP = Method(
    "mean-gap",
    "How far the mean of labelled rows lies from that of the others, in deviations of the column",
    "labels depend on the class alone (SCAR); classes differ in their means",
    "one task on a bounded sample",
    "a first look at single features",
    _run,
    MeanGapOptions,
    trial_options={"rows": 1000},
)
