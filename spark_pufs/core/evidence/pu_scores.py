"""Recall, precision, F-beta, LL and AUC of a predictor when no negative was ever confirmed, with error bars.

Tabatabaei, Klein & Hoogendoorn 2020. M rows, M1 predicted positive, S labelled, S1 both; rho = S / P is the share of
the P positives that carry a label. Labelled rows are taken as drawn at random from the positives (SCAR), so S1 is
hypergeometric(P, P1, S) with P1 the positives among the predicted, estimated by S1 / rho. The error bars are those of
this draw with the rows held fixed; score a predictor on rows that it was not fitted to.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Final, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from spark_pufs import fragments
from spark_pufs.core.evidence.label_rate import Belief, Beta, Rho, belief, delong
from spark_pufs.core.evidence.stability import wilson
from spark_pufs.errors import ConfigError, DataError, Fault
from spark_pufs.masking.texts import gist
from spark_pufs.values import plain, shown

__all__ = ["Beta", "Counts", "Estimate", "PUAuc", "PUScores", "pu_auc", "rho_sweep", "score_counts", "scores"]

FACTORS: Final = (0.5, 0.75, 0.9, 1.0, 1.1, 1.25, 1.5, 2.0)  # of rho, as in Fig. 5 of the paper
FEW: Final = 10  # labelled rows below which a score is hardly worth reading

Flags = NDArray[np.bool_]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Estimate:
    """A value, its standard ``error`` and the interval ``low`` to ``high``."""

    value: float
    error: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.value:.3f} +- {self.error:.3f} ({self.low:.3f} to {self.high:.3f})"


@dataclass(frozen=True)
class Counts:
    """``rows`` M, ``predicted`` positive M1, ``labelled`` S, ``both`` S1."""

    rows: int
    predicted: int
    labelled: int
    both: int


@dataclass(frozen=True)
class PUScores:
    """Scores of one predictor. ``verdict`` is "scored", or names why there is nothing to score.

    A predictor that calls everything or nothing positive gets an F and LL of 0; without a labelled row all is nan.
    """

    recall: Estimate
    precision: Estimate
    f: Estimate
    ll: Estimate
    beta: float
    rho: Rho
    counts: Counts
    verdict: str
    warnings: tuple[str, ...]

    @property
    def degenerate(self) -> bool:
        """Whether there was nothing to score."""
        return self.verdict != SCORED

    def __str__(self) -> str:
        names = {"recall": self.recall, "precision": self.precision, f"F{self.beta:g}": self.f, "LL": self.ll}
        n = self.counts
        head = f"{n.both} of {n.labelled} labelled rows among {n.predicted} predicted of {n.rows}"
        lines = [f"{self.verdict}: {head}; rho {self.rho}", *(f"{name:<10}{value}" for name, value in names.items())]
        return "\n".join([*lines, *(f"warning: {text}" for text in self.warnings)])

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        told, *others = str(self).splitlines()
        return fragments.card(told, "plain", fragments.preformatted("\n".join(others)))


@dataclass(frozen=True)
class PUAuc:
    """AUC of ``labelled`` against ``unlabelled`` rows; with pi also ``corrected`` to positives against negatives."""

    auc: Estimate
    corrected: Estimate | None
    labelled: int
    unlabelled: int
    verdict: str
    warnings: tuple[str, ...]


SCORED: Final = "scored"
MOST_BETA = 1e100  # its square is a number
EVERYTHING, NOTHING = "everything is predicted positive", "nothing is predicted positive"
NO_LABEL, NO_OTHER, CONSTANT = "no labelled row", "no unlabelled row", "every row has the same score"
_NAN, _ZERO = Estimate(*[math.nan] * 4), Estimate(0.0, 0.0, 0.0, 0.0)


def scores(predicted: ArrayLike, labelled: ArrayLike, rho: Rho, beta: float = 1.0, level: float = 0.95) -> PUScores:
    """Score predictions on positive-unlabelled rows.

    - ``predicted`` (M,), ``labelled`` (M,): bool or 0/1, for the same rows.
    - ``rho``: share of all positives that carry a label: a value, a range (low, high) or a ``Beta(a, b)``. A range
      gives the score at its middle and an interval over its ends; a Beta the expected score, its spread in the error,
      and an interval over the central 95 % of the belief.
    - ``beta``: above 1 gives recall more weight in F.
    - ``level``: of the intervals.

    >>> row = np.arange(1000)
    >>> print(scores((row >= 6) & (row < 150), labelled=row < 30, rho=0.3))
    scored: 24 of 30 labelled rows among 144 predicted of 1000; rho 0.3
    recall    0.800 +- 0.061 (0.657 to 0.893)
    precision 0.556 +- 0.043 (0.456 to 0.620)
    F1        0.656 +- 0.050 (0.539 to 0.732)
    LL        4.444 +- 0.682 (2.999 to 5.538)
    """
    flags, marked = _flags(predicted, "predicted"), _flags(labelled, "labelled")
    if len(flags) != len(marked):
        found = f"{len(flags)} predictions for {len(marked)} labels"
        raise DataError(Fault("predicted", found, "Give both for the same rows."))
    n = Counts(len(flags), int(flags.sum()), int(marked.sum()), int((flags & marked).sum()))
    return score_counts(n, rho, beta, level)


def score_counts(n: Counts, rho: Rho, beta: float = 1.0, level: float = 0.95) -> PUScores:
    """The same from counts alone, such as an engine has summed up.

    >>> round(score_counts(Counts(rows=1000, predicted=144, labelled=30, both=24), rho=0.3).f.value, 3)
    0.656
    """
    if not 0 < _number(beta) < MOST_BETA:
        raise ConfigError(Fault("beta", f"must be positive, got {shown(beta)}", "Give e.g. 1."))
    if not 0 < _number(level) < 1:
        raise ConfigError(Fault("level", f"must lie in (0, 1), got {shown(level)}", "Give e.g. 0.95."))
    beta, level, rho = _number(beta), _number(level), _share(rho)
    sure, verdict, least = _belief(rho, "rho"), _verdict(n), n.labelled / n.rows
    if verdict == NO_LABEL:
        return PUScores(_NAN, _NAN, _NAN, _NAN, beta, rho, n, verdict, ())
    if sure.high < least:
        found = f"{rho} would mean more positives than the {n.rows:,} rows"
        raise ConfigError(Fault("rho", found, f"Give at least {least:.3g}, the labelled share of the rows."))
    # There cannot be more positives than rows.
    sure = Belief(np.maximum(sure.nodes, least), max(sure.low, least), sure.high)
    recall, precision, f, ll = (_estimate(kind, n, sure, beta, level) for kind in ("recall", "precision", "f", "ll"))
    if verdict != SCORED:
        f, ll = _ZERO, _ZERO
    return PUScores(recall, precision, f, ll, beta, rho, n, verdict, _warnings(n, sure))


def rho_sweep(
    predicted: ArrayLike, labelled: ArrayLike, rho: float, beta: float = 1.0, factors: Sequence[float] = FACTORS
) -> tuple[PUScores, ...]:
    """The scores if rho were wrong: one for every factor, rho kept between the labelled share of the rows and 1.

    >>> found = rho_sweep([1, 1, 1, 0, 0, 0, 0, 0], [1, 0, 0, 1, 0, 0, 0, 0], rho=0.5, factors=(0.5, 1, 2))
    >>> [(one.rho, round(one.f.value, 2)) for one in found]
    [(0.25, 0.67), (0.5, 0.57), (1.0, 0.4)]
    """
    least = float(np.mean(_flags(labelled, "labelled")))
    return tuple(scores(predicted, labelled, min(max(rho * c, least, 1e-12), 1.0), beta) for c in factors)


def pu_auc(score: ArrayLike, labelled: ArrayLike, pi: Rho | None = None, level: float = 0.95) -> PUAuc:
    """AUC of labelled against unlabelled rows with DeLong's standard error; ``score`` (M,), ``labelled`` (M,) bool.

    Under SCAR it is (1 - pi) AUC + pi / 2, pi = S (1 - rho) / (rho (M - S)) being the share of positives among the
    unlabelled rows: it ranks predictors as the hidden AUC would. Given pi (value, range or ``Beta``), ``corrected`` is
    that AUC.

    >>> found = pu_auc([0.9, 0.8, 0.7, 0.6, 0.4, 0.3, 0.2, 0.1], [1, 0, 1, 0, 0, 0, 0, 0], pi=0.1)
    >>> round(found.auc.value, 4), round(found.corrected.value, 4)
    (0.9167, 0.963)
    """
    values, marked = np.asarray(score, np.float64), _flags(labelled, "labelled")
    if values.shape != marked.shape or not np.isfinite(values).all():
        found = f"expected {len(marked)} finite numbers, got {np.isfinite(values).sum()} in shape {values.shape}"
        raise DataError(Fault("score", found, "Give one for every label."))
    m, n = int(marked.sum()), int((~marked).sum())
    if m == 0 or n == 0:
        return PUAuc(_NAN, None if pi is None else _NAN, m, n, NO_LABEL if m == 0 else NO_OTHER, ())
    auc = _auc(values[marked], values[~marked], level)
    corrected, warnings = (None, ()) if pi is None else _corrected(auc, _belief(pi, "pi"))
    return PUAuc(auc, corrected, m, n, CONSTANT if np.ptp(values) == 0 else SCORED, warnings)


def _number(value: object) -> float:
    """Python's own number; NaN, which lies in no range, for anything else."""
    number = plain(value)
    return cast(float, number) if isinstance(number, Real) else math.nan


