"""The automatic choice: what several methods say together, with evidence from the labels alone.

Candidates are compared by cross-validation on a bounded sample, by the difference of held-out PU-AUC in the same folds,
beside all features and beside chance: the flagship on redrawn labels. Few labels are held out, so that a winner is
mostly luck: methods that are within one standard error of the best are averaged. FSCPU, if asked for, is included where
the cluster assumption holds in every fold or where it is clearly the best. With too few labels to hold any out the
flagship is run alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

import numpy as np

from spark_pufs.core.evidence.classifier import CLASSIFIERS
from spark_pufs.core.evidence.folds import corrected_error
from spark_pufs.errors import DataError, Fault
from spark_pufs.findings import parts
from spark_pufs.findings.parts import SizeCurve, Standings
from spark_pufs.selectors.base import Method, Outcome, Task, read_options
from spark_pufs.selectors.by_score import by_score
from spark_pufs.selectors.evidence.comparison import (
    CHANCE,
    Candidate,
    Comparison,
    EvaluationProtocol,
    TooFewLabels,
    compare_methods,
)
from spark_pufs.selectors.evidence.sizes import sized
from spark_pufs.selectors.evidence.trial import ALL
from spark_pufs.selectors.options import Options, one_of, option, whole
from spark_pufs.selectors.task import task_of

__all__ = ["CANDIDATES", "METHODS", "Choice", "choose"]

# In the order of preference among equals. FSCPU is not among them: its trials alone would take longer than all else.
CANDIDATES = ("distil", "semi-jmi", "semi-mim")
FLAGSHIP = "distil"  # heard in any case where it is a candidate and not clearly worse; alone where labels are too few
ALIKE = 1.0  # standard errors within which methods cannot be told apart
CLEARLY = 2.0  # standard errors that make a difference clear
_UNJUDGED = {"judge": False}  # the comparison has judged it
MUCH = 0.02  # of PU-AUC: a loss against all features that is told


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


@dataclass(frozen=True)
class Choice:
    """The methods to run, best first (more than one: average them), and why; the verdict in one line."""

    methods: tuple[str, ...]
    why: str
    verdict: str = ""
    warnings: tuple[str, ...] = ()


def _auto(task: Task) -> Outcome:
    """Compare, choose, run what was chosen."""
    options = task.options_as(AutoOptions)
    flagship, *methods = _named((FLAGSHIP, *options.methods))
    protocol = EvaluationProtocol(options.folds, options.repeats, options.rows, options.classifier)
    candidates = [Candidate(one.name, one.trial_options) for one in methods]
    chance = Candidate(flagship.name, flagship.trial_options, redrawn=True)
    try:
        comparison = compare_methods(task, [*candidates, Candidate(ALL), chance], protocol)
    except TooFewLabels:
        return _run(task, _by_labels(task), None)
    choice = choose(comparison, {candidate.name: candidate.method for candidate in candidates})
    return _run(task, choice, comparison.summary())


def _named(names: Sequence[str]) -> list[Method]:
    from spark_pufs.selectors.registry import method_named  # which names this module's own method too

    return [method_named(name) for name in names]


def _by_labels(task: Task) -> Choice:
    found = task.table.plan.labels.positive
    verdict = f"Not judged: {found} labelled rows are too few to hold any out."
    return Choice((FLAGSHIP,), f"{verdict} {FLAGSHIP} asks least of the data.", verdict)


def choose(comparison: Comparison, names: Mapping[str, str]) -> Choice:
    """From the standings to a choice; ``names``: the method behind each name of a standing."""
    tried = [one for one in comparison.standings if one.method in names]
    ran = [one for one in tried if one.method in comparison.aucs]
    own = [one for one in ran if _heard(comparison, one.method, [other.method for other in ran])]
    if not own:
        found = f"{tried[0].method} {tried[0].note.rstrip('.')}"
        raise DataError(Fault("Option 'methods'", found, "Name a method that fits this table: see methods()."))
    best = own[0]
    alike = [one.method for one in own if _within(comparison, best.method, one.method, ALIKE)]
    flagship = next((one.method for one in own if names[one.method] == FLAGSHIP), None)
    if flagship and flagship not in alike and _within(comparison, best.method, flagship, CLEARLY):
        alike.append(flagship)
    shown = " and ".join(names[name] for name in alike)
    facts = f"{names[best.method]} has the best held-out PU-AUC, {best.auc:.3f} +- {best.auc_error:.3f}"
    how = (
        f"{shown} cannot be told apart, so that their rankings are averaged"
        if len(alike) > 1
        else "no other comes within one standard error"
    )
    verdict, warnings = _verdict(comparison, alike)
    why = f"{verdict} {facts}; {how}.{_seen(comparison)}"
    return Choice(tuple(names[name] for name in alike), why, verdict, warnings)


def _heard(comparison: Comparison, name: str, ran: list[str]) -> bool:
    """A method that rests on clusters is heard where they hold in every fold, or where it is clearly the best."""
    checks = comparison.checks.get(name, ())
    others = [other for other in ran if other != name]
    return all(check == "holds" for check in checks) or not any(
        _within(comparison, name, other, CLEARLY) for other in others
    )


def _seen(comparison: Comparison) -> str:
    """In how many folds clusters hold, where a method looked."""
    verdicts = next((found for found in comparison.checks.values() if found), ())
    holding = sum(verdict == "holds" for verdict in verdicts)
    return f" The cluster assumption held in {holding} of {len(verdicts)} folds." if verdicts else ""


def _verdict(comparison: Comparison, chosen: list[str]) -> tuple[str, tuple[str, ...]]:
    """Better than chance or not, worse than all features or not and by how much; and what of it is a warning."""
    aucs = np.mean([comparison.aucs[name] for name in chosen], axis=0)
    mean, error = float(aucs.mean()), corrected_error(aucs, comparison.folds)
    chance = np.array(comparison.aucs.get(CHANCE, (0.5,) * len(aucs)))
    gap, gap_error = float((aucs - chance).mean()), corrected_error(aucs - chance, comparison.folds)
    luck = mean - max(0.5, float(chance.mean())) <= CLEARLY * max(error, 0.0) or gap <= gap_error
    said = [f"{'No better' if luck else 'Better'} than chance: held-out PU-AUC {mean:.3f} +- {error:.3f}"]
    said.append(f"with labels redrawn {float(chance.mean()):.3f}")
    warnings = [f"{said[0]}, {said[1]}. The ranking may be noise: label more rows."] if luck else []
    if ALL in comparison.aucs:
        loss = np.array(comparison.aucs[ALL]) - aucs
        lost, loss_error = float(loss.mean()), corrected_error(loss, comparison.folds)
        said.append(
            f"all features {float(np.mean(comparison.aucs[ALL])):.3f} (difference {-lost:+.3f} +- {loss_error:.3f})"
        )
        if lost > MUCH:
            warnings.append(
                f"Worse than all features by {lost:.3f} +- {loss_error:.3f} of held-out PU-AUC: choose more features, "
                "or keep them all."
            )
    return f"{', '.join(said)}.", tuple(warnings)


def _within(comparison: Comparison, best: str, other: str, errors: float) -> bool:
    """Whether ``other`` comes within so many standard errors of ``best``."""
    gap, error = comparison.gap(best, other)
    return gap <= errors * error


def _run(task: Task, choice: Choice, comparison: Standings | None) -> Outcome:
    """Run what was chosen on the whole table, on the number of features asked for or proposed."""
    chosen = _named(choice.methods)
    task, sizes, warnings = _sized(task, chosen[0])
    outcomes = [_outcome(task, one) for one in chosen]
    told = parts.Choice(" + ".join(choice.methods), choice.methods, choice.why, choice.verdict)
    found = outcomes[0] if len(outcomes) == 1 else _combined(task, outcomes, choice.methods)
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
    task = replace(task, request=request, options=read_options(chosen, _UNJUDGED if "judge" in chosen.options else {}))
    plan = task.table.plan
    own = replace(plan, binning=request.binning_or(chosen.binning))
    if own.binning == plan.binning:
        return task
    other = task_of(task, own)
    return replace(other, limits=replace(other.limits, k=task.limits.k))


def _outcome(task: Task, chosen: Method) -> Outcome:
    """What the method found."""
    with _as_for(task, chosen) as own:
        return chosen.run(own)


def _combined(task: Task, outcomes: list[Outcome], names: tuple[str, ...]) -> Outcome:
    """The mean of the methods' ranks, 1 for the best to 0 for the last, with its standard error."""
    count = len(task.limits.costs)
    places = np.stack([np.argsort(one.order()) for one in outcomes])
    rank = 1 - places / max(count - 1, 1)
    scores = rank.mean(axis=0)
    errors = rank.std(axis=0) / np.sqrt(max(len(outcomes) - 1, 1))
    notes = {i: ", ".join(f"{name} {places[m, i] + 1}." for m, name in enumerate(names)) for i in range(count)}
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
