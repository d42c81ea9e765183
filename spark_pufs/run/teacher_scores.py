"""Scores of a table's rows by a cross-fitted teacher, and what they say of how many positives there are."""

from __future__ import annotations

from dataclasses import dataclass, replace

from spark_pufs.core.evidence.prior import PriorEstimate, Scores, estimate_prior
from spark_pufs.core.soft.distillation import Teaching
from spark_pufs.errors import DataError, Fault
from spark_pufs.selectors.base import Task
from spark_pufs.selectors.soft.training_sample import TrainingSample, draw_training_sample, fold_count, teach
from spark_pufs.types import UNLABELLED

__all__ = ["ScoredRows", "prior_of", "scored_rows", "with_prior"]

ROWS, FOLDS, TREES = 20_000, 5, 100
LEAST_LABELLED = 10  # rows, below which scores say nothing of a share


@dataclass(frozen=True)
class ScoredRows:
    """A bounded sample of rows, and the teacher's score of each by models that have not seen it."""

    sample: TrainingSample
    teaching: Teaching


def scored_rows(task: Task, what: str) -> ScoredRows:
    """The rows, where enough are labelled for ``what`` is to be told."""
    labelled = task.table.plan.labels.positive
    if labelled < LEAST_LABELLED:
        found = f"{labelled} rows are labelled, at least {LEAST_LABELLED} are needed"
        raise DataError(Fault(what, found, "Label more rows, or give prior as a number."))
    sample = draw_training_sample(task, ROWS)
    task.note(f"scoring {sample.note}")
    return ScoredRows(sample, teach(task, sample, fold_count(FOLDS, int(sample.positive.sum())), TREES))


def prior_of(task: Task, scored: ScoredRows) -> PriorEstimate:
    """How many positives the table has."""
    labels, target = task.table.plan.labels, scored.teaching.target
    unlabelled = scored.sample.label == UNLABELLED
    scores = Scores.of(target[scored.sample.positive], target[unlabelled])
    auc = scored.teaching.auc
    return estimate_prior(scores, labels.positive, labels.unlabelled, labels.rows, auc, task.request.seed)


def with_prior(task: Task) -> tuple[Task, PriorEstimate | None]:
    """The task with the share of positives that was to be estimated."""
    if not task.request.estimate_prior:
        return task, None
    found = prior_of(task, scored_rows(task, "Prior"))
    labels = task.table.plan.labels
    least = min((labels.positive + 1) / labels.rows, 0.999)  # methods want some positives that are not labelled
    prior = min(max(found.prior, least), 0.999)
    return replace(task, request=replace(task.request, prior=prior, estimate_prior=False)), found
