"""Baselines that are scikit-learn's own: the label as class, everything not labelled positive as the other class.

Each is ``kernel(shared, unit)`` for one task: ``shared`` has X (n, D) scaled to [0, 1] and ``label`` (n,) states.
"""

from __future__ import annotations

import numpy as np

from spark_pufs.core.baselines.scored import canonical_order
from spark_pufs.core.counting.kernel import State
from spark_pufs.core.process_state import without_warnings
from spark_pufs.types import LABELLED_POSITIVE

__all__ = ["forest_elimination", "lasso_weights"]

MOST_STEPS, TOLERANCE = 10_000, 1e-8


def lasso_weights(shared: State, unit: State) -> State:
    """Weights (D,) of an L1-penalised least-squares fit of the label; unit: ``alpha``."""
    from sklearn.linear_model import Lasso

    # A tighter tolerance than the default: the order of the columns must not matter.
    model = Lasso(alpha=unit["alpha"], max_iter=MOST_STEPS, tol=TOLERANCE, random_state=0)
    with without_warnings():  # of convergence, told by ``converged``
        model.fit(shared["X"], (shared["label"] == LABELLED_POSITIVE).astype(np.float64))
    return {"weight": model.coef_, "converged": bool(model.n_iter_ < MOST_STEPS)}


def forest_elimination(shared: State, unit: State) -> State:
    """Drop the features that a random forest finds least important until ``keep`` of the ``open`` ones are left.

    Unit: ``open`` (d,) feature numbers, ``keep``, ``trees``, ``step`` features dropped per forest, ``seed``. Returns
    for the open features (d,) ``rank`` (1 was kept, larger was dropped earlier) and ``importance`` in the last forest,
    0 if dropped before. A forest draws by place, so rows and columns are sorted by content first.
    """
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.feature_selection import RFE

    rows, columns = canonical_order(shared["X"][:, unit["open"]], shared["label"])
    X, labelled = shared["X"][rows][:, unit["open"][columns]], shared["label"][rows] == LABELLED_POSITIVE
    rank, importance = np.ones(len(columns), np.int64), np.zeros(len(columns))
    forest = RandomForestClassifier(unit["trees"], random_state=unit["seed"] % 2**32, n_jobs=1)
    if unit["keep"] == len(columns):  # nothing to drop, and RFE refuses a single feature
        importance[columns] = forest.fit(X, labelled).feature_importances_
        return {"rank": rank, "importance": importance}
    search = RFE(forest, n_features_to_select=unit["keep"], step=unit["step"]).fit(X, labelled)
    rank[columns] = search.ranking_
    importance[columns[search.support_]] = search.estimator_.feature_importances_
    return {"rank": rank, "importance": importance}
