"""How many findings are false: q-values of Benjamini and Hochberg, and a bound on the expected number."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["expected_false", "null_share", "q_values"]

Floats = NDArray[np.float64]


def q_values(p: ArrayLike, any_dependence: bool = False, level: float | None = None) -> Floats:
    """The least false-discovery rate (D,) at which each of the tests with p-values ``p`` (D,) is a finding.

    Benjamini & Hochberg 1995, right for independent and for positively dependent tests; with ``any_dependence`` that of
    Benjamini & Yekutieli 2001, larger by 1 + 1/2 + ... + 1/D. With ``level``, the rate that is asked for, they are
    smaller by the share of tests that may find nothing.

    >>> q_values([0.01, 0.5, 0.02]).round(3).tolist()
    [0.03, 0.5, 0.03]
    """
    values = np.asarray(p, np.float64)
    order = np.argsort(values, kind="stable")
    ranks = np.arange(1, len(values) + 1)
    factor = float((1 / ranks).sum()) if any_dependence else 1.0
    factor *= 1.0 if level is None else null_share(values, level)
    adjusted = np.minimum.accumulate((values[order] * len(values) * factor / ranks)[::-1])[::-1]
    found = np.empty_like(values)
    found[order] = np.minimum(adjusted, 1.0)
    return found


def null_share(p: ArrayLike, level: float) -> float:
    """At most which share of the tests with p-values ``p`` find nothing: those above ``level``, and as many below.

    Storey 2002 with one test more and the level of the rate itself, at which it holds for independent tests, and in
    simulations for tests that depend on each other (Blanchard & Roquain 2009).

    >>> null_share([0.001, 0.01, 0.6, 0.8], 0.1).__round__(3), null_share([0.3, 0.9], 0.1)
    (0.833, 1.0)
    """
    values = np.asarray(p, np.float64)
    above = 1 + int((values > level).sum())
    return min(1.0, above / (max(len(values), 1) * (1 - level)))


def expected_false(p: ArrayLike) -> Floats:
    """At most how many of the findings (D,) are false on average, if every test with a p-value as low is one.

    D times p, whatever depends on what: of D tests that find nothing, so many pass.

    >>> expected_false([0.01, 0.5, 0.02]).round(3).tolist()
    [0.03, 1.5, 0.06]
    """
    values = np.asarray(p, np.float64)
    return values * len(values)
