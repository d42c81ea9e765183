"""Correlation of features with a class of which only positives are labelled (Calvo, Larranaga & Lozano 2009).

P(x|1) comes from labelled positives, P(x) from all rows, the prior p = P(C=1) from the user:

    P(x|0) = (P(x) - p P(x|1)) / (1 - p), cut at 0 and renormalised

and r_ci is the uncertainty coefficient U(C|X) = I(X;C) / H(C). apuCFS averages it over a Beta prior on p.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh_tridiagonal

from spark_pufs.core.evidence.label_rate import Beta
from spark_pufs.core.information.chance import beyond, chance_of_class, two_level_deviation
from spark_pufs.core.information.surrogate import apply_surrogate
from spark_pufs.types import LABELLED_POSITIVE, Layout

__all__ = [
    "beta_of_mean",
    "beta_of_range",
    "beta_quadrature",
    "class_correlation",
    "correlation_beyond_chance",
    "mutual_correlation",
]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def beta_of_mean(mean: float, strength: float) -> Beta:
    """The Beta with that mean, as sure as ``strength`` observations would make one.

    >>> beta_of_mean(0.25, 8)
    Beta(a=2.0, b=6.0)
    """
    return Beta(mean * strength, (1 - mean) * strength)


def beta_of_range(low: float, high: float) -> Beta:
    """The Beta with its mean in the middle of a range that reaches two standard deviations to either side.

    >>> beta_of_range(0.1, 0.3)
    Beta(a=12.6, b=50.4)
    """
    mean, deviation = (low + high) / 2, (high - low) / 4
    strength = mean * (1 - mean) / deviation**2 - 1
    return Beta(round(mean * strength, 9), round((1 - mean) * strength, 9))


def beta_quadrature(prior: Beta, nodes: int) -> tuple[Floats, Floats]:
    """Gauss-Jacobi nodes in (0, 1) and weights that sum to 1, each (Q,): exact for polynomials up to degree 2Q - 1.

    Golub & Welsch: eigenvalues of the Jacobi matrix; its weights cannot overflow, however sharp the Beta.

    >>> p, weight = beta_quadrature(Beta(2, 6), 4)
    >>> round(float(weight @ p), 12), round(float(weight @ p**2), 12)
    (0.25, 0.083333333333)
    """
    a, b = prior.b - 1, prior.a - 1  # the weight (1-x)^a (1+x)^b on [-1, 1], x = 2p - 1
    n = np.arange(1, nodes)
    total = 2 * n + a + b
    centre = np.append((b - a) / (a + b + 2), (b**2 - a**2) / (total * (total + 2)))
    with np.errstate(divide="ignore", invalid="ignore"):
        square = 4 * n * (n + a) * (n + b) * (n + a + b) / (total**2 * (total + 1) * (total - 1))
    if nodes > 1:  # at n = 1 the factors (n + a + b) and (total - 1) are the same, and may both be zero
        square[0] = 4 * (1 + a) * (1 + b) / ((2 + a + b) ** 2 * (3 + a + b))
    points, vectors = eigh_tridiagonal(centre, np.sqrt(square))
    return np.clip((points + 1) / 2, 1e-12, 1 - 1e-12), vectors[0] ** 2


def class_correlation(labels: Ints, layout: Layout, p: Floats, weight: Floats) -> tuple[Floats, Floats]:
    """U(C|X) of every feature from label counts (3, L), averaged over priors ``p`` (Q,) with ``weight`` (Q,).

    Value and standard error, each (D,). The error is that of the draw of rows (delta method), the prior as given.
    """
    everyone, positive = labels.sum(axis=0), labels[LABELLED_POSITIVE]
    rows, known = (int(count[layout.span(0)].sum()) for count in (everyone, positive))
    value, by_positive, by_row = np.zeros(layout.features), np.zeros(layout.total), np.zeros(layout.total)
    for prior, share in zip(p.tolist(), weight.tolist(), strict=True):
        one = _correlation(positive / known, everyone / rows, layout, prior)
        value += share * one[0]
        by_positive += share * one[1]
        by_row += share * one[2]
    return value, _error(by_positive, by_row, positive, everyone, layout)


def correlation_beyond_chance(labels: Ints, layout: Layout, p: Floats, weight: Floats) -> tuple[Floats, Floats]:
    """The same less what chance would give.

    To second order in a - b both U(C|X) and I(X;Y0) are a multiple of sum (a - b)^2 / b, so that chance gives them in a
    fixed ratio; under the weak default belief that is up to a quarter too much on rare levels.
    """
    value, error = class_correlation(labels, layout, p, weight)
    classes = apply_surrogate(labels, "y0")[:, None]
    rest, known = (float(count.sum()) for count in classes[:, 0, layout.span(0)])
    entropy = -p * np.log(p) - (1 - p) * np.log1p(-p)
    ratio = float(weight @ (p / (1 - p) / entropy)) * rest / known
    chance = chance_of_class(classes, layout).scaled(ratio)
    return beyond(value, error, chance, ratio * two_level_deviation(rest + known))


def _correlation(a: Floats, b: Floats, layout: Layout, p: float) -> tuple[Floats, Floats, Floats]:
    """U(C|X) (D,) at one prior, and its derivatives (L,) by a = P(x|1) and b = P(x), each up to a constant."""
    left = np.maximum(b - p * a, 0.0)
    size = _sums(left, layout)  # at least 1 - p; more where something was cut
    q = left / _spread(size, layout)
    mixture = p * a + (1 - p) * q
    of_a, of_q = p * _log_ratio(a, mixture), (1 - p) * _log_ratio(q, mixture)
    entropy = -p * np.log(p) - (1 - p) * np.log1p(-p)
    value = np.maximum(_sums(a * of_a + q * of_q, layout), 0.0) / entropy
    centred = (of_q - _spread(_sums(q * of_q, layout), layout)) / _spread(size, layout)
    by_row = np.where(left > 0, centred, 0.0)
    return value, (of_a - p * by_row) / entropy, by_row / entropy


def _error(by_positive: Floats, by_row: Floats, positive: Ints, everyone: Ints, layout: Layout) -> Floats:
    """From the influence of each row: a labelled one moves P(x|1) and P(x), any other P(x) alone."""
    rows, known = (int(count[layout.span(0)].sum()) for count in (everyone, positive))
    other = by_row - _spread(_sums(everyone * by_row, layout) / rows, layout)
    own = by_positive - _spread(_sums(positive * by_positive, layout) / known, layout)
    labelled = own * (rows / known) + other
    squares = positive * labelled**2 + (everyone - positive) * other**2
    error: Floats = np.sqrt(_sums(squares, layout)) / rows
    return error


def mutual_correlation(information: Floats, entropy: Floats, feature: int) -> Floats:
    """U(X_k|X_j) + U(X_j|X_k) (D,) of feature j with every k, from I(X_k;X_j) (D,) and H(X_k) (D,); 0 with itself."""
    both: Floats = information / np.where(entropy > 0, entropy, 1.0) + information / (entropy[feature] or 1.0)
    both[feature] = 0.0
    return both


def _sums(cells: Floats, layout: Layout) -> Floats:
    sums: Floats = np.add.reduceat(cells, layout.offsets[:-1])
    return sums


def _spread(values: Floats, layout: Layout) -> Floats:
    return np.repeat(values, layout.levels)


def _log_ratio(share: Floats, of: Floats) -> Floats:
    """log(share / of), and 0 where the share is 0: there it is multiplied by 0."""
    seen = share > 0
    ratio: Floats = np.log(np.where(seen, share, 1.0) / np.where(seen, of, 1.0))
    return ratio
