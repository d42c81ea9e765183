"""What each feature adds to the objective: ridge regression of ranked scores on masks, one fit per mask size."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

__all__ = ["Contrast", "Effects", "combine", "information", "normal_scores"]

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

DENSE_LIMIT = 1024  # features above which correlations between the columns of the masks are left out
RIDGE = 0.03


@dataclass(frozen=True)
class Effects:
    """``estimate`` (D,) and standard ``error`` (D,) of the features' effects on the ranked objective."""

    estimate: Floats
    error: Floats


def normal_scores(values: Floats) -> Floats:
    """Ranks as normal quantiles, ties sharing their mean rank: f saturates, its order does not.

    >>> normal_scores(np.array([0.1, 0.9, 0.5])).round(2)
    array([-0.97,  0.97,  0.  ])
    """
    from scipy.stats import rankdata  # half a second to import, for methods that rank

    ranks = rankdata(values)
    out: Floats = ndtri((ranks - 0.5) / len(values))
    return out


class Contrast:
    """Running sums of one mask size. A group of masks that were compared with each other is added at a time; masks and
    scores are centred within their group, so neither the luck of a generation nor its level enters."""

    def __init__(self, features: int) -> None:
        self.dense = features <= DENSE_LIMIT
        self.gram = np.zeros((features, features) if self.dense else features)
        self.cross = np.zeros(features)
        self.square = 0.0
        self.rows = 0

    def add(self, masks: Mask, values: Floats) -> None:
        """Masks (m, D) and their objective values (m,)."""
        centred = masks - masks.mean(axis=0)
        score = normal_scores(values)
        score -= score.mean()
        self.gram += centred.T @ centred if self.dense else (centred**2).sum(axis=0)
        self.cross += centred.T @ score
        self.square += float(score @ score)
        self.rows += len(masks) - 1  # centring takes one

    def evidence(self) -> Effects:
        """Ridge estimate b = P X'y with P = (X'X + lambda)^-1, and sqrt(s^2 diag(P X'X P))."""
        return self._dense() if self.dense else self._diagonal()

    def _ridge(self, diagonal: Floats) -> float:
        """The fewer masks per feature, the more the estimate leans towards plain contrasts."""
        strength = max(RIDGE, 0.5 * len(diagonal) / max(self.rows, 1))
        return float(strength * max(diagonal.mean(), 1e-12))

    def _dense(self) -> Effects:
        penalty = self._ridge(np.diagonal(self.gram)) * np.eye(len(self.cross))
        P = np.linalg.inv(self.gram + penalty)
        estimate = P @ self.cross
        hat = P @ self.gram
        residual = float(self.square - 2 * estimate @ self.cross + estimate @ self.gram @ estimate)
        noise = max(residual, 1e-12) / max(self.rows - float(np.trace(hat)), 1.0)
        return Effects(estimate, np.sqrt(noise * np.maximum(np.einsum("ij,ji->i", hat, P), 1e-12)))

    def _diagonal(self) -> Effects:
        P = 1 / (self.gram + self._ridge(self.gram))
        noise = self.square / max(self.rows, 1)
        return Effects(P * self.cross, np.sqrt(noise * np.maximum(P * self.gram * P, 1e-12)))


def information(told: Effects, free: Mask) -> float:
    """Spread of the effects beyond their errors, over the errors: what the masks of one size have told."""
    noise = float((told.error[free] ** 2).mean())
    return max(float(told.estimate[free].var()) / noise - 1, 1e-3)


def combine(parts: list[Effects], free: Mask) -> Effects:
    """One scale from several mask sizes, the more informative sizes counting more.

    A size sees the common quality q as tau q + noise with variance se^2, tau^2 being the spread of its estimates beyond
    their errors: the best linear weight is tau / se^2. The result has unit spread over the ``free`` features.
    """
    estimate, variance = np.zeros(free.shape), np.zeros(free.shape)
    for part in parts:
        spread, noise = part.estimate[free].var(), (part.error[free] ** 2).mean()
        weight = np.sqrt(max(spread - noise, 0.01 * spread, 1e-12)) / max(noise, 1e-12)
        estimate += weight * (part.estimate - part.estimate[free].mean())
        variance += (weight * part.error) ** 2
    unit = max(float(estimate[free].std()), 1e-12)
    return Effects(estimate / unit, np.sqrt(variance) / unit)