def _share(given: object) -> Rho:
    """A share, a range or a Beta with Python's own numbers."""
    if isinstance(given, Beta):
        return given
    return cast(Rho, tuple(map(plain, given)) if isinstance(given, tuple) else plain(given))


def _belief(share: Rho, where: str) -> Belief:
    ends = share if isinstance(share, tuple) else vars(share).values() if isinstance(share, Beta) else (share, share)
    if len(ends) != 2 or not all(isinstance(end, Real) for end in ends):
        found = f"must be a number, a range (low, high) or a Beta, got {shown(share)}"
        raise ConfigError(Fault(where, found, "Give e.g. 0.3 or (0.2, 0.4)."))
    return belief(share, where)


def _verdict(n: Counts) -> str:
    if n.labelled == 0:
        return NO_LABEL
    return EVERYTHING if n.predicted == n.rows else NOTHING if n.predicted == 0 else SCORED


def _warnings(n: Counts, sure: Belief) -> tuple[str, ...]:
    found = [f"only {n.labelled} labelled rows"] if n.labelled < FEW else []
    if n.predicted and n.both / n.predicted > sure.high:
        seen = f"{n.both} of {n.predicted} predicted rows are labelled"
        found.append(f"precision is cut at 1: {seen}, so rho is at least {n.both / n.predicted:.3g}")
    return tuple(found)


