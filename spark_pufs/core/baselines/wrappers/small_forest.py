"""A random forest for small tables, all trees grown side by side: for rewards that are asked for hundreds of times.

Breiman's forest as scikit-learn grows it: a bootstrap sample per tree, the square root of the columns tried at each
node, the best split by the Gini index halfway between two values, until nodes are pure; leaves are averaged. On small
tables scikit-learn spends its time in Python around each tree; here a level of all trees is a few array operations.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spark_pufs.core.baselines.scored import Bools, Floats

__all__ = ["forest_share"]

MOST_LEVELS = 100  # a node without a split among the columns tried tries others one level later
TOGETHER = 25  # trees grown side by side: their rows stay in the processor's cache
TIMES = 12  # bits for how often a row was drawn
Ints = NDArray[np.int64]


def forest_share(X: Floats, y: Bools, test: Floats, trees: int, rng: np.random.Generator) -> Floats:
    """The mean over ``trees`` of the share of y in the leaf that each ``test`` row falls into, (m,).

    X (n, D) and y (n,) are learnt from, ``test`` is (m, D).

    >>> X = np.arange(8.0)[:, None]
    >>> forest_share(X, X[:, 0] > 3, np.array([[-1.0], [9.0]]), 50, np.random.default_rng(0)).round(1).tolist()
    [0.0, 1.0]
    """
    table = _Table(X, y)
    total = np.zeros(len(test))
    for first in range(0, trees, TOGETHER):
        total += _grown(table, test, min(TOGETHER, trees - first), rng)
    return total / trees


def _grown(table: _Table, test: Floats, trees: int, rng: np.random.Generator) -> Floats:
    """The sum over some trees, grown level by level, (m,)."""
    learn, asked = _bootstrap(len(table.y), trees, rng), _every_row(len(test), trees)
    total, nodes = np.zeros(len(test)), trees
    for level in range(MOST_LEVELS):
        weight, ones = (
            _sums(learn.node, learn.weight, nodes),
            _sums(learn.node, learn.weight * table.y[learn.row], nodes),
        )
        mixed = (ones > 0) & (ones < weight) & (level < MOST_LEVELS - 1)
        leaf = ~mixed[asked.node]
        total += np.bincount(asked.row[leaf], (ones / np.maximum(weight, 1))[asked.node[leaf]], len(test))
        learn, asked = _inside(learn, mixed), _inside(asked, mixed)
        if not len(asked.row):
            break
        column, threshold = _best_splits(learn, table, weight[mixed], ones[mixed], rng)
        for rows, values in ((learn, table.X), (asked, test)):
            rows.node = 2 * rows.node + (values[rows.row, column[rows.node]] > threshold[rows.node])
        nodes = 2 * len(column)
    return total


class _Table:
    """Rows to learn from: their columns as ranks of their values too (n, D), and the value of each rank."""

    def __init__(self, X: Floats, y: Bools) -> None:
        self.X, self.y = X, y
        self.rank, self.value = np.empty(X.shape, np.int64), np.zeros(X.shape)
        for j in range(X.shape[1]):
            values, self.rank[:, j] = np.unique(X[:, j], return_inverse=True)
            self.value[: len(values), j] = values


@dataclass
class _Rows:
    """Rows on their way down: which row, in which node, drawn how often."""

    row: Ints
    node: Ints
    weight: Ints


def _bootstrap(n: int, trees: int, rng: np.random.Generator) -> _Rows:
    drawn = rng.integers(n, size=(trees, n)) + n * np.arange(trees)[:, None]
    times = np.bincount(drawn.ravel(), minlength=trees * n)
    seen = np.flatnonzero(times)
    return _Rows(seen % n, seen // n, np.minimum(times[seen], 2**TIMES - 1))


def _every_row(rows: int, trees: int) -> _Rows:
    return _Rows(np.tile(np.arange(rows), trees), np.repeat(np.arange(trees), rows), np.ones(trees * rows, np.int64))


def _sums(group: Ints, amount: Ints, groups: int) -> Floats:
    return np.bincount(group, amount, groups).astype(np.float64)


def _inside(rows: _Rows, mixed: Bools) -> _Rows:
    """The rows in mixed nodes, which are numbered anew."""
    keep, place = mixed[rows.node], np.cumsum(mixed) - 1
    return _Rows(rows.row[keep], place[rows.node[keep]], rows.weight[keep])


def _best_splits(
    rows: _Rows, table: _Table, weight: Floats, ones: Floats, rng: np.random.Generator
) -> tuple[Ints, Floats]:
    """Column and threshold of each node's best split by the Gini index, (nodes,) each; its weight and ones are given.

    A node none of whose columns can be split gets an infinite threshold: it stays whole, and tries others next.
    """
    D, nodes = len(table.rank[0]), len(weight)
    tried = max(1, int(np.sqrt(D)))
    columns = rng.random((nodes, D)).argpartition(tried - 1, axis=1)[:, :tried]
    bits = len(table.rank).bit_length()
    part = rows.node[:, None] * tried + np.arange(tried)  # a column tried at a node
    cell = part << bits | table.rank[rows.row[:, None], columns[rows.node]]
    key = cell << TIMES + 1 | (rows.weight << 1 | table.y[rows.row])[:, None]  # what is counted goes along in the sort
    key = np.sort(key.ravel())
    place = _cuts(key >> TIMES + 1, key & 1, bits)
    part = key[place] >> TIMES + 1 + bits
    gain = _gains(_upto(key, place), part, np.repeat(weight, tried), np.repeat(ones, tried))
    best = _first_best(gain, part // tried)
    place, part = place[best], part[best]
    column, threshold = np.zeros(nodes, np.int64), np.full(nodes, np.inf)
    column[part // tried] = columns[part // tried, part % tried]
    ranks = key[[place, place + 1]] >> TIMES + 1 & (1 << bits) - 1
    threshold[part // tried] = table.value[ranks, column[part // tried]].mean(axis=0)
    return column, threshold


def _cuts(cell: Ints, one: Ints, bits: int) -> Ints:
    """Places after which a column may be cut: inside a part, between different values.

    Between single rows of one class no cut is best (Fayyad & Irani 1992): those are left out.
    """
    same = cell[1:] == cell[:-1]
    tied = np.append(same, False) | np.append(False, same)
    plain = (one[1:] == one[:-1]) & ~tied[1:] & ~tied[:-1]
    return np.flatnonzero(~same & ~plain & (cell[1:] >> bits == cell[:-1] >> bits))


def _upto(key: Ints, place: Ints) -> tuple[Floats, Floats]:
    """Weight and ones counted up to each place."""
    weight = key >> 1 & (1 << TIMES) - 1
    return np.cumsum(weight)[place].astype(np.float64), np.cumsum(weight * (key & 1))[place].astype(np.float64)


def _gains(upto: tuple[Floats, Floats], part: Ints, weight: Floats, ones: Floats) -> Floats:
    """For each cut: ones^2 / weight of both sides together, which grows as the Gini index falls.

    ``weight`` and ``ones`` are those of whole parts.
    """
    left, left_ones = (sums - (np.cumsum(own) - own)[part] for sums, own in zip(upto, (weight, ones), strict=True))
    gain: Floats = left_ones**2 / left + (ones[part] - left_ones) ** 2 / (weight[part] - left)
    return gain


def _first_best(gain: Floats, node: Ints) -> Ints:
    """Where the largest gain of each node is, the first of equals; ``node`` rises."""
    starts = np.flatnonzero(np.diff(node, prepend=-1))
    if not len(starts):
        return starts
    group = np.cumsum(np.diff(node, prepend=-1) != 0) - 1
    hit = np.flatnonzero(gain == np.maximum.reduceat(gain, starts)[group])
    return hit[np.flatnonzero(np.diff(group[hit], prepend=-1))]
