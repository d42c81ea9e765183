"""Tables made hard, each in one way: what a selector is given differs, what its choice is judged by does not.

Added columns stay for the judges, since whoever chose them has them. Values that were spoilt and labels that are wrong
or skewed are seen by the selector alone: the judges get the values and labels of the plain protocol, so that a
difference tells how the choice suffered and not how a classifier bears an outlier.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import expit
from scipy.stats import rankdata

from spark_pufs.studies.real_tables.protocol import Split, coded
from spark_pufs.studies.study import seed_of

__all__ = ["HARDENINGS", "PLAIN", "Given", "given_to_selectors"]

Mask = NDArray[np.bool_]
PLAIN = "plain"
LEVELS = 30  # of a random text column
COPIES = 3
FAR = 1e6  # times the range of the column
SENTINEL, SENTINEL_SHARE = -999.0, 0.05
WRONG_SHARE = 0.10
FURTHEST = 3.0  # standard deviations: beyond, a row's chance would round to nothing
SLOPE = 3.0  # of the logistic curve by which a column decides who is labelled, as in core.synthetic.labelling.SAR


@dataclass(frozen=True)
class Given:
    """A table and a split on their way to the selectors.

    ``X``: what they see; ``judged``: what the judges see, the same columns; ``labelled`` (n_train,) the labels.
    """

    X: pd.DataFrame
    judged: pd.DataFrame
    positive: Mask
    split: Split
    labelled: Mask
    rng: np.random.Generator

    @property
    def train(self) -> pd.DataFrame:
        return self.X.iloc[self.split.train].reset_index(drop=True)

    def with_columns(self, added: Mapping[str, object]) -> Given:
        """More columns at the end, for selectors and judges."""
        columns = pd.DataFrame(dict(added), index=self.X.index)
        both = (pd.concat([frame, columns], axis=1) for frame in (self.X, self.judged))
        return replace(self, X=next(both), judged=next(both))


def given_to_selectors(X: pd.DataFrame, positive: Mask, split: Split, hardening: str, table: str, number: int) -> Given:
    """The table as ``hardening`` leaves it; draws depend on the table, the split's number and the hardening alone."""
    rng = np.random.default_rng(seed_of(number, hardening, table))
    plain = Given(X, X, positive, split, split.labelled, rng)
    return plain if hardening == PLAIN else HARDENINGS[hardening](plain)


def _random_numbers(given: Given) -> Given:
    rows = len(given.X)
    return given.with_columns({f"random_{i}": given.rng.normal(size=rows) for i in range(_half(given))})


def _random_text(given: Given) -> Given:
    levels = np.array([f"level {i}" for i in range(LEVELS)], object)
    rows = len(given.X)
    return given.with_columns({f"random_{i}": given.rng.choice(levels, rows) for i in range(_half(given))})


def _half(given: Given) -> int:
    return -(-given.X.shape[1] // 2)


def _copies(given: Given) -> Given:
    """One copy of each of the columns that are best alone: copies of others would not be chosen anyway."""
    best = sorted(given.X, key=lambda name: -_apart(given, str(name)))[:COPIES]
    return given.with_columns({f"copy_of_{name}": given.X[name] for name in best})


def _apart(given: Given, name: str) -> float:
    """How far the column's AUC by the truth of the training part is from 0.5; text by its levels' shares."""
    train, y = given.train[name], given.positive[given.split.train]
    if not pd.api.types.is_numeric_dtype(train):
        train = train.map(pd.Series(y).groupby(train).mean()).astype(float)
    ranks = rankdata(train.fillna(train.median()))
    positives = int(y.sum())
    area = (ranks[y].mean() - (positives + 1) / 2) / (len(y) - positives)
    return float(abs(area - 0.5))


def _outliers(given: Given) -> Given:
    """One unlabelled training row of each numeric column lies far beyond all others."""
    spoilt, free = _as_floats(given), given.split.train[~given.split.labelled]
    for name in _numeric(given):
        low, high = given.X[name].min(), given.X[name].max()
        spoilt.loc[spoilt.index[given.rng.choice(free)], name] = high + FAR * ((high - low) or 1.0)
    return replace(given, X=spoilt)


def _sentinels(given: Given) -> Given:
    """Every numeric column has a few rows, others in each, in which a sentinel stands for its value."""
    spoilt = _as_floats(given)
    for name in _numeric(given):
        spoilt[name] = spoilt[name].mask(given.rng.random(len(spoilt)) < SENTINEL_SHARE, SENTINEL)
    return replace(given, X=spoilt)


def _numeric(given: Given) -> list[str]:
    return [str(name) for name in given.X.select_dtypes(["number", "bool"])]


def _as_floats(given: Given) -> pd.DataFrame:
    return given.X.astype(dict.fromkeys(_numeric(given), np.float64))


def _wrong_labels(given: Given) -> Given:
    """One label in ten is on a negative row."""
    negative = np.flatnonzero(~given.positive[given.split.train])
    right = int(given.labelled.sum())
    wrong = max(1, round(right * WRONG_SHARE / (1 - WRONG_SHARE)))
    labelled = given.labelled.copy()
    labelled[given.rng.choice(negative, min(wrong, len(negative)), replace=False)] = True
    return replace(given, labelled=labelled)


def _labels_by_a_column(given: Given) -> Given:
    """As many labels, on positives with large values of one column more often (SAR)."""
    y = given.positive[given.split.train]
    values = coded(given.train)[y]
    varying = [str(name) for name in values if values[name].nunique() > 1]
    x = values[varying[given.rng.integers(len(varying))]]
    steps = ((x - x.median()) / x.std()).fillna(0.0).clip(-FURTHEST, FURTHEST)
    chance = expit(SLOPE * steps.to_numpy())
    chosen = given.rng.choice(np.flatnonzero(y), int(given.labelled.sum()), replace=False, p=chance / chance.sum())
    labelled = np.zeros_like(y)
    labelled[chosen] = True
    return replace(given, labelled=labelled)


HARDENINGS: Mapping[str, Callable[[Given], Given]] = {
    "random-numbers": _random_numbers,
    "random-text": _random_text,
    "copies": _copies,
    "outliers": _outliers,
    "sentinels": _sentinels,
    "wrong-labels": _wrong_labels,
    "skewed-labels": _labels_by_a_column,
}
