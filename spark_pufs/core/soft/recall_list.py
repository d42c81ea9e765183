"""A list of rows that holds at least a wanted share of the positives, by split-conformal prediction.

A cross-fitted teacher scores every row by models of other folds. Labelled rows that a model has not seen are scored as
positives at large are, where labels depend on the class alone: a cut that leaves out at most the share (1 - recall) of
them, rounded to the safe side, leaves out no more of the others on average (Vovk et al. 2005; folds as Barber et al.
2021). The promise is about positives of the labelled kind; kinds among the labelled rows that the cut leaves out are
named.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from spark_pufs.core.counting.bins import code_numeric, code_text
from spark_pufs.core.soft.encoding import Codes, Floats
from spark_pufs.core.soft.grading import TaughtTeacher
from spark_pufs.types import UNLABELLED, Bins, RawBatch

__all__ = ["LEAST_KIND", "MissedKind", "RecallList", "cut_for", "missed_kinds"]

Bools = NDArray[np.bool_]

LEAST_KIND = 3  # labelled rows that make a kind
MOST_KINDS = 5
APART = 0.25  # silhouette from which on groups are kinds
MISSED = 0.5  # share of a kind that is listed, below which it is missed


@dataclass(frozen=True)
class MissedKind:
    """Labelled rows of one kind, of which few are listed: their number, the share listed, and what sets them apart."""

    rows: int
    listed: float
    feature: str
    higher: bool

    def __str__(self) -> str:
        where = "higher" if self.higher else "lower"
        return f"{self.rows:,} labelled rows where '{self.feature}' is {where} ({100 * self.listed:.0f} % listed)"


@dataclass(frozen=True)
class RecallList:
    """Which rows are listed: those that score at least ``cut``; ``bins`` code the columns as the teacher learnt them.

    ``labelled``: rows the cut was made from. ``precision`` with an interval: the share of positives among listed rows
    that are not labelled.
    """

    column: ClassVar[str] = "score"
    whole: ClassVar[bool] = False

    bins: tuple[Bins, ...]
    teacher: TaughtTeacher
    recall: float
    cut: float
    labelled: int
    precision: float
    low: float
    high: float
    missed: tuple[MissedKind, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(one.name for one in self.bins)

    @property
    def numeric(self) -> tuple[str, ...]:
        return tuple(one.name for one in self.bins if one.kind == "numeric")

    @property
    def text(self) -> tuple[str, ...]:
        return tuple(one.name for one in self.bins if one.kind == "text")

    @property
    def left_out(self) -> tuple[str, ...]:
        """A warning for each kind of labelled rows that the list misses."""
        return tuple(f"The list misses {kind}: more than its share of them is left out." for kind in self.missed)

    def listed(self, rows: RawBatch, labels: NDArray[np.uint8]) -> tuple[Bools, Floats]:
        """Which rows (n,) of a batch of these columns are listed, and every row's score."""
        score = self.teacher.target(self._codes(rows), np.zeros(rows.rows, np.bool_))
        return (score >= self.cut) & (labels == UNLABELLED), score

    def _codes(self, rows: RawBatch) -> Codes:
        numbers, words = (
            dict(zip(self.numeric, rows.numeric.T, strict=True)),
            dict(zip(self.text, rows.text, strict=True)),
        )
        codes = [
            code_numeric(numbers[one.name], one) if one.kind == "numeric" else code_text(words[one.name], one)
            for one in self.bins
        ]
        return np.minimum(np.stack(codes), np.array([[one.levels - 1] for one in self.bins], np.uint8))

    def __str__(self) -> str:
        promise = (
            f"at least {100 * self.recall:.0f} % of the positives of the labelled kind, by {self.labelled:,} labels"
        )
        precision = f"about {100 * self.precision:.0f} % of the rows are positive"
        return f"{promise}; {precision} ({100 * self.low:.0f} to {100 * self.high:.0f} %)"


def cut_for(scores: Floats, recall: float) -> float | None:
    """The score that a further positive reaches with a chance of at least ``recall``, from those of labelled rows (m,).

    None where there are too few of them for any cut.

    >>> cut_for(np.arange(19.0), 0.9), cut_for(np.arange(5.0), 0.9), cut_for(np.arange(5.0), 0.01)
    (1.0, None, 4.0)
    """
    left_out = min(math.floor((len(scores) + 1) * (1 - recall) + 1e-9), len(scores))
    return float(np.sort(scores)[left_out - 1]) if left_out >= 1 else None


def missed_kinds(X: Floats, listed: Bools, names: Sequence[str]) -> tuple[MissedKind, ...]:
    """Groups of labelled rows X (m, D), in comparable units, of which few are ``listed`` (m,)."""
    if len(X) < 2 * LEAST_KIND or listed.all():
        return ()
    group = _grouped(X)
    found = []
    for number in np.unique(group):
        own = group == number
        if own.sum() >= LEAST_KIND and not own.all() and listed[own].mean() < MISSED:
            gap = X[own].mean(axis=0) - X[~own].mean(axis=0)
            feature = int(np.argmax(np.abs(gap)))
            found.append(MissedKind(int(own.sum()), float(listed[own].mean()), names[feature], bool(gap[feature] > 0)))
    return tuple(found)


def _grouped(X: Floats) -> NDArray[np.int64]:
    """The group (m,) of each row: as many as k-means parts best, or one."""
    from sklearn.cluster import KMeans
    from sklearn.metrics import silhouette_score

    best, group = APART, np.zeros(len(X), np.int64)
    different = len(np.unique(X, axis=0))
    for count in range(2, min(MOST_KINDS, different - 1, len(X) // LEAST_KIND) + 1):
        found = KMeans(count, n_init=4, random_state=0).fit_predict(X)
        merit = float(silhouette_score(X, found)) if len(np.unique(found)) > 1 else -1.0
        if merit > best:
            best, group = merit, found.astype(np.int64)
    return group
