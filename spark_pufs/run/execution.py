"""One selection from engine to answer: inspect, pack, run the method, tell."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import NoReturn

import numpy as np

from spark_pufs.core.clusters.cluster_check import ClusterCheck
from spark_pufs.core.counting.profile import ProfileKernel
from spark_pufs.core.evidence.drift import ColumnCounts
from spark_pufs.core.evidence.labelling_check import LabellingCheck
from spark_pufs.core.evidence.prior import PriorEstimate
from spark_pufs.core.process_state import undisturbed
from spark_pufs.core.schema import label_states, match, patterns
from spark_pufs.core.soft.recall_list import RecallList
from spark_pufs.engines.at_work import at_work
from spark_pufs.engines.base import Engine, Keeper
from spark_pufs.engines.local import LocalEngine
from spark_pufs.errors import ConfigError, DataError, Fault, did_you_mean
from spark_pufs.findings.parts import PriorSummary
from spark_pufs.findings.run_facts import Pass, Reading
from spark_pufs.report.known_warnings import NOTHING_CHOSEN, few_labels
from spark_pufs.request import DEFAULT_METHOD, Request
from spark_pufs.run.copies import copy_groups, near_groups, one_of_each, with_copies
from spark_pufs.run.error_control import FeatureTests, as_found, controlled, tests_of
from spark_pufs.run.feature_summary import summarise
from spark_pufs.run.nothing_left import ordered, say_nothing_left
from spark_pufs.run.provenance import fingerprint, identity, run_facts, versions
from spark_pufs.run.recall import recall_list
from spark_pufs.run.relevance import Relevance, relevance_of, told_alone
from spark_pufs.run.teacher_scores import labelling_of, prior_of, scored_rows, with_prior
from spark_pufs.rundir.checkpoint import FolderKeeper
from spark_pufs.rundir.folder import RunFolder
from spark_pufs.rundir.lock import held
from spark_pufs.selection import Feature, Selection
from spark_pufs.selectors.base import Method, Outcome, Task, read_options
from spark_pufs.selectors.clusters.cluster_counts import check_counts, count_clusters
from spark_pufs.selectors.clusters.fscpu import FscpuOptions, mixture_settings
from spark_pufs.selectors.evidence.comparison import Candidate, Comparison, EvaluationProtocol, compare_methods
from spark_pufs.selectors.evidence.judging import judged_outcome
from spark_pufs.selectors.evidence.resampling import resampled, stability_summary
from spark_pufs.selectors.evidence.sizes import sized
from spark_pufs.selectors.evidence.trial import ALL
from spark_pufs.selectors.registry import method_named, packages_behind
from spark_pufs.selectors.sampling import draw_sample, rows_in
from spark_pufs.selectors.task import make_task
from spark_pufs.table.counter import Counter
from spark_pufs.table.limits import Limits, asked_for_more, groups_of
from spark_pufs.table.pu_table import Frozen, Plan, PUTable, inspect
from spark_pufs.types import LabelRule

__all__ = [
    "check",
    "check_table",
    "compare_with",
    "execute",
    "execute_kept",
    "identifiers",
    "label_faults",
    "labelling_of_table",
    "prepare",
    "prior_of_table",
    "recall_list_of",
    "rehearse",
    "select_with",
]

IN_PROCESS = partial(LocalEngine, threads=1)
FEW_LABELS = 10  # rows labelled positive below which any answer is a warning


@undisturbed()
def select_with(engine: Engine, request: Request, checkpoint: str | Path | None = None) -> Selection:
    """Check the request, read the table, run the method; a search keeps its state in ``checkpoint``."""
    return execute_kept(engine, prepare(engine, request), request, checkpoint)


def execute_kept(engine: Engine, plan: Plan, request: Request, checkpoint: str | Path | None) -> Selection:
    """Run the method, whose search keeps its state in ``checkpoint`` and goes on from there."""
    if checkpoint is None:
        return execute(engine, plan, request)
    folder = RunFolder(checkpoint)
    with held(folder):
        keeper = FolderKeeper(folder, identity(plan, request))
        keeper.check()
        selection = execute(engine, plan, request, keeper=keeper)
        keeper.clear()
    return selection


def check(request: Request) -> None:
    """What can be wrong without looking at a table: the method's name and its options."""
    method = method_named(request.method)
    if request.labelled_by and not method.given_columns:
        fix = "Use semi-mim or mim."
        raise ConfigError(Fault("Option 'labelled_by'", f"method '{method.name}' cannot rank given columns", fix))
    read_options(method, request.options)


