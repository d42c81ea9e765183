"""Rankings by information with soft labels, counted over all rows of the table.

A teacher learns the label on a bounded sample, out of fold. The pass that packs the rows grades each of them by the
models that have not seen it, in whole numbers, and the criteria of ``information.ranking`` count grades in place of
labels: integer sums, the same for any partitioning.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from spark_pufs.core.information.chance import Measure, class_beyond_chance, features_beyond_chance
from spark_pufs.core.information.mutual_information import between_features, class_given_feature
from spark_pufs.core.information.surrogate import SurrogateChoice, switching_threshold
from spark_pufs.core.soft.distillation import Teaching, soft_labels
from spark_pufs.core.soft.grading import TaughtTeacher
from spark_pufs.engines.base import Packer
from spark_pufs.findings import Findings
from spark_pufs.selectors.base import Method, Outcome, Task
from spark_pufs.selectors.information.greedy import Criterion, forward
from spark_pufs.selectors.information.ranking import CMIM, JMI, MIM, MRMR, CountingOptions
from spark_pufs.selectors.information.surrogates import record
from spark_pufs.selectors.options import whole
from spark_pufs.selectors.soft.distil import teacher_summary
from spark_pufs.selectors.soft.held_out import Judgement
from spark_pufs.selectors.soft.training_sample import TrainingSample, draw_training_sample, fold_count, teacher_of
from spark_pufs.table.counter import BY_GRADE, Counter
from spark_pufs.table.pu_table import PUTable, pack, packer
from spark_pufs.types import LABELLED_NEGATIVE, RawBatch

__all__ = ["METHODS", "RowGrader", "SoftOptions"]


@dataclass(frozen=True)
class SoftOptions(CountingOptions):
    """Options of rankings by soft labels: those of the teacher, and how information is counted."""

    folds: int = whole(5, 2, 20)
    trees: int = whole(50, 1)
    rows: int = whole(10_000, 100)


@dataclass(frozen=True)
class RowGrader:
    """A teacher that reads raw rows, by the fine bins of its training sample."""

    fine: Packer
    teacher: TaughtTeacher

    def grades(self, batch: RawBatch, label: NDArray[np.uint8]) -> NDArray[np.uint8]:
        return self.teacher.grades(self.fine.pack(batch).codes, label)


def _rank(criterion: type[MIM]) -> Callable[[Task], Outcome]:
    return partial(_ranked, criterion)


def _ranked(criterion: type[MIM], task: Task) -> Outcome:
    options = task.options_as(SoftOptions)
    task.note("step 1 of 2: four models learn who is labelled, each judged on rows it has not seen")
    training = draw_training_sample(task, options.rows)
    folds = fold_count(options.folds, int(training.positive.sum()))
    teaching, teacher = teacher_of(task, training, folds, options.trees)
    task.note("step 2 of 2: counting all rows with the models' word for each")
    judge: Criterion = criterion(task.table.layout, "soft", _measure(options.correction, teaching, training))
    table = _graded(task, training, teacher)
    try:
        counter = Counter(table, task.request.pair_memory_mb, BY_GRADE)
        chosen, scores, errors = forward(judge, counter, task.limits)
    finally:
        table.blocks.release()
    judgement = Judgement(teaching, None, len(chosen), len(scores))
    labels = task.table.plan.labels
    why = f"Unlabelled rows count by the teacher's posterior, {training.hidden:.3g} on average."
    return Outcome(
        chosen,
        scores,
        errors,
        surrogate=record(SurrogateChoice("soft", switching_threshold(labels), why), labels),
        warnings=judgement.warnings,
        findings=Findings(verdict=judgement.verdict, sample=training.note, teacher=teacher_summary(teaching, training)),
        summed=criterion.summed,
        beyond_chance=criterion.beyond_chance,
    )


def _graded(task: Task, training: TrainingSample, teacher: TaughtTeacher) -> PUTable:
    """The table with its rows packed once more, their grades in place of their labels."""
    plan = task.table.plan
    return pack(plan, task.request, task.table.bins, RowGrader(packer(plan, training.bins), teacher))


def _measure(correction: str, teaching: Teaching, training: TrainingSample) -> Measure:
    """Information with soft labels, which vary less than labels do; how much less is taken from the training sample."""
    soft = soft_labels(teaching.target, training.positive, training.label == LABELLED_NEGATIVE, training.hidden)
    mean = float(soft.mean())
    share = float(soft.var() / max(mean * (1 - mean), 1e-12))
    given, between = (
        (class_beyond_chance, features_beyond_chance)
        if correction == "chance"
        else (class_given_feature, between_features)
    )
    return Measure(partial(given, variance_share=share), between)


_MIM = Method(
    "soft-mim",
    "Mutual information of each feature with soft labels, counted over all rows",
    "labels depend on the class alone (SCAR)",
    "a bounded sample for the teacher, then one pass that grades and one that counts",
    "each column alone, with few labels and many rows",
    _rank(MIM),
    SoftOptions,
    trial_options={"trees": 20, "folds": 3},
)
_PAIRS = "as soft-mim while all pairs fit in memory, else one more pass for up to a dozen features chosen"

METHODS = (
    _MIM,
    replace(
        _MIM,
        name="soft-jmi",
        summary="Joint mutual information with soft labels, counted over all rows",
        cost=_PAIRS,
        use_when="few labels, many rows, and all relevant columns wanted",
        run=_rank(JMI),
        stepwise=True,
    ),
    replace(
        _MIM,
        name="soft-cmim",
        summary="The least information with soft labels that a feature adds to any one already chosen",
        cost=_PAIRS,
        use_when="few labels and strongly redundant features",
        run=_rank(CMIM),
        stepwise=True,
    ),
    replace(
        _MIM,
        name="soft-mrmr",
        summary="Relevance for soft labels less mean redundancy, counted over all rows",
        cost=_PAIRS,
        use_when="a baseline; tends to choose independent noise when labels are few",
        run=_rank(MRMR),
        stepwise=True,
    ),
)
