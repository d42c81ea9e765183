"""Methods side by side: repeated, stratified PU cross-validation, judged by a classifier on the rows held out."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from spark_pufs import fragments
from spark_pufs.core.evidence.classifier import CLASSIFIERS, classifier_named
from spark_pufs.core.evidence.folds import corrected_error
from spark_pufs.core.evidence.label_rate import PER_FOLD, estimate_rho
from spark_pufs.core.evidence.pu_scores import Counts, score_counts
from spark_pufs.core.evidence.stability import nogueira
from spark_pufs.core.records import written
from spark_pufs.errors import ConfigError, DataError, Fault
from spark_pufs.findings.parts import Standing, Standings
from spark_pufs.request import is_whole, options_read
from spark_pufs.selectors.base import Task
from spark_pufs.selectors.evidence.trial import Trial, TrialResult, TrialRows, TrialSample, run_trials, trial_sample
from spark_pufs.types import Json
from spark_pufs.values import plain, shown

__all__ = [
    "CHANCE",
    "LEAST_LABELS",
    "Candidate",
    "Comparison",
    "EvaluationProtocol",
    "Standing",
    "TooFewLabels",
    "candidate",
    "compare_methods",
    "evaluation_sample",
    "trial_bounds",
]

CHANCE = "chance (labels redrawn)"
LEAST_LABELS = 4  # different labelled rows below which none is held out


class TooFewLabels(DataError):
    """Not enough different labelled rows to hold some out in every fold."""


@dataclass(frozen=True)
class Candidate:
    """A method with its options, or ``all`` features."""

    method: str
    options: Mapping[str, Json] = field(default_factory=dict)
    redrawn: bool = False  # on labels redrawn at random: what chance gives

    @property
    def name(self) -> str:
        """The method, with its options where there are any."""
        if self.redrawn:
            return CHANCE
        shown = ", ".join(f"{key}={value}" for key, value in self.options.items())
        return f"{self.method} ({shown})" if shown else self.method


def candidate(given: object) -> Candidate:
    """A name, or a mapping with ``method`` and its options.

    >>> candidate({"method": "fscpu", "clusters": 20}).name
    'fscpu (clusters=20)'
    """
    if isinstance(given, str):
        return Candidate(given)
    if not isinstance(given, Mapping) or not isinstance(given.get("method"), str):
        fix = "Give a name, or a mapping with method and its options."
        raise ConfigError(Fault("Option 'methods'", f"{shown(given)} is not a method", fix))
    return Candidate(given["method"], options_read({name: one for name, one in given.items() if name != "method"}))


@dataclass(frozen=True)
class EvaluationProtocol:
    """How methods are judged: ``folds`` x ``repeats`` trials each, on at most ``rows`` rows."""

    folds: int = 5
    repeats: int = 2
    rows: int = 10_000
    classifier: str = "auto"

    def __post_init__(self) -> None:
        for one in fields(self):
            object.__setattr__(self, one.name, plain(getattr(self, one.name)))
        rules = [
            ("folds", "a whole number from 2 to 20", is_whole(self.folds, 2, 20), self.folds),
            ("repeats", "a whole number from 1 to 100", is_whole(self.repeats, 1, 100), self.repeats),
            ("rows", "a whole number of at least 100", is_whole(self.rows, 100), self.rows),
            ("classifier", f"one of {', '.join(CLASSIFIERS)}", self.classifier in CLASSIFIERS, self.classifier),
        ]
        faults = [
            Fault(f"Option '{name}'", f"must be {what}, got {shown(got)}", f"The default is {_DEFAULTS[name]!r}.")
            for name, what, ok, got in rules
            if not ok
        ]
        if faults:
            raise ConfigError(faults)


_DEFAULTS = {one.name: one.default for one in fields(EvaluationProtocol)}


@dataclass(frozen=True)
class Comparison:
    """Standings, best PU-AUC first; ``aucs`` holds each method's score in every fold, in one order for all.

    ``checks``: what methods said of clusters in each fold. ``teachers``: held-out AUC of their teachers.
    """

    standings: tuple[Standing, ...]
    protocol: str
    rho: float
    folds: int
    aucs: Mapping[str, tuple[float, ...]]
    checks: Mapping[str, tuple[str, ...]]
    teachers: Mapping[str, tuple[float, ...]] = field(default_factory=dict)

    def table(self) -> pd.DataFrame:
        """One row per method."""
        return pd.DataFrame([asdict(standing) for standing in self.standings])

    def gap(self, better: str, other: str) -> tuple[float, float]:
        """Mean difference of PU-AUC over the same folds, and its standard error."""
        difference = np.subtract(self.aucs[better], self.aucs[other])
        return float(difference.mean()), corrected_error(difference, self.folds)

    def as_dict(self) -> Json:
        """Plain values for JSON."""
        return written(self.summary())

    def summary(self) -> Standings:
        """What a report shows."""
        return Standings(self.standings, self.protocol)

    def __str__(self) -> str:
        head = f"{'method':24}{'PU-AUC':>16}{'PU-F1':>16}{'features':>10}{'cost':>8}{'seconds':>9}{'stability':>11}"
        return "\n".join([head, *map(_line, self.standings), "", self.protocol])

    def _repr_html_(self) -> str:
        """What a notebook shows: held-out PU-AUC with bars from 0.5, which is chance."""
        rows = fragments.bars(["method", "held-out PU-AUC", "", ""], map(_bar, self.standings))
        best = self.standings[0].method if self.standings else "none"
        title = f"{best} has the best held-out PU-AUC of {len(self.standings)}"
        return fragments.card(title, "plain", rows, fragments.paragraph(self.protocol))


def evaluation_sample(task: Task, protocol: EvaluationProtocol) -> TrialSample:
    """The rows that methods are compared on, dealt into folds; an error where labels are too few to hold any out."""
    sample = trial_sample(task, protocol.rows, protocol.folds, protocol.repeats)
    if sample.positives < max(LEAST_LABELS, protocol.folds):
        found = f"{sample.positives} different labelled rows, {max(LEAST_LABELS, protocol.folds)} are needed"
        fix = "Label more rows, or choose a method by what it assumes: see methods()."
        raise TooFewLabels(Fault("Comparison", found, fix))
    return sample


def compare_methods(
    task: Task, candidates: Sequence[Candidate], protocol: EvaluationProtocol, sample: TrialSample | None = None
) -> Comparison:
    """Every candidate in every fold, all trials as parallel work of the engine."""
    sample = sample or evaluation_sample(task, protocol)
    rho = _rho(task, sample)
    classifier = classifier_named(protocol.classifier)
    share = _share(sample, rho)
    k, budget = trial_bounds(task)
    folds = [(repeat, fold) for repeat in range(protocol.repeats) for fold in range(protocol.folds)]
    units = [
        Trial(c.method, c.options, k, budget, r, f, redrawn=c.redrawn, classifier=classifier, share=share)
        for c in candidates
        for r, f in folds
    ]
    task.note(f"comparing {len(candidates)} methods in {len(units)} trials on {sample.note}")
    results = run_trials(task, sample, units)
    trials = [results[i * len(folds) : (i + 1) * len(folds)] for i in range(len(candidates))]
    costs = np.array(sample.costs)
    standings = [
        _standing(candidate, found, costs, protocol, rho) for candidate, found in zip(candidates, trials, strict=True)
    ]
    complete = {c.name: t for c, t in zip(candidates, trials, strict=True) if all(x.failed is None for x in t)}
    return Comparison(
        tuple(sorted(standings, key=lambda one: -one.auc if math.isfinite(one.auc) else math.inf)),
        _protocol_text(protocol, sample, classifier, rho, k, budget),
        rho,
        protocol.folds,
        {name: tuple(x.judged.auc for x in found) for name, found in complete.items()},
        {name: tuple(x.check for x in found if x.check is not None) for name, found in complete.items()},
        {name: tuple(x.teacher for x in found if x.teacher is not None) for name, found in complete.items()},
    )


def trial_bounds(task: Task) -> tuple[int | None, float | None]:
    """The user's bounds; without any, half of all there is for every method."""
    request = task.request
    if request.k is None and request.budget is None:
        return -(-task.limits.count(range(len(task.table.names))) // 2), None
    return (None if request.k is None else task.limits.k), request.budget


def _rho(task: Task, sample: TrialSample) -> float:
    """The labelled share of all positives: from the user's prior, or as Elkan and Noto estimate it."""
    least = float(sample.rows.positive.mean())
    prior = task.request.prior
    if prior is not None:
        middle = prior if isinstance(prior, int | float) else sum(prior) / 2
        labels = task.table.plan.labels
        return min(max(labels.positive / (middle * task.table.rows), least), 1.0)
    found = task.engine.each(_estimated_rho, sample.rows, [Draws(2)], LabelRate)[0]
    return max(found.rho, least)


@dataclass(frozen=True)
class Draws:
    """How often folds are drawn anew."""

    draws: int


@dataclass(frozen=True)
class LabelRate:
    """The labelled share of all positives."""

    rho: float


def _estimated_rho(shared: TrialRows, unit: Draws) -> LabelRate:
    X = np.where(np.isfinite(shared.X), shared.X, 0.0)
    X = np.ldexp(X, -np.frexp(np.abs(X).max(axis=0))[1])  # squares of huge values would overflow
    folds = min(5, int(shared.positive.sum()) // PER_FOLD)
    rng = np.random.default_rng([shared.request.seed, 6])
    found = estimate_rho(X, shared.positive, rng, folds=folds, draws=unit.draws)
    return LabelRate(min(max(found.rho, found.floor), 1.0))


def _share(sample: TrialSample, rho: float) -> float:
    """Rows to call positive: as many as there are positives by rho, at most half."""
    return min(float(sample.rows.positive.mean()) / rho, 0.5)


def _standing(
    candidate: Candidate,
    trials: list[TrialResult],
    costs: NDArray[np.float64],
    protocol: EvaluationProtocol,
    rho: float,
) -> Standing:
    failed = [trial.failed for trial in trials if trial.failed is not None]
    if failed:
        nothing = (math.nan, math.nan, None, None, math.nan, math.nan, math.nan, None)
        return Standing(candidate.name, *nothing, f"failed in {len(failed)} of {len(trials)} trials: {failed[0]}")
    masks = np.stack([trial.mask for trial in trials])
    aucs = [trial.judged.auc for trial in trials]
    f1, f1_error = _f1(trials, protocol, rho)
    steady = nogueira(masks)[0]
    return Standing(
        candidate.name,
        float(np.mean(aucs)),
        corrected_error(aucs, protocol.folds),
        f1,
        f1_error,
        float(masks.sum(axis=1).mean()),
        float((masks @ costs).mean()),
        float(np.mean([trial.seconds for trial in trials])),
        None if math.isnan(steady) else steady,
        "",
    )


def _f1(trials: list[TrialResult], protocol: EvaluationProtocol, rho: float) -> tuple[float, float]:
    """PU-F1 of each repeat's pooled folds, averaged; the error is that of one repeat: it has all labels there are."""
    pooled = (
        np.array([trial.judged.counts for trial in trials]).reshape(protocol.repeats, protocol.folds, 4).sum(axis=1)
    )
    found = [score_counts(Counts(*map(int, n)), max(rho, n[2] / n[0])).f for n in pooled]
    return float(np.mean([one.value for one in found])), float(np.mean([one.error for one in found]))


def _protocol_text(
    protocol: EvaluationProtocol, sample: TrialSample, classifier: str, rho: float, k: int | None, budget: float | None
) -> str:
    bound = f"k = {k}" if budget is None else f"budget {budget:g}" + (f", k = {k}" if k else "")
    return (
        f"{protocol.repeats} x {protocol.folds} folds of {sample.note}, {bound}; {classifier} on the chosen columns, "
        "labelled against unlabelled rows that were held out. Errors are standard errors (AUC: Nadeau and Bengio). "
        f"PU-F1 takes {rho:.3f} of the positives as labelled: it ranks methods, its level is as sure as that share."
    )


def _bar(one: Standing) -> fragments.Bar:
    if math.isnan(one.auc):
        return fragments.Bar(one.method, 0.0, "", chosen=False, note=one.note)
    sizes = f"{one.features:.1f} features, {one.seconds:.2f} s"
    steady = "" if one.stability is None else f", stability {one.stability:.2f}"
    return fragments.Bar(one.method, 2 * one.auc - 1, f"{one.auc:.3f} ± {one.auc_error:.3f}", note=sizes + steady)


def _line(one: Standing) -> str:
    if math.isnan(one.auc):
        return f"{one.method:24}{one.note}"
    f1 = "" if one.f1 is None else f"{one.f1:.3f} +- {one.f1_error:.3f}"
    steady = "" if one.stability is None else f"{one.stability:.2f}"
    auc = f"{one.auc:.3f} +- {one.auc_error:.3f}"
    return f"{one.method:24}{auc:>16}{f1:>16}{one.features:10.1f}{one.cost:8.1f}{one.seconds:9.2f}{steady:>11}"
