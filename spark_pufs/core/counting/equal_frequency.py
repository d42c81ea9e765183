"""Bins of equal frequency: an outlier moves no edge, and a monotone transform of the values moves the edges along.

Edges are values of the column, taken from a sample of its rows. A value that many rows share has a bin of its own, and
the rest is split by frequency.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["equal_frequency_edges", "separating_edges"]

Floats = NDArray[np.float64]

_ROUNDING = 1e-9  # weights are sums of floats


def equal_frequency_edges(values: Floats, weight: Floats, bins: int) -> tuple[float, ...]:
    """The values that open the second to last bin; values (n,) may be missing, and stand for ``weight`` (n,) rows.

    >>> equal_frequency_edges(np.arange(10.0), np.ones(10), 5)
    (2.0, 4.0, 6.0, 8.0)
    >>> equal_frequency_edges(np.array([0.0] * 92 + [1, 2, 3, 4, 5, 6, 7, 8]), np.ones(100), 5)  # zeros, then pairs
    (1.0, 3.0, 5.0, 7.0)
    >>> equal_frequency_edges(np.array([0, 0, 0, 1, 2, 3, 4, 4, 4.0]), np.ones(9), 5)  # no more values than bins
    (1.0, 2.0, 3.0, 4.0)
    """
    present = ~np.isnan(values)
    distinct, place = np.unique(values[present], return_inverse=True)
    rows = np.bincount(place, weight[present], len(distinct)).astype(np.float64)
    ends = np.cumsum(rows)
    opened: list[int] = []
    first = 0
    for left in range(bins, 1, -1):
        first = _next_bin(first, left, rows, ends)
        if first >= len(distinct):
            break
        opened.append(first)
    return tuple(float(distinct[i]) for i in opened)


def _next_bin(first: int, left: int, rows: Floats, ends: Floats) -> int:
    """Where the bin after the one that opens at ``first`` opens, with ``left`` bins for all that is left."""
    if len(rows) - first <= left:
        return first + 1
    before = ends[first] - rows[first]
    share = (ends[-1] - before) / left
    crossing = int(np.searchsorted(ends, before + share - _ROUNDING * ends[-1]))  # the value that fills the bin
    if crossing == first:
        return first + 1
    over, under = ends[crossing] - before - share, before + share - ends[crossing - 1]
    heavy = rows[crossing] >= share
    return crossing if heavy or over > under else crossing + 1


def separating_edges(value: float, low: float, above: float, high: float) -> tuple[float, ...]:
    """Edges around the one value that a sample shows, of a column that goes from ``low``, then ``above``, to ``high``.

    >>> separating_edges(0.0, 0.0, 3.0, 9.0), separating_edges(9.0, 0.0, 3.0, 9.0)
    ((3.0,), (9.0,))
    """
    if value <= low:
        return (above,) if low < above <= high else ()
    return (value,) if value >= high else (value, float(np.nextafter(value, np.inf)))
