"""Shallow boosting that learns the teacher's score: what its predictions lose where a column is shuffled."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from spark_pufs.core.process_state import undisturbed
from spark_pufs.core.soft.encoding import Codes

__all__ = ["boosting_importance"]

TREES, DEPTH, LEAST_LEAF = 60, 3, 20


def boosting_importance(codes: Codes, target: NDArray[np.float64], seed: int) -> NDArray[np.float64]:
    """Mean square (D,) by which predictions of ``target`` (n,) move where one row of codes (D, n) is shuffled."""
    from sklearn.ensemble import HistGradientBoostingRegressor

    X = np.ascontiguousarray(codes.T, np.float32)
    with undisturbed():  # sums of histograms round by the number of threads
        model = HistGradientBoostingRegressor(
            max_iter=TREES, max_depth=DEPTH, min_samples_leaf=LEAST_LEAF, early_stopping=False, random_state=0
        ).fit(X, target)
        usual = model.predict(X)
        order = np.random.default_rng([seed, 31]).permutation(len(X))
        found = np.empty(len(codes))
        for column in range(len(codes)):
            kept = X[:, column].copy()
            X[:, column] = kept[order]
            found[column] = np.square(model.predict(X) - usual).mean()
            X[:, column] = kept
    return found
