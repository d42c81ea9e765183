"""How far a column's distribution moved between two runs, from the counts per bin that the runs kept.

The measure is a share of rows: at least so many of every hundred would have to change their value to turn one
distribution into the other (total variation). Where both runs cut the column alike it is exact. Where they did not, it
is a lower bound: the number of rows below a cut point is known exactly on one side and lies between two numbers on the
other, and the gap between them (of Kolmogorov's kind) is never more than the share of rows that moved.

Bins of equal frequency also stand for places among all rows of a run, whatever its cut points are: labelled rows that
were a fifth of the highest fifth and are now a half of it have moved, although no cut point is the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spark_pufs.core.information.gtest import log_p_value
from spark_pufs.types import LABELLED_NEGATIVE, LABELLED_POSITIVE, UNLABELLED, Bins, Json

__all__ = ["ColumnCounts", "Drift", "drift_between", "homogeneity"]

Counts = NDArray[np.int64]
ALIKE = 0.02  # of all rows: bins of two runs that hold the same shares to within this are the same places
LEAST_EXPECTED = 5.0  # rows of a cell, below which chi-square is no approximation: such levels are pooled
_STATES = {"unlabelled": UNLABELLED, "labelled": LABELLED_POSITIVE, "negative": LABELLED_NEGATIVE}


@dataclass(frozen=True)
class ColumnCounts:
    """Rows of one column per level of its ``bins``; ``counts`` has a line for each label state."""

    bins: Bins
    counts: tuple[tuple[int, ...], ...]

    @classmethod
    def of(cls, bins: Bins, counts: Counts) -> ColumnCounts:
        """From a part (3, levels) of a label x level table."""
        return cls(bins, tuple(tuple(int(rows) for rows in state) for state in counts))

    def rows(self, state: int) -> Counts:
        """Rows (levels,) of one label state."""
        return np.array(self.counts[state], np.int64)

    def as_dict(self) -> dict[str, Json]:
        """Plain values for JSON, which knows no infinity: as the last edge it is null."""
        bins = self.bins
        cut: dict[str, Json] = (
            {"edges": [None if np.isinf(edge) else edge for edge in bins.edges]}
            if bins.kind == "numeric"
            else {"categories": list(bins.categories), "pooled": bins.pooled}
        )
        rows: dict[str, Json] = {name: list(self.counts[state]) for name, state in _STATES.items()}
        return {"name": bins.name, **cut, "missing": bins.missing, **rows}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> ColumnCounts:
        """What ``as_dict`` gave."""
        edges = tuple(np.inf if edge is None else float(edge) for edge in values.get("edges", ()))
        bins = Bins(
            str(values["name"]),
            "numeric" if "edges" in values else "text",
            edges=edges,
            categories=tuple(values.get("categories", ())),
            pooled=bool(values.get("pooled", False)),
            missing=bool(values["missing"]),
        )
        states = sorted(_STATES, key=_STATES.__getitem__)
        return cls(bins, tuple(tuple(map(int, values[state])) for state in states))


@dataclass(frozen=True)
class Drift:
    """``distance``: the share of rows that moved, at least; ``log_p`` of no change; ``rows`` before and after."""

    distance: float
    log_p: float
    rows: tuple[int, int]


def drift_between(before: ColumnCounts, after: ColumnCounts, state: int) -> Drift | None:
    """The drift of a column among rows of one label state; None where a run has no such row, or the kinds differ.

    >>> old = ColumnCounts(Bins("x", "numeric", edges=(1.0,)), ((60, 40), (0, 0), (0, 0)))
    >>> new = ColumnCounts(Bins("x", "numeric", edges=(1.0,)), ((30, 70), (0, 0), (0, 0)))
    >>> round(drift_between(old, new, UNLABELLED).distance, 6)
    0.3
    """
    left, right = before.rows(state), after.rows(state)
    rows = int(left.sum()), int(right.sum())
    if not all(rows) or before.bins.kind != after.bins.kind:
        return None
    if before.bins == after.bins:
        return Drift(*homogeneity(np.stack([left, right])), rows)
    if before.bins.kind == "text":
        return Drift(*homogeneity(_aligned(before.bins, left, after.bins, right)), rows)
    bound = _numeric_bound(before.bins, left, after.bins, right)
    if state == UNLABELLED or not _same_places(before, after):
        return bound
    moved, log_p = homogeneity(np.stack([left, right]))
    return Drift(max(bound.distance, moved), min(0.0, min(bound.log_p, log_p) + float(np.log(2))), rows)


def _same_places(before: ColumnCounts, after: ColumnCounts) -> bool:
    """Whether each bin holds the same share of all rows in both runs, so that a bin is a place among them."""
    every = [np.array(one.counts, np.float64).sum(axis=0) for one in (before, after)]
    if len(every[0]) != len(every[1]) or before.bins.missing != after.bins.missing:
        return False
    return bool(np.abs(every[0] / every[0].sum() - every[1] / every[1].sum()).max() <= ALIKE)


def homogeneity(counts: Counts) -> tuple[float, float]:
    """Total variation of two distributions (2, levels), and log p of Pearson's chi-square with rare levels pooled.

    >>> distance, log_p = homogeneity(np.array([[50, 50], [50, 50]]))
    >>> distance, log_p == 0
    (0.0, True)
    """
    totals = counts.sum(axis=1)
    shares = counts / totals[:, None]
    distance = float(np.abs(shares[0] - shares[1]).sum() / 2)
    level_rows = counts.sum(axis=0)
    rare = level_rows * (totals.min() / totals.sum()) < LEAST_EXPECTED
    pooled = np.column_stack([counts[:, ~rare], counts[:, rare].sum(axis=1)])
    pooled = pooled[:, pooled.sum(axis=0) > 0]
    expected = pooled.sum(axis=0) * totals[:, None] / totals.sum()
    statistic = float(((pooled - expected) ** 2 / expected).sum())
    return distance, float(log_p_value(statistic, pooled.shape[1] - 1))


def _aligned(before: Bins, left: Counts, after: Bins, right: Counts) -> Counts:
    """Counts (2, levels) by the categories that both runs can tell; a run that pooled none has no rows of others."""
    known = [set(bins.categories) for bins in (before, after)]
    told = [
        category
        for category in sorted(known[0] | known[1])
        if all(category in own or not bins.pooled for own, bins in zip(known, (before, after), strict=True))
    ]
    return np.stack([_by_category(before, left, told), _by_category(after, right, told)])


def _by_category(bins: Bins, rows: Counts, told: list[str]) -> Counts:
    """Rows of the ``told`` categories, of all others, and missing ones."""
    count = dict(zip(bins.categories, rows.tolist(), strict=False))
    missing = int(rows[-1]) if bins.missing else 0
    own = [count.get(category, 0) for category in told]
    return np.array([*own, int(rows.sum()) - sum(own) - missing, missing], np.int64)


def _numeric_bound(before: Bins, left: Counts, after: Bins, right: Counts) -> Drift:
    rows = int(left.sum()), int(right.sum())
    points = np.unique([*before.edges, *after.edges])
    (low_left, high_left), (low_right, high_right) = _below(before, left, points), _below(after, right, points)
    gaps = np.maximum(low_left / rows[0] - high_right / rows[1], low_right / rows[1] - high_left / rows[0])
    gap = max(0.0, float(gaps.max(initial=0.0)))
    # Dvoretzky, Kiefer and Wolfowitz for two samples: no distribution, and no ties, make it smaller.
    moved = min(0.0, float(np.log(2) - 2 * gap**2 * rows[0] * rows[1] / sum(rows)))
    absent, absent_p = homogeneity(np.stack([_missing(before, left), _missing(after, right)]))
    return Drift(max(gap, absent), min(0.0, min(moved, absent_p) + float(np.log(2))), rows)


def _below(bins: Bins, rows: Counts, points: NDArray[np.float64]) -> tuple[Counts, Counts]:
    """At least and at most so many rows (P,) have a value below each point."""
    numbers = rows[: len(bins.edges) + 1]
    ends = np.concatenate([[0], np.cumsum(numbers)])  # below no edge, below the first, ..., all
    edges = np.asarray(bins.edges)
    return ends[np.searchsorted(edges, points, side="right")], ends[np.searchsorted(edges, points, side="left") + 1]


def _missing(bins: Bins, rows: Counts) -> Counts:
    missing = int(rows[-1]) if bins.missing else 0
    return np.array([missing, int(rows.sum()) - missing], np.int64)
