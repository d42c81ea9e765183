"""Labels that stand in for the hidden class: missing as negative (y0), as positive (y1), or left out.

Sechidis & Brown 2017: every surrogate keeps the false-positive rate of a test (Theorems 1, 3). What it loses
in power is a factor kappa (Theorems 2, 4, 7); the switching threshold tells which of y0 and y1 loses less.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from spark_pufs.errors import ConfigError, DataError, Fault, did_you_mean
from spark_pufs.types import FULL_GRADE, LABELLED_NEGATIVE, LABELLED_POSITIVE, UNLABELLED

__all__ = [
    "Labels",
    "Prior",
    "SurrogateChoice",
    "SurrogateName",
    "apply_surrogate",
    "choose_surrogate",
    "kappa_ends",
    "kappa_mar_c",
    "kappa_mcar",
    "prior_ends",
    "switching_threshold",
]

SurrogateName: TypeAlias = Literal["y0", "y1", "labelled", "soft"]
Prior: TypeAlias = float | tuple[float, float]
Mechanism: TypeAlias = Literal["mcar", "mar-c"]

_ROUNDING = 1e-12
_MEANING = {"y0": "unlabelled rows count as negative", "y1": "unlabelled rows count as positive"}


@dataclass(frozen=True)
class Labels:
    """Rows by what is known of their class."""

    positive: int
    negative: int
    unlabelled: int

    def __post_init__(self) -> None:
        faults = [
            Fault(f"labels.{name}", f"must not be negative, got {count}", "Give a number of rows.")
            for name, count in vars(self).items()
            if count < 0
        ]
        if faults:
            raise ConfigError(faults)
        if self.positive == self.negative == 0:
            raise DataError(Fault("labels", "no labelled row", "Label some rows of the class you look for."))

    @classmethod
    def of_states(cls, rows: Sequence[int]) -> Labels:
        """From rows (3,) in the order of the label axis of counts."""
        return cls(int(rows[LABELLED_POSITIVE]), int(rows[LABELLED_NEGATIVE]), int(rows[UNLABELLED]))

    @property
    def by_state(self) -> tuple[int, int, int]:
        """Rows in the order of the label axis of counts."""
        return self.unlabelled, self.positive, self.negative

    @property
    def rows(self) -> int:
        return self.positive + self.negative + self.unlabelled


@dataclass(frozen=True)
class SurrogateChoice:
    """The surrogate to use, the threshold phi, and one sentence for a report."""

    name: SurrogateName
    phi: float
    why: str


def switching_threshold(labels: Labels) -> float:
    """phi: below it y0 is the more powerful surrogate, above it y1.

    >>> switching_threshold(Labels(positive=100, negative=0, unlabelled=900))
    1.0
    >>> round(switching_threshold(Labels(positive=50, negative=150, unlabelled=800)), 4)
    0.3532
    """
    # Sechidis & Brown 2017, Definition 3, with the shares estimated by counts
    a = math.sqrt(labels.positive * (labels.positive + labels.unlabelled))
    b = math.sqrt(labels.negative * (labels.negative + labels.unlabelled))
    return a / (a + b)


def prior_ends(prior: Prior) -> tuple[float, float]:
    """A belief in p(y=1) as (low, high); a single number gives both.

    >>> prior_ends(0.05), prior_ends((0.05, 0.2))
    ((0.05, 0.05), (0.05, 0.2))
    """
    low, high = prior if isinstance(prior, tuple) else (prior, prior)
    if not 0 < low <= high < 1:
        raise ConfigError(_bad_prior(prior, low, high))
    return float(low), float(high)


def choose_surrogate(labels: Labels, prior: Prior | None = None) -> SurrogateChoice:
    """Pick the surrogate that loses less power, given a belief in p(y=1) or a range of it.

    >>> choice = choose_surrogate(Labels(50, 150, 800), prior=0.2)
    >>> choice.name, round(choice.phi, 2)
    ('y0', 0.35)
    >>> choice.why.split(":")[0]
    'The believed share of positives 0.2 is below the switching threshold 0.353'
    """
    phi = switching_threshold(labels)
    ends = None if prior is None else prior_ends(prior)
    if labels.negative == 0:
        return SurrogateChoice("y0", phi, f"No negative is labelled: {_MEANING['y0']}.")
    if labels.positive == 0:
        return SurrogateChoice("y1", phi, f"No positive is labelled: {_MEANING['y1']}.")
    if ends is None:
        share = labels.positive / (labels.positive + labels.negative)
        return _by_point(share, phi, "The share of positives among labelled rows")
    low, high = ends
    if low == high:
        return _by_point(low, phi, "The believed share of positives")
    return _by_range(low, high, phi)


def kappa_mcar(surrogate: SurrogateName, prior: Prior, labelled_share: float) -> float:
    """Share of lambda that is left when labels are missing completely at random, p(s=1) = ``labelled_share``.

    >>> kappa_mcar("labelled", 0.2, 0.25), round(kappa_mcar("y0", 0.2, 0.25), 4)
    (0.25, 0.2105)
    """
    return kappa_ends("mcar", surrogate, prior, labelled_share)[0]


def kappa_mar_c(surrogate: SurrogateName, prior: Prior, surrogate_share: float) -> float:
    """Share of lambda that is left when labelling depends on the class, as in PU data.

    ``surrogate_share`` is that of rows labelled positive, p(y0=1), for y0, and of rows labelled negative,
    p(y1=0), for y1.

    >>> round(kappa_mar_c("y0", 0.2, 0.125), 4), round(kappa_mar_c("y1", 0.2, 0.125), 4)
    (0.5714, 0.0357)
    """
    return kappa_ends("mar-c", surrogate, prior, surrogate_share)[0]


def kappa_ends(mechanism: Mechanism, surrogate: SurrogateName, prior: Prior, share: float) -> tuple[float, float]:
    """(worst, best) factor over a range of the prior; kappa is monotone in it, so the ends suffice.

    >>> [round(k, 3) for k in kappa_ends("mar-c", "y0", (0.05, 0.2), 0.01)]
    [0.04, 0.192]
    """
    if not 0 < share <= 1:
        raise ConfigError(Fault("share", f"must lie in (0, 1], got {share}", "Give labelled rows / all rows."))
    factor = _mcar if mechanism == "mcar" else _mar_c
    first, second = (factor(surrogate, p, share) for p in prior_ends(prior))
    return min(first, second), max(first, second)


def apply_surrogate(counts: NDArray[np.int64], name: SurrogateName) -> NDArray[np.int64] | NDArray[np.float64]:
    """Merge the label axis: counts (3, ...) of unlabelled, positive, negative -> (2, ...) of class 0 and 1.

    ``soft``: counts (2, ...) are sums of grades, and become rows.

    >>> counts = np.array([[80, 10], [5, 1], [2, 2]])
    >>> apply_surrogate(counts, "y0").tolist()
    [[82, 12], [5, 1]]
    >>> apply_surrogate(counts, "labelled").tolist()
    [[2, 2], [5, 1]]
    """
    if name == "soft":
        return counts / FULL_GRADE
    if counts.shape[:1] != (3,):
        raise ConfigError(
            Fault("counts", f"need 3 label states on axis 0, got shape {counts.shape}", "Count by label state.")
        )
    missing, positive, negative = counts[UNLABELLED], counts[LABELLED_POSITIVE], counts[LABELLED_NEGATIVE]
    if name == "y0":
        return np.stack([missing + negative, positive])
    if name == "y1":
        return np.stack([negative, missing + positive])
    if name == "labelled":
        return np.stack([negative, positive])
    raise ConfigError(Fault("surrogate", f"unknown name {name!r}", did_you_mean(name, ["y0", "y1", "labelled"])))


def _mcar(surrogate: SurrogateName, prior: float, share: float) -> float:
    """Theorem 2; the class whose labels are known to be right is y=1 for y0, y=0 for y1."""
    if surrogate == "labelled":
        return share
    known = prior if surrogate == "y0" else 1 - prior
    return share * (1 - known) / (1 - known * share)


def _mar_c(surrogate: SurrogateName, prior: float, share: float) -> float:
    """Theorem 4."""
    if surrogate == "labelled":
        found = "labelled rows alone have no correction factor under MAR-C"
        raise ConfigError(Fault("surrogate", found, "Use 'y0' or 'y1'."))
    known, what = (prior, "positives") if surrogate == "y0" else (1 - prior, "negatives")
    if share > known + _ROUNDING:
        found = f"{prior:g} leaves fewer {what} ({known:g} of all rows) than are labelled ({share:g})"
        raise ConfigError(Fault("prior", found, f"Give a belief with a share of {what} of at least {share:g}."))
    return (1 - known) / known * share / (1 - share)


def _by_point(belief: float, phi: float, what: str) -> SurrogateChoice:
    name: SurrogateName = "y0" if belief < phi else "y1"
    side = "below" if name == "y0" else "not below"
    return SurrogateChoice(
        name, phi, f"{what} {belief:.3g} is {side} the switching threshold {phi:.3g}: {_MEANING[name]}."
    )


def _by_range(low: float, high: float, phi: float) -> SurrogateChoice:
    middle = (low + high) / 2
    name: SurrogateName = "y0" if middle < phi else "y1"
    if high < phi or low >= phi:
        side = "below" if high < phi else "not below"
        why = f"The believed range {low:.3g} to {high:.3g} is {side} the switching threshold {phi:.3g}"
    else:
        side = "below it" if name == "y0" else "not below it"
        why = (
            f"The believed range {low:.3g} to {high:.3g} holds the switching threshold {phi:.3g}"
            f" and its middle {middle:.3g} is {side}"
        )
    return SurrogateChoice(name, phi, f"{why}: {_MEANING[name]}.")


def _bad_prior(prior: Prior, low: float, high: float) -> Fault:
    if low > high:
        return Fault("prior", f"range must be (low, high), got {prior}", f"Give ({high}, {low}).")
    return Fault("prior", f"must lie in (0, 1), got {prior}", "Give the believed share of positives, e.g. 0.05.")
