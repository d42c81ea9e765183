"""The protocol: a 60/40 split, labels for some of the training positives, k columns, three classifiers, true AUC.

Classifiers are trained label against rest on the chosen columns of the training part and judged by the truth of the
other part. Splits and labels are drawn from the number of the split alone, so any program that follows the protocol
sees the same ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from spark_pufs.core.process_state import undisturbed

__all__ = ["CLASSIFIERS", "Split", "coded", "split_of", "true_aucs"]

Rows = NDArray[np.intp]
Floats = NDArray[np.float64]
TEST_SHARE = 0.4
FEWEST_LABELS = 5
LABEL_SEED = 100  # labels are drawn from the split's number and this, so that they differ from the split's own draw
CLASSIFIERS = ("boosting", "shallow", "linear")


@dataclass(frozen=True)
class Split:
    """Row numbers of the two parts, and which of the training rows (n,) are labelled."""

    train: Rows
    test: Rows
    labelled: NDArray[np.bool_]


def split_of(positive: NDArray[np.bool_], share: float, split: int) -> Split:
    """Split number ``split`` of a table by its truth (n,)."""
    from sklearn.model_selection import train_test_split

    train, test = train_test_split(
        np.arange(len(positive)), test_size=TEST_SHARE, stratify=positive, random_state=split
    )
    positives = train[positive[train]]
    known = np.random.default_rng(split + LABEL_SEED).choice(positives, labels_of(share, len(positives)), replace=False)
    return Split(train, test, np.isin(train, known))


def labels_of(share: float, positives: int) -> int:
    """How many of so many training positives are labelled.

    >>> labels_of(0.1, 200), labels_of(0.1, 20)
    (20, 5)
    """
    return max(FEWEST_LABELS, round(share * positives))


def coded(X: pd.DataFrame) -> pd.DataFrame:
    """Columns as numbers, for classifiers and peers: text by the place of its value in alphabetical order."""
    numbers = X.copy()
    for name in X:
        if not pd.api.types.is_numeric_dtype(X[name]):
            values = X[name].astype(object).where(X[name].notna(), "null").map(str)
            numbers[name] = np.unique(values.to_numpy(str), return_inverse=True)[1]
    return numbers.astype(np.float64)


def true_aucs(
    numbers: pd.DataFrame, split: Split, positive: NDArray[np.bool_], names: Sequence[str]
) -> dict[str, float]:
    """AUC of each classifier on the chosen columns of ``coded`` rows; nothing chosen tells nothing: 0.5."""
    from sklearn.metrics import roc_auc_score

    if not names:
        return dict.fromkeys(CLASSIFIERS, 0.5)
    wanted = set(names)
    columns = [name for name in numbers if name in wanted]  # in the table's order, whatever the order of choice
    train, test = numbers.iloc[split.train][columns], numbers.iloc[split.test][columns]
    with undisturbed():  # tables are small: threads would wait for each other
        scores = (_boosted(train, split, test), _boosted(train, split, test, **_SHALLOW), _linear(train, split, test))
    truth = positive[split.test]
    return {name: float(roc_auc_score(truth, one)) for name, one in zip(CLASSIFIERS, scores, strict=True)}


_SHALLOW = {"max_depth": 3, "max_iter": 100, "min_samples_leaf": 5, "l2_regularization": 1.0}


def _boosted(train: pd.DataFrame, split: Split, test: pd.DataFrame, **settings: Any) -> Floats:
    from sklearn.ensemble import HistGradientBoostingClassifier

    model = HistGradientBoostingClassifier(random_state=0, **settings).fit(train, split.labelled)
    found: Floats = model.predict_proba(test)[:, 1]
    return found


def _linear(train: pd.DataFrame, split: Split, test: pd.DataFrame) -> Floats:
    from sklearn.linear_model import LogisticRegression
    from sklearn.preprocessing import StandardScaler

    middle = train.median()
    scaler = StandardScaler().fit(train.fillna(middle))
    model = LogisticRegression(C=0.1, max_iter=500).fit(scaler.transform(train.fillna(middle)), split.labelled)
    found: Floats = model.predict_proba(scaler.transform(test.fillna(middle)))[:, 1]
    return found
