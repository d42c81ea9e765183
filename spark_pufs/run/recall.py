"""A list with a promise: rows of a table that hold at least a wanted share of its positives."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from spark_pufs.core.soft.encoding import Encoding
from spark_pufs.core.soft.recall_list import RecallList, cut_for, missed_kinds
from spark_pufs.errors import DataError, Fault
from spark_pufs.run.teacher_scores import FOLDS, ROWS, TREES, ScoredRows, prior_of
from spark_pufs.selectors.base import Task
from spark_pufs.selectors.soft.training_sample import TrainingSample, draw_training_sample, fold_count, teacher_of
from spark_pufs.types import UNLABELLED

__all__ = ["check_promise", "recall_list"]


def recall_list(task: Task, recall: float) -> RecallList:
    """Score the rows of a task on its features, and cut so that ``recall`` of the positives are listed."""
    check_promise(task.table.plan.labels.positive, recall)
    sample = draw_training_sample(task, ROWS)
    folds = fold_count(FOLDS, int(sample.positive.sum()))
    teaching, teacher = teacher_of(task, sample, folds, TREES)
    own = teaching.target[sample.positive]
    cut = cut_for(own, recall)
    if cut is None:
        raise _too_few(len(own), recall)
    share = float((teaching.target[sample.label == UNLABELLED] >= cut).mean())
    prior = prior_of(task, ScoredRows(sample, teaching))
    middle, low, high = (_precision(task, one, recall, share) for one in (prior.prior, prior.low, prior.high))
    missed = missed_kinds(_comparable(sample), own >= cut, [one.name for one in sample.bins])
    return RecallList(sample.bins, teacher, recall, cut, len(own), middle, low, high, missed)


def check_promise(labelled: int, recall: float) -> None:
    """Refuse a promise that so many labelled rows cannot make, before any work."""
    if cut_for(np.zeros(labelled), recall) is None:
        raise _too_few(labelled, recall)


def _too_few(labelled: int, recall: float) -> DataError:
    least = int(np.ceil(recall / (1 - recall) - 1e-9))
    found = f"{labelled} labelled rows cannot promise {recall} of the positives, {least:,} can"
    return DataError(Fault("Likely positives", found, "Label more rows, or ask for less."))


def _precision(task: Task, prior: float, recall: float, listed: float) -> float:
    """Positives among listed rows that are not labelled, where so many of all rows are positive."""
    labels = task.table.plan.labels
    hidden = max(prior * labels.rows - labels.positive, 0.0) / max(labels.unlabelled, 1)
    return min(1.0, recall * hidden / listed) if listed else 0.0


def _comparable(sample: TrainingSample) -> NDArray[np.float64]:
    """Labelled rows (m, D) as normal scores of numbers; text and missing values are 0."""
    encoding = Encoding.of(sample.codes, sample.bins)
    level = encoding.level_of(sample.codes[:, sample.positive])
    return np.asarray(np.where(encoding.named[level], 0.0, encoding.score[level]).T)
