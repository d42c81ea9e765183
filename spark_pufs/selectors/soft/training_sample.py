"""The rows that a teacher learns from: a bounded sample as codes, in an order that only the content decides."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spark_pufs.core.baselines.scored import canonical_order
from spark_pufs.core.soft.distillation import Teaching, assumed_prior, hidden_share, left_out, teaching_of
from spark_pufs.core.soft.encoding import Codes, Encoding, Floats, fine_bins, fine_codes
from spark_pufs.core.soft.folds import HashedFolds
from spark_pufs.core.soft.grading import TaughtTeacher
from spark_pufs.core.soft.teacher import MEMBERS, FoldModels
from spark_pufs.selectors.base import Task
from spark_pufs.selectors.sampling import feature_columns, picked_rows, raw_sample, rows_in, taken
from spark_pufs.types import LABELLED_NEGATIVE, LABELLED_POSITIVE, Bins, Layout

__all__ = [
    "TrainingRows",
    "TrainingSample",
    "draw_training_sample",
    "fold_count",
    "shares",
    "teach",
    "teach_fold",
    "teacher_of",
]

SAMPLE_MB = 64  # float64 values of the sample, whatever number of rows is asked for


@dataclass(frozen=True)
class TrainingRows:
    """What every task on a training sample needs of it: ``codes`` (D, n), ``label`` (n,), how codes become
    numbers, and the share of positives among unlabelled rows."""

    codes: Codes
    label: NDArray[np.uint8]
    encoding: Encoding
    hidden: float

    @property
    def positive(self) -> NDArray[np.bool_]:
        return np.asarray(self.label == LABELLED_POSITIVE)

    @property
    def negative(self) -> NDArray[np.bool_]:
        return np.asarray(self.label == LABELLED_NEGATIVE)


@dataclass(frozen=True)
class FoldUnit:
    """The fold that models of the others are to judge; ``keep``: the models are wanted."""

    fold: int
    folds: int
    trees: int
    seed: int
    keep: bool


@dataclass(frozen=True)
class FoldScores:
    """What models of all other folds say (M, m) of the ``rows`` (m,) of one fold, and the models if wanted."""

    rows: NDArray[np.intp]
    scores: Floats
    models: FoldModels | None = None


@dataclass(frozen=True)
class TrainingSample:
    """``codes`` (D, n) and ``label`` (n,) states; row i of the codes is feature ``place[i]`` of the table.

    ``prior``, ``hidden``: share of positives in the table, and among its unlabelled rows. ``note``: which rows they
    are, for the user.
    """

    codes: Codes
    label: NDArray[np.uint8]
    bins: tuple[Bins, ...]
    place: NDArray[np.intp]
    prior: float
    hidden: float
    note: str

    @property
    def positive(self) -> NDArray[np.bool_]:
        found: NDArray[np.bool_] = self.label == LABELLED_POSITIVE
        return found

    def rows(self) -> TrainingRows:
        """What every task needs."""
        return TrainingRows(self.codes, self.label, Encoding.of(self.codes, self.bins), self.hidden)

    def by_feature(self, values: Floats) -> Floats:
        """Values (..., D) in the order of the table's features."""
        found = np.empty_like(values)
        found[..., self.place] = values
        return found


def draw_training_sample(task: Task, rows: int) -> TrainingSample:
    """At most ``rows`` rows of the table, all labelled ones among them while they fill at most half."""
    most = min(rows, rows_in(SAMPLE_MB, task))
    sample = raw_sample(task, most)
    picked = picked_rows(task, sample, most)
    X, label = sample.X[picked], sample.label[picked]
    names = task.table.names
    numeric, text = feature_columns(task)
    kinds = [task.table.plan.schema.numeric[i] for i in numeric]
    bins = fine_bins(kinds, X[:, : len(kinds)], [one for _, one in text])
    codes = fine_codes(X, bins)
    order, columns = canonical_order(codes.T.astype(np.float64), label)
    place = np.array([names.index(one.name) for one in bins], np.intp)[columns]
    labels = task.table.plan.labels
    prior = assumed_prior(task.request.prior, labels.positive, task.table.rows)
    return TrainingSample(
        np.ascontiguousarray(codes[columns][:, order]),
        label[order],
        tuple(bins[i] for i in columns),
        place,
        prior,
        hidden_share(prior, labels),
        taken(len(picked), task),
    )


def teach(task: Task, training: TrainingSample, folds: int, trees: int) -> Teaching:
    """The teacher's scores of every row of the training sample, a fold to a task."""
    return _teaching(training, _fitted(task, training, folds, trees, keep=False))


def teacher_of(task: Task, training: TrainingSample, folds: int, trees: int) -> tuple[Teaching, TaughtTeacher]:
    """The teacher's scores on the training sample, and the teacher itself, to grade other rows."""
    found = _fitted(task, training, folds, trees, keep=True)
    teaching = _teaching(training, found)
    models = tuple(one.models for one in found)
    layout = Layout(tuple(one.levels for one in training.bins))
    hashed = HashedFolds.of(training.codes, training.positive, folds, _seed(task))
    return teaching, TaughtTeacher.of(teaching, training.label, layout, hashed, models, training.hidden)


def _fitted(task: Task, training: TrainingSample, folds: int, trees: int, keep: bool) -> list[FoldScores]:
    units = [FoldUnit(number, folds, trees, _seed(task), keep) for number in range(folds)]
    return task.engine.each(teach_fold, training.rows(), units, FoldScores)


def _seed(task: Task) -> int:
    return task.request.seed % 2**31


def _teaching(training: TrainingSample, found: list[FoldScores]) -> Teaching:
    scores = np.zeros((len(MEMBERS), training.codes.shape[1]))
    for one in found:
        scores[:, one.rows] = one.scores
    return teaching_of(scores, training.positive)


def teach_fold(shared: TrainingRows, unit: FoldUnit) -> FoldScores:
    """Fit models to the rows outside one fold, and let them judge its rows."""
    codes, positive = shared.codes, shared.positive
    folds = HashedFolds.of(codes, positive, unit.folds, unit.seed)
    test = folds.training_fold(codes, positive) == unit.fold
    scores, models = left_out(codes, positive, test, shared.encoding, unit.trees, unit.seed + unit.fold)
    return FoldScores(np.flatnonzero(test), scores, models if unit.keep else None)


def fold_count(wanted: int, positives: int) -> int:
    """As many folds as there are labelled rows to leave one in each, two at least."""
    return max(2, min(wanted, positives))


def shares(names: Sequence[str], values: Floats) -> str:
    """Words such as "linear 0.4, trees 0.6"."""
    return ", ".join(f"{name} {value:.2f}" for name, value in zip(names, values, strict=True))
