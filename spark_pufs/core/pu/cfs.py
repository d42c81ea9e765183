"""Correlation-based feature selection: the merit of a set (Hall & Smith 1997).

    G = k mean(r_ci) / sqrt(k + k (k-1) mean(r_ii'))

with the mean of r_ii' over ordered pairs, so that k (k-1) mean(r_ii') is the sum of U(X_i|X_j) + U(X_j|X_i) over pairs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Correlations", "Subset"]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Correlations:
    """r_ci (D,) with its standard errors (D,), and ``pairs(j)`` (D,): U(X_k|X_j) + U(X_j|X_k) for every k, 0 for j."""

    relevance: Floats
    error: Floats
    pairs: Callable[[int], Floats]


@dataclass(frozen=True)
class Subset:
    """Features in the order they came, with the sums that merits are made of; ``against`` (D,) is summed over them."""

    features: tuple[int, ...]
    relevance: float
    error: float
    redundancy: float
    against: Floats

    @classmethod
    def empty(cls, features: int) -> Subset:
        return cls((), 0.0, 0.0, 0.0, np.zeros(features))

    @property
    def merit(self) -> float:
        """G; below that of any set where there is nothing in it."""
        if not self.features:
            return -1.0
        return float(self.relevance / np.sqrt(len(self.features) + self.redundancy))

    @property
    def merit_error(self) -> float:
        """A bound: the r_ci share their rows, so their errors add; r_ii' comes from all rows and counts as exact."""
        return float(self.error / np.sqrt(max(len(self.features) + self.redundancy, 1.0)))

    def merits_with(self, known: Correlations) -> Floats:
        """G (D,) with one feature more."""
        grown: Floats = (self.relevance + known.relevance) / np.sqrt(
            len(self.features) + 1 + self.redundancy + self.against
        )
        return grown

    def merits_without(self, known: Correlations, units: Sequence[Sequence[int]]) -> Floats:
        """G (U,) without each of some units of its features; not for a unit that is all of it."""
        relevance = np.array([known.relevance[list(own)].sum() for own in units])
        against = np.array([self.against[list(own)].sum() - _inside(own, known) for own in units])
        sizes = np.array([len(own) for own in units])
        left: Floats = (self.relevance - relevance) / np.sqrt(len(self.features) - sizes + self.redundancy - against)
        return left

    def add(self, feature: int, known: Correlations) -> Subset:
        return Subset(
            (*self.features, feature),
            self.relevance + float(known.relevance[feature]),
            self.error + float(known.error[feature]),
            self.redundancy + float(self.against[feature]),
            self.against + known.pairs(feature),
        )

    def without(self, unit: Sequence[int], known: Correlations) -> Subset:
        """Summed anew, so that no rounding is left of what came and went."""
        rest = Subset.empty(len(self.against))
        for other in self.features:
            if other not in unit:
                rest = rest.add(other, known)
        return rest


def _inside(unit: Sequence[int], known: Correlations) -> float:
    """The redundancy among the features of one unit."""
    own = list(unit)
    return sum(float(known.pairs(feature)[own].sum()) for feature in own) / 2 if len(own) > 1 else 0.0
