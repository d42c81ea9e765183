"""Searches over masks by name, and the score of FSCPU-MI.

A search is asked for masks and told their scores until ``stopped`` gives a reason. All its random numbers come from
(seed, generation), so its arguments and its ``state_dict`` are the whole state: arrays, numbers and strings.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from spark_pufs.core.search.compact_ga import PaperSearch
from spark_pufs.core.search.main_effects import ContrastSearch, ContrastSettings
from spark_pufs.core.search.mask_draws import MaskDraws
from spark_pufs.core.search.mask_regression import Effects
from spark_pufs.core.search.saved_state import State

__all__ = [
    "SEARCHES",
    "ContrastSearch",
    "ContrastSettings",
    "PaperSearch",
    "ScoreLog",
    "Search",
    "combined",
    "jmi_of_masks",
]

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]


class Search(Protocol):
    """What a driver may call. D features, M masks per generation.

    ``tell`` takes the scores of the masks that ``ask`` gave; ``tried`` is how many masks were scored. ``scored`` gives
    a score and its standard error for every feature. ``prior`` (D,) of ``selection``, in standard normal units, may
    have a say in the order of features that the search left open. ``restore`` goes on from a ``state_dict`` of a search
    with the same arguments, and a state that such a search cannot have come to is a ValueError.
    """

    name: str
    generation: int
    theta: Floats
    history: list[Floats]
    best_f: float
    best_mask: Mask

    @property
    def stopped(self) -> str: ...

    @property
    def evaluation_seed(self) -> tuple[int, int]: ...

    @property
    def unsettled(self) -> int: ...

    @property
    def draws(self) -> MaskDraws: ...

    def ask(self) -> Mask: ...

    def tell(self, values: ArrayLike) -> None: ...

    @property
    def tried(self) -> int: ...

    def scored(self) -> Effects: ...

    def selection(self, prior: Floats | None = None) -> Mask: ...

    def state_dict(self) -> State: ...

    def restore(self, state: Mapping[str, object]) -> Self: ...


SEARCHES: dict[str, type[PaperSearch] | type[ContrastSearch]] = {
    "contrast": ContrastSearch,
    "paper": PaperSearch,
}


@dataclass(frozen=True)
class ScoreLog:
    """Count, mean and sum of squared deviations of every f and every I seen so far, each (2,)."""

    count: int
    mean: Floats
    scatter: Floats

    @classmethod
    def empty(cls) -> ScoreLog:
        """Before the first value."""
        return cls(0, np.zeros(2), np.zeros(2))

    def extended(self, values: Floats) -> ScoreLog:
        """With the values (2, M) of one more generation (Chan, Golub & LeVeque 1983)."""
        added = values.shape[1]
        total = self.count + added
        shift = values.mean(axis=1) - self.mean
        inner = ((values - values.mean(axis=1, keepdims=True)) ** 2).sum(axis=1)
        return ScoreLog(
            total,
            self.mean + shift * added / total,
            self.scatter + inner + shift**2 * self.count * added / total,
        )


def combined(f: ArrayLike, information: ArrayLike, state: ScoreLog) -> tuple[Floats, ScoreLog]:
    """FSCPU-MI (paper eq. 13): f / Std[f] + I / Std[I] over every value seen, these included; (M,) and the new log.

    Until both deviations are positive the raw sum is taken.

    >>> score, log = combined([0.1, 0.3], [2.0, 2.0], ScoreLog.empty())
    >>> score.tolist(), log.count
    ([2.1, 2.3], 2)
    """
    values = np.stack([np.asarray(f, np.float64), np.asarray(information, np.float64)])
    log = state.extended(values)
    deviation = np.sqrt(log.scatter / log.count)
    scale = deviation if (deviation > 0).all() else np.ones(2)
    score: Floats = (values / scale[:, None]).sum(axis=0)
    return score, log


def jmi_of_masks(masks: ArrayLike, cmi: ArrayLike) -> Floats:
    """Mean of I(X_k; S | X_j) over ordered pairs k != j in each mask: ``masks`` (M, D), ``cmi`` (D, D) -> (M,).

    A mask with fewer than two features has no pair and scores 0.

    >>> jmi_of_masks([[1, 1, 0]], [[9, 1, 5], [3, 9, 5], [5, 5, 9]])
    array([2.])
    """
    chosen = np.asarray(masks, np.float64)
    pairs = np.array(cmi, np.float64)
    np.fill_diagonal(pairs, 0.0)
    size = chosen.sum(axis=1)
    total = np.einsum("md,md->m", chosen @ pairs, chosen)
    mean: Floats = np.divide(total, size * (size - 1), out=np.zeros_like(total), where=size > 1)
    return mean
