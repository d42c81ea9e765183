"""One trial: select on some rows of a sample, then judge the selection on the rows held out.

A trial runs wherever the engine has room, on an in-process copy of the sample. Its rows and its random numbers come
from the unit alone, so that it gives the same answer wherever and in whatever company it runs. Held-out rows take no
part in the selection, neither their values nor their labels.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from spark_pufs.core.evidence.classifier import held_out_scores
from spark_pufs.core.evidence.folds import half_of_each, pu_folds
from spark_pufs.core.evidence.label_rate import delong
from spark_pufs.core.schema import free_name
from spark_pufs.engines.base import InProcess
from spark_pufs.errors import PufsError
from spark_pufs.findings import Findings
from spark_pufs.request import Request
from spark_pufs.selectors.base import Task
from spark_pufs.selectors.by_score import first_within
from spark_pufs.selectors.sampling import picked_rows, raw_sample, taken
from spark_pufs.selectors.task import make_task
from spark_pufs.table.limits import Limits, groups_of
from spark_pufs.table.pu_table import inspect
from spark_pufs.types import LABELLED_NEGATIVE, LABELLED_POSITIVE, UNLABELLED, Bins, Json, LabelRule

__all__ = [
    "ALL",
    "Held",
    "Trial",
    "TrialResult",
    "TrialRows",
    "TrialSample",
    "run_trial",
    "run_trials",
    "trial_sample",
]

ALL = "all"  # no selection: every feature
OTHER = "(other)"
# Few labelled rows are the rule here, and deep trees on forty of them judge one selection by .11 apart from split to
# split, shallow ones by .02 (docs/results/published_tables.md).
DEPTH = 3
Ints = NDArray[np.intp]


@dataclass(frozen=True)
class TrialRows:
    """What trials share: X (n, D), numeric features first, then the codes of text features; ``label`` (n,) states;
    ``group`` (n,), equal for equal rows; ``folds`` (repeats, n); the text behind each code; and the ``request``, in
    terms of these columns."""

    X: NDArray[np.float64]
    label: NDArray[np.uint8]
    group: Ints
    folds: NDArray[np.integer]
    names: tuple[str, ...]
    levels: Mapping[str, tuple[str | None, ...]]
    request: Request

    @property
    def positive(self) -> NDArray[np.bool_]:
        return np.asarray(self.label == LABELLED_POSITIVE)


@dataclass(frozen=True)
class Trial:
    """A unit of work: a method on the rows outside ``fold`` of ``repeat``, or on the ``draw``-th half of the rows; with
    neither, on all rows.

    ``redrawn``: deal labels out anew first. The ``classifier`` judges, calling a ``share`` of rows positive; ``sizes``:
    judge the first so many features too, of ``units`` (D,) so many, that ``cap`` on the sum of ``costs`` (D,) pays for.
    """

    method: str
    options: Mapping[str, Json] = field(default_factory=dict)
    k: int | None = None
    budget: float | None = None
    repeat: int = 0
    fold: int | None = 0
    draw: int | None = None
    redrawn: bool = False
    classifier: str = ""
    share: float = 0.5
    sizes: tuple[int, ...] = ()
    costs: tuple[float, ...] = ()
    units: tuple[int, ...] | None = None
    cap: float = math.inf


@dataclass(frozen=True)
class Held:
    """PU-AUC on the held-out rows; and rows, rows called positive, labelled rows, and those that are both."""

    auc: float
    counts: tuple[int, ...]


@dataclass(frozen=True)
class TrialResult:
    """The features chosen, as ``mask`` (D,), and their scores on the held-out rows; or why it ``failed``.

    ``check``: what the method said of clusters. ``gathered``: how many times as well as chance clusters gather labelled
    rows before the search, where they do. ``teacher``: held-out AUC of the method's teacher. ``curve``: PU-AUC of each
    of the trial's sizes.
    """

    mask: NDArray[np.bool_]
    seconds: float = 0.0
    check: str | None = None
    gathered: float | None = None
    teacher: float | None = None
    held: Held | None = None
    curve: tuple[float, ...] = ()
    failed: str | None = None

    @property
    def judged(self) -> Held:
        """The scores of a trial that held rows out."""
        if self.held is None:
            raise ValueError("the trial held no rows out")
        return self.held


@dataclass(frozen=True)
class TrialSample:
    """The rows that trials share, what they are, for the user, and the costs and units of their columns."""

    rows: TrialRows
    costs: tuple[float, ...]
    units: tuple[int, ...] | None  # None: every column by itself
    note: str

    @property
    def names(self) -> tuple[str, ...]:
        return self.rows.names

    @property
    def positives(self) -> int:
        """Different labelled rows: what can be held out."""
        return len(np.unique(self.rows.group[self.rows.positive]))


def trial_sample(task: Task, most: int, folds: int = 2, repeats: int = 1) -> TrialSample:
    """At most ``most`` rows with their folds."""
    sample = raw_sample(task, most)
    rows = picked_rows(task, sample, most)
    label, group = sample.label[rows], rows
    rng = np.random.default_rng([task.request.seed, 4])
    names, levels = _columns(task)
    shared = TrialRows(
        sample.X[rows],
        label,
        group,
        np.stack([pu_folds(label, group, folds, rng) for _ in range(repeats)]),
        names,
        levels,
        _of_columns(task, names),
    )
    place = [task.table.names.index(name) for name in names]
    costs, units = task.limits.costs[place], task.limits.units
    own = None if units is None else tuple(units[place].tolist())
    return TrialSample(shared, tuple(costs.tolist()), own, taken(len(rows), task))


def _columns(task: Task) -> tuple[tuple[str, ...], dict[str, tuple[str | None, ...]]]:
    """Numeric features first, then text features, with the text behind each of their codes."""
    text = {b.name: _levels(b) for b in task.table.bins if b.kind == "text"}
    return (*(name for name in task.table.names if name not in text), *text), text


def _levels(bins: Bins) -> tuple[str | None, ...]:
    return (*bins.categories, *([OTHER] if bins.pooled else []), *([None] if bins.missing else []))


def _of_columns(task: Task, names: Sequence[str]) -> Request:
    """The request of trials: all of these columns are features, and the label is one of our own."""
    request, costs = task.request, dict(zip(task.table.names, task.limits.costs.tolist(), strict=True))
    rule = LabelRule(free_name("label", names), (LABELLED_POSITIVE,), (LABELLED_NEGATIVE,), (UNLABELLED,))
    own: dict[str, Any] = {"propose_k": False, "stability": 0, "check_labels": False}
    own |= {"fdr": None, "expected_false": None, "distinct": False, "groups": _groups_among(task, names)}
    # By name: a copy that is no feature here may have a cost too.
    own |= {"costs": {name: cost for name, cost in costs.items() if cost != 1}}
    return replace(request, label=rule, include=("*",), exclude=(), keep=(), categorical=(), **own)


def _groups_among(task: Task, names: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """The groups of those of their columns that are there."""
    own = groups_of(task.request, names, task.table.plan.schema.table)
    return {group: tuple(names[place] for place in places) for group, places in own.items() if places}


def run_trials(task: Task, sample: TrialSample, units: Sequence[Trial]) -> list[TrialResult]:
    """What ``run_trial`` says of each unit, as parallel work of the engine."""
    return task.engine.each(partial(run_trial, task.in_process), sample.rows, units, TrialResult)


def run_trial(in_process: InProcess, shared: TrialRows, unit: Trial) -> TrialResult:
    """Select on some of the rows, judge on the others where some are held out."""
    train, test = _split(shared, unit)
    if unit.redrawn:
        shared = replace(shared, label=_redrawn(shared.label, train, test, seed=shared.request.seed))
    began = time.perf_counter()
    try:
        order, mask, found = _select(in_process, shared, train, unit)
    except PufsError as error:
        return TrialResult(np.zeros(0, np.bool_), failed=str(error))
    result = _told(TrialResult(mask, time.perf_counter() - began), found)
    if not len(test):
        return result
    curve = tuple(_judged(shared, train, test, _first(order, size, unit), unit).auc for size in unit.sizes)
    return replace(result, held=_judged(shared, train, test, np.flatnonzero(mask), unit), curve=curve)


def _told(result: TrialResult, found: Findings) -> TrialResult:
    """The result with what a comparison reads of the findings."""
    before, teacher = found.check_before, found.teacher
    return replace(
        result,
        check=found.check.verdict if found.check else None,
        gathered=before.effect if before and before.verdict == "holds" else None,
        teacher=teacher.auc if teacher else None,
    )


def _first(order: Ints, size: int, unit: Trial) -> Ints:
    """The best ``size`` features that the trial's cap pays for, in column order."""
    costs = np.array(unit.costs)
    units = None if unit.units is None else np.array(unit.units, np.intp)
    limits = Limits(size, costs, unit.cap, (), np.zeros(len(costs), np.bool_), units)
    return np.sort(np.array(first_within(order.tolist(), limits), np.intp))


