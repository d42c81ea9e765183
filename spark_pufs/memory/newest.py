"""Is the newest partition like the others of its window? Both are counted by the same cut points, so this is exact."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from spark_pufs.core.evidence.drift import ColumnCounts, drift_between
from spark_pufs.findings.parts import NewestDrift
from spark_pufs.memory.reference import Reference
from spark_pufs.types import LABELLED_POSITIVE, UNLABELLED

__all__ = ["drift_of_newest", "newest_warning"]

Counts = NDArray[np.int64]
CHANCE = 0.01  # of one false alarm among all columns
MOVED = 0.1  # of the rows: less is nothing to act on, however sure
TOLD = 5
_ROWS = {UNLABELLED: "unlabelled", LABELLED_POSITIVE: "labelled"}


def drift_of_newest(reference: Reference, parts: Sequence[Counts]) -> tuple[NewestDrift, ...]:
    """Columns whose rows of the newest partition lie at other levels than those of all others; the most moved first.

    ``parts``: rows (3, L) by label and level of each, oldest first. What an odd one among the others has moved does not
    count: the newest has to be unlike most of them, one by one, too.
    """
    *others, newest = parts
    rest, layout = sum(others, np.zeros_like(newest)), reference.layout
    limit = math.log(CHANCE / max(len(_ROWS) * len(reference.bins), 1))
    found = []
    for i, bins in enumerate(reference.bins):
        span = layout.span(i)
        before, after = (ColumnCounts.of(bins, counts[:, span]) for counts in (rest, newest))
        for state, rows in _ROWS.items():
            drift = drift_between(before, after, state)
            sure = drift is not None and drift.distance >= MOVED and drift.log_p <= limit
            if drift is not None and sure and _unlike_most([one[state, span] for one in others], newest[state, span]):
                found.append(NewestDrift(bins.name, rows, round(drift.distance, 4)))
    return tuple(sorted(found, key=lambda one: (-one.share, one.name, one.rows)))


def _unlike_most(others: Sequence[Counts], newest: Counts) -> bool:
    """Whether the share of rows (levels,) that moved is large beside half of the others or more.

    >>> usual, odd = np.array([5, 5]), np.array([0, 10])
    >>> _unlike_most([usual, usual, odd], odd), _unlike_most([usual, odd, usual], usual)
    (True, False)
    """
    told = [one / one.sum() for one in others if one.sum()]
    moved = [np.abs(one - newest / newest.sum()).sum() / 2 for one in told]
    return not moved or float(np.median(moved)) >= MOVED


def newest_warning(key: str, found: Sequence[NewestDrift]) -> str:
    """All in one sentence.

    >>> newest_warning("2026-01-31", [NewestDrift("bytes", "labelled", 0.5)])
    "Partition '2026-01-31' is not like the others of its window: 'bytes' (50 % of labelled rows moved)."
    """
    told = [f"'{one.name}' ({100 * one.share:.0f} % of {one.rows} rows moved)" for one in found[:TOLD]]
    more = [f"and {len(found) - TOLD} more"] if len(found) > TOLD else []
    return f"Partition '{key}' is not like the others of its window: {', '.join(told + more)}."