def prepare(engine: Engine, request: Request, known: Plan | None = None, frozen: Frozen | None = None) -> Plan:
    """All that can be wrong is found here, before the work; rows behind a ``known`` plan are not read again."""
    check(request)
    method = method_named(request.method)
    with at_work(method.name):
        plan = inspect(engine, request, method.binning, known, frozen)
        return one_of_each(plan, engine, request)


def rehearse(table: PUTable, request: Request) -> None:
    """Run the method up to where it first asks for rows: what it cannot do without is found before the work."""
    method, unread = method_named(request.method), NoRows()
    table = replace(table, plan=replace(table.plan, source=unread), blocks=unread)
    counter = Counter(table, request.pair_memory_mb)
    limits = table.plan.limits_on(table.names)
    if request.estimate_prior:  # any share that is possible
        request = replace(request, prior=(1 + table.plan.labels.positive / table.rows) / 2, estimate_prior=False)
    with suppress(RowsWanted):
        method.run(Task(table, counter, limits, request, read_options(method, request.options), unread, IN_PROCESS))


class RowsWanted(Exception):
    """A method has found all else in order."""


class NoRows:
    """In place of whatever brings rows: nothing may be asked of it."""

    name = "unread"
    passes: list[Pass] = []  # noqa: RUF012
    reading = Reading()

    def _wanted(self, *given: object) -> NoReturn:
        raise RowsWanted

    columns = source = pack = scan = release = each = mask_scorer = likely_positives = _wanted


@undisturbed()
def execute(
    engine: Engine,
    plan: Plan,
    request: Request,
    note: Callable[[str], None] = lambda what: None,
    keeper: Keeper | None = None,
) -> Selection:
    """Pack the rows and run the method; ``note`` gets what is being done, ``keeper`` holds work in progress."""
    with at_work(request.method):
        return _executed(engine, plan, request, note, keeper)


def _executed(
    engine: Engine, plan: Plan, request: Request, note: Callable[[str], None], keeper: Keeper | None
) -> Selection:
    began = time.perf_counter()
    method = method_named(request.method)
    note(f"sorting {plan.profile.rows:,} rows of {len(plan.features)} features into bins")
    task = make_task(engine, plan, method, request, IN_PROCESS, keeper, note)
    bounds = task.limits
    try:
        task, prior = with_prior(task)
        task, tests, control = controlled(task)
        outcome, alone = as_found(_evident(task, method, bounds), task, control), told_alone(task.counter)
        labelling = labelling_of(task) if request.check_labels else None
        tests = tests or tests_of(task)  # after the method, which may have counted labels on the way
        outcome, order = ordered(outcome, alone, task.limits) if control is None else (outcome, outcome.order())
        seen = summarise(task.table, task.counter, order, len(outcome.chosen))
        leaks, columns = _leaks(task.table, task.counter), _columns(task.table, task.counter)
    finally:
        task.table.blocks.release()
    groups = groups_of(request, plan.features, plan.schema.table)
    lines = _lines(plan, bounds, outcome, order, relevance_of(outcome, order, alone, bounds), tests, groups)
    features = with_copies(lines, plan, _wanted(request, method, plan.limits))
    said = (*outcome.warnings, *say_nothing_left(outcome, plan.features, task.limits))
    said += prior.warnings if prior is not None else ()
    said += (control.why,) if control is not None and not control.found else ()
    warnings = (*plan.warnings, *leaks, *asked_for_more(request, plan.limits), *said, *_doubts(plan, outcome))
    near = (*near_groups(plan.near_copies), *(seen.near_copies or ()))
    seen = replace(seen, copies=copy_groups(plan.copies), near_copies=near or seen.near_copies)
    found = None if prior is None else PriorSummary.of(prior)
    findings = replace(outcome.findings, features=seen, estimated_prior=found, labelling=labelling)
    outcome = replace(outcome, findings=findings)
    answer = _selection(engine, plan, request, features, outcome, warnings, time.perf_counter() - began)
    return replace(answer, columns=columns)


def _wanted(request: Request, method: Method, limits: Limits) -> int | None:
    """How many features were asked for, all being a number too; None where they are counted by other means."""
    if request.fdr is not None or request.expected_false is not None or limits.units is not None:
        return None
    every = request.budget is None and not request.propose_k and not method.own_size
    return limits.k if request.k is not None or every else None


