"""rho, the share of all positives that carry a label: as a belief, or estimated from the table (Elkan & Noto 2008)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from statistics import NormalDist
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from spark_pufs.core.evidence.classifier import Classifier
from spark_pufs.errors import ConfigError, DataError, Fault

__all__ = [
    "PER_FOLD",
    "Belief",
    "Beta",
    "LabelRate",
    "Rho",
    "belief",
    "delong",
    "estimate_rho",
    "placement_variance",
    "placements",
]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

PER_FOLD = 2  # labelled rows that every fold must hold
NODES = 256  # points that stand for a Beta
SEPARATED = 0.95  # AUC below which the classes overlap too much for rho


@dataclass(frozen=True)
class Beta:
    """A Beta(a, b) belief in a share: a / (a + b) on average, as sure as a + b observations would make one."""

    a: float
    b: float


Rho: TypeAlias = float | tuple[float, float] | Beta


@dataclass(frozen=True)
class Belief:
    """A share as ``nodes`` (Q,) of equal weight for expectations, and the ends ``low`` and ``high`` for intervals."""

    nodes: Floats
    low: float
    high: float


@dataclass(frozen=True)
class LabelRate:
    """rho with its bootstrap standard ``error`` and interval, and what follows from it.

    ``positives`` = labelled / rho, ``prior`` their share of all rows. ``separation`` is the AUC of g, positives against
    negatives, as the AUC of labelled against unlabelled rows and this prior imply it: rho is right where it is near 1.
    ``floor`` is the smallest rho that this AUC allows, since no classifier can pass 1. The interval covers the draw of
    rows, not the bias of a classifier that fits badly.
    """

    rho: float
    error: float
    low: float
    high: float
    separation: float
    floor: float
    positives: float
    prior: float
    warnings: tuple[str, ...]

    def __str__(self) -> str:
        line = f"rho {self.rho:.3f} ({self.low:.3f} to {self.high:.3f}), about {self.positives:.0f} positives"
        return "\n".join([line, *(f"warning: {text}" for text in self.warnings)])


def belief(share: Rho, where: str = "rho") -> Belief:
    """Read a share given as a value, a range or a ``Beta``; a range stands for its middle, with its ends as bounds.

    >>> belief(0.3).nodes, belief((0.2, 0.4)).low
    (array([0.3]), 0.2)
    >>> round(float(belief(Beta(3, 7)).nodes.mean()), 3)
    0.3
    """
    if isinstance(share, Beta):
        return _beta(share, where)
    low, high = share if isinstance(share, tuple) else (share, share)
    if not 0 < low <= high <= 1:
        fix = f"For a Beta give Beta({low:g}, {high:g})." if low > 0 and high > 1 else "Give e.g. 0.3 or (0.2, 0.4)."
        raise ConfigError(Fault(where, f"must lie in (0, 1], got {share}", fix))
    return Belief(np.array([(low + high) / 2]), float(low), float(high))


def _beta(share: Beta, where: str) -> Belief:
    from scipy.stats import beta

    if not min(share.a, share.b) > 0:
        raise ConfigError(Fault(where, f"Beta needs two positive numbers, got {share}", "Give e.g. Beta(3, 7)."))
    # Mid-quantiles instead of Gauss-Jacobi: no overflow for sharp beliefs, and the integrands are cut at 1.
    nodes = beta.ppf((np.arange(NODES) + 0.5) / NODES, share.a, share.b)
    low, high = (float(beta.ppf(tail, share.a, share.b)) for tail in (0.025, 0.975))
    return Belief(np.maximum(nodes, 1e-12), max(low, 1e-12), high)


def estimate_rho(
    X: ArrayLike,
    labelled: ArrayLike,
    rng: np.random.Generator,
    classifier: Classifier | None = None,
    folds: int = 5,
    draws: int = 50,
    level: float = 0.95,
) -> LabelRate:
    """rho by Elkan & Noto (their e1): g(x) ~ p(s=1|x), fitted out of fold, averaged over the labelled rows.

    X (N, D) finite, ``labelled`` (N,) bool. ``classifier`` is any scikit-learn classifier with ``predict_proba``;
    without one a logistic regression on standardised columns. Folds are stratified by the label. The interval comes
    from ``draws`` bootstrap samples of the rows, each fitted anew; copies of a row share its fold, so no row is scored
    by a model that saw it. Exact under SCAR only where positives are certain, p(y=1|x) = 1: overlap makes it too small.

    >>> rng = np.random.default_rng(0)
    >>> y = rng.random(2000) < 0.3
    >>> X = rng.normal(size=(2000, 2)) + 6 * y[:, None]
    >>> found = estimate_rho(X, y & (rng.random(2000) < 0.4), rng, draws=10)
    >>> abs(found.rho - 0.4) < 0.05
    True
    """
    rows, flag = _checked(X, labelled, folds)
    make = _maker(classifier)
    fold = _stratified(flag, folds, rng)
    g = _out_of_fold(rows, flag, fold, np.arange(len(flag)), make)
    rho = float(g[flag].mean())
    spread = []
    for _ in range(draws):
        chosen = _resample(flag, fold, rng)
        spread.append(float(_out_of_fold(rows, flag, fold, chosen, make)[flag[chosen]].mean()))
    low, high, error = _interval(rho, np.array(spread), level)
    positives = float(flag.sum()) / rho
    separation, floor = _separation(g, flag, positives)
    warnings = _warnings(rho, separation, floor)
    return LabelRate(rho, error, low, high, separation, floor, positives, positives / len(flag), warnings)


def _out_of_fold(
    X: Floats, flag: NDArray[np.bool_], fold: Ints, chosen: Ints, make: Callable[[], Classifier]
) -> Floats:
    """g (n,) of the ``chosen`` rows (row numbers (n,), repeats allowed), each by a model of the other folds."""
    g = np.empty(len(chosen))
    for number in range(int(fold.max()) + 1):
        test = fold[chosen] == number
        train = chosen[~test]
        g[test] = make().fit(X[train], flag[train]).predict_proba(X[chosen[test]])[:, 1]
    return g


def _separation(g: Floats, flag: NDArray[np.bool_], positives: float) -> tuple[float, float]:
    """AUC against the hidden class from AUC_pu = (1 - pi) AUC + pi / 2, and the rho at which it would be 1.

    pi is the positives' share of the unlabelled rows.
    """
    m, n = int(flag.sum()), int((~flag).sum())
    auc, _ = delong(g[flag], g[~flag])
    pi = (positives - m) / n
    return (auc - pi / 2) / (1 - pi) if pi < 1 else float("nan"), m / (m + 2 * n * (1 - auc))


def delong(high: Floats, low: Floats) -> tuple[float, float]:
    """AUC of scores ``high`` (m,) against ``low`` (n,), and its variance.

    DeLong, DeLong & Clarke-Pearson 1988, by mid-ranks (Sun & Xu 2014): m log m instead of m n.

    >>> auc, variance = delong(np.array([3.0, 1.0]), np.array([2.0, 0.0]))
    >>> auc, round(variance, 4)
    (0.75, 0.125)
    """
    above, below = placements(high, low)
    return float(above.mean()), placement_variance(above, below)


def placements(high: Floats, low: Floats) -> tuple[Floats, Floats]:
    """The share of ``low`` (n,) below each of ``high`` (m,), and of ``high`` above each of ``low``; ties count half."""
    from scipy.stats import rankdata

    m, n = len(high), len(low)
    ranks = rankdata(np.concatenate([high, low]))
    return (ranks[:m] - rankdata(high)) / n, 1 - (ranks[m:] - rankdata(low)) / m


def placement_variance(above: Floats, below: Floats) -> float:
    """Variance of an AUC from its placements; of differences of two on the same rows, that of the AUCs' difference."""
    return sum(float(part.var(ddof=1)) / len(part) for part in (above, below) if len(part) > 1)


