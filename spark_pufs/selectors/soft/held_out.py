"""What a choice is worth on rows that it has not seen, beside all columns and beside chance."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, replace

import numpy as np
from numpy.typing import NDArray

from spark_pufs.core.soft.distillation import Teaching, soft_labels
from spark_pufs.core.soft.encoding import Codes, Floats
from spark_pufs.core.soft.folds import HashedFolds, code_hashes
from spark_pufs.core.soft.held_out import HeldOut, column_scores, judged, rank_columns
from spark_pufs.core.soft.teacher import Bools, normal_ranks, weighed
from spark_pufs.selectors.base import Task
from spark_pufs.selectors.by_score import by_score
from spark_pufs.selectors.soft.training_sample import TrainingRows, TrainingSample
from spark_pufs.types import LABELLED_NEGATIVE, UNLABELLED

__all__ = [
    "INNER_FOLDS",
    "MUCH",
    "NOISE",
    "TREES",
    "ColumnRanks",
    "HeldFold",
    "JudgedRows",
    "Judgement",
    "held_out",
    "without_fold",
]

FOLDS, INNER_FOLDS, TREES = 3, 3, 20  # the folds only have to tell a good choice from a bad one
MOST_ROWS = 4_000
LEAST_LABELLED = 6  # two to a fold
NOISE = "No better than chance: the ranking may be noise. Label more rows."
MUCH = 0.02  # AUC, by the teacher's soft labels: a loss against all columns that is a warning


@dataclass(frozen=True)
class JudgedRows:
    """A training sample, and the ``rows`` of it that take part."""

    training: TrainingRows
    rows: NDArray[np.intp]


@dataclass(frozen=True)
class HeldFold:
    """The fold that is left out; ``columns`` chosen without it, once they are known."""

    fold: int
    seed: int
    k: int
    columns: NDArray[np.intp] | None = None


@dataclass(frozen=True)
class ColumnRanks:
    """The mean rank (D,) of the columns."""

    rank: Floats


@dataclass(frozen=True)
class HeldScores:
    """What members say (3, m) of the ``rows`` (m,) of one fold, from the columns ``chosen`` and from ``every`` one."""

    rows: NDArray[np.intp]
    chosen: Floats
    every: Floats


Ranker = Callable[[JudgedRows, HeldFold], ColumnRanks]


def held_out(
    task: Task, training: TrainingSample, teaching: Teaching, chosen: int, ranker: Ranker | None = None
) -> HeldOut | None:
    """A method's way with so many features on rows it did not see; None where too few rows are labelled.

    Every fold is left out in turn: columns are ranked without it, and models that learn the label from the columns
    chosen then, and from all columns, score its rows. ``ranker`` gives the ``rank`` (D,) of the columns without a fold
    as the method would; that of ``distil`` where none is named.
    """
    if int(training.positive.sum()) < LEAST_LABELLED or not 0 < chosen < len(training.place):
        return None
    rows = _some(training)
    shared = JudgedRows(training.rows(), rows)
    units = [HeldFold(number, task.request.seed % 2**31, chosen) for number in range(FOLDS)]
    found_ranks = task.engine.each(ranker or rank_without, shared, units, ColumnRanks)
    ranks = [training.by_feature(one.rank) for one in found_ranks]
    picks = [by_score(rank, task.limits)[:chosen] for rank in ranks]
    place = np.argsort(training.place)
    tests = [replace(one, columns=np.sort(place[pick])) for one, pick in zip(units, picks, strict=True)]
    found = task.engine.each(score_fold, shared, tests, HeldScores)
    positive = training.positive[rows]
    scores = np.zeros((2, len(rows)))
    for one in found:
        for own, members in zip(scores, (one.chosen, one.every), strict=True):
            own[one.rows] = weighed(teaching.weights, np.vstack([normal_ranks(member) for member in members]))
    negative = training.label[rows] == LABELLED_NEGATIVE
    soft = soft_labels(teaching.target[rows], positive, negative, training.hidden)
    return judged(scores[0], scores[1], positive, soft)


def _some(training: TrainingSample) -> NDArray[np.intp]:
    """Rows of the training sample: all that are labelled, and others by lot."""
    others = np.flatnonzero(training.label == UNLABELLED)
    room = max(MOST_ROWS - (len(training.label) - len(others)), MOST_ROWS // 2)
    lot = np.argsort(code_hashes(np.ascontiguousarray(training.codes[:, others]), 0), kind="stable")[:room]
    return np.sort(np.concatenate([np.flatnonzero(training.label != UNLABELLED), others[lot]]))


def _fold(shared: JudgedRows, unit: HeldFold) -> tuple[Codes, Bools, Bools]:
    """Codes (D, n) of the rows, which of them are labelled positive, and which are in the fold."""
    codes = np.ascontiguousarray(shared.training.codes[:, shared.rows])
    positive = shared.training.positive[shared.rows]
    folds = HashedFolds.of(codes, positive, FOLDS, unit.seed + 17)
    return codes, positive, folds.training_fold(codes, positive) == unit.fold


def without_fold(shared: JudgedRows, unit: HeldFold) -> TrainingRows:
    """The rows outside one fold, for methods that work on the rows of a training sample."""
    codes, _, test = _fold(shared, unit)
    label = shared.training.label[shared.rows]
    return replace(shared.training, codes=np.ascontiguousarray(codes[:, ~test]), label=label[~test])


def rank_without(shared: JudgedRows, unit: HeldFold) -> ColumnRanks:
    """From the rows outside one fold."""
    codes, positive, test = _fold(shared, unit)
    inner = max(2, min(INNER_FOLDS, int(positive[~test].sum())))
    rank = rank_columns(
        np.ascontiguousarray(codes[:, ~test]),
        positive[~test],
        shared.training.negative[shared.rows][~test],
        shared.training.encoding,
        shared.training.hidden,
        unit.k,
        inner,
        TREES,
        unit.seed,
    )
    return ColumnRanks(rank)


def score_fold(shared: JudgedRows, unit: HeldFold) -> HeldScores:
    """What members that learnt outside one fold say of its rows."""
    codes, positive, test = _fold(shared, unit)

    def scores(columns: NDArray[np.intp]) -> Floats:
        encoding, seed = shared.training.encoding, unit.seed + unit.fold
        return column_scores(codes, positive, test, encoding, columns, TREES, seed)

    every = np.arange(len(codes))
    chosen = every if unit.columns is None else unit.columns
    return HeldScores(np.flatnonzero(test), scores(chosen), scores(every))


@dataclass(frozen=True)
class Judgement:
    """What is known of a choice: how good a teacher all ``columns`` make, and what held-out rows say of it."""

    teaching: Teaching
    found: HeldOut | None
    chosen: int
    columns: int

    @property
    def better(self) -> bool:
        """Better than chance: the teacher by two standard errors and, where it was judged, the choice by one."""
        judged = self.found is None or self.found.chosen - self.found.chosen_error > 0.5
        return self.teaching.knows and judged

    @property
    def verdict(self) -> str:
        """The judgement in one line."""
        if self.found is None:
            how = "Better than chance" if self.better else "No better than chance"
            auc = f"{self.teaching.auc:.3f} +- {self.teaching.error:.3f}"
            return f"{how}: held-out AUC {auc} with all {self.columns} columns, 0.5 by chance."
        return self.found.told(self.better, self.chosen, self.columns)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What to tell where the choice is noise, or falls short of all columns."""
        if not self.better:
            return (NOISE,)
        found = self.found
        if found is None or max(found.lost, found.every - found.chosen - found.error) <= MUCH:
            return ()
        lost = f"{max(found.lost, found.every - found.chosen):.3f} of held-out AUC"
        return (f"Worse than all {self.columns} columns by {lost}: choose more features, or keep them all.",)

    def rounded(self) -> HeldOut | None:
        """What held-out rows say, for the report."""
        return self.found and HeldOut(
            **{name: round(value, 6) for name, value in asdict(self.found).items() if value is not None}
        )
