"""distil: a teacher learns the label from all columns, views ask which of them tell its word.

The teacher is cross-fitted, so that no row is judged by a model that saw its label. Three views that fail in different
ways rank the columns; the mean of their ranks is the answer.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from spark_pufs.core.soft.distillation import Teaching, soft_labels, teaching_of
from spark_pufs.core.soft.encoding import Floats
from spark_pufs.core.soft.students import CORE_VIEWS, Report, core_report, ranks
from spark_pufs.core.soft.teacher import MEMBERS
from spark_pufs.findings import Findings
from spark_pufs.findings.parts import TeacherMember, TeacherSummary
from spark_pufs.selectors.base import Method, Outcome, Task
from spark_pufs.selectors.by_score import by_score
from spark_pufs.selectors.options import Options, flag, whole
from spark_pufs.selectors.soft.held_out import Judgement, held_out
from spark_pufs.selectors.soft.training_sample import (
    TrainingRows,
    TrainingSample,
    draw_training_sample,
    fold_count,
    shares,
    teach,
)

__all__ = ["METHODS", "DistilOptions", "in_units_of_best", "teacher_summary"]

MOST_TRACED = 40  # features that a forward search orders where no number is asked for


@dataclass(frozen=True)
class DistilOptions(Options):
    """Options of distil."""

    folds: int = whole(5, 2, 20)
    trees: int = whole(100, 1)
    rows: int = whole(10_000, 100)
    judge: bool = flag(True)  # the choice on held-out rows, beside all columns


def _distil(task: Task) -> Outcome:
    options = task.options_as(DistilOptions)
    task.note("step 1 of 3: four models learn who is labelled, each judged on rows it has not seen")
    training = draw_training_sample(task, options.rows)
    folds = fold_count(options.folds, int(training.positive.sum()))
    teaching = teach(task, training, folds, options.trees)
    task.note("step 2 of 3: three views rank the columns")
    report = _students(task, training, teaching)
    places = training.by_feature(ranks(report.scores))
    scores = places.mean(axis=0)
    chosen = by_score(scores, task.limits)
    task.note("step 3 of 3: judging the choice on rows held out, beside all columns and chance")
    found = held_out(task, training, teaching, len(chosen)) if options.judge else None
    judgement = Judgement(teaching, found, len(chosen), len(scores))
    strength = training.by_feature(report.strength) * judgement.better  # nothing of noise is relevant
    return Outcome(
        chosen,
        scores,
        errors=places.std(axis=0, ddof=1) / np.sqrt(len(places)),
        warnings=judgement.warnings,
        findings=Findings(
            verdict=judgement.verdict,
            sample=training.note,
            held_out=judgement.rounded(),
            teacher=teacher_summary(teaching, training),
        ),
        notes={i: shares(CORE_VIEWS, own) for i, own in enumerate(places.T)},
        relevance=in_units_of_best(strength.mean(axis=0), scores),
        relevance_errors=strength.std(axis=0, ddof=1) / np.sqrt(len(strength)),
    )


def in_units_of_best(strength: Floats, scores: Floats) -> Floats:
    """Strength (D,) as relevance: 1 is the feature that is ranked first, where it is better than chance at all."""
    first = strength[int(np.argmax(scores))]
    return np.clip(strength / first, 0.0, 1.0) if first > 0 else np.zeros_like(strength)


def _students(task: Task, training: TrainingSample, teaching: Teaching) -> Report:
    unit = Asked(min(task.limits.in_features(task.limits.k), MOST_TRACED), task.request.seed % 2**31)
    return task.engine.each(learn, TaughtRows(training.rows(), teaching.scores), [unit], Report)[0]


@dataclass(frozen=True)
class TaughtRows:
    """Rows, and what the members of their teacher say (3, n) of them."""

    training: TrainingRows
    scores: Floats


@dataclass(frozen=True)
class Asked:
    """So many features, with this seed."""

    k: int
    seed: int


def learn(shared: TaughtRows, unit: Asked) -> Report:
    """What the views find with one teacher."""
    training, positive = shared.training, shared.training.positive
    teaching = teaching_of(shared.scores, positive)
    soft = soft_labels(teaching.target, positive, training.negative, training.hidden)
    return core_report(training.codes, positive, teaching.target, soft, training.encoding, unit.k, unit.seed)


def teacher_summary(teaching: Teaching, training: TrainingSample) -> TeacherSummary:
    """How good the teacher is and what it is made of, for the report."""
    members = tuple(
        TeacherMember(name, round(float(auc), 6), round(float(weight), 6))
        for name, auc, weight in zip(MEMBERS, teaching.aucs, teaching.weights, strict=True)
    )
    return TeacherSummary(round(teaching.auc, 6), round(teaching.error, 6), teaching.knows, members, training.prior)


METHODS = (
    Method(
        "distil",
        "A cross-fitted teacher scores every row; three views rank columns by how well they predict its scores",
        "labels depend on the class alone (SCAR)",
        "one or two passes for a bounded sample, then seconds of work on it",
        "the default: few labels, any types; outliers, sentinels and noise columns do not fool it",
        _distil,
        DistilOptions,
        from_sample=True,
        trial_options={"trees": 20, "folds": 3, "judge": False},
    ),
)
