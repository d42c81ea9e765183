"""How many features: held-out PU-AUC against size, and the smallest size within one standard error of the best."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from spark_pufs.core.evidence.classifier import classifier_named
from spark_pufs.core.evidence.folds import corrected_error
from spark_pufs.findings.parts import SizeCurve, SizePoint
from spark_pufs.selectors.base import Task
from spark_pufs.selectors.evidence.comparison import LEAST_LABELS, EvaluationProtocol
from spark_pufs.selectors.evidence.trial import Trial, run_trials, trial_sample

__all__ = ["propose_size", "sized", "smallest_good", "trial_sizes"]

POINTS = 12


def sized(task: Task, protocol: EvaluationProtocol | None = None) -> tuple[Task, SizeCurve | None, tuple[str, ...]]:
    """The task with a number of features, where the user left it to us: its curve for the report, and warnings."""
    if not task.request.propose_k:
        return task, None, ()
    curve = propose_size(task, protocol or EvaluationProtocol())
    if curve is None:
        return task, None, ("Too few labelled rows to propose a number of features: give k.",)
    limits = replace(task.limits, k=max(curve.chosen, task.limits.count(task.limits.must)))
    request = replace(task.request, k=limits.k, propose_k=False)
    return replace(task, limits=limits, request=request), curve, ()


def propose_size(task: Task, protocol: EvaluationProtocol) -> SizeCurve | None:
    """The proposal for the method of ``task``; None where too few labels leave nothing to hold out."""
    folds = min(protocol.folds, task.table.plan.labels.positive)
    if folds < LEAST_LABELS:
        return None
    sample = trial_sample(task, protocol.rows, folds, protocol.repeats)
    if sample.positives < folds:  # copies of a labelled row share a fold
        return None
    sizes = trial_sizes(task)
    unit = Trial(
        task.request.method,
        task.request.options,
        classifier=classifier_named(protocol.classifier),
        sizes=tuple(sizes),
        costs=sample.costs,
        units=sample.units,
        cap=min(task.limits.budget, float(task.limits.costs.sum())),
    )
    folded = [replace(unit, repeat=r, fold=f) for r in range(protocol.repeats) for f in range(folds)]
    task.note(f"judging {len(sizes)} sizes in {len(folded)} trials on {sample.note}")
    found = [trial.curve for trial in run_trials(task, sample, folded) if trial.failed is None]
    if len(found) < 2:
        return None
    what = "features" if sample.units is None else "groups and single features"
    return smallest_good(sizes, np.array(found), folds, task.limits.count(task.limits.must), what)


def trial_sizes(task: Task) -> list[int]:
    """Sizes in even ratios up to all units, or to as many as the budget pays for at the least cost."""
    return sorted({round(size) for size in np.geomspace(1, max(task.limits.most(), 1), POINTS)})


def smallest_good(
    sizes: Sequence[int], scores: ArrayLike, folds: int, least: int = 1, what: str = "features"
) -> SizeCurve:
    """The one-standard-error rule on ``scores`` (trials, sizes).

    The error is that of the difference to the best size in the same folds: what all sizes share does not blur it.

    >>> curve = smallest_good([1, 2, 4], np.array([[0.6, 0.8, 0.81], [0.62, 0.83, 0.82], [0.61, 0.8, 0.81]]), 3)
    >>> curve.best, curve.chosen
    (4, 2)
    """
    values = np.asarray(scores, np.float64)
    mean = values.mean(axis=0)
    best = int(np.argmax(mean))
    errors = [corrected_error(values[:, best] - values[:, i], folds) for i in range(len(sizes))]
    good = [i for i in range(best + 1) if sizes[i] >= least and mean[best] - mean[i] <= errors[i]]
    chosen = good[0] if good else best
    points = tuple(
        SizePoint(size, float(mean[i]), corrected_error(values[:, i], folds)) for i, size in enumerate(sizes)
    )
    why = (
        f"{sizes[chosen]} is the smallest number of {what} whose held-out PU-AUC ({mean[chosen]:.3f}) lies within "
        f"one standard error of the best, {mean[best]:.3f} with {sizes[best]}."
    )
    return SizeCurve(points, sizes[chosen], sizes[best], why)
