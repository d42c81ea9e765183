"""What any method's choice is worth on rows that it has not seen, beside all features: a few short trials."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from spark_pufs.core.evidence.classifier import classifier_named
from spark_pufs.core.evidence.folds import corrected_error
from spark_pufs.core.soft.held_out import HeldOut
from spark_pufs.selectors.base import Method, Outcome, Task
from spark_pufs.selectors.evidence.trial import ALL, Trial, run_trials, trial_sample
from spark_pufs.selectors.soft.held_out import MUCH, NOISE

__all__ = ["judged_outcome"]

FOLDS, ROWS = 5, 3_000  # bounds of the work
CLEARLY = 2.0  # standard errors above chance


def judged_outcome(task: Task, method: Method, outcome: Outcome) -> Outcome:
    """The outcome with its verdict, where the method has given none from held-out rows and enough rows are labelled."""
    found = outcome.findings
    by_itself = method.options["judge"].default or found.comparison is not None
    if not outcome.chosen or by_itself:
        return outcome
    task.note(f"judging the choice on rows held out, {FOLDS} times, beside all features and chance")
    held = _held_out(task, method, len(outcome.chosen))
    if held is None:
        return outcome
    better = held.chosen - CLEARLY * held.chosen_error > 0.5
    verdict = held.told(better, len(outcome.chosen), len(task.table.names))
    warnings = _warnings(held, better, len(task.table.names))
    findings = replace(found, verdict=verdict, held_out=held)
    known = [warning for warning in outcome.warnings if warning not in warnings]
    return replace(outcome, findings=findings, warnings=(*known, *warnings))


def _held_out(task: Task, method: Method, chosen: int) -> HeldOut | None:
    sample = trial_sample(task, ROWS, FOLDS)
    if sample.positives < FOLDS:
        return None
    request, classifier = task.request, classifier_named("auto")
    free = request.budget is not None or (method.own_size and request.k is None)
    options = {**method.trial_options, **request.options}
    own = Trial(method.name, options, request.k if free else chosen, request.budget, classifier=classifier)
    units = [replace(one, fold=fold) for one in (own, Trial(ALL, classifier=classifier)) for fold in range(FOLDS)]
    results = run_trials(task, sample, units)
    if any(one.failed is not None for one in results):
        return None
    ours, every = np.array([one.judged.auc for one in results]).reshape(2, FOLDS)
    lost = float((every - ours).mean())
    errors = [corrected_error(values, FOLDS) for values in (ours, every - ours, every)]
    return HeldOut(float(ours.mean()), float(every.mean()), errors[0], errors[1], lost, errors[2])


def _warnings(held: HeldOut, better: bool, columns: int) -> tuple[str, ...]:
    if not better:
        return (NOISE,)
    if held.lost - held.error <= MUCH:
        return ()
    lost = f"{held.lost:.3f} of held-out AUC"
    return (f"Worse than all {columns} columns by {lost}: choose more features, or keep them all.",)
