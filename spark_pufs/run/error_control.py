"""Error control: a test of every feature from counts, and as many features as an error rate allows.

Where labels were given to positives at random, a column that tells nothing of the class tells nothing of who is
labelled: false findings of the label are false findings of the class. Copies are no features here, so that none counts
twice.

Every feature has a p-value from the counts that the method uses too. Where an error rate decides what is chosen, a
pass more counts numbers in fine levels: labelled rows that lie higher or further out are then seen with fewer labels.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from spark_pufs.core.evidence.false_discoveries import expected_false, null_share, q_values
from spark_pufs.core.information.independence import log_p_values
from spark_pufs.core.information.mutual_information import class_given_feature, entropy
from spark_pufs.core.information.power import least_effect
from spark_pufs.core.information.score_tests import combined_p, score_p_values
from spark_pufs.core.information.surrogate import apply_surrogate
from spark_pufs.core.soft.encoding import normal_scores
from spark_pufs.findings.parts import ErrorControl
from spark_pufs.request import Request
from spark_pufs.selectors.base import Outcome, Task
from spark_pufs.selectors.information.given import counts_given
from spark_pufs.table.counter import Counter
from spark_pufs.table.pu_table import PUTable, pack
from spark_pufs.types import Layout

__all__ = ["FeatureTests", "as_found", "controlled", "tests_of"]

Floats = NDArray[np.float64]

FINE = 32  # intervals of a number whose normal scores are tested
LEAST_LEVELS = 8  # intervals that hold rows, below which a test of all levels is enough
POWER = 0.8  # of the effect that is reported where little is found


@dataclass(frozen=True)
class FeatureTests:
    """p-values and q-values (D,) of all features."""

    p: Floats
    q: Floats


def tests_of(task: Task) -> FeatureTests:
    """Whether each feature tells anything of who is labelled."""
    given = counts_given(task) if task.request.labelled_by else None
    counts = apply_surrogate(task.counter.labels()[:, None] if given is None else given, "y0")
    p = np.exp(log_p_values(counts, task.counter.layout))
    rated = task.request.fdr is not None or task.request.expected_false is not None
    if rated and given is None and task.table.plan.frozen is None:  # a memory of counts has no rows to count anew
        p = _with_scores(task, p)
    if task.request.distinct:
        p = _beyond_stronger(task, p)
    return FeatureTests(p, q_values(p, level=task.request.fdr))


def _beyond_stronger(task: Task, p: Floats) -> Floats:
    """p-values (D,) of features that are found, each the largest of its own and those given each stronger one.

    A feature is explained if it tells nothing given some stronger one: the largest p-value is right for that, whichever
    it is (Berger 1982). Levels of numbers are intervals: what a feature tells within those of another one remains.
    """
    found = np.flatnonzero(_rated(task.request, p))
    alone = _information(task)
    stronger = found[np.lexsort([-alone[found], p[found]])].tolist()
    p, layout = p.copy(), task.counter.layout
    for place, given in enumerate(stronger[:-1], start=1):
        counts = apply_surrogate(task.counter.with_feature(given, ahead=stronger[place:-1]), "y0")
        for i in stronger[place:]:
            own = counts[:, :, layout.span(i)]
            p[i] = max(p[i], float(np.exp(log_p_values(own, Layout((layout.levels[i],)))[0])))
    return p


def _information(task: Task) -> Floats:
    """What each feature (D,) tells of who is labelled: the order of those whose p-values are 0 to a double."""
    counts = apply_surrogate(task.counter.labels()[:, None], "y0")
    return class_given_feature(counts, task.counter.layout)[0]


def _with_scores(task: Task, p: Floats) -> Floats:
    """p-values (D,) of all levels, for numbers combined with those of labelled rows that lie higher or further out."""
    request = replace(task.request, bins=FINE)
    fine = pack(replace(task.table.plan, binning="equal-frequency"), request)
    try:
        counts = apply_surrogate(Counter(fine, 0).labels(), "y0")
    finally:
        fine.blocks.release()
    sizes, positives = (_by_level(own, fine) for own in (counts.sum(axis=0), counts[1]))
    telling = np.count_nonzero(sizes, axis=1) >= LEAST_LEVELS
    if not telling.any():
        return p
    sizes, positives = sizes[telling], positives[telling]
    scores = np.array([normal_scores(own) for own in sizes])
    parts = [score_p_values(sizes, positives, own) for own in (scores, scores**2)]
    p[telling] = combined_p(np.stack([p[telling], *parts]))
    return p


def _by_level(counts: NDArray[np.int64], table: PUTable) -> NDArray[np.int64]:
    """Counts (D, levels) of the intervals of each number, without missing values; none for text."""
    found = np.zeros((len(table.bins), max(table.layout.levels)), np.int64)
    for i, bins in enumerate(table.bins):
        if bins.kind == "numeric":
            known = len(bins.edges) + 1
            found[i, :known] = counts[table.layout.span(i)][:known]
    return found


def controlled(task: Task) -> tuple[Task, FeatureTests | None, ErrorControl | None]:
    """The task with the features found as those that may be chosen, where an error rate says how many."""
    request = task.request
    target = "fdr" if request.fdr is not None else "expected_false"
    bound = request.fdr if request.fdr is not None else request.expected_false
    if bound is None:
        return task, None, None
    tests = tests_of(task)
    found = _rated(request, tests.p)
    control = _told(task, tests, ErrorControl(target, bound, int(found.sum()), len(found), 0.0, 0.0))
    allowed = found & ~task.limits.never
    allowed[list(task.limits.must)] = True
    k = max(1, int(allowed.sum()))
    never = ~allowed if allowed.any() else task.limits.never
    request = replace(request, k=k, propose_k=False, fdr=None, expected_false=None, distinct=False)
    return replace(task, request=request, limits=replace(task.limits, k=k, never=never)), tests, control


def _rated(request: Request, p: Floats) -> NDArray[np.bool_]:
    """Which tests are findings at the error rate."""
    if request.fdr is not None:
        return q_values(p, level=request.fdr) <= request.fdr
    return expected_false(p) <= (request.expected_false or 0.0)


def as_found(outcome: Outcome, task: Task, control: ErrorControl | None) -> Outcome:
    """The outcome with all features that were found, in the method's order, and those of ``must``."""
    if control is None:
        return outcome
    must = set(task.limits.must)
    allowed = [i for i in outcome.order() if not task.limits.never[i]] if control.found else []
    chosen = allowed or [i for i in outcome.order() if i in must]
    return replace(outcome, chosen=chosen, findings=replace(outcome.findings, control=control))


