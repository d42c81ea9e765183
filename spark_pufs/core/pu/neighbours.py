"""Exact nearest neighbours by blocks of rows, and the graph of those that are mutual."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

__all__ = [
    "Nearest",
    "RowBlock",
    "Searched",
    "blocks_of",
    "median_reach",
    "mutual_graph",
    "nearest",
    "nearest_block",
    "squared_distances",
]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

CHUNK_BYTES = 2**25  # distances in memory at once
UNITS = 64  # blocks that rows are cut into where they are many
LEAST = 256  # rows of the smallest block
SPARE = 8  # candidates beyond k whose distance is taken again without cancellation
ROUNDING = 16 * np.finfo(np.float64).eps  # of a distance by a matrix product, per feature and square of a value


@dataclass(frozen=True)
class RowBlock:
    """Rows ``first`` to below ``last``: a unit of work."""

    first: int
    last: int


@dataclass(frozen=True)
class Searched:
    """Rows X (n, D) among which the ``k`` nearest are searched."""

    X: Floats
    k: int


@dataclass(frozen=True)
class Nearest:
    """Indices and squared distances (b, k) of the nearest rows."""

    index: Ints
    square: Floats


def blocks_of(rows: int) -> list[RowBlock]:
    """Blocks of rows as units of work; they depend on the number of rows alone, so any engine sums them alike."""
    size = max(LEAST, -(-rows // UNITS))
    return [RowBlock(first, min(first + size, rows)) for first in range(0, rows, size)]


def nearest_block(shared: Searched, unit: RowBlock) -> Nearest:
    """The ``k`` nearest rows of every row of a block."""
    return Nearest(*nearest(shared.X, unit.first, unit.last, shared.k))


def nearest(X: Floats, first: int, last: int, k: int) -> tuple[Ints, Floats]:
    """Nearest k other rows of rows ``first`` to ``last`` of X (n, D): indices and squared distances, (b, k) each.

    Nearest first, equal distances in the order of rows.

    >>> index, square = nearest(np.array([[0.0], [1.0], [3.0], [7.0]]), 0, 4, 2)
    >>> index.tolist(), square.astype(int).tolist()
    ([[1, 2], [0, 2], [1, 0], [2, 1]], [[1, 9], [1, 4], [4, 9], [16, 36]])
    """
    k = min(k, len(X) - 1)
    index, square = np.empty((last - first, k), np.int64), np.empty((last - first, k))
    size = max(1, CHUNK_BYTES // (8 * len(X)))
    norms = np.einsum("ij,ij->i", X, X)
    for start in range(first, last, size):
        end = min(start + size, last)
        part = slice(start - first, end - first)
        index[part], square[part] = _nearest(X, norms, start, end, k)
    return index, square


def _nearest(X: Floats, norms: Floats, start: int, end: int, k: int) -> tuple[Ints, Floats]:
    distance = norms - 2 * (X[start:end] @ X.T)  # but for the row's own norm, which changes no order
    distance[np.arange(end - start), np.arange(start, end)] = np.inf
    kept = min(k + SPARE, len(X) - 1)
    near = np.sort(np.argpartition(distance, kept - 1, axis=1)[:, :kept], axis=1)
    square = ((X[near] - X[start:end, None]) ** 2).sum(axis=2)
    order = np.argsort(square, axis=1, kind="stable")
    near, square = np.take_along_axis(near, order, 1), np.take_along_axis(square, order, 1)
    if kept == len(X) - 1:  # every row was looked at
        return near[:, :k], square[:, :k]
    doubt = ROUNDING * X.shape[1] * norms.max()  # what cancellation may hide
    unsure = np.flatnonzero(square[:, -1] - square[:, k - 1] <= doubt)  # others may be as near as the k-th
    _, first, copy_of = np.unique(X[start + unsure], axis=0, return_index=True, return_inverse=True)
    for place, row in enumerate(unsure[first].tolist()):
        own = start + row
        close = distance[row] <= square[row, k - 1] - norms[own] + doubt
        close[own] = True
        rows, squares = _first_of_equals(X, own, np.flatnonzero(close), k + 1)
        for copy in unsure[copy_of.ravel() == place].tolist():
            others = np.flatnonzero(rows != start + copy)[:k]
            near[copy, :k], square[copy, :k] = rows[others], squares[others]
    return near[:, :k], square[:, :k]


def _first_of_equals(X: Floats, own: int, rows: NDArray[np.intp], most: int) -> tuple[Ints, Floats]:
    """The rows nearest to row ``own`` among ``rows``, which are in order: indices, squared distances, (most,) each."""
    square = ((X[rows] - X[own]) ** 2).sum(axis=1)
    order = np.argsort(square, kind="stable")[:most]
    return rows[order], square[order]


def squared_distances(left: Floats, right: Floats) -> Floats:
    """Squared distances (a, b) of rows (a, D) and (b, D), by a matrix product.

    >>> squared_distances(np.array([[0.0, 0]]), np.array([[3.0, 4], [0, 1]])).tolist()
    [[25.0, 1.0]]
    """
    norms = np.einsum("ij,ij->i", left, left)[:, None] + np.einsum("ij,ij->i", right, right)
    square: Floats = np.maximum(norms - 2 * (left @ right.T), 0.0)
    return square


def median_reach(square: Floats) -> float:
    """The median over rows of the distance to the k-th neighbour; where that is 0, the mean of what is not; else 1."""
    reach = np.sqrt(square[:, -1])
    middle = float(np.median(reach))
    if middle > 0:
        return middle
    return float(reach[reach > 0].mean()) if reach.any() else 1.0


def mutual_graph(index: Ints, square: Floats, theta: float) -> Any:
    """S (n, n) sparse: exp(-d^2 / theta^2) between rows that are each among the other's neighbours."""
    n, k = index.shape
    weight = np.exp(-square / theta**2)
    directed = sparse.csr_matrix((weight.ravel(), index.ravel(), np.arange(0, n * k + 1, k)), shape=(n, n))
    graph = directed.minimum(directed.T).tocsr()
    graph.eliminate_zeros()  # similarities too small for a float are none
    return graph
