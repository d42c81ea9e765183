"""Extremely randomised trees on codes, one by one.

scikit-learn's forests pass warning filters between threads, which warns of itself where several are fitted at once; its
single trees do not.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from spark_pufs.core.soft.encoding import Codes

__all__ = ["LEAST_LEAF", "grown", "importance"]

LEAST_LEAF = 5  # rows: labels are few, and leaves of single rows follow each of them
REGRESSION_SHARE = 1 / 3  # of the features, that a split of a number chooses from


def grown(codes: Codes, target: NDArray[np.generic], trees: int, seed: int) -> list[Any]:
    """Trees of codes (D, n) that tell ``target`` (n,): a class where it is boolean, else a number."""
    from sklearn import config_context
    from sklearn.tree import ExtraTreeClassifier, ExtraTreeRegressor

    X = np.ascontiguousarray(codes.T, np.float32)
    classes = target.dtype == np.bool_
    kind, share = (ExtraTreeClassifier, "sqrt") if classes else (ExtraTreeRegressor, REGRESSION_SHARE)
    y = np.ascontiguousarray(target, np.int64 if classes else np.float64)
    seeds = np.random.default_rng(seed).integers(2**31, size=trees)
    found = [kind(min_samples_leaf=LEAST_LEAF, max_features=share, random_state=int(one)) for one in seeds]
    # On a few hundred rows, checking the same X and the same parameters again for every tree costs more than the tree.
    with config_context(skip_parameter_validation=True):
        return [one.fit(X, y, check_input=False) for one in found]


def importance(trees: list[Any]) -> NDArray[np.float64]:
    """The mean over trees of each feature's share (D,) of what splits gain."""
    found: NDArray[np.float64] = np.mean([one.feature_importances_ for one in trees], axis=0)
    return found
