"""A method of spark_pufs in a package of its own: how far the mean of labelled rows lies from that of the others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

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


def mean_gap(shared: dict[str, Any], unit: dict[str, Any]) -> dict[str, Any]:
    """The gap (D,) in units of each column's deviation."""
    X, labelled = shared["X"], shared["label"] == LABELLED_POSITIVE
    deviation = X.std(axis=0)
    gap = np.abs(X[labelled].mean(axis=0) - X[~labelled].mean(axis=0)) / np.where(deviation > 0, deviation, 1.0)
    return {"gap": gap, "error": np.full(len(gap), np.sqrt(1 / labelled.sum() + 1 / (~labelled).sum()))}


def _run(task: Task) -> Outcome:
    options = task.options_as(MeanGapOptions)
    rows = draw_rows(task, options.rows)
    found = in_one_task(task, mean_gap, rows)
    scores = found["gap"] ** 2 if options.squared else found["gap"]
    return Outcome(by_score(scores, task.limits), scores, found["error"], findings=Findings(sample=rows.note))


MEAN_GAP = Method(
    "mean-gap",
    "How far the mean of labelled rows lies from that of the others, in deviations of the column",
    "labels depend on the class alone (SCAR); classes differ in their means",
    "one task on a bounded sample",
    "a first look at single features",
    _run,
    MeanGapOptions,
    numeric_only=True,
    trial_options={"rows": 1000},
)
