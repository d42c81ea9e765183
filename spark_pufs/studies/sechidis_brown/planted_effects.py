"""Class and value tables with a wanted mutual information, as Sechidis & Brown 2017 draw them for Figs 3 to 5.

p(x|y) is drawn from a flat Dirichlet for every table and mixed towards independence until I(X;Y) is the wanted effect.
Tables of different numbers of levels share an array; levels that one does not have hold zeros.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import rel_entr, xlogy

from spark_pufs.core.information.surrogate import SurrogateName

__all__ = ["TESTS", "draw_given", "estimated", "information", "labelled_share", "with_surrogates"]

Floats = NDArray[np.float64]
Counts = NDArray[np.int64] | NDArray[np.float64]

SURROGATES: tuple[SurrogateName, ...] = ("labelled", "y0", "y1")
TESTS = ("y", *SURROGATES)  # y: all labels, which nobody has
_HALVINGS = 50


def information(given: Floats, prior: float) -> Floats:
    """I(X;Y) in nats of tables p(x|y), shape (n, 2, levels), the positive class second.

    >>> information(np.array([[[1.0, 0.0], [0.0, 1.0]]]), 0.5).round(6)
    array([0.693147])
    """
    share = np.array([1 - prior, prior])[:, None]
    mean = (share * given).sum(axis=1, keepdims=True)
    return np.asarray((share * rel_entr(given, mean)).sum(axis=(1, 2)))


def draw_given(effect: ArrayLike, levels: ArrayLike, prior: float, rng: np.random.Generator) -> Floats:
    """p(x|y), shape (n, 2, most levels), with I(X;Y) = ``effect`` (n,) over ``levels`` (n,)."""
    wanted, sizes = np.broadcast_arrays(np.asarray(effect, np.float64), np.asarray(levels))
    used = np.arange(sizes.max()) < sizes[:, None]
    wide = _flat(used, rng)
    while (weak := information(wide, prior) < wanted).any():
        wide[weak] = _flat(used[weak], rng)
    mean = (1 - prior) * wide[:, :1] + prior * wide[:, 1:]
    low, high = np.zeros((len(wanted), 1, 1)), np.ones((len(wanted), 1, 1))
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        short = (information(mean + middle * (wide - mean), prior) < wanted)[:, None, None]
        low, high = np.where(short, middle, low), np.where(short, high, middle)
    return np.asarray(mean + low * (wide - mean))


def _flat(used: NDArray[np.bool_], rng: np.random.Generator) -> Floats:
    """A draw from the flat Dirichlet for either class of each table."""
    mass = rng.exponential(size=(len(used), 2, used.shape[1])) * used[:, None]
    return np.asarray(mass / mass.sum(axis=2, keepdims=True))


def labelled_share(prior: float, labelled: float, positive: float) -> Floats:
    """p(s=1|y) of the negative and the positive class, from p(s=1) and p(y=1|s=1).

    >>> labelled_share(0.2, 0.25, 0.5)
    array([0.15625, 0.625  ])
    """
    return np.array([labelled * (1 - positive) / (1 - prior), labelled * positive / prior])


def with_surrogates(counts: Counts, seen: Counts) -> dict[str, Counts]:
    """Tables (2, n, levels) of each test, from those of all rows and of the labelled ones."""
    hidden = counts.sum(axis=0) - seen.sum(axis=0)
    negatives, positives = seen
    return {
        "y": counts,
        "labelled": seen,
        "y0": np.stack([negatives + hidden, positives]),
        "y1": np.stack([negatives, positives + hidden]),
    }


def estimated(counts: Counts) -> Floats:
    """Maximum likelihood estimate of I(X;Y), (n,), from counts (2, n, levels).

    >>> estimated(np.array([[[5, 0]], [[0, 5]]])).round(6)
    array([0.693147])
    """
    total = counts.sum(axis=(0, 2))
    expected = counts.sum(axis=2, keepdims=True) * counts.sum(axis=0, keepdims=True) / total[:, None]
    ratio = np.divide(counts, expected, out=np.ones(counts.shape), where=counts > 0)
    return np.asarray(xlogy(counts, ratio).sum(axis=(0, 2)) / total)
