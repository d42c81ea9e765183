"""The paper's search: a compact genetic algorithm with a hard cost bound (Algorithm 2)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from spark_pufs.core.search.budget import Budget, fill
from spark_pufs.core.search.mask_draws import RepairedPair
from spark_pufs.core.search.mask_regression import Effects
from spark_pufs.core.search.saved_state import State, state_array, whole_number

__all__ = ["PaperSearch"]

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]


class PaperSearch:
    """Ask for a pair of masks, tell their scores; ``stopped`` after ``pairs`` pairs.

    ``eta`` is the learning rate, default 1/(2D); ``clip`` keeps theta in [clip, 1 - clip], default 1/D. ``start`` (D,)
    replaces the even starting theta W / sum(w).

    >>> search = PaperSearch(Budget.of(np.ones(6), 2), seed=0, pairs=500)
    >>> while not search.stopped:
    ...     pair = search.ask()
    ...     search.tell(pair @ np.array([3.0, 0, 0, 2, 0, 0]))
    >>> np.flatnonzero(search.selection()).tolist()
    [0, 3]
    """

    name = "paper"

    def __init__(
        self,
        budget: Budget,
        seed: int,
        pairs: int = 3000,
        eta: float | None = None,
        clip: float | None = None,
        start: ArrayLike | None = None,
    ) -> None:
        features = len(budget.share)
        self.budget, self.seed, self.pairs = budget, seed, pairs
        self.eta = 1 / (2 * features) if eta is None else eta
        # With one feature or two, 1/D would leave no room between the clips.
        self.clip = min(1 / features, 0.25) if clip is None else clip
        even = np.full(features, 1 / budget.share.sum())
        self.theta = self._bounded(even if start is None else np.asarray(start, np.float64))
        self.generation = 0
        self.best_f, self.best_mask = -np.inf, np.zeros(features, np.bool_)
        self.history: list[Floats] = []

    @property
    def stopped(self) -> str:
        """Empty while the search goes on, then the reason."""
        return f"all {self.pairs} pairs are done" if self.generation >= self.pairs else ""

    @property
    def evaluation_seed(self) -> tuple[int, int]:
        """Seed of the clusterings of the pair that ``ask`` gives."""
        return (self.seed, self.generation)

    @property
    def unsettled(self) -> int:
        """Features whose theta is neither in [0, 0.1] nor in [0.9, 1]."""
        return int(((self.theta > 0.1) & (self.theta < 0.9)).sum())

    def ask(self) -> Mask:
        """A pair of repaired Bernoulli draws (2, D); asking again gives the same pair."""
        return self.draws.chunk(0)

    @property
    def draws(self) -> RepairedPair:
        """What the pair is drawn from."""
        return RepairedPair(self.theta, self.budget, (self.seed, self.generation, 1))

    def tell(self, values: ArrayLike) -> None:
        """Scores (2,) of the pair: paper eq. 11 and 12."""
        score, pair = np.asarray(values, np.float64), self.ask()
        if score.shape != (2,) or not np.isfinite(score).all():
            raise ValueError(f"expected two finite scores, got {score}")
        step = self.eta * np.sign(score[0] - score[1])
        self.theta = self._bounded(self.theta + step * (pair[0].astype(float) - pair[1]))
        top = int(np.argmax(score))
        if score[top] > self.best_f:
            self.best_f, self.best_mask = float(score[top]), pair[top]
        self.generation += 1
        if self.generation % 100 == 0 or self.stopped:
            self.history.append(self.theta)

    @property
    def tried(self) -> int:
        """Masks that were scored."""
        return 2 * self.generation

    def scored(self) -> Effects:
        """Theta (D,), which has no error of its own."""
        return Effects(self.theta, np.zeros(len(self.theta)))

    def selection(self, prior: Floats | None = None) -> Mask:
        """The features (D,) with the largest theta, taken while the budget allows; the paper knows no ``prior``."""
        return fill(self.budget.must, np.argsort(-self.theta, kind="stable"), self.budget)

    def state_dict(self) -> State:
        """Everything that ``restore`` needs besides the arguments: arrays and numbers only."""
        return {
            "name": self.name,
            "generation": self.generation,
            "theta": self.theta,
            "history": np.array(self.history).reshape(-1, len(self.theta)),
            "best_f": self.best_f,
            "best_mask": self.best_mask,
        }

    def restore(self, state: Mapping[str, object]) -> Self:
        """Go on from a ``state_dict`` of a search with the same arguments.

        A state that such a search cannot have come to is a ValueError.
        """
        features = len(self.theta)
        generation = whole_number(state, "generation")
        theta = state_array(state, "theta", np.float64, (features,))
        kept = generation // 100 + (generation == self.pairs and generation % 100 > 0)
        history = state_array(state, "history", np.float64, (kept, features))
        best = state["best_f"]
        if state.get("name") != self.name or not 1 <= generation <= self.pairs or not isinstance(best, float):
            raise ValueError(f"{generation} pairs of search {state.get('name')!r}")
        if not np.isfinite(best) or not np.array_equal(theta, self._bounded(theta)):
            raise ValueError("probabilities or scores out of their range")
        self.generation, self.theta, self.history, self.best_f = generation, theta, list(history), best
        self.best_mask = state_array(state, "best_mask", np.bool_, (features,))
        return self

    def _bounded(self, theta: Floats) -> Floats:
        clipped = np.clip(theta, self.clip, 1 - self.clip)
        out: Floats = np.where(self.budget.must, 1.0, np.where(self.budget.never, 0.0, clipped))
        return out
