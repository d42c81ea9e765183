"""One trial: select on some rows of a sample, then judge the selection on the rows held out.

A trial runs wherever the engine has room, on an in-process copy of the sample. Its rows and its random numbers come
from the unit alone, so that it gives the same answer wherever and in whatever company it runs. Held-out rows take no
part in the selection, neither their values nor their labels.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from spark_pufs.core.counting.kernel import State
from spark_pufs.core.counting.row_sample import spread
from spark_pufs.core.evidence.classifier import held_out_scores
from spark_pufs.core.evidence.folds import half_of_each, pu_folds
from spark_pufs.core.evidence.label_rate import delong
from spark_pufs.core.schema import free_name
from spark_pufs.engines.base import InProcess
from spark_pufs.errors import PufsError
from spark_pufs.request import Request
from spark_pufs.selectors.base import Limits, Task
from spark_pufs.selectors.by_score import first_within
from spark_pufs.selectors.sampling import raw_sample, taken
from spark_pufs.selectors.task import make_task
from spark_pufs.table.pu_table import inspect
from spark_pufs.types import LABELLED_NEGATIVE, LABELLED_POSITIVE, UNLABELLED, Bins, LabelRule

__all__ = ["ALL", "TrialSample", "run_trial", "run_trials", "trial_sample"]

ALL = "all"  # no selection: every feature
OTHER = "(other)"
# Few labelled rows are the rule here, and deep trees on forty of them judge one selection by .11 apart from split to
# split, shallow ones by .02 (docs/results/published_tables.md).
DEPTH = 3
# Fields of a request that the sample or the unit of a trial decides; a new field is taken over unless it is named here.
DECIDED = ("label", "method", "include", "exclude", "keep", "categorical", "k", "propose_k", "budget", "stability",
           "options")  # fmt: skip
Ints = NDArray[np.intp]


@dataclass(frozen=True)
class TrialSample:
    """The sample as a state to share, the names and costs of its columns, and what it is, for the user."""

    state: State
    names: tuple[str, ...]
    costs: list[float]
    note: str

    @property
    def positives(self) -> int:
        """Different labelled rows: what can be held out."""
        label, group = self.state["label"], self.state["group"]
        return len(np.unique(group[label == LABELLED_POSITIVE]))


def trial_sample(task: Task, most: int, folds: int = 2, repeats: int = 1) -> TrialSample:
    """At most ``most`` rows with their folds, and the request in plain values."""
    sample = raw_sample(task, most)
    rows = spread(sample, most)
    label, group = sample.label[rows], rows
    rng = np.random.default_rng([task.request.seed, 4])
    names, levels = _columns(task)
    state = {
        "X": sample.X[rows],
        "label": label,
        "group": group,
        "folds": np.stack([pu_folds(label, group, folds, rng) for _ in range(repeats)]),
        "names": names,
        "levels": levels,
        "request": _plain(task.request),
        "seed": task.request.seed,
    }
    cost = dict(zip(task.table.names, task.limits.costs.tolist(), strict=True))
    return TrialSample(state, tuple(names), [cost[name] for name in names], taken(len(rows), task))


def _columns(task: Task) -> tuple[list[str], dict[str, list[str | None]]]:
    """Numeric features first, then text features, with the text behind each of their codes."""
    text = {b.name: _levels(b) for b in task.table.bins if b.kind == "text"}
    return [name for name in task.table.names if name not in text] + list(text), text


def _levels(bins: Bins) -> list[str | None]:
    return [*bins.categories, *([OTHER] if bins.pooled else []), *([None] if bins.missing else [])]


def _plain(request: Request) -> dict[str, Any]:
    """What a trial takes over from the request: all that it does not decide itself."""
    return {name: value for name, value in request.as_dict().items() if name not in DECIDED}


def run_trials(task: Task, sample: TrialSample, units: Sequence[State]) -> list[State]:
    """What ``run_trial`` says of each unit, as parallel work of the engine."""
    return task.engine.each(partial(run_trial, task.in_process), sample.state, units)


def run_trial(in_process: InProcess, shared: State, unit: State) -> State:
    """The features chosen, as ``mask`` (D,), and their scores on the held-out rows; or why it ``failed``.

    ``unit``: method, options, k or budget; repeat and fold to hold out, or the number of a ``draw`` of half the rows;
    classifier; ``redrawn``: deal labels out anew first; ``share`` of rows to call positive; ``sizes``: judge the first
    so many features too.
    """
    train, test = _split(shared, unit)
    if unit.get("redrawn"):
        shared = {**shared, "label": _redrawn(shared["label"], train, test, seed=shared["seed"])}
    began = time.perf_counter()
    try:
        order, mask, details = _select(in_process, shared, train, unit)
    except PufsError as error:
        return {"failed": str(error)}
    result: State = {"mask": mask, "seconds": time.perf_counter() - began, **details}
    if len(test):
        result |= _judged(shared, train, test, np.flatnonzero(mask), unit)
        result["curve"] = [
            _judged(shared, train, test, _first(order, size, unit), unit)["auc"] for size in unit.get("sizes", [])
        ]
    return result


def _first(order: Ints, size: int, unit: State) -> Ints:
    """The best ``size`` features that the ``cap`` on the sum of ``costs`` (D,) pays for, in column order."""
    costs = np.array(unit["costs"])
    limits = Limits(size, costs, float(unit["cap"]), (), np.zeros(len(costs), np.bool_))
    return np.sort(np.array(first_within(order.tolist(), limits), np.intp))


def _split(shared: State, unit: State) -> tuple[Ints, Ints]:
    if "draw" in unit:
        return half_of_each(shared["label"], np.random.default_rng([shared["seed"], 5, unit["draw"]])), np.zeros(0, int)
    held = shared["folds"][unit["repeat"]] == unit["fold"]
    return np.flatnonzero(~held), np.flatnonzero(held)


def _redrawn(label: NDArray[np.uint8], *parts: Ints, seed: int) -> NDArray[np.uint8]:
    """Labels redrawn at random among the rows of each part: what a method finds in them is chance."""
    rng, found = np.random.default_rng([seed, 7]), label.copy()
    for rows in parts:
        found[rows] = rng.permutation(label[rows])
    return found


def _select(
    in_process: InProcess, shared: State, train: Ints, unit: State
) -> tuple[Ints, NDArray[np.bool_], dict[str, Any]]:
    """All features best first (D,), the chosen ones as a mask (D,), and what the method said of clusters."""
    names = shared["names"]
    if unit["method"] == ALL:
        return np.arange(len(names)), np.ones(len(names), np.bool_), {}
    from spark_pufs.selectors.registry import method_named

    method, request = method_named(unit["method"]), _request(shared, unit)
    engine = in_process(_frame(shared, train, request.label.column))
    plan = inspect(engine, request, method.binning)
    task = make_task(engine, plan, method, request, in_process)
    outcome = method.run(task)
    place = np.array([names.index(name) for name in plan.features])
    mask = np.zeros(len(names), np.bool_)
    mask[place[outcome.chosen]] = True
    check = outcome.findings.check
    return place[outcome.order()], mask, {"check": check.verdict} if check else {}


def _request(shared: State, unit: State) -> Request:
    rule = LabelRule(free_name("label", shared["names"]), (LABELLED_POSITIVE,), (LABELLED_NEGATIVE,), (UNLABELLED,))
    own = {"k": unit.get("k") or "all", "budget": unit.get("budget"), "options": unit["options"]}
    return Request.of(rule, method=unit["method"], **own, **shared["request"])


def _frame(shared: State, rows: Ints, label: str) -> pd.DataFrame:
    names = shared["names"]
    columns: dict[str, Any] = {name: shared["X"][rows, i] for i, name in enumerate(names)}
    for name, levels in shared["levels"].items():
        columns[name] = np.array(levels, object)[columns[name].astype(int)]
    return pd.DataFrame(columns | {label: shared["label"][rows]})


def _judged(shared: State, train: Ints, test: Ints, columns: Ints, unit: State) -> State:
    """PU-AUC on the held-out rows, and the counts behind PU-F1 when a ``share`` of them is called positive."""
    X, positive = shared["X"], shared["label"] == LABELLED_POSITIVE
    numeric = len(shared["names"]) - len(shared["levels"])
    categorical = [i for i, column in enumerate(columns) if column >= numeric]
    if not len(columns):
        return {"auc": 0.5, "counts": [len(test), 0, int(positive[test].sum()), 0]}
    score = held_out_scores(
        unit["classifier"],
        X[np.ix_(train, columns)],
        positive[train],
        X[np.ix_(test, columns)],
        categorical,
        shared["seed"],
        depth=DEPTH,
    )
    marked = positive[test]
    predicted = _highest(score, round(unit["share"] * len(test)))
    counts = [len(test), int(predicted.sum()), int(marked.sum()), int((predicted & marked).sum())]
    return {"auc": delong(score[marked], score[~marked])[0], "counts": counts}


def _highest(score: NDArray[np.float64], count: int) -> NDArray[np.bool_]:
    """The ``count`` highest scores; among equals the first rows, whose order says nothing."""
    flags = np.zeros(len(score), np.bool_)
    flags[np.argsort(-score, kind="stable")[: max(count, 1)]] = True
    return flags
