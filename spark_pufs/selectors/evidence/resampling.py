"""Stability: the same selection on many halves of the rows, as parallel work."""

from __future__ import annotations

import numpy as np

from spark_pufs.core.evidence.stability import Stability, stability
from spark_pufs.errors import DataError, Fault
from spark_pufs.findings.parts import StabilitySummary
from spark_pufs.selectors.base import Task
from spark_pufs.selectors.evidence.trial import Trial, run_trials, trial_sample

__all__ = ["resampled", "stability_summary"]


ROWS = 20_000


def resampled(task: Task, runs: int, rows: int = ROWS) -> tuple[Stability, tuple[str, ...]]:
    """Agreement of ``runs`` selections, each on half of the labelled and half of the other rows of a sample.

    Returns the agreement and the names that its per-feature frequencies belong to.
    """
    sample = trial_sample(task, rows)
    request = task.request
    k = None if request.k is None else task.limits.k
    units = [Trial(request.method, request.options, k, request.budget, draw=draw) for draw in range(runs)]
    task.note(f"{runs} selections on halves of {sample.note}")
    found = run_trials(task, sample, units)
    failed = [trial.failed for trial in found if trial.failed is not None]
    if failed:
        raise DataError(Fault("Stability", f"{len(failed)} of {runs} runs failed: {failed[0]}", "Label more rows."))
    return stability(np.stack([trial.mask for trial in found])), sample.names


def stability_summary(found: Stability, names: tuple[str, ...]) -> StabilitySummary:
    """The agreement with the names of features, for a report."""
    frequency = dict(zip(names, np.round(found.frequency, 4).tolist(), strict=True))
    return StabilitySummary(
        found.runs, found.index, found.low, found.high, found.kuncheva, frequency, found.verdict
    )  # fmt: skip