def _doubts(plan: Plan, outcome: Outcome) -> tuple[str, ...]:
    few = (few_labels(plan.labels.positive),) if plan.labels.positive < FEW_LABELS else ()
    return few if outcome.chosen or outcome.findings.control else (*few, NOTHING_CHOSEN)


def _evident(task: Task, method: Method, bounds: Limits) -> Outcome:
    """The method's answer, on the number of features asked for or proposed, with its stability if that is wanted.

    ``bounds``: the user's limits, within which halves of the rows are chosen from.
    """
    task, sizes, warnings = (task, None, ()) if method.own_size else sized(task)
    task.note(f"{method.name} chooses from {len(task.table.names)} features")
    outcome = method.select(task)
    outcome = judged_outcome(task, method, outcome) if task.options.judge else outcome
    findings = outcome.findings if sizes is None else replace(outcome.findings, sizes=sizes)
    if task.request.stability:
        chosen = _as_chosen(task, outcome)
        halved = replace(chosen, limits=replace(bounds, k=chosen.limits.k))
        found, names = resampled(halved, task.request.stability)
        findings = replace(findings, stability=stability_summary(found, names))
        if found.depends_on_draw:
            warnings = (*warnings, f"The answer depends on the draw of rows: {found}.")
    return replace(outcome, findings=findings, warnings=(*outcome.warnings, *warnings))


def _as_chosen(task: Task, outcome: Outcome) -> Task:
    """The task of the method that auto chose, the first of several, on as many features."""
    choice = outcome.findings.choice
    if choice is None:
        return task
    first, size = choice.methods[0], len(outcome.chosen)
    request = replace(task.request, method=first, options={}, k=size, propose_k=False)
    return replace(task, request=request, limits=replace(task.limits, k=size))


@undisturbed()
def check_table(engine: Engine, request: Request) -> ClusterCheck:
    """Cluster the rows on all requested features, as the request of fscpu says, and test whether that concentrates the
    labelled rows."""
    plan = prepare(engine, replace(request, copies="all"))  # the columns that were asked for, all of them
    task = make_task(engine, plan, method_named(request.method), request, IN_PROCESS)
    options = task.options_as(FscpuOptions)
    try:
        rows, cleaning = draw_sample(task, rows_in(options.sample_mb, task))
        everything = np.ones(len(plan.features), np.bool_)
        counted, _ = count_clusters(task, everything, rows, cleaning, mixture_settings(options))
    finally:
        task.table.blocks.release()
    return check_counts(counted, request.seed)


@undisturbed()
def labelling_of_table(
    engine: Engine, request: Request, note: Callable[[str], None] = lambda what: None
) -> LabellingCheck:
    """Whether labels depend on the columns of the request."""
    request = replace(request, method=DEFAULT_METHOD, options={})
    task = make_task(engine, prepare(engine, request), method_named(DEFAULT_METHOD), request, IN_PROCESS, note=note)
    try:
        return labelling_of(task)
    finally:
        task.table.blocks.release()


@undisturbed()
def recall_list_of(engine: Engine, selection: Selection, rule: LabelRule, recall: float) -> RecallList:
    """Which rows of a table hold that share of its positives, by the columns that a selection chose."""
    if not selection.names:
        raise DataError(
            Fault("Likely positives", "no feature was chosen to list them by", "Choose some, for example k=5.")
        )
    asked = selection.request
    request = Request(
        rule,
        DEFAULT_METHOD,
        include=tuple(selection.names),
        categorical=asked.categorical,
        seed=asked.seed,
        max_categories=asked.max_categories,
        copies="all",
    )
    task = make_task(engine, prepare(engine, request), method_named(DEFAULT_METHOD), request, IN_PROCESS)
    try:
        return recall_list(task, recall)
    finally:
        task.table.blocks.release()


@undisturbed()
def prior_of_table(engine: Engine, request: Request, note: Callable[[str], None] = lambda what: None) -> PriorEstimate:
    """How many positives a table has, from the columns of the request."""
    request = replace(request, method=DEFAULT_METHOD, options={})
    task = make_task(engine, prepare(engine, request), method_named(DEFAULT_METHOD), request, IN_PROCESS, note=note)
    try:
        return prior_of(task, scored_rows(task, "Prior"))
    finally:
        task.table.blocks.release()


