"""What users have already: one line of scikit-learn, two packages, and the yardsticks: all columns, random ones, and
what the default chooses where every label is known.

Peers see ``protocol.coded`` columns with missing values as -999, and the label as the class.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib.util import find_spec

import numpy as np
import pandas as pd
from numpy.typing import NDArray

__all__ = ["INSTALLED_AS", "ONE_LINERS", "PEERS", "TRUTH", "YARDSTICKS", "not_installed", "peer_choice"]

Labels = NDArray[np.int64]
MISSING = -999.0
ONE_LINERS = ("mutual_info", "forest", "l1", "rfe")
TRUTH = "truth"  # the default on the truth of the training rows: what no choice from a few labels should beat by much
YARDSTICKS = ("all", "random", TRUTH)
INSTALLED_AS = {"boruta": "boruta", "mrmr_selection": "mrmr"}  # by the module they are imported as


def not_installed(names: list[str]) -> list[str]:
    """Those of the peers that lack their package."""
    return [name for name in names if name in INSTALLED_AS and find_spec(INSTALLED_AS[name]) is None]


def peer_choice(name: str, numbers: pd.DataFrame, labelled: NDArray[np.bool_], k: int, seed: int) -> list[str]:
    """The columns of ``numbers`` (n, D) that a peer, or a yardstick other than the truth, selects."""
    if name == "all":
        return [str(column) for column in numbers]
    if name == "random":
        return [str(one) for one in np.random.default_rng(seed).choice(numbers.columns, _at_most(k, numbers), False)]
    return PEERS[name](numbers.fillna(MISSING), labelled.astype(np.int64), _at_most(k, numbers))


def _at_most(k: int, numbers: pd.DataFrame) -> int:
    return min(k, numbers.shape[1])


def _top(A: pd.DataFrame, values: NDArray[np.number], k: int) -> list[str]:
    return [str(A.columns[i]) for i in np.argsort(-values, kind="stable")[:k]]


def _mutual_info(A: pd.DataFrame, s: Labels, k: int) -> list[str]:
    from sklearn.feature_selection import mutual_info_classif

    return _top(A, mutual_info_classif(A, s, random_state=0), k)


def _importance(A: pd.DataFrame, s: Labels) -> NDArray[np.float64]:
    from sklearn.ensemble import RandomForestClassifier

    found: NDArray[np.float64] = (
        RandomForestClassifier(200, random_state=0, min_samples_leaf=2).fit(A, s).feature_importances_
    )
    return found


def _forest(A: pd.DataFrame, s: Labels, k: int) -> list[str]:
    return _top(A, _importance(A, s), k)


def _standardised(A: pd.DataFrame) -> NDArray[np.float64]:
    from sklearn.preprocessing import StandardScaler

    scaled: NDArray[np.float64] = StandardScaler().fit_transform(A)
    return scaled


def _l1(A: pd.DataFrame, s: Labels, k: int) -> list[str]:
    import sklearn
    from sklearn.linear_model import LogisticRegression

    # scikit-learn 1.8 tells the penalty by its l1_ratio; before, by its name.
    new = tuple(map(int, sklearn.__version__.split(".")[:2])) >= (1, 8)
    penalty: dict[str, object] = {"l1_ratio": 1.0} if new else {"penalty": "l1"}
    model = LogisticRegression(solver="liblinear", C=1.0, random_state=0, max_iter=500, **penalty)
    return _top(A, np.abs(model.fit(_standardised(A), s).coef_[0]), k)


def _rfe(A: pd.DataFrame, s: Labels, k: int) -> list[str]:
    """A tenth of the columns goes at a time, as users do where there are hundreds."""
    from sklearn.feature_selection import RFE
    from sklearn.linear_model import LogisticRegression

    search = RFE(LogisticRegression(max_iter=500), n_features_to_select=k, step=0.1).fit(_standardised(A), s)
    return [str(name) for name in A.columns[search.support_]]


def _boruta(A: pd.DataFrame, s: Labels, k: int) -> list[str]:
    """By Boruta's ranking; it does not order the columns that it confirms, so forest importance does."""
    from boruta import BorutaPy
    from sklearn.ensemble import RandomForestClassifier

    forest = RandomForestClassifier(n_jobs=1, max_depth=5, class_weight="balanced")
    search = BorutaPy(forest, n_estimators="auto", random_state=0).fit(A.to_numpy(), s)
    return _top(A, _importance(A, s) - search.ranking_, k)


def _mrmr_selection(A: pd.DataFrame, s: Labels, k: int) -> list[str]:
    from mrmr import mrmr_classif

    found = mrmr_classif(X=A, y=pd.Series(s, A.index), K=k, n_jobs=1, show_progress=False)
    return [str(name) for name in found]


PEERS: Mapping[str, Callable[[pd.DataFrame, Labels, int], list[str]]] = {
    "mutual_info": _mutual_info,
    "forest": _forest,
    "l1": _l1,
    "rfe": _rfe,
    "boruta": _boruta,
    "mrmr_selection": _mrmr_selection,
}
