"""Bring a mask inside the budget, then fill the budget up (Algorithm 3 of the FSCPU paper)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["Budget", "fill", "race", "repair", "repair_within"]

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

# A cost that overshoots by less than this share of the budget is rounding, not overspending.
TOLERANCE = 1e-9


@dataclass(frozen=True)
class Budget:
    """What a selection may cost: ``share`` (D,) of the whole budget per feature, ``must`` and ``never`` (D,) bool.

    Costs enter only as shares, so a change of currency changes nothing.
    """

    share: Floats
    must: Mask
    never: Mask

    @classmethod
    def of(
        cls, costs: ArrayLike, budget: float, must: ArrayLike | None = None, never: ArrayLike | None = None
    ) -> Budget:
        """Check and normalise.

        >>> Budget.of([1, 2, 5], 4).share
        array([0.25, 0.5 , 1.25])
        """
        cost = np.asarray(costs, np.float64)
        none = np.zeros(cost.shape, np.bool_)
        kept = none if must is None else np.asarray(must, np.bool_)
        barred = none if never is None else np.asarray(never, np.bool_)
        _check(cost, budget, kept, barred)
        return cls(cost / budget, kept, barred)

    @property
    def equal(self) -> bool:
        """True when all features cost the same, so that only their number matters."""
        return bool(np.ptp(self.share) <= TOLERANCE * self.share[0])

    @property
    def count(self) -> int:
        """How many features fit, cheapest first (with equal costs: the number that is selected)."""
        free = np.sort(self.share[~self.must & ~self.never])
        room = 1 + TOLERANCE - self.share[self.must].sum()
        return int(self.must.sum()) + int(np.searchsorted(np.cumsum(free), room, side="right"))


def repair(
    mask: ArrayLike,
    theta: ArrayLike,
    costs: ArrayLike,
    budget: float,
    rng: np.random.Generator,
    must: ArrayLike | None = None,
    never: ArrayLike | None = None,
) -> Mask:
    """Algorithm 3: drop with probability proportional to 1 - theta while too dear, then add proportional to theta.

    ``mask``, ``theta``, ``costs``, ``must``, ``never`` are (D,); the result (D,) bool never costs more than ``budget``
    and no allowed feature that is left out would still fit.

    >>> rng = np.random.default_rng(0)
    >>> repair([1, 1, 1, 0], [.9, .9, .1, .1], np.ones(4), 2, rng).sum()
    np.int64(2)
    """
    limits = Budget.of(costs, budget, must, never)
    return repair_within(np.asarray(mask, np.bool_), np.asarray(theta, np.float64), limits, rng)


def repair_within(mask: Mask, theta: Floats, limits: Budget, rng: np.random.Generator) -> Mask:
    """``repair`` with the costs already checked."""
    kept = _drop((mask | limits.must) & ~limits.never, theta, limits, rng)
    return fill(kept, race(theta, rng), limits)


def fill(mask: Mask, order: NDArray[np.intp], limits: Budget) -> Mask:
    """Add the features of ``order`` (D,) one by one while they fit; what does not fit is passed over.

    >>> fill(np.zeros(3, bool), np.array([2, 0, 1]), Budget.of([1, 2, 5], 4))
    array([ True,  True, False])
    """
    full = mask.copy()
    candidates = order[~(full | limits.never)[order]]
    room = 1 + TOLERANCE - limits.share[full].sum()
    if limits.equal:
        full[candidates[: int(room / limits.share[0])]] = True
        return full
    for feature in candidates:
        if limits.share[feature] <= room:
            full[feature] = True
            room -= limits.share[feature]
    return full


def _drop(mask: Mask, theta: Floats, limits: Budget, rng: np.random.Generator) -> Mask:
    """Lines 3-6: remove features in the order of a race with weights 1 - theta until the rest fits."""
    kept = mask.copy()
    over = limits.share[kept].sum() - (1 + TOLERANCE)
    if over <= 0:
        return kept
    order = race(1 - theta, rng)
    out = order[(kept & ~limits.must)[order]]
    drops = int(np.searchsorted(np.cumsum(limits.share[out]), over, side="left")) + 1
    kept[out[:drops]] = False
    return kept


def race(weight: Floats, rng: np.random.Generator) -> NDArray[np.intp]:
    """Order (D,) of exponential clocks with rates ``weight``.

    Clocks have no memory, so the order is that of repeated categorical draws without replacement, and passing
    over features that do not fit leaves the draws among the others as they were.
    """
    clock = rng.standard_exponential(weight.shape)
    excluded = weight < 1e-200
    # Two keys instead of a division by zero: excluded features come last, in random order.
    return np.lexsort((clock / np.where(excluded, 1.0, weight), excluded))


def _check(cost: Floats, budget: float, must: Mask, never: Mask) -> None:
    if cost.ndim != 1 or not cost.size or not np.all(np.isfinite(cost) & (cost > 0)):
        raise ValueError("costs must be a non-empty vector of positive finite numbers")
    if not (np.isfinite(budget) and budget > 0):
        raise ValueError(f"budget must be a positive finite number, got {budget}")
    if must.shape != cost.shape or never.shape != cost.shape:
        raise ValueError(f"must and never must have shape {cost.shape}, got {must.shape} and {never.shape}")
    if np.any(must & never):
        raise ValueError(f"features {np.flatnonzero(must & never).tolist()} are both in must and in never")
    if cost[must].sum() > budget * (1 + TOLERANCE):
        raise ValueError(f"the features in must cost {cost[must].sum():g}, more than the budget {budget:g}")
