"""The exact null distribution of G at given margins: the tail beyond one table, summed on a lattice.

Labels dealt at random within each stratum put a_j positives on a level of c_j rows with probability proportional to
prod_j C(c_j, a_j), given their sum n. N I = sum_j g_j(a_j) is rounded to a lattice on which all g_j are added up level
by level beside the positives dealt so far; what reaches the observed value is absorbed. The largest level gets what is
left, so that beside it only the positives of the others are followed. Rounding is on the safe side: tables that lie
within it count as reached.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

__all__ = ["STEPS", "exact_log_p", "tail_cost"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

STEPS = 256  # of the lattice, from 0 to the observed value
ROUNDING = 1e-9  # of the observed value: tables that differ by so little are ties


def tail_cost(sizes: Ints, positives: Ints) -> int:
    """Additions that ``exact_log_p`` takes for sizes and positives (strata, levels)."""
    own = _rarer(sizes, positives)
    followed = [_followed(c, a) for c, a in zip(sizes, own, strict=True)]
    levels = np.count_nonzero(sizes, axis=1)
    return sum(most * (most + 1) * int(own) for most, own in zip(followed, levels, strict=True)) * STEPS


def exact_log_p(sizes: Ints, positives: Ints) -> float:
    """log P(G >= observed) where labels are dealt at random in every stratum; sizes, positives (strata, levels).

    >>> float(np.exp(exact_log_p(np.array([[5, 5]]), np.array([[4, 0]])))).__round__(4)  # 2 * C(5, 4) / C(10, 4)
    0.0476
    """
    a = _rarer(sizes, positives)
    strata = [(c[c > 0], own[c > 0]) for c, own in zip(sizes, a, strict=True) if 0 < own.sum() < c.sum()]
    if len(strata) == 1 and len(strata[0][0]) == 2:
        return _two_levels(*strata[0])
    observed = sum(float(_divergence(own, c, own.sum() / c.sum()).sum()) for c, own in strata)
    if observed <= 0:
        return 0.0
    step, cells = observed / STEPS, sum(len(c) for c, _ in strata)
    reached = sum(int(_lattice(own, c, own.sum() / c.sum(), step).sum()) for c, own in strata)
    bar = reached - math.ceil(math.sqrt(cells))
    if bar < 1:
        return 0.0
    chance = np.zeros(bar + 1)  # of each value so far; the last one holds all that reached the bar
    chance[0] = 1.0
    for c, own in strata:
        chance = _one_stratum(chance, np.sort(c), int(own.sum()), _followed(c, own), step)
    return math.log(chance[bar]) if chance[bar] > 0 else -observed  # beyond what a double holds


def _rarer(sizes: Ints, positives: Ints) -> Ints:
    """Positives, or in strata where they are the majority the others: G is the same."""
    majority = 2 * positives.sum(axis=1, keepdims=True) > sizes.sum(axis=1, keepdims=True)
    return np.where(majority, sizes - positives, positives)


def _followed(c: Ints, own: Ints) -> int:
    """The most positives on all levels but the largest: those seen there, and as many as have a chance."""
    n, largest = int(own.sum()), int(np.argmax(c))
    others, seen = int(c.sum() - c[largest]), n - int(own[largest])
    mean = others * n / max(int(c.sum()), 1)
    return min(n, others, max(math.ceil(mean + 12 * math.sqrt(mean)), seen) + 40)


def _one_stratum(chance: Floats, c: Ints, n: int, most: int, step: float) -> Floats:
    """The chance of each value after n labels were dealt over levels c, the largest last, added to those before."""
    bar, share = len(chance) - 1, n / float(c.sum())
    state = np.zeros((most + 1, bar + 1))
    state[0] = chance
    for size in c[:-1]:
        a = np.arange(min(most, int(size)) + 1)
        weight = np.exp(_log_binomial(a, float(size), share))
        state = _with_level(state, weight, _lattice(a, size, share, step))
    left = n - np.arange(most + 1)
    possible = left <= c[-1]
    left = left[possible]
    weight = np.exp(_log_binomial(left, float(c[-1]), share) - _log_binomial(np.array(n), float(c.sum()), share))
    return _with_rest(state[possible], weight, _lattice(left, c[-1], share, step))


def _with_rest(state: Floats, weight: Floats, rise: Ints) -> Floats:
    """The largest level takes the positives that are left: state (s, values) with ``weight`` and ``rise`` (s,)."""
    bar = state.shape[1] - 1
    final = np.zeros(bar + 1)
    for row, own, up in zip(state, weight.tolist(), rise.tolist(), strict=True):
        if up < bar:
            final[up:bar] += own * row[: bar - up]
        final[bar] += own * row[max(bar - up, 0) :].sum()
    return final


def _with_level(state: Floats, weight: Floats, rise: Ints) -> Floats:
    """All sums after one level more, of which a positives have ``weight`` and ``rise`` (a,)."""
    n, bar = state.shape[0] - 1, state.shape[1] - 1
    beyond = np.cumsum(state[:, ::-1], axis=1)[:, ::-1]  # at or above each value
    new = np.zeros_like(state)
    for a, (own, up) in enumerate(zip(weight.tolist(), rise.tolist(), strict=True)):
        before = slice(0, n + 1 - a)
        if up < bar:
            new[a:, up:bar] += own * state[before, : bar - up]
        new[a:, bar] += own * beyond[before, max(bar - up, 0)]
    return new


def _two_levels(c: Ints, own: Ints) -> float:
    """The hypergeometric distribution itself."""
    rows, n = int(c.sum()), int(own.sum())
    a = np.arange(max(0, n - int(c[1])), min(n, int(c[0])) + 1)
    log = _log_choose(c[0], a) + _log_choose(c[1], n - a) - _log_choose(rows, n)
    far = _divergence(a, c[0], n / rows) + _divergence(n - a, c[1], n / rows)
    least = far[own[0] - a[0]] * (1 - ROUNDING)
    return min(0.0, float(special.logsumexp(log[far >= least])))


def _log_choose(n: ArrayLike, k: ArrayLike) -> Floats:
    whole, part = np.asarray(n, np.float64), np.asarray(k, np.float64)
    return np.asarray(special.gammaln(whole + 1) - special.gammaln(part + 1) - special.gammaln(whole - part + 1))


def _log_binomial(a: Ints, c: float, share: float) -> Floats:
    return np.asarray(_log_choose(c, a) + a * math.log(share) + (c - a) * math.log1p(-share))


def _lattice(a: Ints, c: ArrayLike, share: float, step: float) -> Ints:
    return np.rint(_divergence(a, c, share) / step).astype(np.int64)


def _divergence(a: Ints, c: ArrayLike, share: float) -> Floats:
    """g = a log(a / m) + (c - a) log((c - a) / (c - m)), m = c share."""
    size = np.asarray(c, np.float64)
    left = size - a
    return np.asarray(special.xlogy(a, a / (size * share)) + special.xlogy(left, left / (size * (1 - share))))