def _told(task: Task, tests: FeatureTests, control: ErrorControl) -> ErrorControl:
    """The record with what a finding takes in this table, in numbers and in words."""
    findings = max(control.found, 1) if control.target == "fdr" else 1
    needed = min(control.bound * findings / control.tests, 1.0)
    if control.target == "fdr":
        needed = min(needed / null_share(tests.p, control.bound), 1.0)
    least = _least_share(task, needed)
    control = replace(control, needed=needed, least=least)
    return replace(control, why=_words(control, float(tests.p.min()), task.table.plan.labels.positive))


def _least_share(task: Task, alpha: float) -> float:
    """The share of the label's entropy that a feature of usual levels must tell to be found with probability POWER."""
    labels = task.table.plan.labels
    levels = max(2, round(float(np.median(task.counter.layout.levels))))
    if not alpha < POWER:
        return 0.0
    effect = least_effect(POWER, labels.rows, alpha=alpha, df=levels - 1)
    known = entropy(np.array([labels.positive, labels.rows - labels.positive]))
    return min(1.0, effect / known) if known else 1.0


def _words(control: ErrorControl, lowest: float, labelled: int) -> str:
    rate = {"fdr": "a false share of at most", "expected_false": "false features of at most"}[control.target]
    head = f"{control.found:,} of {control.tests:,} features are found at {rate} {control.bound:g}"
    told = f"{100 * control.least:.2g} %" if control.least < 1 else "all"
    power = f"found with probability {POWER:g} if it tells {told} of what there is to tell of who is labelled"
    if control.found:
        return f"{head}; with {labelled:,} labelled rows a feature is {power}."
    head = f"No feature is found at {rate} {control.bound:g}"
    need = f"the lowest p-value is {lowest:.2g}, one of {control.tests:,} features needs {control.needed:.2g}"
    return (
        f"{head}: {need}. With {labelled:,} labelled rows a feature is {power}: label more rows or test fewer columns."
    )
