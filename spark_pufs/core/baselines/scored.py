"""What every baseline returns, and an order of rows and columns that does not depend on how they came."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spark_pufs.core.counting.hashing import mix, one_form

__all__ = ["Bools", "Floats", "Free", "Labels", "Scored", "canonical_order", "converged", "forward", "settled", "tied"]

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Labels = NDArray[np.uint8]
Free = Callable[[list[int]], Bools]

_DIGITS = 1e-9  # differences below this share of the largest score are rounding


@dataclass(frozen=True)
class Scored:
    """Scores (D,), larger is better; ``objective``: what an iterative solver went through, never rising.

    ``order``: the features a forward search chose, best first.
    """

    scores: Floats
    objective: tuple[float, ...] = ()
    order: tuple[int, ...] | None = None


def canonical_order(X: Floats, label: Labels) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Rows and columns sorted by what they hold, so that a shuffled table is the same table.

    Columns go by their sorted values, first those of labelled rows, and then by the rows these stand in; rows by label
    and then by the sorted columns. Equal columns stay as they came.
    """
    known = np.sort(X[label != 0], axis=0)
    place = np.unique(_signatures(X, label), return_inverse=True)[1]
    columns = np.lexsort(np.vstack([known, np.sort(X, axis=0), place])[::-1])
    rows = np.lexsort(np.column_stack([label, X[:, columns]]).T[::-1])
    return rows, columns


def _signatures(X: Floats, label: Labels) -> NDArray[np.uint64]:
    """A hash (D,) of each column with the rows its values stand in, whatever the order of rows and columns.

    A row is known by all its values, then by its values and the columns they stand in.
    """
    bits = one_form(X).view(np.uint64)
    signature = np.zeros(X.shape[1], np.uint64)
    for _ in range(2):
        row = mix(mix(bits ^ signature).sum(axis=1, dtype=np.uint64) + label)
        signature = mix(bits ^ row[:, None]).sum(axis=0, dtype=np.uint64)
    return signature


def settled(scores: Floats) -> Floats:
    """Scores without rounding noise: equal columns tie exactly, whatever the order of the sums behind them."""
    unit = _DIGITS * float(np.abs(scores).max(initial=0.0))
    return scores if unit == 0 else np.round(scores / unit) * unit


def tied(scores: Floats, X: Floats) -> Floats:
    """Equal columns get the mean of their scores: a solver's steps may blow rounding up to a difference."""
    _, group, size = np.unique(X, axis=1, return_inverse=True, return_counts=True)
    mean: Floats = np.bincount(group.ravel(), scores) / size
    return mean[group.ravel()]


def converged(objective: list[float], tolerance: float) -> bool:
    """Whether the last step gained less than ``tolerance`` of the objective."""
    return len(objective) > 1 and objective[-2] - objective[-1] <= tolerance * max(abs(objective[-1]), 1e-12)


def forward(score: Callable[[list[int]], Floats], free: Free) -> Scored:
    """Greedy search: ``score(chosen)`` (D,) again after each choice, among the features ``free(chosen)``.

    A feature keeps the score it was chosen with; the others have their last one. Ties go in column order.
    """
    chosen: list[int] = []
    scores = latest = settled(score(chosen))
    while (may := free(chosen)).any():
        if chosen:
            latest = settled(score(chosen))
            waiting = np.ones(len(scores), bool)
            waiting[chosen] = False
            scores = np.where(waiting, latest, scores)
        chosen.append(int(np.argmax(np.where(may, latest, -np.inf))))
    return Scored(scores, order=tuple(chosen))
