"""The FSCPU objective: recall times precision of "row is labelled" over the best set of clusters (paper eq. 5)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["best_prefix", "positive_clusters", "recall_precision"]

Floats = NDArray[np.float64]


def recall_precision(labelled: ArrayLike, rows: ArrayLike, total_labelled: float) -> Floats:
    """Score M clusterings at once.

    ``labelled`` (M, K) holds the labelled rows a_k of every cluster, ``rows`` (M, K) all its rows c_k; both may be
    weighted sums. Returns f (M,) = max over sets of clusters of A^2 / (|L| B). The best set is a prefix of the
    clusters in falling order of a_k / c_k (Prop. 4.1), so K prefixes are tried instead of 2^K sets.

    >>> recall_precision([[8, 2, 0]], [[10, 40, 50]], 10)
    array([0.64])
    """
    value, _ = _prefix_values(labelled, rows)
    best: Floats = value.max(axis=1, initial=0.0)
    return best / total_labelled if total_labelled > 0 else np.zeros_like(best)


def positive_clusters(labelled: ArrayLike, rows: ArrayLike) -> NDArray[np.bool_]:
    """Which clusters make up the best set: (M, K) bool. Among equal sets the largest wins; empty clusters are out.

    >>> positive_clusters([[8, 2, 0, 0]], [[10, 40, 50, 0]])
    array([[ True, False, False, False]])
    """
    value, order = _prefix_values(labelled, rows)
    clusters = value.shape[1]
    last_best = clusters - 1 - np.argmax(value[:, ::-1], axis=1)
    in_prefix = np.arange(clusters) <= last_best[:, None]
    positive = np.zeros(value.shape, np.bool_)
    np.put_along_axis(positive, order, in_prefix, axis=1)
    # Without one labelled row every prefix scores 0: nothing speaks for any cluster.
    supported = value.max(axis=1, initial=0.0) > 0
    found: NDArray[np.bool_] = positive & (np.asarray(rows) > 0) & supported[:, None]
    return found


def best_prefix(labelled: ArrayLike, rows: ArrayLike) -> tuple[Floats, Floats]:
    """Labelled rows A (M,) and all rows B (M,) of the clusters that make up the best set.

    >>> best_prefix([[8, 2, 0]], [[10, 40, 50]])
    (array([8.]), array([10.]))
    """
    positive = positive_clusters(labelled, rows)
    return (np.asarray(labelled, np.float64) * positive).sum(axis=1), (np.asarray(rows, np.float64) * positive).sum(
        axis=1
    )


def _prefix_values(labelled: ArrayLike, rows: ArrayLike) -> tuple[Floats, NDArray[np.intp]]:
    """A_i^2 / B_i of every prefix (M, K), and the order of the clusters (M, K)."""
    a, c = np.asarray(labelled, np.float64), np.asarray(rows, np.float64)
    if a.ndim != 2 or a.shape != c.shape:
        raise ValueError(f"labelled and rows must be two (M, K) arrays, got {a.shape} and {c.shape}")
    share = np.divide(a, c, out=np.full(a.shape, -1.0), where=c > 0)  # empty clusters sort last
    order = np.argsort(-share, axis=1, kind="stable")
    A = np.cumsum(np.take_along_axis(a, order, axis=1), axis=1)
    B = np.cumsum(np.take_along_axis(c, order, axis=1), axis=1)
    return np.divide(A * A, B, out=np.zeros_like(A), where=B > 0), order
