"""The automatic choice: what several methods say together, with evidence from the labels alone.

Candidates are compared by cross-validation on a bounded sample, by the difference of held-out PU-AUC in the same folds,
beside all features and beside chance: labels dealt out anew. The search for columns that make clusters
joins them where clusters on columns drawn blindly already gather the labelled rows. With too few labels to hold any out
the flagship is run alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

import numpy as np

from spark_pufs.core.evidence.classifier import CLASSIFIERS
from spark_pufs.findings import parts
from spark_pufs.findings.parts import SizeCurve, Standings
from spark_pufs.selectors.base import Method, Outcome, Task, read_options
from spark_pufs.selectors.by_score import by_score
from spark_pufs.selectors.evidence.choosing import CLUSTERING, FLAGSHIP, Choice, choose
from spark_pufs.selectors.evidence.comparison import (
    Candidate,
    EvaluationProtocol,
    TooFewLabels,
    compare_methods,
    evaluation_sample,
    trial_bounds,
)
from spark_pufs.selectors.evidence.sizes import sized
from spark_pufs.selectors.evidence.trial import ALL, Trial, TrialSample, run_trials
from spark_pufs.selectors.options import Options, one_of, option, whole
from spark_pufs.selectors.task import task_of
from spark_pufs.types import Json

__all__ = ["CANDIDATES", "METHODS"]

# In the order of preference among equals.
CANDIDATES = ("distil", "soft-jmi", "semi-mim")
CHEAPEST = "semi-mim"  # runs on labels dealt out anew, in which no method can find more than chance
FAR = 2.5  # times what chance gathers, by clusters on columns drawn blindly; one to two where there are none
_BLIND: dict[str, Json] = {"generations": 1, "sample_mb": 1}  # the first generation alone, which no label has led
# A full answer in seconds: the comparison has judged it, and more rows or more masks made the search no better.
_IN_SHORT: dict[str, Json] = {"judge": False, "sample_mb": 2, "generations": 12}


def _are_names(value: object) -> bool:
    return isinstance(value, list | tuple) and len(value) > 0 and all(isinstance(name, str) for name in value)


@dataclass(frozen=True)
class AutoOptions(Options):
    """Options of auto: what is compared, and how."""

    methods: Sequence[str] = option(CANDIDATES, "names of methods", _are_names)
    folds: int = whole(5, 2, 20)
    repeats: int = whole(1, 1, 20)
    rows: int = whole(3_000, 100)
    classifier: str = one_of("auto", *CLASSIFIERS)


def _auto(task: Task) -> Outcome:
    """Compare, choose, run what was chosen."""
    options = task.options_as(AutoOptions)
    protocol = EvaluationProtocol(options.folds, options.repeats, options.rows, options.classifier)
    try:
        sample = evaluation_sample(task, protocol)
    except TooFewLabels:
        return _run(task, _by_labels(task), None)
    clusters = tuple(options.methods) == CANDIDATES and _far_beyond_chance(task, sample)
    tried = _named((*options.methods, *([CLUSTERING] if clusters else [])))
    candidates = [Candidate(one.name, one.trial_options) for one in tried]
    chance = Candidate(CHEAPEST, redrawn=True)
    comparison = compare_methods(task, [*candidates, Candidate(ALL), chance], protocol, sample)
    choice = choose(comparison, {candidate.name: candidate.method for candidate in candidates}, clusters)
    return _run(task, choice, comparison.summary())


def _far_beyond_chance(task: Task, sample: TrialSample) -> bool:
    """Whether clusters on columns drawn blindly gather labelled rows of the sample many times as chance would."""
    k, budget = trial_bounds(task)
    found = run_trials(task, sample, [Trial(CLUSTERING, _BLIND, k, budget, fold=None)])[0]
    return found.gathered is not None and found.gathered >= FAR


def _named(names: Sequence[str]) -> list[Method]:
    from spark_pufs.selectors.registry import method_named  # which names this module's own method too

    return [method_named(name) for name in names]


def _by_labels(task: Task) -> Choice:
    found = task.table.plan.labels.positive
    verdict = f"Not judged: {found} labelled rows are too few to hold any out."
    return Choice((FLAGSHIP,), f"{verdict} {FLAGSHIP} asks least of the data.", verdict)


def _run(task: Task, choice: Choice, comparison: Standings | None) -> Outcome:
    """Run what was chosen on the whole table, on the number of features asked for or proposed."""
    chosen = _named(choice.methods)
    task, sizes, warnings = _sized(task, chosen[0])
    outcomes = [_outcome(task, one) for one in chosen]
    told = parts.Choice(" + ".join(choice.methods), choice.methods, choice.why, choice.verdict)
    found = outcomes[0] if len(outcomes) == 1 else _combined(task, outcomes, choice)
    return replace(
        found,
        findings=replace(found.findings, verdict=choice.verdict, choice=told, comparison=comparison, sizes=sizes),
        warnings=(*choice.warnings, *found.warnings, *warnings),
    )


def _sized(task: Task, chosen: Method) -> tuple[Task, SizeCurve | None, tuple[str, ...]]:
    """The task with the number of features proposed for the method, if one was; else its limits stay as asked for."""
    if chosen.own_size:
        return task, None, ()
    with _as_for(task, chosen) as own:
        resized, sizes, warnings = sized(own)
    if sizes is None:
        return task, None, warnings
    request = replace(task.request, k=resized.request.k, propose_k=False)
    return replace(task, limits=replace(task.limits, k=resized.limits.k), request=request), sizes, warnings


@contextmanager
def _as_for(task: Task, chosen: Method) -> Iterator[Task]:
    """The task of another method; rows that had to be packed for it are released after it."""
    own = _task_of(task, chosen)
    try:
        yield own
    finally:
        if own.table is not task.table:
            own.table.blocks.release()


def _task_of(task: Task, chosen: Method) -> Task:
    """The same table as another method has it, with its own bins."""
    request = replace(task.request, method=chosen.name, options={})
    task = replace(task, request=request, options=read_options(chosen, _in_short(chosen)))
    plan = task.table.plan
    own = replace(plan, binning=request.binning_or(chosen.binning))
    return task if own.binning == plan.binning else task_of(task, own)


def _in_short(chosen: Method) -> dict[str, Json]:
    return {name: value for name, value in _IN_SHORT.items() if name in chosen.options}


def _outcome(task: Task, chosen: Method) -> Outcome:
    """What the method found."""
    with _as_for(task, chosen) as own:
        return chosen.select(own)


def _combined(task: Task, outcomes: list[Outcome], choice: Choice) -> Outcome:
    """The weighted mean of the methods' ranks, 1 for the best to 0 for the last, with its standard error."""
    count = len(task.limits.costs)
    places = np.stack([np.argsort(one.order()) for one in outcomes])
    rank = 1 - places / max(count - 1, 1)
    scores = np.average(rank, axis=0, weights=choice.shares)
    errors = rank.std(axis=0) / np.sqrt(max(len(outcomes) - 1, 1))
    notes = {i: ", ".join(f"{name} {places[m, i] + 1}." for m, name in enumerate(choice.methods)) for i in range(count)}
    warnings = tuple(warning for one in outcomes for warning in one.warnings)
    return Outcome(by_score(scores, task.limits), scores, errors, notes=notes, warnings=warnings)


METHODS = (
    Method(
        "auto",
        "Average the methods that held-out labels cannot tell apart, compared with all features and with chance",
        "labels depend on the class alone (SCAR)",
        "some dozens of short selections on a bounded sample, then the chosen one",
        "you do not know which method fits",
        _auto,
        AutoOptions,
        own_size=True,
    ),
)
