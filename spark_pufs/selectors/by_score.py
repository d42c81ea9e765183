"""Choosing by one score per feature."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from spark_pufs.table.limits import Limits

__all__ = ["by_score", "first_within"]


def by_score(scores: NDArray[np.float64], limits: Limits) -> list[int]:
    """Features best first, within ``limits``; ties in column order."""
    return first_within(np.argsort(-scores, kind="stable").tolist(), limits)


def first_within(order: Iterable[int], limits: Limits) -> list[int]:
    """The first features of ``order`` that ``limits`` allow: those of ``must`` first, then what the budget pays for."""
    must = set(limits.must)
    chosen: list[int] = []
    spent = 0.0
    for feature in sorted(order, key=lambda feature: feature not in must):  # a stable sort
        total = spent + limits.costs[feature]
        fits = len(chosen) < limits.k and not limits.never[feature] and total <= limits.ceiling
        if feature in must or fits:
            chosen.append(feature)
            spent = total
    return chosen
