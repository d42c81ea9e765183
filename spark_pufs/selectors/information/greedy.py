"""Forward selection: the best open feature, again and again."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from spark_pufs.table.counter import Counter
from spark_pufs.table.limits import Limits

__all__ = ["Criterion", "forward"]

NOTHING = 1e-9  # of the largest score: what rounding leaves of information that is 0


class Criterion(Protocol):
    """Start from label counts, update with each chosen feature, score every feature."""

    needs_pairs: bool
    beyond_chance: bool  # a score of 0 or below is no more than chance gives

    def start(self, labels: NDArray[np.int64]) -> None:
        """``labels``: label x level, (3, L)."""

    def update(self, pairs: NDArray[np.int64]) -> None:
        """``pairs``: label x level of the feature just chosen x level of every feature, (3, B, L)."""

    def score(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Score and standard error of every feature, (D,) each."""


def forward(
    criterion: Criterion, counter: Counter, limits: Limits
) -> tuple[list[int], NDArray[np.float64], NDArray[np.float64]]:
    """Chosen features, best first; each feature's score when it was chosen, or at the end if it was not.

    Where none of the others adds anything to those chosen, they are chosen by what each tells alone.
    """
    if criterion.needs_pairs:
        counter.expect_pairs()
    criterion.start(counter.labels())
    chosen: list[int] = []
    score, error = criterion.score()
    scores, errors, alone = score.copy(), error.copy(), score.copy()
    while (free := limits.open(chosen)).any():
        if chosen and criterion.needs_pairs:
            criterion.update(counter.with_feature(chosen[-1], _next(score, free, 2 * (limits.k - len(chosen)))))
        score, error = criterion.score()
        waiting = np.ones(len(score), bool)
        waiting[chosen] = False
        scores[waiting], errors[waiting] = score[waiting], error[waiting]
        telling = free & (alone > 0) if criterion.beyond_chance else free
        if chosen and telling.any() and np.abs(score[telling]).max() <= NOTHING * np.abs(alone).max():
            return _filled(chosen, alone, limits), scores, errors
        chosen.append(int(np.argmax(np.where(free, score, -np.inf))))  # argmax takes the first of equals
    return chosen, scores, errors


def _filled(chosen: list[int], alone: NDArray[np.float64], limits: Limits) -> list[int]:
    """The features chosen and as many more as the limits allow, by what they tell alone."""
    chosen = list(chosen)
    while (free := limits.open(chosen)).any():
        chosen.append(int(np.argmax(np.where(free, alone, -np.inf))))
    return chosen


def _next(score: NDArray[np.float64], free: NDArray[np.bool_], count: int) -> list[int]:
    """The ``count`` best open features as of now: the likeliest to be chosen, and paired, after this one."""
    order = np.argsort(-score, kind="stable")
    return [int(feature) for feature in order[free[order]][:count]]