def _split(shared: TrialRows, unit: Trial) -> tuple[Ints, Ints]:
    none = np.zeros(0, np.intp)
    if unit.draw is not None:
        return half_of_each(shared.label, np.random.default_rng([shared.request.seed, 5, unit.draw])), none
    if unit.fold is None:
        return np.arange(len(shared.label)), none
    held = shared.folds[unit.repeat] == unit.fold
    return np.flatnonzero(~held), np.flatnonzero(held)


def _redrawn(label: NDArray[np.uint8], *parts: Ints, seed: int) -> NDArray[np.uint8]:
    """Labels redrawn at random among the rows of each part: what a method finds in them is chance."""
    rng, found = np.random.default_rng([seed, 7]), label.copy()
    for rows in parts:
        found[rows] = rng.permutation(label[rows])
    return found


def _select(
    in_process: InProcess, shared: TrialRows, train: Ints, unit: Trial
) -> tuple[Ints, NDArray[np.bool_], Findings]:
    """All features best first (D,), the chosen ones as a mask (D,), and what the method found."""
    names = shared.names
    if unit.method == ALL:
        return np.arange(len(names)), np.ones(len(names), np.bool_), Findings()
    from spark_pufs.selectors.registry import method_named

    method, request = method_named(unit.method), _request(shared, unit)
    engine = in_process(_frame(shared, train, request.label.column))
    plan = inspect(engine, request, method.binning)
    task = make_task(engine, plan, method, request, in_process)
    outcome = method.select(task)
    place = np.array([names.index(name) for name in plan.features])
    mask = np.zeros(len(names), np.bool_)
    mask[place[outcome.chosen]] = True
    return place[outcome.order()], mask, outcome.findings


