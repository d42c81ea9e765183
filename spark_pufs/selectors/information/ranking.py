"""Rankings by mutual information: MIM, mRMR, JMI, CMIM, MINT, and the first and third on a surrogate class.

A criterion is a few lines: start, update, score (Brown et al. 2012; Sechidis & Brown 2017, eqs 1-3). By default every
term is information beyond chance, which may be below 0.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spark_pufs.core.information.chance import MEASURES, Measure
from spark_pufs.core.information.surrogate import SurrogateChoice, SurrogateName, apply_surrogate, switching_threshold
from spark_pufs.selectors.base import Method, Outcome, Task
from spark_pufs.selectors.information.given import counts_given
from spark_pufs.selectors.information.greedy import Criterion, forward
from spark_pufs.selectors.information.surrogates import (
    SurrogateOptions,
    needs_negatives,
    plain_choice,
    record,
    semi_choice,
)
from spark_pufs.selectors.options import Options, chance_correction, option
from spark_pufs.types import Layout

__all__ = ["CMIM", "JMI", "METHODS", "MIM", "MRMR", "CountingOptions"]

Floats = NDArray[np.float64]
NOTHING_SHARED = 1e-4  # nats added to a redundancy that divides: independent features stay comparable


@dataclass(frozen=True)
class CountingOptions(Options):
    """The option of every ranking: how its information is counted."""

    correction: str = chance_correction()


@dataclass(frozen=True)
class RankingOptions(CountingOptions, SurrogateOptions):
    """Options of rankings that may be told a surrogate."""


@dataclass(frozen=True)
class MrmrOptions(RankingOptions):
    """Options of mrmr."""

    criterion: str = option("mid", "mid (difference) or miq (quotient)", lambda value: value in ("mid", "miq"))


class MIM:
    """I(X_k;Y)."""

    needs_pairs = False
    summed = False
    beyond_chance = True

    def __init__(self, layout: Layout, surrogate: SurrogateName, measure: Measure = MEASURES["chance"]) -> None:
        self._layout = layout
        self._surrogate = surrogate
        self._measure = measure

    def start(self, labels: NDArray[np.int64]) -> None:
        self._relevance, self._error = self._measure.alone(apply_surrogate(labels, self._surrogate), self._layout)

    def update(self, pairs: NDArray[np.int64]) -> None:
        """Nothing to learn from what was chosen."""

    def score(self) -> tuple[Floats, Floats]:
        return self._relevance, self._error


class GivenMIM(MIM):
    """I(X_k;Y) given the columns E by which rows were labelled, from counts (3, levels of E, L).

    Rows are weighed so that every level of E has the same share of labelled ones, as if E had not been looked at: one
    table for each feature, where information within each level of E would have few labels for many cells.
    """

    def __init__(self, layout: Layout, surrogate: SurrogateName, measure: Measure, counts: NDArray[np.int64]) -> None:
        super().__init__(layout, surrogate, measure)
        self._counts = counts

    def start(self, labels: NDArray[np.int64]) -> None:
        counts = apply_surrogate(self._counts, self._surrogate).astype(np.float64)
        strata = counts[:, :, self._layout.span(0)].sum(axis=2)
        total = strata.sum()
        rate = strata[1] / np.maximum(strata.sum(axis=0), 1.0)
        expected = (rate[:, None] * counts.sum(axis=0)).sum(axis=0) * total / max(strata[1].sum(), 1.0)
        labelled = counts[1].sum(axis=0)
        table = np.stack([np.maximum(expected - labelled, 0.0), labelled])
        self._relevance, self._error = self._measure.alone(table, self._layout)


class MRMR(MIM):
    """I(X_k;Y) less the mean over chosen j of I(X_k;X_j).

    A feature that tells no more of the class than chance must not win by being independent of the others: it is charged
    with the largest redundancy there is. Plug-in information is above 0 and never charged.
    """

    needs_pairs = True
    beyond_chance = False  # a difference or a quotient
    redundancy: SurrogateName | None = None  # rows the redundancy is counted on; None: as the relevance

    def start(self, labels: NDArray[np.int64]) -> None:
        super().start(labels)
        self._redundant = np.zeros(self._layout.features)
        self._spread = np.zeros(self._layout.features)
        self._chosen = 0

    def update(self, pairs: NDArray[np.int64]) -> None:
        rows = apply_surrogate(pairs, self.redundancy or self._surrogate).sum(axis=0)
        value, error = self._measure.between(rows, self._layout)
        self._redundant += value
        self._spread += error
        self._chosen += 1

    def score(self) -> tuple[Floats, Floats]:
        if not self._chosen:
            return self._relevance, self._error
        shared = self._redundant / self._chosen
        charged = np.where(self._relevance < 0, np.maximum(shared.max(), 0.0), shared)
        return self._relevance - charged, self._error + self._spread / self._chosen


class MIQ(MRMR):
    """I(X_k;Y) over the mean over chosen j of I(X_k;X_j): the quotient form (Ding & Peng 2005)."""

    def score(self) -> tuple[Floats, Floats]:
        if not self._chosen:
            return self._relevance, self._error
        shared = np.maximum(self._redundant / self._chosen, 0.0) + NOTHING_SHARED
        shared = np.where(self._relevance < 0, shared.min(), shared)  # a quotient below 0 must not rise with redundancy
        value = self._relevance / shared
        return value, (self._error + np.abs(value) * self._spread / self._chosen) / shared


class MINT(MRMR):
    """mRMR with relevance from labelled rows only and redundancy from all rows (He et al. 2016)."""

    redundancy: SurrogateName | None = "y0"  # y0 keeps every row


class JMI(MIM):
    """Sum over chosen j of I(X_k;Y|X_j); the first feature by MIM."""

    needs_pairs = True
    summed = True

    def start(self, labels: NDArray[np.int64]) -> None:
        super().start(labels)
        self._first = True

    def update(self, pairs: NDArray[np.int64]) -> None:
        value, error = self._measure.given(apply_surrogate(pairs, self._surrogate), self._layout)
        if self._first:
            self._relevance, self._error, self._first = value, error, False
        else:
            # The terms share their rows: adding their errors bounds the error of the sum.
            self._relevance, self._error = self._relevance + value, self._error + error


class CMIM(MIM):
    """The smallest I(X_k;Y|X_j) over chosen j (Fleuret 2004).

    Where that cannot be told from chance it is the mean of all that cannot: the smallest of many draws of noise would
    favour columns whose draws are alike, such as text with many rare levels.
    """

    needs_pairs = True

    def start(self, labels: NDArray[np.int64]) -> None:
        super().start(labels)
        self._below, self._terms = np.minimum(self._relevance, 0.0), 1

    def update(self, pairs: NDArray[np.int64]) -> None:
        value, error = self._measure.given(apply_surrogate(pairs, self._surrogate), self._layout)
        smaller = value < self._relevance
        self._relevance = np.where(smaller, value, self._relevance)
        self._error = np.where(smaller, error, self._error)
        self._below, self._terms = self._below + np.minimum(value, 0.0), self._terms + 1

    def score(self) -> tuple[Floats, Floats]:
        return np.where(self._relevance < 0, self._below / self._terms, self._relevance), self._error


def _rank(criterion: type[MIM], choose: Callable[[Task], SurrogateChoice]) -> Callable[[Task], Outcome]:
    def run(task: Task) -> Outcome:
        choice, measure = choose(task), MEASURES[task.options_as(CountingOptions).correction]
        counts = counts_given(task) if task.request.labelled_by else None
        judge: Criterion = criterion(task.table.layout, choice.name, measure)
        if counts is not None:
            judge = GivenMIM(task.table.layout, choice.name, measure, counts)
        chosen, scores, errors = forward(judge, task.counter, task.limits)
        told = record(choice, task.table.plan.labels)
        return Outcome(
            chosen, scores, errors, surrogate=told, summed=criterion.summed, beyond_chance=criterion.beyond_chance
        )

    return run


def _mrmr(task: Task) -> Outcome:
    return _rank(MRMR if task.options_as(MrmrOptions).criterion == "mid" else MIQ, plain_choice)(task)


def _labelled_only(task: Task) -> SurrogateChoice:
    needs_negatives(task, "mint")
    phi = switching_threshold(task.table.plan.labels)
    return SurrogateChoice("labelled", phi, "Relevance is counted on labelled rows, redundancy on all rows.")


_ONE_PASS = "one pass over the rows"
_PAIRS = "one pass while all pairs fit in memory, else one for up to a dozen features chosen"

METHODS = (
    Method(
        "semi-mim",
        "Mutual information of each feature with a surrogate of the class",
        "labels depend on the class alone (SCAR)",
        _ONE_PASS,
        "a first look, or thousands of features",
        _rank(MIM, semi_choice),
        RankingOptions,
        counts="features",
        given_columns=True,
    ),
    Method(
        "semi-jmi",
        "Joint mutual information on a surrogate of the class: relevance, with redundancy and synergy weighed in",
        "labels depend on the class alone (SCAR); features bin well",
        _PAIRS,
        "counts over all rows in one pass, with a few hundred labelled rows",
        _rank(JMI, semi_choice),
        RankingOptions,
        stepwise=True,
        counts="pairs",
    ),
    Method(
        "mim",
        "Mutual information of each feature with the label as it stands",
        "unlabelled rows may count as negative",
        _ONE_PASS,
        "a baseline",
        _rank(MIM, plain_choice),
        RankingOptions,
        counts="features",
        given_columns=True,
    ),
    Method(
        "mrmr",
        "Relevance less mean redundancy, or over it",
        "unlabelled rows may count as negative",
        _PAIRS,
        "a baseline; tends to choose independent noise when labels are few",
        _mrmr,
        MrmrOptions,
        stepwise=True,
        counts="pairs",
    ),
    Method(
        "jmi",
        "Joint mutual information with the label as it stands",
        "unlabelled rows may count as negative",
        _PAIRS,
        "a baseline; equals semi-jmi where only positives are labelled",
        _rank(JMI, plain_choice),
        RankingOptions,
        stepwise=True,
        counts="pairs",
    ),
    Method(
        "cmim",
        "The least information a feature adds to any one already chosen",
        "unlabelled rows may count as negative",
        _PAIRS,
        "strongly redundant features",
        _rank(CMIM, plain_choice),
        RankingOptions,
        stepwise=True,
        counts="pairs",
    ),
    Method(
        "mint",
        "mRMR with relevance from labelled rows and redundancy from all rows",
        "labelled rows of both classes, missing completely at random",
        _PAIRS,
        "semi-supervised data with labelled negatives",
        _rank(MINT, _labelled_only),
        CountingOptions,
        stepwise=True,
        counts="pairs",
        needs_negatives=True,
    ),
)
