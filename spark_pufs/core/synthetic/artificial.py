"""The ten artificial conditions of the FSCPU paper (section 5.2.1): data with known relevant features."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["CONDITIONS", "Artificial", "Condition", "make_artificial"]

RELEVANT, UNIFORM, COPIES = 25, 20, 5


@dataclass(frozen=True)
class Condition:
    """One column of Table 1; ``negative_clusters`` 0 means that the cluster assumption does not hold."""

    label_rate: float
    negative_clusters: int
    positive_clusters: int


CONDITIONS: tuple[Condition, ...] = (
    Condition(0.4, 8, 1),
    Condition(0.4, 8, 2),
    Condition(0.4, 1, 1),
    Condition(0.4, 1, 2),
    Condition(0.1, 8, 1),
    Condition(0.1, 8, 2),
    Condition(0.1, 1, 1),
    Condition(0.1, 1, 2),
    Condition(0.4, 0, 0),
    Condition(0.1, 0, 0),
)


@dataclass(frozen=True)
class Artificial:
    """X (N, 50) min-max scaled float64, s (N,) labelled 0/1, y (N,) the hidden class, relevant (50,) bool."""

    X: NDArray[np.float64]
    s: NDArray[np.uint8]
    y: NDArray[np.uint8]
    relevant: NDArray[np.bool_]

    @property
    def names(self) -> list[str]:
        """``relevant_01`` ... ``noise_25``: the names tell the truth, no selector reads them."""
        good, bad = iter(range(1, 1000)), iter(range(1, 1000))
        return [f"relevant_{next(good):02d}" if r else f"noise_{next(bad):02d}" for r in self.relevant]


def make_artificial(condition: Condition, seed: int, negatives: int = 4000, positives: int = 500) -> Artificial:
    """Draw one data set.

    >>> data = make_artificial(CONDITIONS[0], seed=1)
    >>> data.X.shape, int(data.y.sum()), int(data.s.sum()), int(data.relevant.sum())
    ((4500, 50), 500, 200, 25)
    """
    rng = np.random.default_rng(seed)
    if condition.negative_clusters:
        relevant, y = _clusters(condition, rng, negatives, positives)
    else:
        relevant, y = _outliers(rng, negatives + positives, positives)
    order = rng.permutation(len(y))
    X = _min_max(np.hstack([relevant, _noise(rng, len(y))])[order])
    y = y[order]
    s = np.zeros(len(y), np.uint8)
    labelled = rng.choice(np.flatnonzero(y), round(condition.label_rate * positives), replace=False)
    s[labelled] = 1
    return Artificial(X, s, y, np.arange(X.shape[1]) < RELEVANT)


def _clusters(
    condition: Condition, rng: np.random.Generator, negatives: int, positives: int
) -> tuple[NDArray[np.float64], NDArray[np.uint8]]:
    parts = [
        _normals(rng, negatives, condition.negative_clusters),
        _normals(rng, positives, condition.positive_clusters),
    ]
    return np.vstack(parts), np.repeat(np.array([0, 1], np.uint8), [negatives, positives])


def _normals(rng: np.random.Generator, rows: int, clusters: int) -> NDArray[np.float64]:
    """Equal shares of normals with variance 10 and means uniform(-5, 5)."""
    means = rng.uniform(-5, 5, (clusters, RELEVANT))
    member = np.arange(rows) % clusters
    return means[member] + rng.normal(0, np.sqrt(10), (rows, RELEVANT))


def _outliers(rng: np.random.Generator, rows: int, positives: int) -> tuple[NDArray[np.float64], NDArray[np.uint8]]:
    """N(0, 25) rows; those with the largest norm are positive."""
    X = rng.normal(0, 5, (rows, RELEVANT))
    y = np.zeros(rows, np.uint8)
    y[np.argsort(-(X**2).sum(axis=1))[:positives]] = 1
    return X, y


def _noise(rng: np.random.Generator, rows: int) -> NDArray[np.float64]:
    """20 uniform columns and 5 that follow one of them up to N(0, 1)."""
    uniform = rng.uniform(-10, 10, (rows, UNIFORM))
    copied = rng.choice(UNIFORM, COPIES, replace=False)
    return np.hstack([uniform, uniform[:, copied] + rng.normal(0, 1, (rows, COPIES))])


def _min_max(X: NDArray[np.float64]) -> NDArray[np.float64]:
    low, high = X.min(axis=0), X.max(axis=0)
    scaled: NDArray[np.float64] = (X - low) / (high - low)
    return scaled