def identifiers(names: Sequence[str], keep: Sequence[str], added: str = "cluster") -> tuple[list[str], list[Fault]]:
    """The columns that say which rows are likely positives, and what is wrong with them; ``added`` is beside them."""
    if not keep:
        return [], [Fault("Likely positives", "no identifier column is named", "Name some in keep.")]
    wanted = patterns(keep, names)
    columns = match(names, wanted)
    faults = [
        Fault("Option 'keep'", f"'{one.text}' matches none of {len(names)} columns", did_you_mean(one.text, names))
        for one in wanted
        if not match(names, [one])
    ]
    if added in columns:
        faults.append(Fault("Option 'keep'", f"'{added}' is the column that is added", "Rename the table's own."))
    return columns, faults


def label_faults(engine: Engine, rule: LabelRule) -> list[Fault]:
    """Values of a table's label that the rule does not know; one pass over this column."""
    kernel = ProfileKernel(0, 0)
    labels = kernel.read(engine.source((), (), rule.column).scan(kernel, "labels")).labels
    return label_states(labels, rule)[1]


@undisturbed()
def compare_with(
    engine: Engine,
    request: Request,
    candidates: Sequence[Candidate],
    protocol: EvaluationProtocol,
    note: Callable[[str], None] = lambda what: None,
    known: Plan | None = None,
) -> Comparison:
    """Judge every candidate, and all features beside them, on held-out rows of one table, of which a plan may be
    ``known``."""
    for candidate in candidates:
        read_options(method_named(candidate.method), candidate.options)
    request = replace(request, method="auto", options={})
    plan = prepare(engine, request, known)
    task = make_task(engine, plan, method_named("auto"), request, IN_PROCESS, note=note)
    try:
        return compare_methods(task, [*candidates, Candidate(ALL)], protocol)
    finally:
        task.table.blocks.release()


def _leaks(table: PUTable, counter: Counter) -> tuple[str, ...]:
    """Features whose levels tell the label of every row."""
    best = counter.labels().max(axis=0)
    told = np.add.reduceat(best, table.layout.offsets[:-1])
    return tuple(
        f"Column '{name}': determines the label of every row: a copy of it, or a leak? Exclude it if so."
        for name, rows in zip(table.names, told, strict=True)
        if rows == table.plan.profile.rows
    )


def _columns(table: PUTable, counter: Counter) -> tuple[ColumnCounts, ...]:
    """What each feature held, for those who ask later what changed."""
    counts = counter.labels()
    return tuple(ColumnCounts.of(bins, counts[:, table.layout.span(i)]) for i, bins in enumerate(table.bins))


def _selection(
    engine: Engine,
    plan: Plan,
    request: Request,
    features: tuple[Feature, ...],
    outcome: Outcome,
    warnings: tuple[str, ...],
    seconds: float,
) -> Selection:
    labels = plan.labels
    return Selection(
        method=request.method,
        features=features,
        surrogate=outcome.surrogate,
        facts={
            "rows": plan.profile.rows,
            "labelled_positive": labels.positive,
            "labelled_negative": labels.negative,
            "unlabelled": labels.unlabelled,
            "features": len(plan.columns),
        },
        dropped=dict(plan.dropped),
        warnings=warnings,
        findings=outcome.findings,
        request=request,
        fingerprint=fingerprint(plan, request),
        versions={**versions(), **packages_behind(request.method)},
        run=run_facts(engine, seconds),
    )


def _lines(
    plan: Plan,
    limits: Limits,
    outcome: Outcome,
    order: Sequence[int],
    relevance: Relevance,
    tests: FeatureTests,
    members: Mapping[str, Sequence[int]],
) -> tuple[Feature, ...]:
    """The ranking of all features but copies."""
    chosen = set(outcome.chosen)
    bound = dict.fromkeys(np.flatnonzero(limits.never).tolist(), "never") | dict.fromkeys(limits.must, "must")
    groups = {i: f"in group {name}" for name, own in members.items() for i in own}
    return tuple(
        Feature(
            name=plan.features[i],
            rank=rank,
            score=float(outcome.scores[i]),
            standard_error=float(outcome.errors[i]),
            selected=i in chosen,
            cost=float(limits.costs[i]),
            notes="; ".join(note for note in (bound.get(i), groups.get(i), outcome.notes.get(i)) if note),
            relevance=float(relevance[0][i]),
            relevance_error=float(relevance[1][i]),
            p_value=float(tests.p[i]),
            q_value=float(tests.q[i]),
        )
        for rank, i in enumerate(order, start=1)
    )
