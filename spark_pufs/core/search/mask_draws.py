"""The masks of a generation as what they are drawn from: theta, the seed and the number of a mask give the mask.

Whoever holds the draws draws the same masks: the driver that learns from their scores, and the tasks that score them.
Random numbers belong to a chunk of ``CHUNK`` masks, so that a task draws its own chunks alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from spark_pufs.core.search.budget import Budget, fill, race, repair_within

__all__ = ["CHUNK", "GivenMasks", "MaskDraws", "RepairedPair", "SizedMasks", "every_mask"]

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

CHUNK = 16
NEVER, LATE = 1e-200, 1e300  # features with no weight come after all others, in random order


class MaskDraws(Protocol):
    """``count`` masks; ``chunk`` gives those from ``first`` on, a multiple of ``CHUNK``, at most ``CHUNK`` of them."""

    @property
    def count(self) -> int: ...

    def chunk(self, first: int) -> Mask: ...


def every_mask(draws: MaskDraws) -> Mask:
    """All masks (M, D)."""
    return np.concatenate([draws.chunk(first) for first in range(0, draws.count, CHUNK)])


@dataclass(frozen=True)
class SizedMasks:
    """Masks within the budget, features drawn without replacement by ``theta`` (D,), each mask cut to its ``fractions``
    (M,) of the features that fit: the first that were drawn."""

    theta: Floats
    fractions: Floats
    budget: Budget
    free: Mask
    seed: tuple[int, ...]

    @property
    def count(self) -> int:
        return len(self.fractions)

    def chunk(self, first: int) -> Mask:
        rng = np.random.default_rng([*self.seed, first // CHUNK])
        fractions = self.fractions[first : first + CHUNK]
        if self.budget.equal:
            return self._first(fractions, rng)
        return np.stack([self._draw(fraction, rng) for fraction in fractions])

    def _first(self, fractions: Floats, rng: np.random.Generator) -> Mask:
        """Where all features cost the same: the first of races (m, D), all at once."""
        clock = rng.standard_exponential((len(fractions), len(self.theta)))
        late = self.theta < NEVER
        arrival = np.where(late, clock + LATE, clock / np.where(late, 1.0, self.theta))
        place = np.argsort(np.argsort(np.where(self.free, arrival, np.inf), axis=1), axis=1)
        room = min(self.budget.count - int(self.budget.must.sum()), int(self.free.sum()))
        sizes = np.minimum(np.maximum(np.rint(fractions * room), 1), room)
        masks: Mask = self.budget.must | (self.free & (place < sizes[:, None]))
        return masks

    def _draw(self, fraction: float, rng: np.random.Generator) -> Mask:
        order = race(self.theta, rng)
        order = order[self.free[order]]
        full = fill(self.budget.must, order, self.budget)
        chosen = order[full[order]]
        mask = self.budget.must.copy()
        mask[chosen[: max(1, round(fraction * len(chosen)))]] = True
        return mask


@dataclass(frozen=True)
class RepairedPair:
    """Two Bernoulli draws of ``theta`` (D,), repaired: what the paper's search compares."""

    theta: Floats
    budget: Budget
    seed: tuple[int, ...]
    count: int = 2

    def chunk(self, first: int) -> Mask:
        rng = np.random.default_rng(self.seed)
        draws = rng.random((2, len(self.theta))) < self.theta
        return np.stack([repair_within(draw, self.theta, self.budget, rng) for draw in draws])


@dataclass(frozen=True)
class GivenMasks:
    """Masks (M, D) from elsewhere, such as a benchmark."""

    masks: Mask

    @property
    def count(self) -> int:
        return len(self.masks)

    def chunk(self, first: int) -> Mask:
        return self.masks[first : first + CHUNK]
