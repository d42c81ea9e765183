"""The classifier that selections are judged by: boosted trees on the chosen columns, label against the rest."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Protocol, Self

import numpy as np
from numpy.typing import NDArray

from spark_pufs.errors import EnvironmentFault, Fault

__all__ = ["CLASSIFIERS", "TREES", "Classifier", "classifier_named", "held_out_scores"]

Floats = NDArray[np.float64]
CLASSIFIERS = ("auto", "lightgbm", "hist-gradient-boosting")
TREES = 100
MOST_SEEDS = 2**31  # LightGBM takes 32 bits with a sign


class Classifier(Protocol):
    """What is asked of a model of scikit-learn's kind."""

    def fit(self, X: Floats, y: NDArray[np.bool_], **more: object) -> Self: ...

    def predict_proba(self, X: Floats) -> Floats: ...


def classifier_named(wanted: str) -> str:
    """ "auto" is LightGBM where it is installed, scikit-learn's histogram boosting otherwise."""
    installed = find_spec("lightgbm") is not None
    if wanted == "auto":
        return "lightgbm" if installed else "hist-gradient-boosting"
    if wanted == "lightgbm" and not installed:
        fix = "Install spark-pufs[lightgbm], or use hist-gradient-boosting."
        raise EnvironmentFault(Fault("Classifier 'lightgbm'", "is not installed", fix))
    return wanted


def held_out_scores(
    name: str,
    train: Floats,
    labelled: NDArray[np.bool_],
    test: Floats,
    categorical: list[int],
    seed: int,
    trees: int = TREES,
    depth: int | None = None,
) -> Floats:
    """p(labelled | x) of the ``test`` rows (m, d), by a model of the ``train`` rows (n, d) and their labels (n,).

    ``depth`` bounds the trees; None leaves that to the library.
    """
    seed %= MOST_SEEDS
    model = _lightgbm(trees, depth, seed) if name == "lightgbm" else _histograms(categorical, trees, depth, seed)
    if name == "lightgbm":
        model.fit(train, labelled, categorical_feature=categorical or "auto")
    else:
        model.fit(_finite(train), labelled)
        test = _finite(test)
    return model.predict_proba(test)[:, 1]


def _lightgbm(trees: int, depth: int | None, seed: int) -> Classifier:
    from lightgbm import LGBMClassifier

    # One thread and a fixed order of sums: the same trees on every machine.
    model: Classifier = LGBMClassifier(
        n_estimators=trees, max_depth=depth or -1, n_jobs=1, random_state=seed, deterministic=True, verbose=-1
    )
    return model


def _histograms(categorical: list[int], trees: int, depth: int | None, seed: int) -> Classifier:
    from sklearn.ensemble import HistGradientBoostingClassifier

    model: Classifier = HistGradientBoostingClassifier(
        max_iter=trees,
        max_depth=depth,
        random_state=seed,
        early_stopping=False,
        categorical_features=categorical or None,
    )
    return model


def _finite(X: Floats) -> Floats:
    """scikit-learn takes missing values but no infinities."""
    return np.clip(X, -1e300, 1e300)
