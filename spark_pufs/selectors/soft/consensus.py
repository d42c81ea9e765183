"""consensus: many weak views of many bags of rows, brought to one scale and averaged.

Each bag holds a part of the labelled and of the other rows. In every bag a teacher is taught anew, its students and
three views of the label alone rank the columns, and the ranks are averaged. How far the bags differ gives standard
errors, selection frequencies and stability without further runs. A bag is one task.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from spark_pufs.core.evidence.stability import stability
from spark_pufs.core.soft.distillation import soft_labels, taught, teaching_of
from spark_pufs.core.soft.encoding import Floats
from spark_pufs.core.soft.folds import HashedFolds
from spark_pufs.core.soft.students import mean_rank
from spark_pufs.core.soft.teacher import MEMBERS, normal_ranks
from spark_pufs.core.soft.views import VIEW_KINDS, view_weights, wide_report
from spark_pufs.findings import Findings
from spark_pufs.selectors.base import Method, Outcome, Task
from spark_pufs.selectors.by_score import by_score
from spark_pufs.selectors.evidence.resampling import stability_summary
from spark_pufs.selectors.options import number, whole
from spark_pufs.selectors.soft.distil import (
    MOST_TRACED,
    DistilOptions,
    in_units_of_best,
    teacher_summary,
)
from spark_pufs.selectors.soft.held_out import (
    INNER_FOLDS,
    TREES,
    ColumnRanks,
    HeldFold,
    JudgedRows,
    Judgement,
    held_out,
    without_fold,
)
from spark_pufs.selectors.soft.training_sample import TrainingRows, draw_training_sample, fold_count

__all__ = ["METHODS"]

JUDGED_BAGS = 2  # of each fold that is held out
LEAST_LABELLED = 4  # rows of a bag that are labelled, where there are as many


@dataclass(frozen=True)
class ConsensusOptions(DistilOptions):
    """Options of consensus: smaller forests than distil's, since every bag has its own."""

    trees: int = whole(50, 1)
    bags: int = whole(8, 2, 200)
    share: float = number(0.6, 0.1, 0.9)


@dataclass(frozen=True)
class Bag:
    """One bag of rows and how its teacher and students learn."""

    bag: int
    folds: int
    trees: int
    share: float
    k: int
    seed: int


@dataclass(frozen=True)
class BagViews:
    """The mean rank (D,) over all views of one bag, its strength (D,), and what its teacher said (3, m) of its rows."""

    rank: Floats
    strength: Floats
    rows: NDArray[np.intp]
    teacher: Floats


def _consensus(task: Task) -> Outcome:
    options = task.options_as(ConsensusOptions)
    training = draw_training_sample(task, options.rows)
    folds = fold_count(options.folds, int(training.positive.sum()))
    k, seed = min(task.limits.in_features(task.limits.k), MOST_TRACED), task.request.seed % 2**31
    units = [Bag(bag, folds, options.trees, float(options.share), k, seed) for bag in range(options.bags)]
    task.note(f"{len(units)} bags of {training.note}")
    found = task.engine.each(bag_views, training.rows(), units, BagViews)
    ranks = training.by_feature(np.stack([one.rank for one in found]))
    strength = training.by_feature(np.stack([one.strength for one in found]))
    scores = ranks.mean(axis=0)
    chosen = by_score(scores, task.limits)
    errors = _bag_error(ranks, options.share)
    teaching = teaching_of(_mean_scores(found, training.codes.shape[1]), training.positive)
    masks = np.zeros(ranks.shape, np.bool_)
    for own, rank in zip(masks, ranks, strict=True):
        own[by_score(rank, task.limits)] = True
    task.note("judging the choice on rows held out, beside all columns and chance")
    ranker = partial(rank_by_bags, float(options.share))
    verdict = held_out(task, training, teaching, len(chosen), ranker) if options.judge else None
    judgement = Judgement(teaching, verdict, len(chosen), len(scores))
    strength = strength * judgement.better  # nothing of noise is relevant
    agreement = stability_summary(stability(masks), task.table.names)
    frequency = masks.mean(axis=0)
    return Outcome(
        chosen,
        scores,
        errors,
        notes={i: f"chosen in {share:.0%} of {len(units)} bags" for i, share in enumerate(frequency.tolist())},
        warnings=judgement.warnings,
        findings=Findings(
            verdict=judgement.verdict,
            held_out=judgement.rounded(),
            sample=training.note,
            teacher=teacher_summary(teaching, training),
            stability=agreement,
        ),
        relevance=in_units_of_best(strength.mean(axis=0), scores),
        relevance_errors=_bag_error(strength, options.share),
    )


