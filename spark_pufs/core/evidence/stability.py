"""How far a selection depends on the draw: agreement of the sets chosen in R runs on resampled rows.

Nogueira, Sechidis & Brown 2018 ("On the stability of feature selection algorithms", JMLR 18): an index that corrects
for chance, allows sets of different sizes and comes with an interval. On sets of one size it equals Kuncheva's
consistency index (2007).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from spark_pufs.errors import DataError, Fault

__all__ = ["GOOD", "POOR", "Stability", "kuncheva", "nogueira", "stability", "wilson"]

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

# Fleiss' benchmarks for kappa, which Nogueira et al. take over.
POOR, GOOD = 0.40, 0.75


@dataclass(frozen=True)
class Stability:
    """Agreement of R runs over D features.

    ``index`` is Nogueira's (1: always the same set, about 0: sets drawn at random) with its standard ``error`` and
    interval ``low`` to ``high``; ``kuncheva`` is None when the sets have different sizes. ``frequency`` (D,) is the
    share of runs that select a feature, with Wilson intervals ``frequency_low`` and ``frequency_high`` (D,).
    """

    runs: int
    index: float
    error: float
    low: float
    high: float
    kuncheva: float | None
    frequency: Floats
    frequency_low: Floats
    frequency_high: Floats
    verdict: str

    @property
    def depends_on_draw(self) -> bool:
        """Whether a user must be warned: the index cannot be shown to be better than poor. It is not defined where runs
        select nothing, which tells nothing, or everything, which no draw can change."""
        return not (self.low >= POOR or (self.frequency.all() and math.isnan(self.index)))

    def __str__(self) -> str:
        if math.isnan(self.index):
            return f"stability not defined: {self.verdict}"
        return f"stability {self.index:.2f} ({self.low:.2f} to {self.high:.2f}) over {self.runs} runs: {self.verdict}"


def stability(masks: ArrayLike, level: float = 0.95) -> Stability:
    """Stability of the sets that R runs chose among D features; ``masks`` (R, D) bool, one row per run.

    >>> runs = [[1, 1, 0, 0], [1, 1, 0, 0], [1, 0, 1, 0]]
    >>> print(stability(runs))
    stability 0.33 (-0.84 to 1.00) over 3 runs: the answer depends on the draw
    >>> stability(runs).frequency.round(2).tolist()
    [1.0, 0.67, 0.33, 0.0]
    """
    Z = _checked(masks)
    frequency = Z.mean(axis=0)
    lows, highs = wilson(frequency, len(Z), level)
    index, error = nogueira(Z)
    few = len(Z) / (len(Z) - 1)  # the asymptotic error is too small where runs are few, and so is the normal quantile
    reach = _quantile(level, len(Z) - 1) * error * few
    low, high = max(index - reach, -1.0), min(index + reach, 1.0)
    same_size = len(set(Z.sum(axis=1).tolist())) == 1 and not math.isnan(index)
    agreement = kuncheva(Z) if same_size else None
    return Stability(
        len(Z), index, error, low, high, agreement, frequency, lows, highs, _verdict(index, low, frequency)
    )


def nogueira(masks: ArrayLike) -> tuple[float, float]:
    """Nogueira's index and its standard error, from its asymptotic distribution, for ``masks`` (R, D) bool.

    Not a number when no run selects anything or every run selects everything: chance cannot be told from choice.

    >>> nogueira([[1, 0, 0], [1, 0, 0]])
    (1.0, 0.0)
    """
    Z = _checked(masks).astype(np.float64)
    runs, features = Z.shape
    p, size = Z.mean(axis=0), Z.sum(axis=1)
    share = float(size.mean()) / features
    chance = share * (1 - share)
    if chance == 0:
        return math.nan, math.nan
    index = 1 - float((p * (1 - p)).mean()) * runs / (runs - 1) / chance
    own = size / features
    each = (Z @ p / features - own * share + index / 2 * (2 * own * share - own - share + 1)) / chance
    return index, 2 / runs * math.sqrt(float(((each - each.mean()) ** 2).sum()))


def kuncheva(masks: ArrayLike) -> float:
    """Kuncheva's consistency index, the mean over all pairs of runs; ``masks`` (R, D) bool with sets of one size.

    >>> round(kuncheva([[1, 1, 0, 0], [1, 1, 0, 0], [1, 0, 1, 0]]), 4)
    0.3333
    """
    Z = _checked(masks).astype(np.float64)
    sizes = Z.sum(axis=1)
    k, features = float(sizes[0]), Z.shape[1]
    if (sizes != k).any() or k in (0, features):
        found = f"needs sets of one size between 1 and {features - 1}, got {sizes.min():.0f} to {sizes.max():.0f}"
        raise DataError(Fault("Kuncheva's index", found, "Use Nogueira's index."))
    common = (Z @ Z.T)[np.triu_indices(len(Z), 1)]
    return float(((common * features - k * k) / (k * (features - k))).mean())


def wilson(
    share: ArrayLike, trials: ArrayLike, level: float = 0.95, freedom: float = math.inf
) -> tuple[Floats, Floats]:
    """Wilson's score interval of a ``share`` seen in ``trials``, which may be an effective number, even inf.

    ``freedom``: degrees of freedom of the variance that this number was taken from.

    >>> low, high = wilson(0.0, 10)
    >>> round(float(low), 3), round(float(high), 3)
    (0.0, 0.278)
    """
    p, ratio = np.asarray(share, np.float64), _quantile(level, freedom) ** 2 / np.asarray(trials, np.float64)
    middle = (p + ratio / 2) / (1 + ratio)
    reach = np.sqrt(p * (1 - p) * ratio + ratio**2 / 4) / (1 + ratio)
    # Rounding must not push the interval off a share of exactly 0 or 1.
    return np.clip(np.minimum(middle - reach, p), 0, 1), np.clip(np.maximum(middle + reach, p), 0, 1)


def _quantile(level: float, freedom: float = math.inf) -> float:
    """Of the normal distribution, and of Student's where the variance was estimated from few."""
    return float(special.stdtrit(freedom, 0.5 + level / 2))


def _checked(masks: ArrayLike) -> Mask:
    Z = np.asarray(masks)
    if Z.ndim != 2 or len(Z) < 2 or Z.shape[1] < 1:
        found = f"expected the masks of two or more runs as (R, D), got shape {Z.shape}"
        raise DataError(Fault("Stability", found, "Run the selection again on resampled rows."))
    return Z.astype(np.bool_)


def _verdict(index: float, low: float, frequency: Floats) -> str:
    if math.isnan(index):
        return "no run selects anything" if not frequency.any() else "every run selects everything"
    if index >= GOOD and low >= POOR:
        return "the same features come out of most draws"
    return "most features come out again, some depend on the draw" if low >= POOR else "the answer depends on the draw"
