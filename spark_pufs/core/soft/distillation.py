"""From codes and labels to a teacher's scores and the students' ranking: the work of one task, arrays in and out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit

from spark_pufs.core.evidence.label_rate import delong
from spark_pufs.core.information.surrogate import Labels
from spark_pufs.core.soft.encoding import Codes, Encoding, Floats
from spark_pufs.core.soft.folds import HashedFolds
from spark_pufs.core.soft.teacher import MEMBERS, Bools, FoldModels, fit_fold, member_weights, normal_ranks, weighed

__all__ = [
    "SLOPE",
    "Teaching",
    "assumed_prior",
    "hidden_share",
    "known_or_soft",
    "left_out",
    "soft_labels",
    "soft_offset",
    "taught",
    "teaching_of",
]

SLOPE = 2.0  # of the posterior in units of the teacher's normal score
GUESS = 3.0  # positives for each labelled one, where nothing is said of the prior
MOST_GUESSED = 0.5
LEAST_HIDDEN = 1e-4  # share of unlabelled rows that soft labels leave open, whatever the prior says


@dataclass(frozen=True)
class Teaching:
    """What the teacher says of its own rows, each scored by models that have not seen it.

    ``target`` (n,): normal scores. ``weights``, ``aucs`` (M,): of the members. ``auc``, ``error``: labelled against
    other rows, held out.
    """

    target: Floats
    scores: Floats
    weights: Floats
    aucs: Floats
    auc: float
    error: float

    @property
    def knows(self) -> bool:
        """Whether the teacher is better than chance by two standard errors."""
        return self.auc - 2 * self.error > 0.5


def teaching_of(scores: Floats, labelled: Bools) -> Teaching:
    """The members' out-of-fold scores (M, n) as one."""
    ranks = np.vstack([normal_ranks(own) for own in scores])
    weights, aucs = member_weights(ranks, labelled)
    target = normal_ranks(weighed(weights, ranks))
    auc, variance = delong(target[labelled], target[~labelled])
    return Teaching(target, scores, weights, aucs, auc, float(np.sqrt(variance)))


def taught(
    codes: Codes, labelled: Bools, folds: HashedFolds, encoding: Encoding, trees: int, seed: int
) -> tuple[Teaching, list[FoldModels | None]]:
    """All folds one after the other: the teaching of codes (D, n), and the models of each fold."""
    scores = np.zeros((len(MEMBERS), codes.shape[1]))
    models = []
    fold = folds.training_fold(codes, labelled)
    for number in range(folds.count):
        test = fold == number
        scores[:, test], own = left_out(codes, labelled, test, encoding, trees, seed + number)
        models.append(own)
    return teaching_of(scores, labelled), models


def left_out(
    codes: Codes, labelled: Bools, test: Bools, encoding: Encoding, trees: int, seed: int
) -> tuple[Floats, FoldModels | None]:
    """What models of all other rows say (M, m) of the m ``test`` rows, and the models; nothing where they are none."""
    models = fit_fold(codes[:, ~test], labelled[~test], encoding, trees, seed)
    if models is None or not test.any():
        return np.zeros((len(MEMBERS), int(test.sum()))), models
    return models.scores(codes[:, test], encoding.layout), models


def assumed_prior(prior: float | Sequence[float] | None, labelled: int, rows: int) -> float:
    """The share of positives that soft labels sum to: as believed, else three for each labelled one, at most half.

    >>> assumed_prior((0.1, 0.3), 5, 100), assumed_prior(None, 5, 100), assumed_prior(None, 40, 100)
    (0.2, 0.15000000000000002, 0.5)
    """
    least = labelled / rows
    if prior is None:
        return max(least, min(GUESS * least, MOST_GUESSED))
    middle = prior if isinstance(prior, int | float) else sum(prior) / len(prior)
    return max(least, float(middle))


def hidden_share(prior: float, labels: Labels) -> float:
    """The share of positives among unlabelled rows, of a table with so many labels and this share of positives.

    >>> hidden_share(0.2, Labels(positive=100, negative=0, unlabelled=900))
    0.1111111111111111
    """
    hidden = prior * labels.rows - labels.positive
    return float(np.clip(hidden / max(labels.unlabelled, 1), LEAST_HIDDEN, 1 - LEAST_HIDDEN))


def soft_labels(target: Floats, positive: Bools, negative: Bools, hidden: float) -> Floats:
    """Soft labels (n,) in [0, 1]: 1 and 0 where the class is known, and on average ``hidden`` where it is not.

    >>> soft = soft_labels(np.array([-1.0, 0.0, 1.0, 2.0]), np.array([0, 0, 0, 1], bool), np.zeros(4, bool), 1 / 3)
    >>> soft.round(2).tolist(), float(soft[:3].mean().round(3))
    ([0.04, 0.25, 0.71, 1.0], 0.333)
    """
    offset = soft_offset(target[~positive & ~negative], hidden)
    return known_or_soft(SLOPE * target - offset, positive, negative)


def soft_offset(target: Floats, hidden: float) -> float:
    """What is taken off the logits of unlabelled rows (n,), so that their soft labels have the mean ``hidden``."""
    if not len(target):
        return 0.0

    def excess(offset: float) -> float:
        return float(expit(SLOPE * target - offset).mean() - hidden)

    return float(brentq(excess, -100.0, 100.0))


def known_or_soft(logits: Floats, positive: Bools, negative: Bools) -> Floats:
    """1 and 0 where the class is known, else the posterior (n,) of the logits."""
    return np.where(positive, 1.0, np.where(negative, 0.0, expit(logits)))
