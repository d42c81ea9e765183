"""Markov blankets by IAMB: grow by the strongest dependence that passes a G-test, then shrink.

Sechidis & Brown 2017, Algorithms 1 and 2. Semi-IAMB runs on the more powerful surrogate of the class, Listwise-IAMB on
labelled rows only, Pairwise-IAMB on BASSUM's counts: features from all rows, their joint counts with the class from
labelled rows.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from spark_pufs.core.information.gtest import g_statistic, log_p_value
from spark_pufs.core.information.mutual_information import class_given_feature
from spark_pufs.core.information.surrogate import SurrogateChoice, SurrogateName, apply_surrogate, switching_threshold
from spark_pufs.findings import Findings
from spark_pufs.selectors.base import Method, Outcome, Task
from spark_pufs.selectors.information.surrogates import (
    SurrogateOptions,
    needs_negatives,
    plain_choice,
    record,
    semi_choice,
)
from spark_pufs.selectors.options import Options, option
from spark_pufs.table.counter import Counter, SetCounts
from spark_pufs.table.limits import Limits
from spark_pufs.types import LABEL_STATES, LABELLED_NEGATIVE, LABELLED_POSITIVE, Layout

__all__ = ["METHODS", "Found", "Measure", "iamb", "on_surrogate", "pairwise"]

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]
Measure = Callable[[Counts, Layout], tuple[Floats, Floats, int]]  # information, its error, rows behind it


@dataclass(frozen=True)
class BlanketOptions(Options):
    """Options of every blanket: the level of its tests."""

    alpha: float = option(0.05, "a number between 0 and 1", lambda v: isinstance(v, float) and 0 < v < 1)


@dataclass(frozen=True)
class SurrogateBlanketOptions(SurrogateOptions, BlanketOptions):
    """Options of blankets of a surrogate."""


@dataclass(frozen=True)
class Dependence:
    """Dependence of every feature on the class, given a set: information (D,), standard error (D,), log p (D,)."""

    information: Floats
    error: Floats
    log_p: Floats


@dataclass(frozen=True)
class Found:
    """A blanket, best first; what it had grown to; the evidence (D,) behind it; whether memory stopped the growth."""

    blanket: list[int]
    grown: list[int]
    evidence: Dependence
    full: bool


def iamb(counter: Counter, limits: Limits, measure: Measure, alpha: float) -> Found:
    """Grow, then shrink (Algorithm 1). A kept feature's evidence is given the rest, any other's given all that grew."""
    log_alpha = math.log(alpha)
    grown, given, found, full = grow(counter, limits, measure, log_alpha)
    blanket, last = shrink(grown, given, counter.layout, limits.must, measure, log_alpha)
    final = Dependence(found.information.copy(), found.error.copy(), found.log_p.copy())
    for feature, own in last.items():
        final.information[feature], final.error[feature] = own.information[0], own.error[0]
        final.log_p[feature] = own.log_p[0]
    blanket.sort(key=lambda feature: (-final.information[feature], feature))
    return Found(blanket, grown, final, full)


def on_surrogate(name: SurrogateName) -> Measure:
    """I(X;Y|Z) with the class replaced by a surrogate."""

    def measure(counts: Counts, layout: Layout) -> tuple[Floats, Floats, int]:
        classes = apply_surrogate(counts, name)
        value, error = class_given_feature(classes, layout)
        return value, error, int(classes[:, :, layout.span(0)].sum())

    return measure


def pairwise(counts: Counts, layout: Layout) -> tuple[Floats, Floats, int]:
    """Labelled rows measured against p(x|z) of all rows (available-case analysis, Cai et al. 2011)."""
    labelled = counts[[LABELLED_NEGATIVE, LABELLED_POSITIVE]].astype(np.float64)
    everyone = counts.sum(axis=0)
    size_z = everyone[:, layout.span(0)].sum(axis=1)
    size_yz = labelled[:, :, layout.span(0)].sum(axis=2)
    rows = int(size_yz.sum())
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.log(labelled) + np.log(size_z)[:, None] - np.log(everyone) - np.log(size_yz)[:, :, None]
    pointwise = np.where(labelled > 0, ratio, 0.0)
    sums = [
        np.add.reduceat((labelled * pointwise**power).sum(axis=(0, 1)), layout.offsets[:-1]) / rows for power in (1, 2)
    ]
    return np.maximum(sums[0], 0.0), np.sqrt(np.maximum(sums[1] - sums[0] ** 2, 0.0) / rows), rows


def evidence(counts: Counts, layout: Layout, measure: Measure, conditions: int) -> Dependence:
    """G-tests from counts (3, C, L); df = (|X|-1)(|Y|-1)|Z| with |X| the levels that occur."""
    value, error, rows = measure(counts, layout)
    occurs = counts.sum(axis=(0, 1)) > 0
    levels = np.add.reduceat(occurs.astype(np.int64), layout.offsets[:-1])
    return Dependence(value, error, log_p_value(g_statistic(value, rows), (levels - 1) * conditions))


def grow(
    counter: Counter, limits: Limits, measure: Measure, log_alpha: float
) -> tuple[list[int], SetCounts, Dependence, bool]:
    """The candidate blanket, the counts given it, the evidence for every feature, and whether memory stopped it."""
    blanket: list[int] = []
    while True:
        given = counter.given(tuple(blanket))
        found = evidence(given.counts, counter.layout, measure, _configurations(blanket, counter.layout))
        free = limits.open(blanket)
        passing = free if limits.has_to_go_on(blanket) else free & (found.log_p < log_alpha)
        if not passing.any():
            return blanket, given, found, False
        best = int(np.argmax(np.where(passing, found.information, -np.inf)))
        if not counter.set_fits((*blanket, best)):
            return blanket, given, found, True
        blanket.append(best)


def shrink(
    blanket: list[int],
    given: SetCounts,
    layout: Layout,
    must: tuple[int, ...],
    measure: Measure,
    log_alpha: float,
) -> tuple[list[int], dict[int, Dependence]]:
    """Drop what is independent given the rest; no pass is needed, the counts of the whole blanket hold it all."""
    kept = list(blanket)
    for feature in blanket:
        if feature in must:
            continue
        if _given_rest(feature, kept, blanket, given, layout, measure).log_p[0] >= log_alpha:
            kept.remove(feature)
    return kept, {f: _given_rest(f, kept, blanket, given, layout, measure) for f in kept}


def _given_rest(
    feature: int, kept: list[int], blanket: list[int], given: SetCounts, layout: Layout, measure: Measure
) -> Dependence:
    rest = [other for other in kept if other != feature]
    columns = [blanket.index(other) for other in rest]
    own = given.digits[:, blanket.index(feature)]
    key = np.zeros(len(own), np.int64)
    for other, column in zip(rest, columns, strict=True):
        key = key * layout.levels[other] + given.digits[:, column]
    _, group = np.unique(key, return_inverse=True)
    rows = given.counts[:, :, layout.span(0)].sum(axis=2)  # (3, C): any feature's levels sum to the rows
    counts = np.zeros((LABEL_STATES, group.max(initial=0) + 1, layout.levels[feature]), np.int64)
    for label in range(LABEL_STATES):
        np.add.at(counts[label], (group, own), rows[label])
    return evidence(counts, Layout((layout.levels[feature],)), measure, _configurations(rest, layout))


def _configurations(features: list[int], layout: Layout) -> int:
    return math.prod(layout.levels[feature] for feature in features)


def _blanket(
    task: Task, choose: Callable[[Task], SurrogateChoice], measure: Callable[[SurrogateChoice], Measure]
) -> Outcome:
    choice, alpha = choose(task), task.options_as(BlanketOptions).alpha
    found = iamb(task.counter, task.limits, measure(choice), alpha)
    log10_p = found.evidence.log_p / math.log(10)
    return Outcome(
        found.blanket,
        found.evidence.information,
        found.evidence.error,
        surrogate=record(choice, task.table.plan.labels),
        notes={f: f"log10 p = {log10_p[f]:.1f} given the rest of the blanket" for f in found.blanket},
        warnings=(_FULL,) if found.full else (),
        findings=Findings(extra={"alpha": alpha, "grown": [task.table.names[f] for f in found.grown]}),
    )


_FULL = "The blanket stopped growing because counts given one feature more would pass pair_memory_mb."


def _listwise(task: Task) -> SurrogateChoice:
    needs_negatives(task, task.request.method)
    phi = switching_threshold(task.table.plan.labels)
    return SurrogateChoice("labelled", phi, "Unlabelled rows are left out (listwise deletion).")


def _pairwise(task: Task) -> SurrogateChoice:
    needs_negatives(task, task.request.method)
    phi = switching_threshold(task.table.plan.labels)
    return SurrogateChoice("labelled", phi, "Unlabelled rows count for the features only (pairwise deletion).")


_COST = "one pass per feature added"

METHODS = (
    Method(
        "semi-iamb",
        "Markov blanket of a surrogate of the class",
        "labels depend on the class alone (SCAR); a faithful network behind the data",
        _COST,
        "the smallest sufficient set, with tests; decides the number of features itself",
        partial(_blanket, choose=semi_choice, measure=lambda choice: on_surrogate(choice.name)),
        SurrogateBlanketOptions,
        own_size=True,
    ),
    Method(
        "iamb",
        "Markov blanket of the label as it stands",
        "unlabelled rows may count as negative",
        _COST,
        "a baseline for semi-iamb, or fully labelled data",
        partial(_blanket, choose=plain_choice, measure=lambda choice: on_surrogate(choice.name)),
        SurrogateBlanketOptions,
        own_size=True,
    ),
    Method(
        "listwise-iamb",
        "Markov blanket from labelled rows only",
        "labelled rows of both classes, missing completely at random",
        _COST,
        "many labelled rows of both classes",
        partial(_blanket, choose=_listwise, measure=lambda choice: on_surrogate("labelled")),
        BlanketOptions,
        own_size=True,
        needs_negatives=True,
    ),
    Method(
        "pairwise-iamb",
        "Markov blanket from BASSUM's counts: features from all rows, class from labelled rows",
        "labelled rows of both classes, missing completely at random",
        _COST,
        "a comparison; its test statistic has no known distribution",
        partial(_blanket, choose=_pairwise, measure=lambda choice: pairwise),
        BlanketOptions,
        own_size=True,
        needs_negatives=True,
    ),
)
