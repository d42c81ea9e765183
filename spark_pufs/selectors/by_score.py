"""Choosing by one score per feature, and features that are chosen together."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from spark_pufs.table.limits import Limits

__all__ = ["by_score", "first_within", "mask_within", "whole_units"]


def by_score(scores: NDArray[np.float64], limits: Limits) -> list[int]:
    """Features best first, within ``limits``; ties in column order."""
    return first_within(np.argsort(-scores, kind="stable").tolist(), limits)


def first_within(order: Iterable[int], limits: Limits) -> list[int]:
    """The first features of ``order`` that ``limits`` allow: those of ``must`` first, then what the budget pays for.

    A unit stands where its first feature does, and comes whole.
    """
    must = set(limits.must)
    units: dict[int, list[int]] = {}
    unit = limits.unit.tolist()
    for feature in sorted(order, key=lambda feature: feature not in must):  # a stable sort
        units.setdefault(unit[feature], []).append(feature)
    chosen: list[int] = []
    spent, taken = 0.0, 0
    for own in units.values():
        total = spent + sum(limits.costs[own])
        fits = taken < limits.k and not limits.never[own].any() and total <= limits.ceiling
        if own[0] in must or fits:
            chosen += own
            spent, taken = total, taken + 1
    return chosen


def whole_units(chosen: list[int], order: Sequence[int], limits: Limits) -> list[int]:
    """The units of the features ``chosen``, each whole, its features as they stand in ``order``."""
    if limits.units is None:
        return chosen
    begun = set(limits.units[chosen].tolist())
    return first_within([feature for feature in order if limits.units[feature] in begun], limits)


def mask_within(mask: NDArray[np.bool_], scores: NDArray[np.float64], limits: Limits) -> NDArray[np.bool_]:
    """The features (D,) that a search chose, as whole units: those of ``mask`` first, each part by score."""
    if limits.units is None:
        return mask
    order = sorted(range(len(mask)), key=lambda i: (not mask[i], -scores[i], i))
    whole = np.zeros_like(mask)
    whole[first_within(order, limits)] = True
    return whole
