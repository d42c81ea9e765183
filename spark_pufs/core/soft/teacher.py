"""The teacher: four plain models of label against rest, each fitted out of fold, their ranks averaged by merit.

- a logistic regression on normal scores, one weight a text level;
- naive Bayes on the counts of grouped levels, which sees positives in the middle or at both ends of a column;
- a logistic regression on squared normal scores, which adds up many faint signs of that kind: positives that lie around
  all other rows, or in their midst;
- extremely randomised trees, which see columns that work together.

The first three are sums over columns of a number per level, so that a fitted model is one array along the level axis.
Trees travel as arrays too. A row's score is a sum in a fixed order: the same bits in any batch, on any engine.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from spark_pufs.core.counting.counts import level_sums
from spark_pufs.core.evidence.label_rate import delong
from spark_pufs.core.soft.encoding import Codes, Encoding, Floats
from spark_pufs.core.soft.trees import grown
from spark_pufs.types import Layout

__all__ = [
    "MEMBERS",
    "FoldModels",
    "Forest",
    "additive_scores",
    "fit_fold",
    "linear_design",
    "linear_table",
    "member_weights",
    "normal_ranks",
    "placed",
    "squared",
    "weighed",
]

Bools = NDArray[np.bool_]
MEMBERS = ("linear", "naive Bayes", "spread", "trees")
STRENGTH = 0.01  # scikit-learn's C of the logistic regression: few labels bear little weight


@dataclass(frozen=True)
class Forest:
    """Trees as arrays over all their nodes: go left where the code is at most ``cut``; a leaf is its own child."""

    feature: NDArray[np.int32]
    cut: NDArray[np.int16]
    left: NDArray[np.int32]
    right: NDArray[np.int32]
    value: Floats
    roots: NDArray[np.int32]
    depth: int

    @classmethod
    def of(cls, trees: Sequence[Any]) -> Forest:
        """From fitted trees of scikit-learn: the share of labelled rows in a leaf."""
        parts: dict[str, list[Any]] = {name: [] for name in ("feature", "cut", "left", "right", "value", "roots")}
        first = 0
        for one in trees:
            tree = one.tree_
            inner = tree.children_left >= 0
            own = np.arange(tree.node_count) + first
            parts["feature"].append(np.where(inner, tree.feature, 0))
            parts["cut"].append(np.where(inner, np.floor(tree.threshold), 0))
            parts["left"].append(np.where(inner, tree.children_left + first, own))
            parts["right"].append(np.where(inner, tree.children_right + first, own))
            value = tree.value[:, 0, :]
            parts["value"].append(value[:, -1] / value.sum(axis=1))
            parts["roots"].append([first])
            first += tree.node_count
        types = {"feature": np.int32, "cut": np.int16, "left": np.int32, "right": np.int32, "value": np.float64}
        arrays = {name: np.concatenate(found).astype(types.get(name, np.int32)) for name, found in parts.items()}
        return cls(**arrays, depth=max(one.tree_.max_depth for one in trees))

    def scores(self, codes: Codes) -> Floats:
        """The mean over trees (n,) of codes (D, n)."""
        rows = np.arange(codes.shape[1])
        total = np.zeros(len(rows))
        for root in self.roots:
            node = np.full(len(rows), root, np.int32)
            for _ in range(self.depth):
                down = np.where(codes[self.feature[node], rows] <= self.cut[node], self.left[node], self.right[node])
                if (down == node).all():
                    break
                node = down
            total += self.value[node]
        return total / len(self.roots)


@dataclass(frozen=True)
class FoldModels:
    """The members fitted on the rows outside one fold: three tables (3, L) of numbers per level, and trees."""

    tables: Floats
    forest: Forest

    def scores(self, codes: Codes, layout: Layout) -> Floats:
        """What each member says (M, n) of codes (D, n)."""
        return np.vstack([additive_scores(self.tables, codes, layout), self.forest.scores(codes)])


def additive_scores(tables: Floats, codes: Codes, layout: Layout) -> Floats:
    """Sums over columns (M, n) of tables (M, L), column by column."""
    total = np.zeros((len(tables), codes.shape[1]))
    for row, first in zip(codes, layout.offsets, strict=False):
        total += tables[:, row.astype(np.int64) + first]
    return total


def fit_fold(codes: Codes, labelled: Bools, encoding: Encoding, trees: int, seed: int) -> FoldModels | None:
    """The members on codes (D, n) and labels (n,); None where one kind of row is missing."""
    if not labelled.any() or labelled.all():
        return None
    linear, spread = (linear_design(codes, one) for one in (encoding, squared(encoding)))
    tables = [
        linear_table(linear, labelled),
        naive_bayes_table(codes, labelled, encoding),
        linear_table(spread, labelled),
    ]
    return FoldModels(np.vstack(tables), Forest.of(grown(codes, labelled, trees, seed)))


@dataclass(frozen=True)
class LinearDesign:
    """Standardised columns X (n, P) and how a weight of each becomes numbers per level.

    Column p is the normal score of feature ``owner[p]``, or where ``level[p]`` is not -1 an indicator of that level.
    """

    X: Floats
    owner: NDArray[np.int64]
    level: NDArray[np.int64]
    scale: Floats
    encoding: Encoding

    def table(self, weight: Floats) -> Floats:
        """Numbers per level (L,) of a linear model's weights (P,)."""
        per_unit = weight / self.scale
        table = np.zeros(self.encoding.layout.total)
        for p in np.flatnonzero(self.level >= 0):
            table[self.level[p]] += per_unit[p]
        for p in np.flatnonzero(self.level < 0):
            span = self.encoding.layout.span(int(self.owner[p]))
            table[span] += per_unit[p] * self.encoding.score[span]
        return table

    def importance(self, weight: Floats) -> Floats:
        """Size of each feature's weights together (D,)."""
        found: Floats = np.sqrt(np.bincount(self.owner, weight**2, self.encoding.layout.features))
        return found