def _bag_error(values: Floats, share: float) -> Floats:
    """Standard error (D,) of the mean over bags (B, D) as a word on all rows: bags of a ``share`` of the rows overlap.

    The delete-d jackknife: the spread between bags, times the rows in a bag over those left out (Shao & Wu 1989).
    """
    found: Floats = values.std(axis=0, ddof=1) * np.sqrt(share / (1 - share))
    return found


def _mean_scores(found: list[BagViews], rows: int) -> Floats:
    """The members' scores (M, n) of every row, averaged over the bags that held it."""
    total, seen = np.zeros((len(MEMBERS), rows)), np.zeros(rows)
    for one in found:
        total[:, one.rows] += one.teacher
        seen[one.rows] += 1
    return total / np.maximum(seen, 1)


def bag_views(shared: TrainingRows, unit: Bag) -> BagViews:
    """What all views say of one bag."""
    rows = _bag(shared.label, unit.share, np.random.default_rng([unit.seed, 23, unit.bag]))
    codes, positive = np.ascontiguousarray(shared.codes[:, rows]), shared.positive[rows]
    own = unit.seed + 1009 * unit.bag
    folds = HashedFolds.of(codes, positive, unit.folds, own)
    teaching, _ = taught(codes, positive, folds, shared.encoding, unit.trees, own)
    soft = soft_labels(teaching.target, positive, shared.negative[rows], shared.hidden)
    report = wide_report(codes, positive, teaching.target, soft, shared.encoding, unit.k, unit.trees, own)
    teacher = np.vstack([normal_ranks(one) for one in teaching.scores])
    weights = view_weights(VIEW_KINDS, teaching.weights)
    rank = mean_rank(report.scores, weights)
    return BagViews(rank, report.strength.mean(axis=0), rows, teacher)


def rank_by_bags(share: float, shared: JudgedRows, unit: HeldFold) -> ColumnRanks:
    """What a few small bags of the rows outside one fold give."""
    own = without_fold(shared, unit)
    folds = fold_count(INNER_FOLDS, int(own.positive.sum()))
    bags = [Bag(bag, folds, TREES, share, unit.k, unit.seed) for bag in range(JUDGED_BAGS)]
    return ColumnRanks(np.mean([bag_views(own, one).rank for one in bags], axis=0))


def _bag(label: NDArray[np.uint8], share: float, rng: np.random.Generator) -> NDArray[np.intp]:
    """Rows of a bag: the share of each label state, and a few labelled rows at least."""
    parts = []
    for state in np.unique(label):
        own = np.flatnonzero(label == state)
        count = max(round(share * len(own)), min(LEAST_LABELLED, len(own)))
        parts.append(rng.permutation(own)[:count])
    return np.sort(np.concatenate(parts))


METHODS = (
    Method(
        "consensus",
        "Ten views of the columns, with and without a teacher, on bags of the rows, averaged",
        "labels depend on the class alone (SCAR)",
        "one or two passes for a bounded sample, then a task for each bag",
        "an answer with its errors and its stability; tables on which methods disagree",
        _consensus,
        ConsensusOptions,
        from_sample=True,
        trial_options={"bags": 2, "trees": 20, "folds": 3, "judge": False},
    ),
)
