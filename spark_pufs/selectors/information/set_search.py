"""Searches for the set of features with the best merit, within limits."""

from __future__ import annotations

import heapq
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from spark_pufs.core.pu.cfs import Correlations, Subset
from spark_pufs.table.limits import Limits

__all__ = ["best_first", "forward_backward"]

Floats = NDArray[np.float64]

_ROUNDING = 1e-12


def forward_backward(known: Correlations, limits: Limits) -> Subset:
    """Add the best feature while the merit rises, drop the worst while that raises it, until neither does."""
    found = Subset.empty(len(known.relevance))
    while True:
        grown = _grow(found, known, limits)
        smaller = _shrink(grown, known, limits)
        if len(smaller.features) == len(grown.features):
            return grown
        if not _rises(smaller.merit, found.merit):  # a group that was begun for one of its features and dropped again
            return found
        found = smaller


def _grow(found: Subset, known: Correlations, limits: Limits) -> Subset:
    while (free := limits.open(list(found.features))).any():
        forced = limits.has_to_go_on(list(found.features))
        merits = np.where(free, found.merits_with(known), -np.inf)
        best = int(np.argmax(merits))  # the first of equals
        if not forced and not _rises(float(merits[best]), found.merit):
            break
        found = found.add(best, known)
    return found


def _shrink(found: Subset, known: Correlations, limits: Limits) -> Subset:
    """A group that was chosen as one is dropped as one."""
    while len(units := limits.split(found.features)) > 1:
        merits = found.merits_without(known, units)
        merits[[any(feature in limits.must for feature in unit) for unit in units]] = -np.inf
        worst = int(np.argmax(merits))
        if not _rises(float(merits[worst]), found.merit):
            break
        found = found.without(units[worst], known)
    return found


def _rises(merit: float, than: float) -> bool:
    return merit > than + _ROUNDING * abs(than)


def best_first(known: Correlations, limits: Limits, patience: int) -> Subset:
    """Grow the most promising set seen, until ``patience`` sets in a row are no better than the best (Hall 1999)."""
    best = Subset.empty(len(known.relevance))
    for feature in limits.must:
        best = best.add(feature, known)
    waiting, seen, idle = [_Branch.of(best, 0, known, limits)], {frozenset(best.features)}, 0
    while waiting and idle < patience:
        branch = heapq.heappop(waiting)
        if not branch.left:
            continue
        child = branch.parent.add(branch.best, known)
        heapq.heappush(waiting, branch.after())
        if frozenset(child.features) in seen:
            continue
        seen.add(frozenset(child.features))
        heapq.heappush(waiting, _Branch.of(child, len(seen), known, limits))
        if not limits.has_to_go_on(list(child.features)):  # part of a group is no answer yet
            best, idle = (child, 0) if _rises(child.merit, best.merit) else (best, idle + 1)
    return best


@dataclass(frozen=True)
class _Branch:
    """A set and its children, ``order`` best first, ``next`` of them looked into; the branch with the best is least."""

    parent: Subset
    serial: int
    order: NDArray[np.intp]
    merits: Floats
    next: int = 0

    @classmethod
    def of(cls, parent: Subset, serial: int, known: Correlations, limits: Limits) -> _Branch:
        free = np.flatnonzero(limits.open(list(parent.features)))
        merits = parent.merits_with(known)[free]
        order = np.argsort(-merits, kind="stable")
        return cls(parent, serial, free[order], merits[order])

    @property
    def left(self) -> int:
        return len(self.order) - self.next

    @property
    def best(self) -> int:
        return int(self.order[self.next])

    def after(self) -> _Branch:
        return replace(self, next=self.next + 1)

    def __lt__(self, other: _Branch) -> bool:
        return self._key() < other._key()

    def _key(self) -> tuple[float, int]:
        return (-float(self.merits[self.next]) if self.left else np.inf, self.serial)
