"""How far values have left the cut points and levels that are counted by."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from spark_pufs.findings.parts import OutsideBins
from spark_pufs.memory.window import Window
from spark_pufs.types import Bins

__all__ = ["outside_of", "outside_warning"]

GROWN = 0.2  # of all rows: so many more in the outer bins of a number, and its cut points tell little
UNSEEN = 0.05  # of all rows: so many more with texts that have no level of their own
TOLD = 5


def outside_of(window: Window, before: Sequence[int]) -> tuple[OutsideBins, ...]:
    """Columns of which far more rows lie in outer bins, or at levels not seen, than ``before``, rows per level (L,)
    when the cut points were made; the farthest first."""
    layout, now, then = window.reference.layout, window.labels.sum(axis=0), np.asarray(before)
    found = []
    for i, bins in enumerate(window.reference.bins):
        share, was = (_share(bins, rows[layout.span(i)]) for rows in (now, then))
        if share - was > (GROWN if bins.kind == "numeric" else UNSEEN):
            found.append(OutsideBins(bins.name, bins.kind, round(share, 4), round(was, 4)))
    return tuple(sorted(found, key=lambda one: (one.before - one.share, one.name)))


def _share(bins: Bins, rows: NDArray[np.int64]) -> float:
    """Of rows per level (levels,): those in the first and last interval of three or more, or at no known level."""
    total = max(int(rows.sum()), 1)
    if bins.kind == "text":
        return float(rows[len(bins.categories)] / total)
    last = len(bins.edges)
    return float((rows[0] + rows[last]) / total) if last >= 2 else 0.0


def outside_warning(found: Sequence[OutsideBins]) -> str:
    """All in one sentence.

    >>> outside_warning([OutsideBins("x", "numeric", 0.8, 0.4)])
    "Cut points are out of date: 'x' has 80 % of rows in its outer bins, then 40 %. Set refit: now, or auto."
    """
    places = {"numeric": "in its outer bins", "text": "at levels not seen"}
    told = [f"'{one.name}' has {one.share:.0%} of rows {places[one.kind]}, then {one.before:.0%}" for one in found]
    more = [f"and {len(found) - TOLD} columns more"] if len(found) > TOLD else []
    return f"Cut points are out of date: {'; '.join(told[:TOLD] + more)}. Set refit: now, or auto.".replace("%", " %")
