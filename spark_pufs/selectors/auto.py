"""The automatic choice: which method fits this table, by evidence from the labels alone.

Candidates are compared by cross-validation on a bounded sample, by the difference of held-out PU-AUC in the same folds.
FSCPU is taken where its own folds say that the cluster assumption holds, unless another method is better by more than
two standard errors. Else the best method is taken, or, where others come within half a standard error of it, the mean
of their rankings. With too few labels to hold any out the choice rests on what the methods assume.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from spark_pufs.core.classifier import CLASSIFIERS
from spark_pufs.errors import DataError, Fault
from spark_pufs.selectors.base import Method, Option, Outcome, Task, read_options
from spark_pufs.selectors.comparison import Candidate, Comparison, Protocol, TooFewLabels, compare_methods
from spark_pufs.selectors.options import one_of, whole
from spark_pufs.selectors.scored import by_score
from spark_pufs.selectors.sizes import sized
from spark_pufs.selectors.task import task_of
from spark_pufs.selectors.trial import ALL

__all__ = ["CANDIDATES", "Choice", "choose", "method"]

# In the order of preference among equals. Trials of the slow ones are short: the folds only have to rank the methods.
CANDIDATES = ("fscpu", "semi-jmi", "dt-rfe", "lasso", "k-best", "semi-mim")
QUICK: Mapping[str, Mapping[str, Any]] = {"fscpu": {"generations": 8}, "dt-rfe": {"trees": 50, "step": 5}}
MOST_COMBINED = 3
OVERRULED = 2.0  # standard errors by which a rival must be better to overrule an assumption that holds
ALIKE = 0.5  # standard errors within which methods are taken as equally good
FEW = "semi-jmi"  # where labels are too few to compare


@dataclass(frozen=True)
class Choice:
    """The methods to run, best first (more than one: combine them), and why, in one paragraph."""

    methods: tuple[str, ...]
    why: str


def method(family: Mapping[str, Method]) -> Method:
    """``auto`` over the methods in ``family``."""

    def run(task: Task) -> Outcome:
        from spark_pufs.selectors import method_named

        for name in task.options["methods"]:
            method_named(name)
        protocol = Protocol(*(task.options[name] for name in ("folds", "repeats", "rows", "classifier")))
        candidates = [Candidate(name, QUICK.get(name, {})) for name in task.options["methods"]]
        try:
            comparison = compare_methods(task, [*candidates, Candidate(ALL)], protocol)
        except TooFewLabels:
            return _run(task, family, _by_labels(task), {})
        choice = choose(comparison, {candidate.name: candidate.method for candidate in candidates})
        return _run(task, family, choice, {"comparison": comparison.as_dict()})

    return Method(
        "auto",
        "Compare methods on held-out labels and take the one that fits this table",
        "labels depend on the class alone (SCAR)",
        "some dozens of short selections on a bounded sample, then the chosen one",
        "you do not know which method fits",
        run,
        _OPTIONS,
        own_size=True,
    )


def _by_labels(task: Task) -> Choice:
    found = task.table.plan.labels.positive
    why = f"{found} labelled rows are too few to hold any out and compare methods; {FEW} asks least of the data."
    return Choice((FEW,), why)


def choose(comparison: Comparison, names: Mapping[str, str]) -> Choice:
    """From the standings to a choice; ``names``: the method behind each name of a standing."""
    tried = [one for one in comparison.standings if one.method in names]
    own = [one for one in tried if one.method in comparison.aucs]
    if not own:
        found = f"{tried[0].method} {tried[0].note.rstrip('.')}"
        raise DataError(Fault("Option 'methods'", found, "Name a method that fits this table: see methods()."))
    best = own[0]
    facts = f"{names[best.method]} has the best held-out PU-AUC, {best.auc:.3f} +- {best.auc_error:.3f}"
    clusters = next((one.method for one in own if names[one.method] == "fscpu"), None)
    verdicts = comparison.checks.get(clusters, ()) if clusters else ()
    holding = sum(verdict == "holds" for verdict in verdicts)
    seen = f" The cluster assumption held in {holding} of {len(verdicts)} folds" if verdicts else ""
    if clusters and 2 * holding > len(verdicts) and _within(comparison, best.method, clusters, OVERRULED):
        return Choice(("fscpu",), f"{seen[1:]}, and no method is better than fscpu by two standard errors: {facts}.")
    ahead = [one.method for one in own if _within(comparison, best.method, one.method, ALIKE)]
    alike = [name for name in ahead if name != clusters or name == best.method][:MOST_COMBINED]
    seen = f"{seen}." if seen else ""
    if len(alike) == 1:
        return Choice((names[alike[0]],), f"{facts}; no other comes within half a standard error.{seen}")
    shown = " and ".join(names[name] for name in alike)
    return Choice(
        tuple(names[name] for name in alike),
        f"{facts}; {shown} cannot be told apart by half a standard error, so their rankings are averaged.{seen}",
    )


def _within(comparison: Comparison, best: str, other: str, errors: float) -> bool:
    """Whether ``other`` comes within so many standard errors of ``best``."""
    gap, error = comparison.gap(best, other)
    return gap <= errors * error


def _run(task: Task, family: Mapping[str, Method], choice: Choice, details: Mapping[str, Any]) -> Outcome:
    """Run what was chosen on the whole table, on the number of features asked for or proposed."""
    task, sizes, warnings = _sized(task, family[choice.methods[0]])
    outcomes = [_outcome(task, family[name]) for name in choice.methods]
    shown = " + ".join(choice.methods)
    choice_facts = {"choice": {"method": shown, "methods": list(choice.methods), "why": choice.why}}
    found = outcomes[0] if len(outcomes) == 1 else _combined(task, outcomes, choice.methods)
    return replace(
        found,
        details={**found.details, **details, **sizes, **choice_facts},
        warnings=(*found.warnings, *warnings),
    )


def _sized(task: Task, chosen: Method) -> tuple[Task, dict[str, Any], tuple[str, ...]]:
    """The task with the number of features proposed for the method, if one was; else its limits stay as asked for."""
    if chosen.own_size:
        return task, {}, ()
    with _as_for(task, chosen) as own:
        resized, sizes, warnings = sized(own)
    if not sizes:
        return task, {}, warnings
    request = replace(task.request, k=resized.request.k, propose_k=False)
    return replace(task, limits=replace(task.limits, k=resized.limits.k), request=request), sizes, warnings


@contextmanager
def _as_for(task: Task, chosen: Method) -> Iterator[Task]:
    """The task of another method; rows that had to be packed for it are let go after it."""
    own = _task_of(task, chosen)
    try:
        yield own
    finally:
        if own.table is not task.table:
            own.table.blocks.release()


def _task_of(task: Task, chosen: Method) -> Task:
    """The same table as another method has it: its own bins, and no text features where it reads numbers only."""
    request = replace(task.request, method=chosen.name, options={})
    task = replace(task, request=request, options=read_options(chosen, {}))
    plan = task.table.plan
    names = tuple(name for name in plan.features if name in plan.schema.numeric or not chosen.numeric_only)
    own = replace(plan, features=names, binning=request.binning_or(chosen.binning))
    if (own.features, own.binning) == (plan.features, plan.binning):
        return task
    other = task_of(task, own)
    return replace(other, limits=replace(other.limits, k=min(task.limits.k, len(names))))


def _outcome(task: Task, chosen: Method) -> Outcome:
    """What the method found, in terms of all features of ``task``."""
    with _as_for(task, chosen) as own:
        outcome = chosen.run(own)
    if own.table is task.table:
        return outcome
    place = np.array([task.table.names.index(name) for name in own.table.names])
    scores, errors = np.full(len(task.table.names), outcome.scores.min()), np.zeros(len(task.table.names))
    scores[place], errors[place] = outcome.scores, outcome.errors
    text = dict.fromkeys(set(range(len(scores))) - set(place.tolist()), f"text, and {chosen.name} reads numbers")
    notes = text | {int(place[i]): note for i, note in outcome.notes.items()}
    return replace(outcome, chosen=place[outcome.chosen].tolist(), scores=scores, errors=errors, notes=notes)


def _combined(task: Task, outcomes: list[Outcome], names: tuple[str, ...]) -> Outcome:
    """The mean of the methods' ranks, 1 for the best to 0 for the last, with its standard error."""
    count = len(task.limits.costs)
    places = np.stack([np.argsort(one.order()) for one in outcomes])
    rank = 1 - places / max(count - 1, 1)
    scores = rank.mean(axis=0)
    errors = rank.std(axis=0, ddof=1) / np.sqrt(len(outcomes))
    notes = {
        i: ", ".join(f"{name} {places[m, i] + 1}." for m, name in enumerate(names)) for i in range(count)
    }  # fmt: skip
    warnings = tuple(warning for one in outcomes for warning in one.warnings)
    return Outcome(by_score(scores, task.limits), scores, errors, notes=notes, warnings=warnings)


def _are_names(value: Any) -> bool:
    return isinstance(value, list | tuple) and len(value) > 0 and all(isinstance(name, str) for name in value)


_OPTIONS = {
    "methods": Option(CANDIDATES, "names of methods", _are_names),
    "folds": whole(5, 2, 20),
    "repeats": whole(1, 1, 20),
    "rows": whole(10_000, 100),
    "classifier": one_of("auto", *CLASSIFIERS),
}
