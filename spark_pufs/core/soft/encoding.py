"""Columns as a teacher sees them: codes of fine bins, and what a linear and a counting model make of a code.

Everything is a function of the codes, and bins of equal frequency depend on the order of the values alone: a monotone
transform of a column, an outlier or a sentinel changes nothing that a model can see.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from spark_pufs.core.counting.bins import code_numeric
from spark_pufs.types import Bins, Layout

__all__ = ["FINE", "Encoding", "fine_bins", "fine_codes", "grouped", "normal_scores"]

Codes = NDArray[np.uint8]
Floats = NDArray[np.float64]

FINE = 32  # bins of a number that trees split on and normal scores are taken of
COARSE = 8  # groups of fine bins that naive Bayes counts


def fine_bins(names: Sequence[str], X: Floats, text: Sequence[Bins], bins: int = FINE) -> tuple[Bins, ...]:
    """Bins of equal frequency of the numeric columns of X (n, D), NaN where missing; then the text columns' own.

    >>> fine_bins(["x"], np.arange(8.0)[:, None], [], bins=4)[0].edges
    (2.0, 4.0, 6.0)
    """
    numeric = [_edges(name, X[:, i], bins) for i, name in enumerate(names)]
    return (*numeric, *text)


def _edges(name: str, values: Floats, bins: int) -> Bins:
    present = np.sort(values[~np.isnan(values)])
    missing = len(present) < len(values)
    if not len(present):
        return Bins(name, "numeric", missing=True)
    cuts = np.unique(present[len(present) * np.arange(1, bins) // bins])
    # A value that fills several bins is one bin, and what lies beyond it opens the next.
    after = present[np.minimum(np.searchsorted(present, cuts, side="right"), len(present) - 1)]
    edges = np.unique(np.concatenate([cuts, after[_crowded(present, cuts, bins)]]))
    return Bins(name, "numeric", edges=tuple(float(e) for e in edges if e > present[0]), missing=missing)


def _crowded(present: Floats, cuts: Floats, bins: int) -> NDArray[np.bool_]:
    """Which cut values are held by more rows than a bin should have."""
    rows = np.searchsorted(present, cuts, side="right") - np.searchsorted(present, cuts, side="left")
    crowded: NDArray[np.bool_] = rows * bins > len(present)
    return crowded


def fine_codes(X: Floats, bins: Sequence[Bins]) -> Codes:
    """Codes (D, n) of rows X (n, D), numeric columns first, then text columns as the codes of their bins.

    >>> fine_codes(np.array([[1.0, 2.0], [np.nan, 0.0]]), [Bins("x", "numeric", missing=True), Bins("t", "text")])
    array([[0, 1],
           [2, 0]], dtype=uint8)
    """
    codes = np.empty(X.shape[::-1], np.uint8)
    for i, one in enumerate(bins):
        codes[i] = code_numeric(X[:, i], one) if one.kind == "numeric" else X[:, i].astype(np.uint8)
    return codes


@dataclass(frozen=True)
class Encoding:
    """What the levels of every feature mean to a model; all arrays are (L,) along ``layout``.

    ``score``: normal score of a level of a number, 0 where missing. ``group``: which group of levels it is counted
    with, along ``coarse``. ``named``: the level is a text or a missing value, with a weight of its own.
    """

    layout: Layout
    score: Floats
    named: NDArray[np.bool_]
    group: NDArray[np.int64]
    coarse: Layout

    @classmethod
    def of(cls, codes: Codes, bins: Sequence[Bins]) -> Encoding:
        """From the codes (D, n) of the rows that a model learns from."""
        layout = Layout(tuple(one.levels for one in bins))
        score, named = np.zeros(layout.total), np.zeros(layout.total, np.bool_)
        group, sizes, first = np.zeros(layout.total, np.int64), [], 0
        for i, one in enumerate(bins):
            rows = np.bincount(codes[i], minlength=one.levels)
            span = layout.span(i)
            own = np.arange(one.levels)
            if one.kind == "numeric":
                known = len(one.edges) + 1
                score[span][:known] = normal_scores(rows[:known])
                named[span][known:] = True
                own[:known] = grouped(rows[:known], COARSE)
                own[known:] = own[known - 1] + 1
            else:
                named[span] = True
            group[span] = first + own
            sizes.append(int(own[-1]) + 1)
            first += sizes[-1]
        return cls(layout, score, named, group, Layout(tuple(sizes)))

    def of_features(self, features: NDArray[np.intp]) -> Encoding:
        """The encoding of some features, in this order; one may stand more than once."""
        spans = [self.layout.span(int(i)) for i in features]
        levels = np.concatenate([np.arange(span.start, span.stop) for span in spans])
        coarse = Layout(tuple(self.coarse.levels[i] for i in features))
        group = [
            self.group[span] - self.coarse.offsets[i] + first
            for i, span, first in zip(features, spans, coarse.offsets, strict=False)
        ]
        layout = Layout(tuple(self.layout.levels[i] for i in features))
        return Encoding(layout, self.score[levels], self.named[levels], np.concatenate(group), coarse)

    def level_of(self, codes: Codes) -> NDArray[np.int64]:
        """Positions (D, n) on the level axis."""
        return codes + self.layout.offsets[:-1, None]

    def coarse_codes(self, codes: Codes) -> Codes:
        """Codes (D, n) of the groups that levels are counted in."""
        found: Codes = (self.group[self.level_of(codes)] - self.coarse.offsets[:-1, None]).astype(np.uint8)
        return found


def normal_scores(rows: NDArray[np.int64]) -> Floats:
    """The normal score of each interval's middle rank."""
    total = max(int(rows.sum()), 1)
    middle = (np.cumsum(rows) - rows / 2) / total
    found: Floats = ndtri(np.clip(middle, 0.5 / total, 1 - 0.5 / total))
    return found


def grouped(rows: NDArray[np.int64], groups: int) -> NDArray[np.int64]:
    """The group of each of some neighbouring levels, so that at most ``groups`` hold about equally many rows.

    >>> grouped(np.array([5, 5, 5, 5]), 2), grouped(np.array([90, 5, 5]), 3)
    (array([0, 0, 1, 1]), array([0, 1, 1]))
    """
    total = max(int(rows.sum()), 1)
    share = (np.cumsum(rows) - rows / 2) / total
    found: NDArray[np.int64] = np.unique(
        np.minimum((share * groups).astype(np.int64), groups - 1), return_inverse=True
    )[1]
    return found