def _stratified(flag: NDArray[np.bool_], folds: int, rng: np.random.Generator) -> Ints:
    """The fold (N,) of every row: labelled and unlabelled rows distributed evenly, each kind in random order."""
    fold = np.empty(len(flag), np.int64)
    for kind in (flag, ~flag):
        fold[kind] = rng.permutation(np.arange(kind.sum()) % folds)
    return fold


def _resample(flag: NDArray[np.bool_], fold: Ints, rng: np.random.Generator) -> Ints:
    """As many rows drawn with replacement from every fold and kind, so that no fold runs out of labelled rows."""
    cells = [np.flatnonzero((fold == f) & (flag == kind)) for f in range(int(fold.max()) + 1) for kind in (True, False)]
    return np.concatenate([rng.choice(cell, len(cell)) for cell in cells])


def _interval(rho: float, draws: Floats, level: float) -> tuple[float, float, float]:
    """Ends and standard error; on the logit scale, which keeps the ends inside (0, 1)."""
    if len(draws) < 2:
        return float("nan"), float("nan"), float("nan")
    error = float(draws.std(ddof=1))
    inside = min(max(rho, 1e-9), 1 - 1e-9)
    centre, reach = np.log(inside / (1 - inside)), NormalDist().inv_cdf(0.5 + level / 2) * error / inside / (1 - inside)
    low, high = (float(1 / (1 + np.exp(-np.clip(end, -700, 700)))) for end in (centre - reach, centre + reach))
    return low, high, error


def _maker(classifier: Classifier | None) -> Callable[[], Classifier]:
    """Fresh copies of the classifier."""
    from sklearn.base import clone

    if classifier is None:
        from sklearn.linear_model import LogisticRegression
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import StandardScaler

        classifier = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
    if not hasattr(classifier, "predict_proba"):
        found = f"{type(classifier).__name__} has no predict_proba"
        raise ConfigError(Fault("classifier", found, "Give one that estimates probabilities."))
    return lambda: clone(classifier)


def _checked(X: ArrayLike, labelled: ArrayLike, folds: int) -> tuple[Floats, NDArray[np.bool_]]:
    rows, flag = np.asarray(X, np.float64), np.asarray(labelled).astype(np.bool_)
    if folds < 2:
        raise ConfigError(Fault("folds", f"must be at least 2, got {folds}", "Give e.g. 5."))
    if rows.ndim != 2 or flag.shape != rows.shape[:1]:
        found = f"X (N, D) and labelled (N,) do not fit: {rows.shape} and {flag.shape}"
        raise DataError(Fault("Label rate", found, "Give one label per row."))
    if not np.isfinite(rows).all():
        raise DataError(Fault("Label rate", "X has missing or infinite values", "Fill or drop them first."))
    for kind, count in (("labelled", int(flag.sum())), ("unlabelled", int((~flag).sum()))):
        if count < PER_FOLD * folds:
            found = f"{count} {kind} rows for {folds} folds, at least {PER_FOLD * folds} are needed"
            raise DataError(Fault("Label rate", found, f"Give more {kind} rows, fewer folds, or rho itself."))
    return rows, flag


def _warnings(rho: float, separation: float, floor: float) -> tuple[str, ...]:
    if not separation >= SEPARATED:
        seen = "" if np.isnan(separation) else f" (AUC {separation:.2f}, 1 is needed)"
        return (f"the classifier does not part the classes{seen}: rho {rho:.3f} is rather too small; give it yourself",)
    if rho < 0.95 * floor:
        return (f"rho {rho:.3f} is too small: the AUC of labelled against unlabelled rows implies {floor:.3f} or more",)
    return ()
