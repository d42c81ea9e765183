"""The default search: masks in generations, effects by regression, sampling that sharpens around the boundary."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr

from spark_pufs.core.search.budget import Budget, fill
from spark_pufs.core.search.mask_draws import SizedMasks, every_mask
from spark_pufs.core.search.mask_regression import Contrast, Effects, combine, information
from spark_pufs.core.search.saved_state import State, state_array, whole_number

__all__ = ["ContrastSearch", "ContrastSettings"]

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

FIXED_COST = 24  # of clustering on a mask, in features: so many more make it cost twice as much (measured)


@dataclass(frozen=True)
class ContrastSettings:
    """``generation_size`` masks are compared at a time; ``fractions`` of the budget give their sizes.

    The first ``warm_up`` generations draw features evenly (or by the starting theta) and sizes alike. Later ones draw
    a feature up to 1 + ``focus`` times as often the more open it is, and a size the more often the more it tells for
    what it costs, but at least ``least`` of the masks. A feature is settled when theta is within ``settled`` of 0 or 1;
    the search stops when fewer than ``open`` of the features are not, ``patience`` generations in a row, or after
    ``max_generations``. It is ``hopeless`` where, from generation ``look`` on, settling them would take over ``many``.
    """

    generation_size: int = 288
    warm_up: int = 4
    max_generations: int = 60
    fractions: tuple[float, ...] = (0.125, 0.25, 0.5, 1.0)
    focus: float = 1.0
    least: float = 0.1
    settled: float = 0.1
    open: float = 0.1
    patience: int = 2
    look: int = 12
    many: float = 180.0


class ContrastSearch:
    """Ask for a generation of masks, tell their scores, until ``stopped`` says why.

    >>> search = ContrastSearch(Budget.of(np.ones(6), 2), seed=0)
    >>> while not search.stopped:
    ...     masks = search.ask()
    ...     search.tell(masks @ np.array([3.0, 0, 0, 2, 0, 0]))
    >>> np.flatnonzero(search.selection()).tolist(), search.theta.round(1).tolist()
    ([0, 3], [1.0, 0.0, 0.0, 1.0, 0.0, 0.0])
    """

    name = "contrast"

    def __init__(
        self,
        budget: Budget,
        seed: int,
        settings: ContrastSettings | None = None,
        start: ArrayLike | None = None,
    ) -> None:
        self.budget, self.seed, self.settings = budget, seed, settings or ContrastSettings()
        features = len(budget.share)
        fits = budget.share <= 1 - budget.share[budget.must].sum() + 1e-9
        self.free: Mask = ~budget.must & ~budget.never & fits
        self.start = np.full(features, 0.5) if start is None else np.asarray(start, np.float64)
        room = max(budget.count - int(budget.must.sum()), 1)
        self.fractions = _distinct(self.settings.fractions, room)
        self.generation = 0
        self.values: list[Floats] = []
        self.history: list[Floats] = []
        self.best_f, self.best_mask = -np.inf, np.zeros(features, np.bool_)
        self.stopped = ""
        self._asked: tuple[Mask, NDArray[np.intp]] | None = None
        self._told: list[Effects] = []
        self._contrasts = [Contrast(features) for _ in self.fractions]
        self.evidence = Effects(np.zeros(features), np.full(features, np.inf))
        self.theta = self._forced(np.where(self.free, budget.count / max(int((self.free | budget.must).sum()), 1), 0.0))
        if fill(budget.must, np.flatnonzero(self.free), budget)[self.free].all():
            self.theta = self._forced(np.ones(features))
            self.stopped = "every allowed feature fits the budget"

    @property
    def evaluation_seed(self) -> tuple[int, int]:
        """Seed of the clusterings of the generation that ``ask`` gives: shared by all its masks."""
        return (self.seed, self.generation)

    def ask(self) -> Mask:
        """The masks (M, D) of this generation; asking again gives the same ones."""
        return self._drawn()[0].copy()

    def tell(self, values: ArrayLike) -> None:
        """Scores (M,) of the masks that ``ask`` gave."""
        scores = np.asarray(values, np.float64)
        masks, parts = self._drawn()
        if scores.shape != (len(masks),) or not np.isfinite(scores).all():
            raise ValueError(f"expected {len(masks)} finite scores, got shape {scores.shape}")
        self._learn(masks, parts, scores)
        self.values.append(scores)
        self._asked = None
        self.generation += 1
        self._conclude()

    @property
    def tried(self) -> int:
        """Masks that were scored."""
        return sum(len(values) for values in self.values)

    def scored(self) -> Effects:
        """Effects (D,), 0 where nothing is known."""
        known = np.isfinite(self.evidence.error)
        return Effects(np.where(known, self.evidence.estimate, 0.0), np.where(known, self.evidence.error, 0.0))

    def selection(self, prior: Floats | None = None) -> Mask:
        """The features (D,) with the largest theta, taken while the budget allows.

        ``prior`` (D,), in standard normal units, has a say in the order of features that the search left open.
        """
        rank = self._distance()
        if prior is not None:
            edge = self.settings.settled
            open_ = (self.theta > edge) & (self.theta < 1 - edge)
            # Far beyond what standard errors reach: no open feature overtakes a settled one.
            rank = np.where(open_, rank + prior, np.where(self.theta > 0.5, rank + 1e9, rank - 1e9))
        return fill(self.budget.must, np.argsort(-rank, kind="stable"), self.budget)

    @property
    def unsettled(self) -> int:
        """Features whose theta is neither near 0 nor near 1."""
        edge = self.settings.settled
        return int(((self.theta > edge) & (self.theta < 1 - edge)).sum())

    def state_dict(self) -> State:
        """Everything that ``restore`` needs besides the arguments: arrays, numbers and strings only."""
        return {"name": self.name, "generation": self.generation, "values": np.array(self.values)}

    def restore(self, state: Mapping[str, object]) -> Self:
        """Go on from a ``state_dict`` of a search with the same arguments: the scores are replayed.

        A state that such a search cannot have come to is a ValueError.
        """
        told = state_array(state, "values", np.float64)
        rounds = whole_number(state, "generation")
        if state.get("name") != self.name or rounds != len(told) or (rounds and told.ndim != 2):
            raise ValueError(f"{rounds} generations of search {state.get('name')!r}, with scores of {len(told)}")
        for values in told:
            if self.stopped:
                raise ValueError(f"{rounds} generations, where the search ends after {self.generation}")
            self.tell(values)
        return self

    @property
    def draws(self) -> SizedMasks:
        """What the masks of this generation are drawn from."""
        fractions = np.asarray(self.fractions)[self._drawn()[1]]
        return SizedMasks(self._weight(), fractions, self.budget, self.free, (self.seed, self.generation, 1))

    def _drawn(self) -> tuple[Mask, NDArray[np.intp]]:
        """Masks (M, D) and the numbers of their sizes (M,), drawn once per generation."""
        if self._asked is None:
            parts = self._parts()
            self._asked = (np.zeros((0, len(self.theta)), np.bool_), parts)
            self._asked = (every_mask(self.draws), parts)
        return self._asked

    def _weight(self) -> Floats:
        """How readily each feature (D,) is drawn. Open features are drawn more often, the settled ones of both kinds
        less often alike, so that the company a feature is judged in does not change."""
        if self.generation < self.settings.warm_up:
            return self.start
        weight: Floats = self.start * (1 + self.settings.focus * 4 * self.theta * (1 - self.theta))
        return weight

    def _parts(self) -> NDArray[np.intp]:
        """The number of the size (M,) that each mask of the generation has."""
        sizes, rows = len(self.fractions), self.settings.generation_size
        share = np.full(sizes, 1 / sizes)
        if self.generation >= self.settings.warm_up:
            signal = [information(told, self.free) for told in self._told]
            told = np.array([one / max(c.rows, 1) for one, c in zip(signal, self._contrasts, strict=True)])
            told /= FIXED_COST + np.asarray(self.fractions) * self.budget.count
            least = min(self.settings.least, 1 / sizes)
            share = least + (1 - least * sizes) * told / told.sum()
        edges = np.rint(np.cumsum(share) * rows).astype(int)
        return np.searchsorted(edges, np.arange(rows), side="right")

    def _learn(self, masks: Mask, parts: NDArray[np.intp], scores: Floats) -> None:
        for part, contrast in enumerate(self._contrasts):
            own = parts == part
            if own.sum() > 2:
                contrast.add(masks[own], scores[own])
        top = int(np.argmax(scores))
        if scores[top] > self.best_f:
            self.best_f, self.best_mask = float(scores[top]), masks[top].copy()

    def _conclude(self) -> None:
        """Effects, theta and the stopping rule after a generation."""
        self._told = [contrast.evidence() for contrast in self._contrasts]
        self.evidence = combine(self._told, self.free)
        self.theta = self._forced(ndtr(self._distance()))
        self.history.append(self.theta)
        settings = self.settings
        recent = self.history[-settings.patience :]
        edge = settings.settled
        unsettled = [float(((t > edge) & (t < 1 - edge)).mean()) for t in recent]
        if self.generation >= settings.warm_up + settings.patience and max(unsettled) < settings.open:
            self.stopped = f"settled: {self.unsettled} of {len(self.theta)} features are still open"
        elif self.generation >= settings.max_generations:
            self.stopped = f"out of generations: {self.unsettled} of {len(self.theta)} features are still open"

    @property
    def hopeless(self) -> bool:
        """Whether effects are so small beside their noise that the search is not expected to settle.

        Effects that are all of one size settle sooner than those of a normal spread, which it expects: this alone is no
        reason to stop.
        """
        return self.generation >= self.settings.look and self._needed() > self.settings.many

    def give_up(self, why: str) -> None:
        """End the search."""
        self.stopped = f"{why}: {self.unsettled} of {len(self.theta)} features are still open"

    def _needed(self) -> float:
        """Generations that it would take to settle all but ``open`` of the features, at the most hopeful.

        Squared effects over their errors grow with the generations, beyond the 1 that noise gives. Of effects with a
        normal spread of ``r`` errors about 1 / r stay open.
        """
        known = self.free & np.isfinite(self.evidence.error) & (self.evidence.error > 0)
        if not known.any():
            return np.inf
        estimate, weight = self.evidence.estimate[known], 1 / self.evidence.error[known] ** 2
        squared = float((weight * (estimate - np.average(estimate, weights=weight)) ** 2).mean())
        hopeful = squared * (1 + 2 * np.sqrt(2 / len(estimate))) - 1
        return float(self.generation / (self.settings.open**2 * max(hopeful, 1e-9)))

    def _distance(self) -> Floats:
        """Distance (D,) to the boundary between selected and left out, in standard errors."""
        estimate = np.where(self.free, self.evidence.estimate, -np.inf)
        if not self.free.any():  # what must be chosen leaves no room
            return estimate
        order = np.argsort(-estimate, kind="stable")[: int(self.free.sum())]
        spent = self.budget.share[self.budget.must].sum() + np.cumsum(self.budget.share[order])
        last = min(max(int(np.searchsorted(spent, 1 + 1e-9, side="right")), 1), len(order) - 1)
        boundary = (estimate[order[last - 1]] + estimate[order[last]]) / 2
        distance = np.full(estimate.shape, -np.inf)
        distance[self.free] = (estimate[self.free] - boundary) / self.evidence.error[self.free]
        return distance

    def _forced(self, theta: Floats) -> Floats:
        out: Floats = np.where(self.budget.must, 1.0, np.where(self.free, theta, 0.0))
        return out


def _distinct(fractions: tuple[float, ...], room: int) -> tuple[float, ...]:
    """Fractions that give different sizes of masks."""
    sizes = {max(1, round(fraction * room)): fraction for fraction in fractions}
    return tuple(sizes[size] for size in sorted(sizes))
