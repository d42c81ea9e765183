"""Entropy, mutual information and its conditional form from integer counts, in nats.

The functions named ``..._of_features`` treat every feature of a layout at once: the last axis holds the levels of all
features side by side and is summed feature by feature.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from spark_pufs.types import Layout

__all__ = [
    "Estimate",
    "between_features",
    "class_given_feature",
    "class_of_features",
    "conditional_mutual_information",
    "entropy",
    "mutual_information",
    "squared_loss_information",
]

Counts = NDArray[np.integer] | NDArray[np.float64]
Estimate = tuple[NDArray[np.float64], NDArray[np.float64]]  # value and standard error, each (D,)


def entropy(counts: Counts) -> float:
    """Entropy of one distribution.

    >>> round(entropy(np.array([1, 1])), 6)
    0.693147
    """
    share = counts[counts > 0] / counts.sum()
    return float(-(share * np.log(share)).sum())


def mutual_information(counts: Counts) -> float:
    """I(X;Y) of a table (X, Y).

    >>> round(mutual_information(np.array([[5, 0], [0, 5]])), 6)
    0.693147
    """
    return conditional_mutual_information(counts[None])


def conditional_mutual_information(counts: Counts) -> float:
    """I(X;Y|Z) of a table (Z, X, Y)."""
    n = counts.astype(np.float64)
    ratio = _log(n) + _log(n.sum((1, 2), keepdims=True)) - _log(n.sum(1, keepdims=True)) - _log(n.sum(2, keepdims=True))
    total = n.sum()
    return max(0.0, float((n * ratio).sum() / total)) if total else 0.0


def squared_loss_information(counts: Counts) -> float:
    """I2(X;Y) = sum (p(xy) - p(x)p(y))^2 / (2 p(x)p(y)) of a table (X, Y): half of Pearson's chi-square over N.

    >>> squared_loss_information(np.array([[5, 0], [0, 5]]))
    0.5
    """
    joint = counts / counts.sum()
    product = np.outer(joint.sum(axis=1), joint.sum(axis=0))
    seen = product > 0
    return float(((joint - product)[seen] ** 2 / (2 * product[seen])).sum())


def class_of_features(counts: Counts, layout: Layout) -> Estimate:
    """I(X_k;Y) of every feature from counts (classes, L)."""
    return class_given_feature(counts[:, None, :], layout)


def between_features(counts: Counts, layout: Layout) -> Estimate:
    """I(X_k;X_j) of every feature k with one feature j from counts (levels of j, L)."""
    return class_given_feature(counts[:, None, :], layout)


def class_given_feature(counts: Counts, layout: Layout, variance_share: ArrayLike = 1.0) -> Estimate:
    """I(X_k;Y|Z) of every feature k from counts (classes, levels of Z, L), with its standard error.

    The standard error is that of the mean of the pointwise information (delta method). Where rows hold shares of the
    classes, ``variance_share`` of what whole labels would vary within a level is left of it, per level of Z.
    """
    n = counts.astype(np.float64)
    first = n[:, :, layout.span(0)].sum(axis=2)  # every feature sums to the same table (classes, levels of Z)
    total = first.sum()
    if not total:
        return np.zeros(layout.features), np.zeros(layout.features)
    ratio = _log(n) + _log(first.sum(axis=0))[None, :, None] - _log(n.sum(axis=0))[None] - _log(first)[:, :, None]
    value = _by_feature(n * ratio, layout) / total
    square = _by_feature(_square(n, ratio, np.asarray(variance_share, np.float64)), layout) / total
    return np.maximum(value, 0.0), np.sqrt(np.maximum(square - value**2, 0.0) / total)


def _square(n: NDArray[np.float64], ratio: NDArray[np.float64], share: NDArray[np.float64]) -> NDArray[np.float64]:
    """Squares of the pointwise information summed over rows, whose labels vary by ``share`` within a level."""
    whole = n * ratio**2
    if (share == 1).all():
        return whole
    share = np.broadcast_to(share, n.shape[1:2])[:, None]
    size = n.sum(axis=0)
    between = (n * ratio).sum(axis=0) ** 2 / np.where(size > 0, size, 1.0)
    mixed: NDArray[np.float64] = share * whole.sum(axis=0) + (1 - share) * between
    return mixed


def _by_feature(cells: NDArray[np.float64], layout: Layout) -> NDArray[np.float64]:
    # Summed feature by feature in one fixed order: equal columns get equal bits, wherever they stand.
    per_level = cells.reshape(-1, cells.shape[-1]).sum(axis=0)
    sums: NDArray[np.float64] = np.add.reduceat(per_level, layout.offsets[:-1])
    return sums


def _log(n: NDArray[np.float64]) -> NDArray[np.float64]:
    """log n, and 0 where n is 0: there it is multiplied by a count of 0."""
    return np.log(np.where(n > 0, n, 1.0))
