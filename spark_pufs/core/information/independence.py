"""Tests of independence of features and label from counts, right at few labels and many levels.

The null is that of labels dealt at random at the margins of the table, in every stratum where there are some. Its tail
is summed exactly where levels hold few positives and the sum is short; else it is a gamma distribution of the exact
mean and of the variance (``chance``). Where levels are too rare for that and the sum is long, there are two tests,
whose p-values are doubled: the exact one of the rare levels beside all others, and by moments that of the others.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from spark_pufs.core.information.chance import Counts, chance_of_class
from spark_pufs.core.information.exact_null import exact_log_p, tail_cost
from spark_pufs.core.information.gtest import log_p_value
from spark_pufs.core.information.mutual_information import class_given_feature
from spark_pufs.types import Layout

__all__ = ["log_p_values"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

ENOUGH = 5.0  # positives expected on every level, from which on the gamma distribution is right
RARE = 2.0  # positives expected on a level, below which it is tested apart where the exact sum is too long
NOTABLE = 0.1  # p-values below which the exact sum is worth its time
MOST_WORK = 40_000_000  # additions for one feature
MOST_ALONE = 1 << 16  # rows of a level that the exact sum of two levels goes through


def log_p_values(counts: Counts, layout: Layout) -> Floats:
    """Natural logs (D,) of the p-value of each feature for I(X_k;Y|Z) = 0, from counts (2, levels of Z, L).

    >>> counts = np.array([[[490, 500]], [[10, 0]]])
    >>> float(np.exp(log_p_values(counts, Layout((2,)))[0])).__round__(5)
    0.00187
    """
    counts = np.asarray(counts, np.int64)
    counts = counts[:, (counts.sum(axis=2) > 0).all(axis=0)]  # strata of one class tell nothing
    if not counts.shape[1]:
        return np.zeros(layout.features)
    found = _by_moments(counts, layout)
    unsure = (_least_expected(counts, layout) < ENOUGH) | (np.array(layout.levels) == 2)
    for i in np.flatnonzero((found < np.log(NOTABLE)) & unsure):
        own = counts[:, :, layout.span(int(i))]
        found[i] = _one_feature(own[:, :, own.any(axis=(0, 1))])
    return found


def _one_feature(counts: Ints) -> float:
    """Of counts (2, strata, levels) of one feature: exact, or by moments but for rare levels."""
    if _is_short(counts):
        return exact_log_p(counts.sum(axis=0), counts[1])
    return _rare_apart(counts) if counts.shape[1] == 1 else _moments_alone(counts)


def _rare_apart(counts: Ints) -> float:
    """The lower of two doubled p-values: of rare levels beside all others, and of the others."""
    rare = _expected(counts)[0] < RARE
    others = counts[:, :, ~rare]
    if not rare.any() or not others.shape[2]:
        return _moments_alone(counts)
    beside = np.concatenate([counts[:, :, rare], others.sum(axis=2, keepdims=True)], axis=2)
    if not _is_short(beside):
        return _moments_alone(counts)
    of_rare = exact_log_p(beside.sum(axis=0), beside[1])
    return min(0.0, float(np.log(2)) + min(of_rare, _moments_alone(others)))


def _moments_alone(counts: Ints) -> float:
    return float(_by_moments(counts, Layout((counts.shape[2],)))[0])


def _is_short(counts: Ints) -> bool:
    """Whether the exact sum takes little work."""
    sizes = counts.sum(axis=0)
    if counts.shape[1:] == (1, 2):
        return min(int(sizes.min()), int(counts[1].sum())) <= MOST_ALONE
    return tail_cost(sizes, counts[1]) <= MOST_WORK


def _by_moments(counts: Ints, layout: Layout) -> Floats:
    """The tail of the gamma distribution with the moments of chance."""
    value, _ = class_given_feature(counts, layout)
    chance = chance_of_class(counts, layout)
    alive = (chance.mean > 0) & (chance.deviation > 0)
    mean, variance = np.where(alive, chance.mean, 1.0), np.where(alive, chance.deviation, 1.0) ** 2
    found = log_p_value(2 * value * mean / variance, 2 * mean**2 / variance)
    return np.where(alive, found, 0.0)


def _least_expected(counts: Ints, layout: Layout) -> Floats:
    """The fewest rows of the rarer class (D,) that a level of each feature may expect in a stratum."""
    expected = _expected(counts)
    occupied = np.where(expected > 0, expected, np.inf).min(axis=0)
    return np.minimum.reduceat(occupied, layout.offsets[:-1])


def _expected(counts: Ints) -> Floats:
    """Rows of the rarer class (strata, L) that each level may expect, of counts (2, strata, L)."""
    total = counts.sum(axis=2)
    found: Floats = counts.sum(axis=0) * (total.min(axis=0) / total.sum(axis=0))[:, None]
    return found
