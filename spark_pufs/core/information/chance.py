"""Information beyond what chance would give: the null distribution of plug-in information at given margins.

Labels dealt at random over N rows, n of them positive, put a_j ~ Hypergeometric(N, c_j, n) positives on a level of c_j
rows, and N I = sum_j g_j with g_j = c_j KL(a_j / c_j || n / N). The mean of each g_j is summed exactly where few
positives are expected on the level and by a series where many are. The variance of the sum is that of its terms and
their covariances through the first two orthogonal polynomials of a_j, correlated as rho and rho^2. Conditional
information is the sum over strata, which are dealt independently of each other.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from spark_pufs.core.information.mutual_information import Estimate, between_features, class_given_feature
from spark_pufs.types import Layout

__all__ = [
    "CAUTION",
    "MEASURES",
    "Chance",
    "Measure",
    "beyond",
    "chance_of_class",
    "class_beyond_chance",
    "features_beyond_chance",
    "two_level_deviation",
]

Floats = NDArray[np.float64]
Counts = NDArray[np.integer] | Floats

CAUTION = 2.0  # normal deviations of chance that information has to exceed
MANY = 32.0  # positives expected on a level above which the series is exact to 0.1 %
_CELLS = 1 << 20  # terms summed at a time


@dataclass(frozen=True)
class Chance:
    """Mean and standard deviation (D,) of plug-in information, in nats, where labels are dealt at random."""

    mean: Floats
    deviation: Floats

    def scaled(self, by: float) -> Chance:
        """That of ``by`` times the information."""
        return Chance(by * self.mean, by * self.deviation)

    def border(self) -> Floats:
        """Information (D,) ``CAUTION`` normal deviations up in the null distribution, a gamma of these moments."""
        shape, scale = self._gamma()
        return np.asarray(scale * special.gammainccinv(shape, special.ndtr(-CAUTION)))

    def deviates(self, information: Floats) -> Floats:
        """Where information (D,) lies in the null distribution, as normal deviates from -8 to 8."""
        shape, scale = self._gamma()
        return np.clip(-special.ndtri(special.gammaincc(shape, np.maximum(information, 0.0) / scale)), -8.0, 8.0)

    def _gamma(self) -> tuple[Floats, Floats]:
        alive = (self.mean > 0) & (self.deviation > 0)
        mean, variance = np.where(alive, self.mean, 1e-12), np.where(alive, self.deviation, 1e-12) ** 2
        return mean**2 / variance, variance / mean


def class_beyond_chance(counts: Counts, layout: Layout, variance_share: ArrayLike = 1.0) -> Estimate:
    """How far I(X_k;Y|Z) is beyond chance, in nats and by ``beyond``, from counts (2, levels of Z, L).

    Soft labels: counts in rows, the second class holding sums of posteriors w, and ``variance_share`` the variance of w
    over q (1 - q), q its mean; one number or one per level of Z.
    """
    value, error = class_given_feature(counts, layout, variance_share)
    chance = chance_of_class(counts, layout, variance_share)
    rows = max(float(counts[:, :, layout.span(0)].sum()), 1.0)
    # The delta method takes the part of I that is chance for real, which adds 2 E0 / N to its square.
    error = np.sqrt(np.maximum(error**2 - 2 * chance.mean / rows, 0.0) + chance.deviation**2)
    return beyond(value, error, chance, two_level_deviation(rows, variance_share))


def beyond(value: Floats, error: Floats, chance: Chance, unit: float) -> Estimate:
    """Values (D,) less the border of chance; below it in normal deviates from the border, ``unit`` each.

    So noise is on one scale however many levels it has, and what is above 0 is more than chance would give, but for one
    column in forty.
    """
    border = chance.border()
    above = value > border
    score = np.where(above, value - border, unit * (np.minimum(chance.deviates(value), CAUTION) - CAUTION))
    narrowed = unit / np.where(chance.deviation > 0, chance.deviation, unit)
    return score, np.where(above, error, error * narrowed)


def two_level_deviation(rows: float, variance_share: ArrayLike = 1.0) -> float:
    """Deviation of I under chance for a feature of two levels, 2 N I being chi-square with one degree of freedom."""
    return float(np.asarray(variance_share, np.float64).mean() / (np.sqrt(2) * rows))


def features_beyond_chance(counts: Counts, layout: Layout) -> Estimate:
    """I(X_k;X_j) less its mean (|X_k| - 1)(|X_j| - 1) / 2N under chance, from counts (levels of j, L)."""
    value, error = between_features(counts, layout)
    rows = max(float(counts[:, layout.span(0)].sum()), 1.0)
    own = np.add.reduceat((counts.sum(axis=0) > 0).astype(np.float64), layout.offsets[:-1])
    other = np.count_nonzero(counts[:, layout.span(0)].sum(axis=1))
    return value - np.maximum(own - 1, 0) * max(other - 1, 0) / (2 * rows), error


def chance_of_class(counts: Counts, layout: Layout, variance_share: ArrayLike = 1.0) -> Chance:
    """The null distribution of I(X_k;Y|Z) of every feature at the margins of counts (2, levels of Z, L).

    >>> chance = chance_of_class(np.array([[[500, 500]], [[500, 500]]]), Layout((2,)))
    >>> (2000 * 2 * chance.mean).round(2), (2000 * 2 * chance.deviation).round(2)  # of chi-square: 1 and the root of 2
    (array([1.]), array([1.41]))
    """
    first = counts[:, :, layout.span(0)].sum(axis=2)
    strata = np.flatnonzero((first > 0).all(axis=0))
    mean, variance = np.zeros(layout.features), np.zeros(layout.features)
    if not len(strata):
        return Chance(mean, variance)
    share = np.broadcast_to(np.asarray(variance_share, np.float64), first.shape[1:])[strata]
    rows, positives = first[:, strata].sum(axis=0), first[:, strata].min(axis=0)  # the rarer class: I is the same
    size = np.rint(counts[:, strata].sum(axis=0)).astype(np.int64)  # (strata, L)
    cells, place = np.unique(np.arange(len(strata))[:, None] * (int(size.max()) + 1) + size, return_inverse=True)
    stratum, c = np.divmod(cells, int(size.max()) + 1)
    terms = _terms(_Cells(c.astype(np.float64), positives[stratum], rows[stratum], share[stratum]))
    for own in place.reshape(size.shape):
        sums = np.add.reduceat(terms[:, own], layout.offsets[:-1], axis=1)
        mean += sums[0]
        variance += np.maximum(sums[1] - sums[2] ** 2 + sums[3] + sums[4] ** 2 - sums[5], 0.0)
    total = float(first.sum())
    return Chance(mean / total, np.sqrt(variance) / total)


@dataclass(frozen=True)
class Measure:
    """How information is estimated: I(X_k;Y|Z) from counts (2, levels of Z, L), I(X_k;X_j) from (levels of j, L)."""

    given: Callable[[Counts, Layout], Estimate]
    between: Callable[[Counts, Layout], Estimate]

    def alone(self, counts: Counts, layout: Layout) -> Estimate:
        """I(X_k;Y) from counts (2, L)."""
        return self.given(counts[:, None, :], layout)


# By the option `correction`; "none" is plug-in information, as papers have it.
MEASURES: Mapping[str, Measure] = {
    "chance": Measure(class_beyond_chance, features_beyond_chance),
    "none": Measure(class_given_feature, between_features),
}


@dataclass(frozen=True)
class _Cells:
    """Levels (U,): their rows c, and positives n, rows N and share of the variance of the stratum they lie in."""

    c: Floats
    n: Floats
    N: Floats
    share: Floats

    def __getitem__(self, part: Any) -> _Cells:
        return _Cells(self.c[part], self.n[part], self.N[part], self.share[part])

    @property
    def mean(self) -> Floats:
        return self.c * self.n / self.N

    @property
    def variance(self) -> Floats:
        q = self.n / self.N
        spread: Floats = self.share * self.c * q * (1 - q) * (self.N - self.c) / np.maximum(self.N - 1, 1)
        return spread


def _terms(cells: _Cells) -> Floats:
    """Per level (6, U): mean and variance of g, then r u, r^2 u^2, r^2 v, r^4 v^2, of which covariances are made.

    u, v: covariance of g with the first and second orthogonal polynomial of a, scaled to variance 1; r^2 = c / (N - c),
    so that levels i and j of a feature are correlated as -r_i r_j.
    """
    moments = np.zeros((4, len(cells.c)))  # mean, variance, u, v
    alive = (cells.variance > 0) & (cells.c > 0)
    many = alive & (cells.mean >= MANY)
    moments[:, many] = _by_series(cells[many])
    few = np.flatnonzero(alive & ~many)
    for part in _parts(cells[few]):
        moments[:, few[part]] = _by_sum(cells[few[part]])
    mean, variance, u, v = moments
    ratio = np.where(alive, cells.c / np.maximum(cells.N - cells.c, 1e-9), 0.0)
    first, second = np.sqrt(ratio) * u, ratio * v
    return np.stack([mean, variance, first, first**2, second, second**2])


def _parts(cells: _Cells) -> list[slice]:
    step = max(1, _CELLS // _width(cells)) if len(cells.c) else 1
    return [slice(first, first + step) for first in range(0, len(cells.c), step)]


def _width(cells: _Cells) -> int:
    return int((_highest(cells) - _lowest(cells)).max()) + 1


def _lowest(cells: _Cells) -> Floats:
    far = np.floor(cells.mean - 12 * np.sqrt(cells.mean))
    lowest: Floats = np.maximum(np.maximum(0.0, _whole(cells) + cells.c - cells.N), far)
    return lowest


def _highest(cells: _Cells) -> Floats:
    far = np.ceil(cells.mean + 12 * np.sqrt(cells.mean) + 12)
    highest: Floats = np.minimum(np.minimum(cells.c, _whole(cells)), far)
    return highest


def _whole(cells: _Cells) -> Floats:
    """Positives as a whole number: sums of soft labels are none."""
    return np.maximum(np.rint(cells.n), 1.0)


def _by_sum(cells: _Cells) -> Floats:
    """Mean and variance of g, u and v, (4, U), summed over all a that have a chance."""
    low, high = _lowest(cells), _highest(cells)
    a = low[:, None] + np.arange(_width(cells))
    chance = _hypergeometric(a, high, cells)
    centre = (chance * a).sum(axis=1)
    x = a - centre[:, None]
    spread = (chance * x**2).sum(axis=1)
    # Soft labels deviate less than whole ones: drawn in towards the mean by the root of their share of the variance.
    x *= np.sqrt(cells.variance / np.where(spread > 0, spread, 1.0))[:, None]
    g = np.where(chance > 0, _divergence(cells.mean[:, None] + x, cells), 0.0)
    mean = (chance * g).sum(axis=1)
    g -= mean[:, None]
    weighted = chance * x
    squared = weighted * x
    cubed = squared * x  # numpy's own third power takes ten times as long as a product
    second, third, fourth = squared.sum(axis=1), cubed.sum(axis=1), (cubed * x).sum(axis=1)
    with_first, with_square = (weighted * g).sum(axis=1), (squared * g).sum(axis=1)
    second = np.where(second > 0, second, 1.0)
    spread_of_square = fourth - third**2 / second - second**2
    kept = spread_of_square > 1e-12 * second**2  # of two values of a no second polynomial is left
    v = (with_square - third / second * with_first) / np.sqrt(np.where(kept, spread_of_square, 1.0))
    return np.stack([mean, (chance * g**2).sum(axis=1), with_first / np.sqrt(second), np.where(kept, v, 0.0)])


def _hypergeometric(a: Floats, high: Floats, cells: _Cells) -> Floats:
    """Probabilities of a (U, W), each row beginning at its lowest value, from the ratios of neighbours."""
    c, n, N = cells.c[:, None], _whole(cells)[:, None], cells.N[:, None]
    up = (c - a) * (n - a) / ((a + 1) * np.maximum(N - c - n + a + 1, 1.0))
    inside = a < high[:, None]
    steps = np.log(np.where(inside & (up > 0), up, 1.0))
    log = np.zeros_like(a)
    np.cumsum(steps[:, :-1], axis=1, out=log[:, 1:])
    log[a > high[:, None]] = -np.inf
    chance: Floats = np.exp(log - log.max(axis=1, keepdims=True))
    chance /= chance.sum(axis=1, keepdims=True)
    return chance


def _divergence(a: Floats, cells: _Cells) -> Floats:
    """g = a log(a / m) + (c - a) log((c - a) / (c - m)), m the mean of a."""
    m, c = cells.mean[:, None], cells.c[:, None]
    a = np.clip(a, 0.0, c)
    g: Floats = a * np.log(np.where(a > 0, a, m) / m)
    g += (c - a) * np.log(np.where(c - a > 0, c - a, c - m) / (c - m))
    return g


def _by_series(cells: _Cells) -> Floats:
    """The same from the derivatives of g at the mean, (4, U)."""
    m, rest, variance = cells.mean, cells.c - cells.mean, cells.variance
    two, three, four = 1 / m + 1 / rest, 1 / rest**2 - 1 / m**2, 2 / m**3 + 2 / rest**3
    lean = (1 - 2 * cells.n / cells.N) * (1 - 2 * cells.c / cells.N)
    third = np.sqrt(cells.share) * variance * lean
    mean = two * variance / 2 + three * third / 6 + four * variance**2 / 8
    u = (two * third / 2 + three * variance**2 / 2) / np.sqrt(variance)
    v = two * variance / np.sqrt(2)
    return np.stack([mean, u**2 + v**2, u, v])
