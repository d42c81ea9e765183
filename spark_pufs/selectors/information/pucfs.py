"""puCFS and apuCFS: sets of features that correlate with the hidden class and little with each other.

Calvo, Larranaga & Lozano 2009, of which the first pages are at hand: the merit and its parts are theirs (section 2.1),
P(x|0) from P(x), P(x|1) and the prior as in ``core.pucfs``. apuCFS holds the prior to be Beta distributed and averages
r_ci over it. Rows labelled negative count among all rows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from spark_pufs.core.evidence.label_rate import Beta
from spark_pufs.core.information.mutual_information import between_features
from spark_pufs.core.information.surrogate import prior_ends
from spark_pufs.core.pu.cfs import Correlations, Subset
from spark_pufs.core.pu.pucfs import (
    beta_of_mean,
    beta_of_range,
    beta_quadrature,
    class_correlation,
    correlation_beyond_chance,
    mutual_correlation,
)
from spark_pufs.errors import ConfigError, Fault
from spark_pufs.findings import Findings
from spark_pufs.request import is_positive
from spark_pufs.selectors.base import Method, Outcome, Task
from spark_pufs.selectors.information.set_search import best_first, forward_backward
from spark_pufs.selectors.options import Options, chance_correction, number, one_of, option, whole
from spark_pufs.table.counter import Counter
from spark_pufs.table.limits import Limits
from spark_pufs.types import Json, Layout

__all__ = ["METHODS"]

Floats = NDArray[np.float64]
Belief = tuple[Floats, Floats, dict[str, Json]]  # priors, their weights, and what to tell of them

WEAK = 5.0  # observations that the default belief is worth
SEARCHES = ("forward-backward", "best-first")


def _pair(value: object) -> bool:
    return isinstance(value, list | tuple) and len(value) == 2 and all(map(is_positive, value))


@dataclass(frozen=True)
class PucfsOptions(Options):
    """Options of pucfs."""

    correction: str = chance_correction()
    search: str = one_of("forward-backward", *SEARCHES)
    patience: int = whole(5)
    fill: bool | Literal["auto"] = option("auto", "auto, true or false", lambda v: v == "auto" or isinstance(v, bool))


@dataclass(frozen=True)
class ApucfsOptions(PucfsOptions):
    """Options of apucfs: what is believed of the prior, besides."""

    beta: Sequence[float] | None = option(None, "two numbers above 0", lambda v: v is None or _pair(v))
    strength: float = number(10.0)
    nodes: int = whole(64)


def _correlations(task: Task, priors: Floats, weights: Floats) -> Correlations:
    counter, layout = task.counter, task.table.layout
    counter.expect_pairs()
    labels = counter.labels()
    correlation = class_correlation if task.options_as(PucfsOptions).correction == "none" else correlation_beyond_chance
    relevance, error = correlation(labels, layout, priors, weights)
    entropies = _entropies(labels.sum(axis=0), layout)
    return Correlations(relevance, error, PairCorrelations(counter, entropies))


def _entropies(rows: NDArray[np.int64], layout: Layout) -> Floats:
    share = rows / rows[layout.span(0)].sum()
    terms = -share * np.log(np.where(share > 0, share, 1.0))
    sums: Floats = np.add.reduceat(terms, layout.offsets[:-1])
    return sums


@dataclass(frozen=True)
class PairCorrelations:
    """Correlations (D,) of one feature with all, counted when they are first asked for."""

    counter: Counter
    entropy: Floats
    rows: dict[int, Floats] = field(default_factory=dict)

    def __call__(self, feature: int) -> Floats:
        if feature not in self.rows:
            # As counted: corrected, a copy would have a correlation below 1 and raise the merit.
            pairs = self.counter.with_feature(feature).sum(axis=0)
            information, _ = between_features(pairs, self.counter.layout)
            self.rows[feature] = mutual_correlation(information, self.entropy, feature)
        return self.rows[feature]


def _ordered(found: Subset, known: Correlations, limits: Limits, fill: bool) -> list[Subset]:
    """The set built up again, best first, one ``Subset`` per step; with ``fill``, then all that may still be added."""
    steps = [Subset.empty(len(known.relevance))]
    inside = np.zeros(len(known.relevance), np.bool_)
    inside[list(found.features)] = True
    while (free := limits.open(list(steps[-1].features))).any():
        left = free & inside
        if not left.any():
            if not fill:
                break
            left = free
        best = int(np.argmax(np.where(left, steps[-1].merits_with(known), -np.inf)))
        steps.append(steps[-1].add(best, known))
    return steps[1:]


def _outcome(task: Task, known: Correlations, found: Subset, belief: dict[str, Json]) -> Outcome:
    request, options = task.request, task.options_as(PucfsOptions)
    bounded = request.k is not None or request.budget is not None
    fill = bounded if options.fill == "auto" else options.fill
    steps, peak = _ordered(found, known, task.limits, fill), len(found.features)
    last = steps[-1]
    scores = last.merits_with(known)
    errors = (last.error + known.error) / np.sqrt(len(last.features) + 1 + last.redundancy + last.against)
    for step in steps:
        scores[step.features[-1]], errors[step.features[-1]] = step.merit, step.merit_error
    past = "added to reach what was asked for: the merit was higher without"
    return Outcome(
        list(last.features),
        scores,
        errors,
        notes=dict.fromkeys(last.features[peak:], past),
        findings=Findings(extra={**belief, "merit": found.merit, "best_size": peak, "search": options.search}),
    )


def _run(task: Task, believe: Callable[[Task], Belief]) -> Outcome:
    priors, weights, belief = believe(task)
    known = _correlations(task, priors, weights)
    options = task.options_as(PucfsOptions)
    if options.search == "best-first":
        found = best_first(known, task.limits, options.patience)
    else:
        found = forward_backward(known, task.limits)
    return _outcome(task, known, found, belief)


def _point(task: Task) -> Belief:
    """The prior as one number: as given, or the middle of a range."""
    if task.request.prior is None:
        fix = "Give the share of positives among all rows, e.g. prior=0.05, or use apucfs, which averages over it."
        raise ConfigError(Fault("Option 'prior'", "method 'pucfs' needs one", fix))
    low, high = prior_ends(task.request.prior)
    prior = (low + high) / 2
    _check(task, prior)
    told = "as given" if low == high else f"the middle of {low:g} to {high:g}"
    return np.array([prior]), np.ones(1), {"prior": prior, "prior_from": told}


def _average(task: Task) -> Belief:
    """The prior as a Beta: as given, from a range or around a value; without any, a weak one."""
    beta, told = _beta(task)
    mean = beta.a / (beta.a + beta.b)
    _check(task, mean)
    priors, weights = beta_quadrature(beta, task.options_as(ApucfsOptions).nodes)
    return priors, weights, {"prior": mean, "prior_beta": [beta.a, beta.b], "prior_from": told}


def _beta(task: Task) -> tuple[Beta, str]:
    options, prior = task.options_as(ApucfsOptions), task.request.prior
    if options.beta is not None:
        return Beta(float(options.beta[0]), float(options.beta[1])), "option beta"
    if prior is None:
        return _weak(task), "default: a weak belief that positives are few"
    low, high = prior_ends(prior)
    if low == high:
        return beta_of_mean(low, options.strength), f"{low:g}, worth {options.strength:g} observations"
    return beta_of_range(low, high), f"{low:g} to {high:g} as two standard deviations about the middle"


def _weak(task: Task) -> Beta:
    """Beta(1, 4) where hardly any row is labelled; its mean is a fifth of the way from the labelled share to 1.

    Not the uniform one: near p = 1 what is left for P(x|0) is noise, and U(C|X) measures that.
    """
    share = task.table.plan.labels.positive / task.table.plan.labels.rows
    return beta_of_mean(share + (1 - share) / 5, WEAK)


def _check(task: Task, prior: float) -> None:
    labels = task.table.plan.labels
    share = labels.positive / labels.rows
    if prior < share:
        found = f"{prior:g} leaves fewer positives than are labelled ({share:g} of all rows)"
        raise ConfigError(Fault("Option 'prior'", found, f"Give a share of at least {share:g}."))


_COST = "one pass while all pairs fit in memory, else one per feature looked into"

METHODS = (
    Method(
        "pucfs",
        "Correlation-based selection with the negatives' distribution worked out from the prior",
        "labels depend on the class alone (SCAR); the share of positives is known; features bin well",
        _COST,
        "a small set without redundancy, the prior known; decides the number of features itself unless k is given",
        partial(_run, believe=_point),
        PucfsOptions,
        own_size=True,
        counts="pairs",
        needs_prior=True,
    ),
    Method(
        "apucfs",
        "pucfs averaged over a Beta distribution of the prior",
        "labels depend on the class alone (SCAR); features bin well",
        _COST,
        "as pucfs, the prior known roughly or not at all",
        partial(_run, believe=_average),
        ApucfsOptions,
        own_size=True,
        counts="pairs",
    ),
)