def _request(shared: TrialRows, unit: Trial) -> Request:
    return replace(shared.request, method=unit.method, k=unit.k, budget=unit.budget, options=unit.options)


def _frame(shared: TrialRows, rows: Ints, label: str) -> pd.DataFrame:
    columns: dict[str, NDArray[np.generic]] = {name: shared.X[rows, i] for i, name in enumerate(shared.names)}
    for name, levels in shared.levels.items():
        columns[name] = np.array(levels, object)[columns[name].astype(int)]
    return pd.DataFrame(columns | {label: shared.label[rows]})


def _judged(shared: TrialRows, train: Ints, test: Ints, columns: Ints, unit: Trial) -> Held:
    """PU-AUC on the held-out rows, and the counts behind PU-F1 when a ``share`` of them is called positive."""
    X, positive = shared.X, shared.positive
    numeric = len(shared.names) - len(shared.levels)
    categorical = [i for i, column in enumerate(columns) if column >= numeric]
    if not len(columns):
        return Held(0.5, (len(test), 0, int(positive[test].sum()), 0))
    score = held_out_scores(
        unit.classifier,
        X[np.ix_(train, columns)],
        positive[train],
        X[np.ix_(test, columns)],
        categorical,
        shared.request.seed,
        depth=DEPTH,
    )
    marked = positive[test]
    predicted = _highest(score, round(unit.share * len(test)))
    counts = (len(test), int(predicted.sum()), int(marked.sum()), int((predicted & marked).sum()))
    return Held(delong(score[marked], score[~marked])[0], counts)


def _highest(score: NDArray[np.float64], count: int) -> NDArray[np.bool_]:
    """The ``count`` highest scores; among equals the first rows, whose order says nothing."""
    flags = np.zeros(len(score), np.bool_)
    flags[np.argsort(-score, kind="stable")[: max(count, 1)]] = True
    return flags
