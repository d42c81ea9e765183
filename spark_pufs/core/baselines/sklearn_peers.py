"""Baselines that are scikit-learn's own: the label as class, everything not labelled positive as the other class.

Each is ``kernel(rows, settings)`` for one task: rows with X (n, D) scaled to [0, 1].
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spark_pufs.core.baselines.scored import canonical_order
from spark_pufs.core.counting.row_sample import LabelledRows
from spark_pufs.core.process_state import without_warnings
from spark_pufs.types import LABELLED_POSITIVE

__all__ = ["Eliminated", "Elimination", "LassoFit", "Penalty", "forest_elimination", "lasso_weights"]

MOST_STEPS, TOLERANCE = 10_000, 1e-8


@dataclass(frozen=True)
class Penalty:
    """Of the weights' absolute sum."""

    alpha: float


@dataclass(frozen=True)
class LassoFit:
    """Weights (D,), and whether the fit had converged."""

    weight: NDArray[np.float64]
    converged: bool


def lasso_weights(rows: LabelledRows, penalty: Penalty) -> LassoFit:
    """An L1-penalised least-squares fit of the label."""
    from sklearn.linear_model import Lasso

    # A tighter tolerance than the default: the order of the columns must not matter.
    model = Lasso(alpha=penalty.alpha, max_iter=MOST_STEPS, tol=TOLERANCE, random_state=0)
    with without_warnings():  # of convergence, told by ``converged``
        model.fit(rows.X, (rows.label == LABELLED_POSITIVE).astype(np.float64))
    return LassoFit(model.coef_, bool(model.n_iter_ < MOST_STEPS))


@dataclass(frozen=True)
class Elimination:
    """Of the features ``open`` (d,), ``step`` per forest of ``trees``, until ``keep`` are left."""

    open: NDArray[np.intp]
    keep: int
    trees: int
    step: int
    seed: int


@dataclass(frozen=True)
class Eliminated:
    """Of the open features (d,): ``rank`` (1 was kept, larger was dropped earlier) and ``importance`` in the last
    forest, 0 if dropped before."""

    rank: NDArray[np.int64]
    importance: NDArray[np.float64]


def forest_elimination(rows: LabelledRows, settings: Elimination) -> Eliminated:
    """Drop the features that a random forest finds least important until ``keep`` of the ``open`` ones are left.

    A forest draws by place, so rows and columns are sorted by content first.
    """
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.feature_selection import RFE

    order, columns = canonical_order(rows.X[:, settings.open], rows.label)
    X, labelled = rows.X[order][:, settings.open[columns]], rows.label[order] == LABELLED_POSITIVE
    rank, importance = np.ones(len(columns), np.int64), np.zeros(len(columns))
    forest = RandomForestClassifier(settings.trees, random_state=settings.seed % 2**32, n_jobs=1)
    if settings.keep == len(columns):  # nothing to drop, and RFE refuses a single feature
        importance[columns] = forest.fit(X, labelled).feature_importances_
        return Eliminated(rank, importance)
    search = RFE(forest, n_features_to_select=settings.keep, step=settings.step).fit(X, labelled)
    rank[columns] = search.ranking_
    importance[columns[search.support_]] = search.estimator_.feature_importances_
    return Eliminated(rank, importance)
