"""Power of a G-test when only some positives carry a label; rows or labels that a wanted power takes.

For an effect I in nats, G = 2 N I(X;Y|Z) follows a non-central chi-square with lambda = 2 N I. A surrogate of
the hidden class shrinks lambda by a known factor kappa (Sechidis & Brown 2017, Theorems 2, 4, 7). A belief in
p(y=1) may be a range: the worst case is returned.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any, Final, TypedDict

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import brentq

from spark_pufs import fragments
from spark_pufs.core.information.surrogate import (
    Labels,
    Prior,
    SurrogateName,
    choose_surrogate,
    kappa_ends,
    kappa_mar_c,
    kappa_mcar,
    prior_ends,
)
from spark_pufs.errors import ConfigError, Fault
from spark_pufs.values import LARGEST, plain, several, shown

__all__ = [
    "EFFECTS",
    "Power",
    "PowerReport",
    "SampleSize",
    "g_power",
    "g_sample_size",
    "kappa_ends",
    "kappa_mar_c",
    "kappa_mcar",
    "labelled_positives",
    "least_effect",
    "power",
    "power_report",
    "sample_size",
]

EFFECTS: Final = (0.001, 0.003, 0.01, 0.03, 0.1)


@dataclass(frozen=True)
class Power:
    """Probability to find ``effect``: ``power`` at the worst end of the prior, ``best`` at the other."""

    effect: float
    power: float
    best: float
    surrogate: SurrogateName
    kappa: float
    df: int

    def __str__(self) -> str:
        span = f"{self.power:.3f}" if self.power == self.best else f"{self.power:.3f} to {self.best:.3f}"
        return f"power {span} for an effect of {self.effect:g} nats ({self.surrogate}, kappa {self.kappa:.3g})"


@dataclass(frozen=True)
class SampleSize:
    """What ``target`` takes at the worst end of the prior.

    ``rows`` with the labelled share kept; or ``labelled`` positives in the table as it is, None if even all
    positives are too few.
    """

    effect: float
    target: float
    rows: int
    labelled: int | None

    def __str__(self) -> str:
        rows = f"{self.rows:,} rows with this labelled share"
        labelled = "labels alone cannot reach it in these rows"
        if self.labelled is not None:
            labelled = f"or {self.labelled:,} positives labelled in these rows"
        return f"power {self.target:g} for an effect of {self.effect:g} nats: {rows}, {labelled}"


@dataclass(frozen=True)
class PowerReport:
    """Power and needs for several effects, in order."""

    prior: tuple[float, float]
    labelled: int
    rows: int
    alpha: float
    levels: int
    target: float
    kappa: tuple[float, float]
    powers: tuple[Power, ...]
    needs: tuple[SampleSize, ...]

    def __str__(self) -> str:
        table = f"{self.rows:,} rows, {self.labelled:,} labelled positives, prior {_span(*self.prior)}"
        test = f"{self.levels} levels, alpha {self.alpha:g}: kappa {_span(*self.kappa)}"
        wanted = f"rows for {self.target:g}"
        lines = [f"{table}, {test}", f"{'effect':>8} {'power':>15} {wanted:>15} {'or labelled':>15}"]
        for found, need in zip(self.powers, self.needs, strict=True):
            span = _span(found.power, found.best)
            labelled = "not reachable" if need.labelled is None else f"{need.labelled:,}"
            lines.append(f"{found.effect:>8.3g} {span:>15} {need.rows:>15,} {labelled:>15}")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        head, *table = str(self).splitlines()
        return fragments.card(head, "plain", fragments.preformatted("\n".join(table)))


MOST = 1_000_000  # levels, and conditions
LEAST_EFFECT = 1e-15  # nats


class _Table(TypedDict):
    prior: Prior
    labelled: int
    rows: int
    alpha: float
    levels: int


def g_power(
    effect: ArrayLike, n: ArrayLike, *, alpha: float = 0.05, df: int = 1, kappa: float = 1.0
) -> NDArray[np.float64]:
    """1 - F(chi2_{1-alpha,df}; df, 2 n kappa effect), broadcast over ``effect`` and ``n``.

    >>> g_power([0.0, 0.01], 500, alpha=0.1).round(3).tolist()
    [0.1, 0.935]
    """
    from scipy.stats import chi2, ncx2

    critical = float(chi2.isf(alpha, df))
    shift = 2.0 * kappa * np.asarray(n, float) * np.asarray(effect, float)
    # Far beyond the critical value the power is 1 to the last bit (Birge 2001, lower tail of ncx2).
    return np.asarray(ncx2.sf(critical, df, np.minimum(shift, 10 * (critical + 1000))), float)


def g_sample_size(effect: float, power: float, *, alpha: float = 0.05, df: int = 1, kappa: float = 1.0) -> int:
    """Smallest N whose test has the wanted power.

    >>> g_sample_size(0.01, 0.8), g_sample_size(0.01, 0.8, kappa=0.25)
    (393, 1570)
    """
    n = math.ceil(_lambda(power, alpha, df) / (2 * kappa * effect))
    # The root is good to some 1e-12 of itself: step to the exact integer.
    below = float(g_power(effect, n - 1, alpha=alpha, df=df, kappa=kappa))
    if n > 1 and below >= power:
        return n - 1
    return n if float(g_power(effect, n, alpha=alpha, df=df, kappa=kappa)) >= power else n + 1


def least_effect(power: float, n: int, *, alpha: float = 0.05, df: int = 1) -> float:
    """The smallest effect in nats that a test of ``n`` rows finds with the wanted power.

    >>> round(least_effect(0.8, 393), 4)
    0.01
    """
    return _lambda(power, alpha, df) / (2 * n)


def labelled_positives(effect: float, power: float, n: int, prior: Prior, *, alpha: float = 0.05, df: int = 1) -> int:
    """Smallest number of labelled positives among ``n`` rows, no negative labelled, for the wanted power.

    >>> labelled_positives(0.01, 0.8, 2000, 0.1)
    43
    """
    needed = _lambda(power, alpha, df) / (2 * n * effect)
    high = prior_ends(prior)[1]
    # Theorem 4 solved for q = p(y0=1); kappa falls with the prior, so its upper end is the worst.
    odds = needed * high / (1 - high)
    count = max(1, math.ceil(n * odds / (1 + odds) * (1 - 1e-12)))
    if needed > 1 or count > n * high:
        found = f"{power:g} is out of reach for {effect:g} nats in {n:,} rows even with every positive labelled"
        least = g_sample_size(effect, power, alpha=alpha, df=df)
        raise ConfigError(Fault("power", found, f"Give more than {least:,} rows or a larger effect."))
    return count


def power(
    *,
    prior: Prior,
    labelled: int,
    rows: int,
    effect: float,
    alpha: float = 0.05,
    levels: int = 5,
    conditions: int = 1,
    negatives: int = 0,
) -> Power:
    """Probability that a test finds a feature which tells ``effect`` nats of the class.

    - ``prior``: believed share of positives among all rows, or a range (low, high).
    - ``labelled``, ``negatives``: rows labelled positive, and rows labelled negative.
    - ``rows``: all rows, labelled or not.
    - ``effect``: mutual information of feature and class in nats; at most the entropy of the class.
    - ``alpha``: significance level of the test.
    - ``levels``: values (bins) of the feature.
    - ``conditions``: combinations of values of other features that are held fixed; 1 for none.

    >>> print(power(prior=0.05, labelled=100, rows=10_000, effect=0.003))
    power 0.784 for an effect of 0.003 nats (y0, kappa 0.192)
    """
    labelled, rows, negatives = _numbers(labelled=labelled, rows=rows, negatives=negatives)
    alpha, levels, conditions, effect = _numbers(alpha=alpha, levels=levels, conditions=conditions, effect=effect)
    prior = _prior(prior)
    _check(prior, alpha=alpha, levels=levels, conditions=conditions, effect=effect)
    surrogate, ends = _kappas(prior, labelled, negatives, rows)
    df = (levels - 1) * conditions
    worst, best = (float(g_power(effect, rows, alpha=alpha, df=df, kappa=k)) for k in ends)
    return Power(effect, worst, best, surrogate, ends[0], df)


def sample_size(
    *,
    prior: Prior,
    labelled: int,
    rows: int,
    effect: float,
    target: float = 0.8,
    alpha: float = 0.05,
    levels: int = 5,
    conditions: int = 1,
    negatives: int = 0,
) -> SampleSize:
    """Rows, or labelled positives, that a wanted power takes, starting from the table as it is.

    - ``target``: the power to reach.
    - ``prior``, ``labelled``, ``rows``, ``effect``, ``alpha``, ``levels``: as in ``power``.
    - ``conditions``, ``negatives``: as in ``power``.

    >>> need = sample_size(prior=0.05, labelled=100, rows=10_000, effect=0.003)
    >>> need.rows, need.labelled
    (10365, 104)
    """
    labelled, rows, negatives, target = _numbers(labelled=labelled, rows=rows, negatives=negatives, target=target)
    alpha, levels, conditions, effect = _numbers(alpha=alpha, levels=levels, conditions=conditions, effect=effect)
    prior = _prior(prior)
    _check(prior, alpha=alpha, levels=levels, conditions=conditions, effect=effect, target=target)
    _, ends = _kappas(prior, labelled, negatives, rows)
    df = (levels - 1) * conditions
    needed = g_sample_size(effect, target, alpha=alpha, df=df, kappa=ends[0])
    try:
        wanted = labelled_positives(effect, target, rows, prior, alpha=alpha, df=df)
    except ConfigError:
        wanted = None
    return SampleSize(effect, target, needed, wanted)


def power_report(
    prior: Prior,
    labelled: int,
    rows: int,
    effect: float | Sequence[float] | None = None,
    alpha: float = 0.05,
    levels: int = 5,
    target: float = 0.8,
) -> PowerReport:
    """Power, and what ``target`` takes in rows or labelled positives, for one or several effects; prints as a table.

    - ``effect``: nats, one or several; by default those from 0.001 to 0.1 that the prior allows.
    - ``prior``, ``labelled``, ``rows``, ``alpha``, ``levels``, ``target``: as in ``power`` and ``sample_size``.

    >>> print(power_report(prior=0.05, labelled=100, rows=10_000, effect=[0.003, 0.01]))
    10,000 rows, 100 labelled positives, prior 0.05, 5 levels, alpha 0.05: kappa 0.192
      effect           power    rows for 0.8     or labelled
       0.003           0.784          10,365             104
        0.01               1           3,110              32
    """
    prior = _prior(prior)
    effects = _possible(prior) if effect is None else _given(effect)
    table: _Table = {"prior": prior, "labelled": labelled, "rows": rows, "alpha": alpha, "levels": levels}
    powers = tuple(power(**table, effect=size) for size in effects)
    needs = tuple(sample_size(**table, effect=size, target=target) for size in effects)
    kappa = _kappas(prior, labelled, 0, rows)[1]
    return PowerReport(prior_ends(prior), labelled, rows, alpha, levels, target, kappa, powers, needs)


def _given(effect: float | Sequence[float]) -> Sequence[float]:
    effects = several(effect)
    if not effects:
        raise ConfigError(Fault("effect", "must be a number or several, got none", "For example 0.01."))
    return effects


def _lambda(power: float, alpha: float, df: int) -> float:
    """Non-centrality whose test has the wanted power."""
    if not alpha < power < 1:
        found = f"must lie between alpha = {alpha:g} and 1, got {power:g}"
        raise ConfigError(Fault("power", found, "Give e.g. 0.8."))
    high = 1.0
    while float(g_power(high / 2, 1, alpha=alpha, df=df)) < power:
        high *= 2
    return float(brentq(lambda shift: float(g_power(shift / 2, 1, alpha=alpha, df=df)) - power, 0.0, high))


def _kappas(prior: Prior, labelled: int, negatives: int, rows: int) -> tuple[SurrogateName, tuple[float, float]]:
    """The surrogate to use for a table and its (worst, best) correction factor."""
    if rows <= labelled + negatives:
        found = f"must exceed the {labelled + negatives:,} labelled rows, got {rows:,}"
        raise ConfigError(Fault("rows", found, "Count labelled and unlabelled rows together."))
    surrogate = choose_surrogate(Labels(labelled, negatives, rows - labelled - negatives), prior).name
    share = (labelled if surrogate == "y0" else negatives) / rows
    return surrogate, kappa_ends("mar-c", surrogate, prior, share)


def _possible(prior: Prior) -> tuple[float, ...]:
    """The usual effects that a class can have, or the largest one where it has none of them."""
    most = _entropy(prior)
    return tuple(effect for effect in EFFECTS if effect <= most) or (most,)


def _entropy(prior: Prior) -> float:
    """Of the class, in nats; over a range of the prior the largest."""
    ends = prior if isinstance(prior, tuple) else (prior, prior)
    if len(ends) != 2 or not all(isinstance(end, Real) for end in ends):
        found = f"must be a number or a range (low, high), got {shown(prior)}"
        raise ConfigError(Fault("prior", found, "Give the believed share of positives, e.g. 0.05."))
    low, high = prior_ends(prior)
    p = min(max(0.5, low), high)
    return -p * math.log(p) - (1 - p) * math.log1p(-p)


def _numbers(**given: object) -> list[Any]:
    """Python's own numbers, whatever kind they came as, and none that a float cannot hold."""
    values = {name: plain(value) for name, value in given.items()}
    faults = [
        Fault(name, f"must be a number, got {shown(given[name])}", "Give a number.")
        for name, value in values.items()
        if not isinstance(value, int | float) or not abs(value) < LARGEST
    ]
    if faults:
        raise ConfigError(faults)
    return list(values.values())


