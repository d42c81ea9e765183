"""Stability: the same selection on many halves of the rows.

A method that needs counts alone has them of every half already: its pass has counted groups of rows. Other methods, and
tables whose rows repeat or whose pairs do not fit, are run on halves of a sample, as parallel work.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from spark_pufs.core.counting.grouped_counts import Half, HalfSamples
from spark_pufs.core.evidence.stability import Stability, stability
from spark_pufs.core.information.surrogate import Labels
from spark_pufs.errors import DataError, Fault, PufsError
from spark_pufs.findings.parts import StabilitySummary
from spark_pufs.selectors.base import Task
from spark_pufs.selectors.evidence.trial import Trial, run_trials, trial_sample
from spark_pufs.table.counter import Counter

__all__ = ["resampled", "stability_summary"]

ROWS = 20_000
Mask = NDArray[np.bool_]


def resampled(task: Task, runs: int, rows: int = ROWS) -> tuple[Stability, tuple[str, ...]]:
    """Agreement of ``runs`` selections, each on half of the labelled and half of the other rows, of the table or of a
    sample of so many ``rows``.

    Returns the agreement and the names that its per-feature frequencies belong to.
    """
    # Counts of halves are those of features or of pairs, not of features given others.
    halves = None if task.request.labelled_by else task.counter.halves()
    masks, names = _of_sample(task, runs, rows) if halves is None else _of_counts(task, halves, runs)
    return stability(np.stack(masks)), names


def _of_counts(task: Task, halves: HalfSamples, runs: int) -> tuple[list[Mask], tuple[str, ...]]:
    task.note(f"{runs} selections on halves of all {task.table.rows:,} rows")
    rngs = [np.random.default_rng([task.request.seed, 5, draw]) for draw in range(runs)]
    try:
        return [_chosen(task, halves.half(rng)) for rng in rngs], task.table.names
    except PufsError as error:
        raise _failed(runs, str(error)) from error


def _chosen(task: Task, half: Half) -> Mask:
    """The features that the method chooses by the counts of half of the rows."""
    from spark_pufs.selectors.registry import method_named

    table = replace(task.table, plan=replace(task.table.plan, labels=Labels.of_states(half.rows.tolist())))
    counter = Counter.of(table, task.request.pair_memory_mb, half.counts)
    outcome = method_named(task.request.method).select(replace(task, table=table, counter=counter))
    mask = np.zeros(len(task.table.names), np.bool_)
    mask[outcome.chosen] = True
    return mask


def _of_sample(task: Task, runs: int, rows: int) -> tuple[list[Mask], tuple[str, ...]]:
    sample = trial_sample(task, rows)
    request = task.request
    k = None if request.k is None else task.limits.k
    units = [Trial(request.method, request.options, k, request.budget, draw=draw) for draw in range(runs)]
    task.note(f"{runs} selections on halves of {sample.note}")
    found = run_trials(task, sample, units)
    failed = [trial.failed for trial in found if trial.failed is not None]
    if failed:
        raise _failed(runs, failed[0], len(failed))
    return [trial.mask for trial in found], sample.names


def _failed(runs: int, why: str, count: int = 1) -> DataError:
    return DataError(Fault("Stability", f"{count} of {runs} runs failed: {why}", "Label more rows."))


def stability_summary(found: Stability, names: tuple[str, ...]) -> StabilitySummary:
    """The agreement with the names of features, for a report."""
    frequency = dict(zip(names, np.round(found.frequency, 4).tolist(), strict=True))
    return StabilitySummary(
        found.runs, found.index, found.low, found.high, found.kuncheva, frequency, found.verdict
    )  # fmt: skip
