"""How many positives: their share among unlabelled rows, by four estimators that read one score of every row.

The score orders rows by how much they resemble labelled ones, each judged by a model that has not seen it. Where the
best scores are reached by positives alone, labelled and unlabelled rows of high score are in the ratio of their numbers
of positives; where negatives reach them too, every estimator is too large.

- Elkan & Noto 2008: the mean share of labelled rows at the scores of labelled rows.
- TIcE (Bekker & Davis 2018): the largest share of labelled rows above any score, less what chance may add to it.
- Best bin (Garg et al. 2021): the ratio of tails above the score at which its upper bound is least.
- DEDPUL (Ivanov 2020): the largest share whose posteriors, from the ratio of densities, still have it as their mean.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["ESTIMATORS", "PriorEstimate", "Scores", "agree", "best_cut", "estimate_prior"]

Floats = NDArray[np.float64]

CONFIDENCE = 0.1  # of the bounds of the best bin
SLACK = 0.01  # that its bound is wider by
LEAST_ROWS = 10  # above a score, for TIcE
LEAST_SHARE = 0.01  # of all rows, likewise
BINS = 10  # of a histogram, each with as many labelled rows
DRAWS = 100
LEVEL = 0.95
APART = 0.05  # by which estimates may differ
APART_RATIO = 1.5  # and their ratio
SHARES = np.linspace(0.001, 0.999, 999)
TOLERANCE = (0.002, 0.03)  # of DEDPUL's mean: absolute, and of the share


@dataclass(frozen=True)
class Scores:
    """Scores of labelled rows (m,) and of unlabelled rows (n,), each sorted, largest first."""

    labelled: Floats
    unlabelled: Floats

    @classmethod
    def of(cls, labelled: Floats, unlabelled: Floats) -> Scores:
        return cls(np.sort(labelled)[::-1], np.sort(unlabelled)[::-1])

    def tails(self) -> tuple[Floats, Floats]:
        """Shares of labelled and of unlabelled rows at or above each score of a labelled row."""
        cuts = np.unique(self.labelled)[::-1]
        found = [np.searchsorted(-own, -cuts, side="right") / len(own) for own in (self.labelled, self.unlabelled)]
        return found[0], found[1]

    def histogram(self) -> tuple[Floats, Floats]:
        """Labelled and unlabelled rows in bins of about equally many labelled ones, the highest scores first; the last
        bin is below all labelled rows."""
        edges = np.unique(np.quantile(self.labelled, np.linspace(0, 1, BINS + 1)[:-1]))
        places = [np.searchsorted(edges, own, side="right") for own in (self.labelled, self.unlabelled)]
        first, second = (np.bincount(own, minlength=len(edges) + 1)[::-1].astype(float) for own in places)
        return first, second

    def drawn(self, rng: np.random.Generator) -> Scores:
        """A bootstrap sample of each kind of row."""
        return Scores.of(*(rng.choice(own, len(own)) for own in (self.labelled, self.unlabelled)))


@dataclass(frozen=True)
class PriorEstimate:
    """The share of positives among all rows, with an interval.

    ``estimates``: that of each estimator. ``prior`` is the middle of the best bin's and DEDPUL's, of which the first is
    rather too large and the second too small; the interval spans both and their bootstrap draws, and where classes
    overlap it begins at the share of labelled rows. ``auc``: of the score, labelled against unlabelled rows.
    """

    prior: float
    low: float
    high: float
    estimates: Mapping[str, float]
    labelled: int
    rows: int
    auc: float
    warnings: tuple[str, ...]

    @property
    def positives(self) -> float:
        """How many rows are positive, labelled or not."""
        return self.prior * self.rows

    def __str__(self) -> str:
        head = f"{self.prior:.3f} of all rows are positive ({self.low:.3f} to {self.high:.3f})"
        found = ", ".join(f"{name} {value:.3f}" for name, value in self.estimates.items())
        lines = [f"{head}: about {self.positives:,.0f}, of which {self.labelled:,} are labelled", found]
        return "\n".join([*lines, *(f"warning: {text}" for text in self.warnings)])


def estimate_prior(scores: Scores, labelled: int, unlabelled: int, rows: int, auc: float, seed: int) -> PriorEstimate:
    """From the scores of a sample of a table with so many labelled, unlabelled and all rows.

    >>> rng = np.random.default_rng(0)
    >>> scores = Scores.of(rng.normal(4, 1, 200), np.r_[rng.normal(4, 1, 300), rng.normal(0, 1, 700)])
    >>> found = estimate_prior(scores, 200, 1000, 1200, 0.85, seed=0)
    >>> found.low < 500 / 1200 < found.high and abs(found.prior - 500 / 1200) < 0.03
    True
    """
    scale = (labelled / len(scores.labelled)) / (unlabelled / len(scores.unlabelled))
    found = {name: one(scores, scale) for name, one in ESTIMATORS.items()}
    rng = np.random.default_rng([seed, 18])
    draws = np.array([[ESTIMATORS[name](own, scale) for name in _TRUSTED] for own in _draws(scores, rng)])
    low, high = np.quantile(draws.min(axis=1), (1 - LEVEL) / 2), np.quantile(draws.max(axis=1), (1 + LEVEL) / 2)

    def of_all(share: float) -> float:
        return float(min(1.0, (labelled + share * unlabelled) / rows))

    estimates = {name: round(of_all(share), 6) for name, share in found.items()}
    ends = [estimates[name] for name in _TRUSTED]
    low, high = min(of_all(float(low)), *ends), max(of_all(float(high)), *ends)
    apart = _apart(estimates)
    low = labelled / rows if apart else low
    return PriorEstimate(sum(ends) / 2, low, high, estimates, labelled, rows, auc, apart)


def _draws(scores: Scores, rng: np.random.Generator) -> list[Scores]:
    return [scores.drawn(rng) for _ in range(DRAWS)]


def _apart(estimates: Mapping[str, float]) -> tuple[str, ...]:
    """A warning where those that ought to agree do not; TIcE is a bound, and is left out."""
    own = [value for name, value in estimates.items() if name != "tice"]
    low, high = min(own), max(own)
    if agree(own):
        return ()
    found = f"Estimates of the share of positives disagree, {low:.3f} to {high:.3f}"
    return (f"{found}: the classes overlap, or there are few labels. Take the upper end as a bound, or give prior.",)


def _elkan_noto(scores: Scores, scale: float) -> float:
    """rho is the mean of p(s = 1 | score) over labelled rows, made monotone; positives are labelled / rho."""
    m, n = scores.histogram()
    labelled = scale * m
    share = _falling(labelled / np.maximum(labelled + n, 1e-12), labelled + n)
    rho = float((m * share).sum() / m.sum())
    return _bounded((scale * len(scores.labelled) / rho - scale * len(scores.labelled)) / len(scores.unlabelled))


def _tice(scores: Scores, scale: float) -> float:
    high, low = scores.tails()
    labelled = scale * len(scores.labelled)
    rows = labelled + len(scores.unlabelled)
    own, every = high * labelled, high * labelled + low * len(scores.unlabelled)
    delta = max(0.025, 1 / (1 + 0.004 * rows))
    share = own / every
    bound = share - np.sqrt(share * (1 - share) * (1 - delta) / (delta * every))
    bound = bound[every >= max(LEAST_ROWS, LEAST_SHARE * rows)]
    rho = max(float(bound.max(initial=0.0)), labelled / rows)
    return _bounded((labelled / rho - labelled) / len(scores.unlabelled))


def _best_bin(scores: Scores, scale: float) -> float:
    high, low = scores.tails()
    best = _best(scores, high, low)
    return _bounded(float(low[best] / high[best]))


def best_cut(scores: Scores) -> float:
    """The score above which labelled rows are densest, as the best bin has it."""
    return float(np.unique(scores.labelled)[::-1][_best(scores, *scores.tails())])


def _best(scores: Scores, high: Floats, low: Floats) -> int:
    reach = math.log(4 / CONFIDENCE) / 2
    error = sum(math.sqrt(reach / len(own)) for own in (scores.labelled, scores.unlabelled))
    return int(np.argmin((low + (1 + SLACK) * error) / high))


def agree(shares: Sequence[float]) -> bool:
    """Whether estimates of a share are one within what few labels leave open."""
    return max(shares) - min(shares) <= APART and max(shares) <= APART_RATIO * min(shares)


def _dedpul(scores: Scores, scale: float) -> float:
    m, n = scores.histogram()
    weight = n + 0.5
    ratio = _falling((m / m.sum()) / (weight / n.sum()), weight)
    means = (np.minimum(1.0, SHARES[:, None] * ratio) * n).sum(axis=1) / n.sum()
    kept = SHARES[SHARES - means <= TOLERANCE[0] + TOLERANCE[1] * SHARES]
    return float(kept.max(initial=float(SHARES[0])))


ESTIMATORS: Mapping[str, Callable[[Scores, float], float]] = {
    "elkan-noto": _elkan_noto,
    "tice": _tice,
    "best-bin": _best_bin,
    "dedpul": _dedpul,
}
_TRUSTED = ("best-bin", "dedpul")


def _bounded(share: float) -> float:
    return min(max(share, 0.0), 1.0)


def _falling(values: Floats, weights: Floats) -> Floats:
    """The nearest values that do not rise (pool adjacent violators)."""
    from sklearn.isotonic import IsotonicRegression

    fit = IsotonicRegression(increasing=False)
    found: Floats = fit.fit_transform(np.arange(len(values)), values, sample_weight=weights)
    return found
