"""Which way a feature tells: labelled rows are high, low, in a range, or in a category."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from spark_pufs.core.evidence.drift import ColumnCounts
from spark_pufs.report.sentences import number, short
from spark_pufs.types import LABELLED_POSITIVE, UNLABELLED, Bins

__all__ = ["direction", "directions"]

ALIKE = 0.1  # share of rows that would have to move: less is no direction to speak of
PART = 0.1  # of all that is in excess: a level with less of it is noise


def directions(columns: tuple[ColumnCounts, ...]) -> dict[str, str]:
    """In words, by the name of the feature."""
    return {column.bins.name: direction(column) for column in columns}


def direction(column: ColumnCounts) -> str:
    """Where labelled rows are commoner than unlabelled rows.

    >>> high = ColumnCounts(Bins("a", "numeric", edges=(1.0, 2.0)), ((40, 40, 20), (0, 2, 8), (0, 0, 0)))
    >>> direction(high)
    'high: 2 and up'
    """
    labelled, unlabelled = column.rows(LABELLED_POSITIVE), column.rows(UNLABELLED)
    if not labelled.sum() or not unlabelled.sum():
        return ""
    excess = labelled / labelled.sum() - unlabelled / unlabelled.sum()
    moved = float(excess[excess > 0].sum())
    if moved < ALIKE:
        return "no clear direction"
    more = excess > PART * moved
    if column.bins.missing and more[-1] and excess[-1] >= moved / 2:
        return "missing"
    return _ordered(column.bins, more, excess) if column.bins.kind == "numeric" else _named(column.bins, excess)


def _ordered(bins: Bins, more: NDArray[np.bool_], excess: NDArray[np.float64]) -> str:
    """Of intervals, by where those with an excess lie."""
    last = len(bins.edges)
    inside = np.flatnonzero(more[: last + 1])
    if not len(inside):
        return "no clear direction"
    first, end = int(inside[0]), int(inside[-1])
    whole = end - first + 1 == len(inside)
    if whole and end == last and first > 0:
        return f"high: {number(bins.edges[first - 1], 3)} and up"
    if whole and first == 0 and end < last:
        return f"low: below {number(bins.edges[end], 3)}"
    if whole and 0 < first <= end < last:
        return f"in a range: {number(bins.edges[first - 1], 3)} to {number(bins.edges[end], 3)}"
    if first == 0 and end == last and not whole:
        return "high or low, not between"
    best = int(np.argmax(excess[: last + 1]))
    return f"in several ranges, most at {_interval(bins, best)}"


def _interval(bins: Bins, place: int) -> str:
    if place == 0:
        return f"below {number(bins.edges[0], 3)}"
    low = number(bins.edges[place - 1], 3)
    return f"{low} and up" if place == len(bins.edges) else f"{low} to {number(bins.edges[place], 3)}"


def _named(bins: Bins, excess: NDArray[np.float64]) -> str:
    best = int(np.argmax(excess))
    if best < len(bins.categories):
        return f"in a category: “{short(bins.categories[best], 30) or '(blank)'}”"
    return "in rare categories" if bins.pooled and best == len(bins.categories) else "missing"
