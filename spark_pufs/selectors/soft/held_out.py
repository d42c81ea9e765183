"""What a choice is worth on rows that it has not seen, beside all columns and beside chance."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from spark_pufs.core.counting.kernel import State
from spark_pufs.core.soft.distillation import Teaching, soft_labels
from spark_pufs.core.soft.encoding import Encoding, Floats
from spark_pufs.core.soft.folds import HashedFolds, code_hashes
from spark_pufs.core.soft.held_out import HeldOut, column_scores, judged, rank_columns
from spark_pufs.core.soft.teacher import normal_ranks, weighed
from spark_pufs.engines.base import Work
from spark_pufs.selectors.base import Task
from spark_pufs.selectors.by_score import by_score
from spark_pufs.selectors.soft.lesson import Lesson
from spark_pufs.types import LABELLED_NEGATIVE, LABELLED_POSITIVE, UNLABELLED

__all__ = ["INNER_FOLDS", "NOISE", "TREES", "Judgement", "held_out", "without_fold"]

FOLDS, INNER_FOLDS, TREES = 3, 3, 20  # the folds only have to tell a good choice from a bad one
MOST_ROWS = 4_000
LEAST_LABELLED = 6  # two to a fold
NOISE = "No better than chance: the ranking may be noise. Label more rows."
MUCH = 0.02  # AUC, by the teacher's soft labels: a loss against all columns that is a warning


def held_out(task: Task, lesson: Lesson, teaching: Teaching, chosen: int, ranker: Work | None = None) -> HeldOut | None:
    """A method's way with so many features on rows it did not see; None where too few rows are labelled.

    Every fold is left out in turn: columns are ranked without it, and models that learn the label from the columns
    chosen then, and from all columns, score its rows. ``ranker`` gives the ``rank`` (D,) of the columns without a fold
    as the method would; that of ``distil`` where none is named.
    """
    if int(lesson.positive.sum()) < LEAST_LABELLED or not 0 < chosen < len(lesson.place):
        return None
    rows = _some(lesson)
    shared = {**lesson.state(), "hidden": lesson.hidden, "rows": rows}
    unit = {"seed": task.request.seed % 2**31, "k": chosen}
    units = [{**unit, "fold": number} for number in range(FOLDS)]
    ranks = [lesson.by_feature(one["rank"]) for one in task.engine.each(ranker or rank_without, shared, units)]
    picks = [by_score(rank, task.limits)[:chosen] for rank in ranks]
    place = np.argsort(lesson.place)
    tests = [{**one, "columns": np.sort(place[pick])} for one, pick in zip(units, picks, strict=True)]
    found = task.engine.each(score_fold, shared, tests)
    positive = lesson.positive[rows]
    scores = np.zeros((2, len(rows)))
    for one in found:
        for own, members in zip(scores, (one["chosen"], one["every"]), strict=True):
            own[one["rows"]] = weighed(teaching.weights, np.vstack([normal_ranks(member) for member in members]))
    negative = lesson.label[rows] == LABELLED_NEGATIVE
    soft = soft_labels(teaching.target[rows], positive, negative, lesson.hidden)
    return judged(scores[0], scores[1], positive, soft)


def _some(lesson: Lesson) -> np.ndarray[Any, np.dtype[np.intp]]:
    """Rows of the lesson: all that are labelled, and others by lot."""
    others = np.flatnonzero(lesson.label == UNLABELLED)
    room = max(MOST_ROWS - (len(lesson.label) - len(others)), MOST_ROWS // 2)
    lot = np.argsort(code_hashes(np.ascontiguousarray(lesson.codes[:, others]), 0), kind="stable")[:room]
    return np.sort(np.concatenate([np.flatnonzero(lesson.label != UNLABELLED), others[lot]]))


def _fold(shared: State, unit: State) -> tuple[Any, ...]:
    codes = np.ascontiguousarray(shared["codes"][:, shared["rows"]])
    label = shared["label"][shared["rows"]]
    positive = label == LABELLED_POSITIVE
    folds = HashedFolds.of(codes, positive, FOLDS, unit["seed"] + 17)
    return codes, label, positive, folds.lesson_fold(codes, positive) == unit["fold"], Encoding.from_state(shared)


def without_fold(shared: State, unit: State) -> State:
    """What is shared of the rows outside one fold, for methods that work on shared rows."""
    codes, label, _, test, _ = _fold(shared, unit)
    return {**shared, "codes": np.ascontiguousarray(codes[:, ~test]), "label": label[~test]}


def rank_without(shared: State, unit: State) -> State:
    """The mean rank (D,) of the columns, from the rows outside one fold."""
    codes, label, positive, test, encoding = _fold(shared, unit)
    inner = max(2, min(INNER_FOLDS, int(positive[~test].sum())))
    rank = rank_columns(
        np.ascontiguousarray(codes[:, ~test]),
        positive[~test],
        label[~test] == LABELLED_NEGATIVE,
        encoding,
        shared["hidden"],
        unit["k"],
        inner,
        TREES,
        unit["seed"],
    )
    return {"rank": rank}


def score_fold(shared: State, unit: State) -> State:
    """What members say (3, m) of the ``rows`` (m,) of one fold, from the ``columns`` chosen and from all."""
    codes, _, positive, test, encoding = _fold(shared, unit)

    def scores(columns: Any) -> Floats:
        return column_scores(codes, positive, test, encoding, columns, TREES, unit["seed"] + unit["fold"])

    every = scores(np.arange(len(codes)))
    return {"rows": np.flatnonzero(test), "chosen": scores(unit["columns"]), "every": every}


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
        how = "Better than chance" if self.better else "No better than chance"
        if self.found is None:
            auc = f"{self.teaching.auc:.3f} +- {self.teaching.error:.3f}"
            return f"{how}: held-out AUC {auc} with all {self.columns} columns, 0.5 by chance."
        found, of = self.found, f"{self.chosen} of {self.columns} columns"
        gap = f"difference {found.chosen - found.every:+.3f} +- {found.error:.3f}"
        told = f"held-out AUC {found.chosen:.3f} +- {found.chosen_error:.3f} with {of}, {found.every:.3f} with all"
        return f"{how}: {told} ({gap}, up to {found.most_lost:.2f} may be lost), 0.5 by chance."

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
        return self.found and HeldOut(**{name: round(value, 6) for name, value in asdict(self.found).items()})
