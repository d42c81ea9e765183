"""Tests that labelled rows lie higher or lower than the others, or further out or in, from counts of fine levels.

The statistic is the sum of the scores of the labelled rows, those being dealt at random at the margins of the table.
Its tail is the double saddlepoint approximation (Skovgaard 1987; Robinson 1982 for draws without replacement), right to
a few per cent at ten labels and far out. With a test of all levels it is combined by Liu & Xie 2020: the mean of Cauchy
deviates, right however the tests depend on each other.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import special

__all__ = ["combined_p", "score_p_values"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

STEPS = 60  # of Newton's method at most
CLOSE = 1e-4  # standard deviations from the mean within which the tail is one half


def score_p_values(sizes: Ints, positives: Ints, scores: Floats) -> Floats:
    """Two-sided p-values (D,) of the sums of scores of positives; sizes, positives, scores (D, levels).

    Levels that a feature does not have hold no rows.

    >>> sizes, scores = np.full((1, 9), 50), np.arange(9.0)[None]
    >>> float(score_p_values(sizes, np.array([[0, 0, 0, 0, 0, 0, 0, 2, 4]]), scores)[0]) < 0.002
    True
    """
    rows, n = sizes.sum(axis=1), positives.sum(axis=1)
    alive = (n > 0) & (n < rows)
    found = np.ones(len(sizes))
    if alive.any():
        found[alive] = _two_sided(sizes[alive].astype(float), positives[alive].astype(float), scores[alive])
    return found


def combined_p(parts: Floats) -> Floats:
    """One p-value (D,) of several tests (tests, D) of the same thing.

    >>> combined_p(np.array([[0.01, 1e-200], [0.5, 0.9]])).round(4).tolist()
    [0.02, 0.0]
    """
    p = np.clip(parts, 1e-300, 1 - 1e-12)
    deviate = np.mean(1 / np.tan(np.pi * p), axis=0)
    found: Floats = np.where(deviate > 1e6, 1 / (np.pi * np.maximum(deviate, 1.0)), 0.5 - np.arctan(deviate) / np.pi)
    return found


def _two_sided(c: Floats, a: Floats, z: Floats) -> Floats:
    """Of features all of which have rows of both kinds."""
    rows, n = c.sum(axis=1), a.sum(axis=1)
    z = z - ((c * z).sum(axis=1) / rows)[:, None]
    spread = np.sqrt((c * z**2).sum(axis=1) / rows)
    told = spread > 0
    z = z / np.where(told, spread, 1.0)[:, None]
    x = (a * z).sum(axis=1)
    z, x = z * np.where(x < 0, -1.0, 1.0)[:, None], np.abs(x)  # the other tail by its mirror: no digits are lost
    deviation = np.sqrt(n * (rows - n) / np.maximum(rows - 1, 1))
    t, u = _saddlepoint(c, n, x, z)
    upper = _upper_tail(c, n, x, z, t, u)
    rough = special.ndtr(-x / np.where(deviation > 0, deviation, 1.0))
    # At the mean the formula is 0 / 0, and at the ends of the range there is no saddlepoint.
    ok = np.isfinite(upper) & (x > CLOSE * deviation) & (upper >= 0) & (upper <= 1)
    upper = np.where(ok, upper, rough)
    return np.where(told, np.minimum(1.0, 2 * upper), 1.0)


def _saddlepoint(c: Floats, n: Floats, x: Floats, z: Floats) -> tuple[Floats, Floats]:
    """t, u (D,) at which rows drawn with odds exp(u + t z) are expected to be n with a sum of x; damped Newton."""
    t, u = np.zeros(len(n)), special.logit(n / c.sum(axis=1))
    for _ in range(STEPS):
        share = special.expit(u[:, None] + t[:, None] * z)
        gap_n, gap_x = n - (c * share).sum(axis=1), x - (c * share * z).sum(axis=1)
        uu, ut, tt = _curvature(c, share, z)
        det = np.maximum(uu * tt - ut**2, 1e-300)
        step_u, step_t = (tt * gap_n - ut * gap_x) / det, (uu * gap_x - ut * gap_n) / det
        damp = 1 / np.maximum(1.0, np.maximum(np.abs(step_u), np.abs(step_t)))
        u, t = u + damp * step_u, t + damp * step_t
        if max(np.abs(step_u).max(), np.abs(step_t).max()) < 1e-9:
            break
    return t, u


def _curvature(c: Floats, share: Floats, z: Floats) -> tuple[Floats, Floats, Floats]:
    weight = c * share * (1 - share)
    return weight.sum(axis=1), (weight * z).sum(axis=1), (weight * z**2).sum(axis=1)


def _upper_tail(c: Floats, n: Floats, x: Floats, z: Floats, t: Floats, u: Floats) -> Floats:
    """P(sum >= x) by Skovgaard's formula."""
    u0 = special.logit(n / c.sum(axis=1))
    free = (c * special.log_expit(-(u[:, None] + t[:, None] * z))).sum(axis=1)  # minus the cumulant function
    bound = (c * special.log_expit(-u0[:, None])).sum(axis=1)
    w = np.sign(t) * np.sqrt(2 * np.maximum(t * x + u * n + free - u0 * n - bound, 0.0))
    uu, ut, tt = _curvature(c, special.expit(u[:, None] + t[:, None] * z), z)
    share = n / c.sum(axis=1)
    with np.errstate(all="ignore"):
        v = t * np.sqrt(np.maximum(uu * tt - ut**2, 0.0) / (c.sum(axis=1) * share * (1 - share)))
        density = np.exp(-(w**2) / 2) / np.sqrt(2 * np.pi)
        found: Floats = special.ndtr(-w) + density * (1 / v - 1 / w)
    return found
