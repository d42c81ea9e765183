"""Relevance: scores of any method on one scale, on which 0 is chance and 1 the first feature.

A method's score has its own unit and its own zero. Three things make scores comparable: a score that sums over the
features chosen before is divided by their number; chance is the median score of the columns that by themselves
tell the label no better than chance; and the first feature of the ranking is 1. Down the ranking
relevance never rises: what a later feature adds, the first ones would have been chosen for. Features whose place the
user decides (must, never, not paid for by the budget) keep their own value.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from spark_pufs.core.information.mutual_information import class_of_features
from spark_pufs.core.information.surrogate import apply_surrogate
from spark_pufs.selectors.base import Outcome
from spark_pufs.table.counter import Counter
from spark_pufs.table.limits import Limits

__all__ = ["Relevance", "relevance_of", "told_alone"]

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
Relevance = tuple[Floats, Floats]  # relevance (D,) and its standard error (D,)

CAUTION = 2.0  # standard deviations of chance that information must pass
LEAST = 3  # columns at chance, below which their median says nothing
TO_DEVIATION = 1.4826  # of a normal distribution, times the median distance to the median


def told_alone(counter: Counter) -> Floats:
    """Information (D,) of every feature about who is labelled, less what chance would hardly pass: 0 or below is none.

    Labels dealt at random give 2 N I of a chi-square distribution: its mean and two standard deviations are taken off.
    """
    counts = apply_surrogate(counter.labels(), "y0")
    found = class_of_features(counts, counter.layout)[0]
    levels = np.add.reduceat((counts.sum(axis=0) > 0).astype(np.int64), counter.layout.offsets[:-1])
    freedom = np.maximum(levels - 1, 0)
    rows = max(int(counts[:, counter.layout.span(0)].sum()), 1)
    beyond: Floats = found - (freedom + CAUTION * np.sqrt(2 * freedom)) / (2 * rows)
    return beyond


def relevance_of(outcome: Outcome, order: Sequence[int], alone: Floats, limits: Limits) -> Relevance:
    """Relevance of every feature; ``order`` is the ranking, ``alone`` (D,) what ``told_alone`` says."""
    if outcome.relevance is not None:
        errors = np.zeros(len(alone)) if outcome.relevance_errors is None else outcome.relevance_errors
        return _falling(np.clip(outcome.relevance, 0.0, 1.0), order, _bound(outcome, limits)), errors
    scores, errors = _per_term(outcome)
    bound = _bound(outcome, limits)
    first = next((i for i in order if not bound[i]), order[0])
    level, spread = _chance(scores, outcome.chosen, first, alone <= 0)
    unit = scores[first] - level
    if not unit > 0:
        return np.zeros(len(scores)), np.zeros(len(scores))
    if not errors.any():
        errors = np.full(len(scores), spread)
    return _falling(np.clip((scores - level) / unit, 0.0, 1.0), order, bound), errors / unit


def _per_term(outcome: Outcome) -> tuple[Floats, Floats]:
    """Scores and errors; those that sum over the features chosen before, as a mean over them.

    The second feature's sum has one term, as the first one's; features not chosen lack the term of the last one.
    """
    if not outcome.summed:
        return outcome.scores, outcome.errors
    terms = np.full(len(outcome.scores), max(len(outcome.chosen) - 1, 1))
    terms[outcome.chosen] = np.maximum(np.arange(len(outcome.chosen)), 1)
    return outcome.scores / terms, outcome.errors / terms


def _chance(scores: Floats, chosen: Sequence[int], first: int, silent: Flags) -> tuple[float, float]:
    """The score of a column that tells nothing, and its spread: the median over columns that are ``silent`` (D,) alone.

    Those not chosen, if there are enough: a column may tell something together with others. With too few of either, 0
    is chance, or the lowest score where that of the first is not above 0.
    """
    for barred in (list(chosen), [first]):
        level_of = silent.copy()
        level_of[barred] = False
        found = scores[level_of]
        if len(found) >= LEAST:
            level = float(np.median(found))
            return level, TO_DEVIATION * float(np.median(np.abs(found - level)))
    return (0.0 if scores[first] > 0 else float(scores.min())), 0.0


def _bound(outcome: Outcome, limits: Limits) -> Flags:
    """Features whose place the user's limits decide, not the method."""
    bound = limits.never.copy()
    bound |= limits.costs[outcome.chosen].sum() + limits.unit_costs > limits.ceiling
    bound[outcome.chosen] = False
    bound[list(limits.must)] = True
    return bound


def _falling(values: Floats, order: Sequence[int], bound: Flags) -> Floats:
    """The running minimum down the ranking, but for features that are bound."""
    free = [i for i in order if not bound[i]]
    falling = values.copy()
    falling[free] = np.minimum.accumulate(values[free])
    return falling