def _prior(given: Any) -> Any:
    """One share or two, each as Python's own number."""
    return tuple(map(plain, given)) if isinstance(given, tuple) else given if isinstance(given, list) else plain(given)


def _check(
    prior: Prior, *, alpha: float, levels: int, conditions: int, effect: float, target: float | None = None
) -> None:
    most = _entropy(prior)
    tests = {
        # I(X;Y) cannot exceed the entropy of the class.
        ("effect", effect, f"lie in (0, {most:.3g}]", "Give it in nats, at most the entropy."): (
            0 < effect <= most * (1 + 1e-9)
        ),
        ("effect", effect, f"be at least {LEAST_EFFECT:g}", "No table shows less."): not 0 < effect < LEAST_EFFECT,
        ("alpha", alpha, "lie in (0, 1)", "Give e.g. 0.05."): 0 < alpha < 1,
        ("levels", levels, "be at least 2", "Give the number of values of the feature."): levels >= 2,
        ("conditions", conditions, "be at least 1", "Give 1 for none."): conditions >= 1,
        ("levels", levels, f"be at most {MOST:,}", "Bin the feature."): levels <= MOST,
        ("conditions", conditions, f"be at most {MOST:,}", "Hold fewer features fixed."): conditions <= MOST,
        ("target", target, f"lie between alpha = {alpha:g} and 1", "Give e.g. 0.8."): (
            target is None or alpha < target < 1
        ),
    }
    failed = [test for test, passed in tests.items() if not passed]
    if failed:
        raise ConfigError([Fault(where, f"must {be}, got {got}", fix) for where, got, be, fix in failed])


def _span(low: float, high: float) -> str:
    return f"{low:.3g}" if low == high else f"{low:.3g} to {high:.3g}"