def _estimate(kind: str, n: Counts, sure: Belief, beta: float, level: float) -> Estimate:
    """One score: its mean and spread over the belief, and the outermost ends of its intervals."""
    values, slopes = zip(*(_value(kind, n.both, n, float(rho), beta) for rho in sure.nodes), strict=True)
    # Var(S1) of the paper with P1 = S1 / rho put in.
    spare = np.maximum(n.labelled - sure.nodes, 1e-12)
    variance = (1 - sure.nodes) * n.both * (n.labelled - n.both) / spare * np.square(slopes)
    error = math.sqrt(float(variance.mean()) + float(np.var(values)))
    ends = []
    for rho in (sure.low, sure.high):
        # Wilson's interval of the recall; a draw without replacement is worth (S - rho) / (1 - rho) trials.
        trials = max(n.labelled - rho, 1e-12) / (1 - rho) if rho < 1 else math.inf
        span = wilson(n.both / n.labelled, trials, level)
        ends += [_value(kind, float(end) * n.labelled, n, rho, beta)[0] for end in span]
    return Estimate(float(np.mean(values)), error, min(ends), max(ends))


def _value(kind: str, both: float, n: Counts, rho: float, beta: float) -> tuple[float, float]:
    """A score and its slope in S1."""
    if kind == "recall":
        return both / n.labelled, 1 / n.labelled
    if n.predicted == 0:
        return 0.0, 0.0
    if kind == "ll":
        scale = n.rows / n.predicted / n.labelled**2
        return both**2 * scale, 2 * both * scale
    # Positives among the predicted cannot outnumber them: P1 = S1 / rho <= M1.
    size = max(rho * n.predicted, both)
    if kind == "precision":
        return both / size, 1 / (rho * n.predicted)
    weight, recalled = 1 + beta**2, beta**2 * n.labelled
    return weight * both / (recalled + size), weight / (recalled + rho * n.predicted)


def _auc(high: Floats, low: Floats, level: float) -> Estimate:
    value, variance = delong(high, low)
    # The trials that a share of this variance would have come from; at 0 or 1 the variance says nothing.
    trials = value * (1 - value) / variance if variance > 0 else min(len(high), len(low))
    few = max(min(len(high), len(low)) - 1, 1)  # labelled rows, mostly, that the variance is estimated from
    ends = wilson(value, trials, level, few)
    return Estimate(value, math.sqrt(variance), float(ends[0]), float(ends[1]))


def _corrected(auc: Estimate, pi: Belief) -> tuple[Estimate, tuple[str, ...]]:
    if pi.high >= 1:
        raise ConfigError(Fault("pi", "must stay below 1", "Give the share of positives among unlabelled rows."))
    values = (auc.value - pi.nodes / 2) / (1 - pi.nodes)
    error = math.sqrt(float(np.mean((auc.error / (1 - pi.nodes)) ** 2)) + float(values.var()))
    ends = [(end - share / 2) / (1 - share) for end in (auc.low, auc.high) for share in (pi.low, pi.high)]
    value, low, high = (min(max(x, 0.0), 1.0) for x in (float(values.mean()), min(ends), max(ends)))
    text = f"AUC {auc.value:.3f} is more than pi allows: pi is at most {2 * (1 - auc.value):.3g}"
    return Estimate(value, error, low, high), (text,) if values.mean() > 1 else ()


def _flags(values: ArrayLike, where: str) -> Flags:
    try:
        raw = np.asarray(values)
    except Exception as error:  # objects of users may do anything
        raise DataError(Fault(where, f"cannot be read as flags: {gist(error)}", "Pass flags.")) from error
    if raw.ndim != 1 or len(raw) == 0:
        raise DataError(Fault(where, f"expected 0 and 1 in one dimension, got shape {raw.shape}", "Pass flags."))
    strange = _strange(raw)
    if strange:
        some = ", ".join(list(dict.fromkeys(map(shown, strange)))[:3])
        raise DataError(Fault(where, f"expected 0 and 1, found {some} in {len(strange):,} rows", "Pass flags."))
    return raw.astype(np.bool_)


def _strange(raw: NDArray[np.generic]) -> list[object]:
    """Values that are no flags."""
    if raw.dtype.kind in "biuf":
        return list(raw[(raw != 0) & (raw != 1)].tolist())
    return [value for value in raw.tolist() if not (isinstance(value, Real | np.bool_) and value in (0, 1))]
