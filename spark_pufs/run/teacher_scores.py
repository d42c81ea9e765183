"""Scores of a table's rows by a cross-fitted teacher: how many positives there are, and who gets a label."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from spark_pufs.core.evidence.labelling_check import ColumnScores, LabellingCheck, check_columns, labelling_check
from spark_pufs.core.evidence.prior import PriorEstimate, Scores, estimate_prior
from spark_pufs.core.soft.distillation import Teaching
from spark_pufs.core.soft.encoding import Encoding
from spark_pufs.core.soft.grading import TaughtTeacher
from spark_pufs.core.soft.teacher import additive_scores, member_weights
from spark_pufs.errors import DataError, Fault
from spark_pufs.selectors.base import Task
from spark_pufs.selectors.soft.training_sample import (
    TrainingSample,
    draw_training_sample,
    fold_count,
    teach,
    teacher_of,
)
from spark_pufs.types import UNLABELLED

__all__ = ["ScoredRows", "labelling_of", "prior_of", "scored_rows", "with_prior"]

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
    return ScoredRows(sample, teach(task, sample, _folds(sample), TREES))


def _folds(sample: TrainingSample) -> int:
    return fold_count(FOLDS, int(sample.positive.sum()))


def labelling_of(task: Task) -> LabellingCheck:
    """Whether labels depend on the columns, among positives."""
    if task.table.plan.labels.positive < LEAST_LABELLED:
        return LabellingCheck("cannot tell", f"Fewer than {LEAST_LABELLED} rows are labelled.", ())
    sample = draw_training_sample(task, ROWS)
    task.note(f"comparing labelled positives with others in {sample.note}")
    _, teacher = teacher_of(task, sample, _folds(sample), trees=1)
    names = [one.name for one in sample.bins]
    found = check_columns(_additive(sample, teacher), sample.positive, sample.label == UNLABELLED, names)
    return labelling_check(found)


def _additive(sample: TrainingSample, teacher: TaughtTeacher) -> ColumnScores:
    """The teacher's additive members as one: each by its spread, weighed by merit."""
    encoding = Encoding.of(sample.codes, sample.bins)
    fold = teacher.folds.training_fold(sample.codes, sample.positive)
    members = np.zeros((len(teacher.models), 3, encoding.layout.total))
    scores = np.zeros((3, len(fold)))
    for number, models in enumerate(teacher.models):
        if models is not None:
            spread = additive_scores(models.tables, sample.codes, encoding.layout).std(axis=1)
            members[number] = models.tables / np.where(spread > 0, spread, 1.0)[:, None]
            own = fold == number
            scores[:, own] = additive_scores(members[number], sample.codes[:, own], encoding.layout)
    weights, _ = member_weights(scores, sample.positive)
    tables = np.einsum("m,fml->fl", weights, members)
    return ColumnScores(sample.codes, encoding.layout, encoding.group, encoding.score, encoding.named, tables, fold)


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