def linear_design(codes: Codes, encoding: Encoding) -> LinearDesign:
    """Columns of codes (D, n): a normal score for each number, an indicator for each text level and missing value."""
    layout = encoding.layout
    columns, owner, level = [], [], []
    for i, row in enumerate(codes):
        span = layout.span(i)
        score, named = encoding.score[span], encoding.named[span]
        if not named.all():
            columns.append(score[row])
            owner.append(i)
            level.append(-1)
        for own in np.flatnonzero(named):
            columns.append((row == own).astype(np.float64))
            owner.append(i)
            level.append(span.start + int(own))
    X = np.column_stack(columns)
    mean, scale = X.mean(axis=0), X.std(axis=0)
    scale[scale == 0] = 1.0
    return LinearDesign((X - mean) / scale, np.array(owner), np.array(level), scale, encoding)


def squared(encoding: Encoding) -> Encoding:
    """How far from the middle a level lies: its normal score squared, and the mean of that where missing or text."""
    score = np.where(encoding.named, 1.0, encoding.score**2)
    return replace(encoding, score=score, named=np.zeros_like(encoding.named))


def linear_weights(design: LinearDesign, labelled: Bools) -> Floats:
    """Weights (P,) of a balanced, strongly shrunken logistic regression."""
    from sklearn.linear_model import LogisticRegression

    model = LogisticRegression(C=STRENGTH, class_weight="balanced", max_iter=300, tol=1e-3)
    weights: Floats = model.fit(design.X, labelled).coef_[0]
    return weights


def linear_table(design: LinearDesign, labelled: Bools) -> Floats:
    """The logistic regression as numbers per level (L,)."""
    return design.table(linear_weights(design, labelled))


def naive_bayes_table(codes: Codes, labelled: Bools, encoding: Encoding) -> Floats:
    """Log of the ratio of labelled to other rows per level (L,), from counts of grouped levels, one added to each."""
    coarse, layout = encoding.coarse_codes(codes), encoding.coarse
    counts = level_sums(np.vstack([labelled, ~labelled]).astype(np.float32), coarse, layout) + 1.0
    sums = np.add.reduceat(counts, layout.offsets[:-1], axis=1)
    share = np.log(counts / np.repeat(sums, layout.levels, axis=1))
    table: Floats = (share[0] - share[1])[encoding.group]
    return table


def normal_ranks(values: Floats) -> Floats:
    """The normal score (n,) of each value's rank."""
    return placed(values, np.sort(values))


def placed(values: Floats, ladder: Floats) -> Floats:
    """The normal score (n,) of the place of each value among the sorted values of ``ladder`` (m,).

    >>> placed(np.array([2.0, 9.0]), np.array([1.0, 2.0, 3.0])).round(2)
    array([0.  , 0.97])
    """
    low, high = (np.searchsorted(ladder, values, side=side) for side in ("left", "right"))
    share = np.clip((low + high) / 2, 0.5, len(ladder) - 0.5) / len(ladder)
    found: Floats = ndtri(share)
    return found


def weighed(weights: Floats, scores: Floats) -> Floats:
    """The weighted sum (n,) of scores (M, n), row by row: a matrix product may round by where a row stands."""
    total = np.zeros(scores.shape[1])
    for weight, own in zip(weights, scores, strict=True):
        total += weight * own
    return total


def member_weights(scores: Floats, labelled: Bools) -> tuple[Floats, Floats]:
    """Weights (M,) of members with out-of-fold scores (M, n), by how far each passes chance; and their AUC (M,)."""
    aucs = np.array([delong(own[labelled], own[~labelled])[0] for own in scores])
    weights = np.maximum(aucs - 0.5, 0.02) ** 2
    return weights / weights.sum(), aucs
