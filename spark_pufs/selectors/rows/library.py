"""Baselines that well-kept libraries provide: K-Best, Lasso and recursive elimination with a random forest.

Supervised methods, run as the FSCPU paper ran them (section 5.2.2): the label is the class, rows that are not labelled
positive are the other class.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from spark_pufs.core.baselines.chi_square import ScaledSums, chi_square
from spark_pufs.core.baselines.sklearn_peers import (
    Eliminated,
    Elimination,
    LassoFit,
    Penalty,
    forest_elimination,
    lasso_weights,
)
from spark_pufs.findings import Findings
from spark_pufs.selectors.base import Method, Outcome, Task
from spark_pufs.selectors.by_score import by_score
from spark_pufs.selectors.one_task import in_one_task
from spark_pufs.selectors.options import Options, number, whole
from spark_pufs.selectors.sampling import draw_rows
from spark_pufs.table.numbers import numeric_view

__all__ = ["METHODS"]


@dataclass(frozen=True)
class LassoOptions(Options):
    """Options of lasso."""

    alpha: float = number(5e-5)
    rows: int = whole(50_000, 100)


@dataclass(frozen=True)
class ForestOptions(Options):
    """Options of dt-rfe."""

    trees: int = whole(100, 1)
    step: int = whole(1, 1)
    rows: int = whole(10_000, 100)


_SLOW = "The Lasso fit did not converge: the smallest weights are uncertain. Raise alpha."


def _k_best(task: Task) -> Outcome:
    view = numeric_view(task.table, task.counter)
    low, high = view.low, view.high
    spread = np.isfinite(low) & np.isfinite(high) & (low < high)  # else: constant but for missing or infinite values
    kernel = ScaledSums(view.columns, np.where(spread, low, 0.0), np.where(spread, high, 1.0), task.table.plan.states)
    scores = chi_square(view.rows.scan(kernel, "sums by label"))
    return Outcome(by_score(scores, task.limits), scores, np.zeros(len(scores)))


def _lasso(task: Task) -> Outcome:
    options = task.options_as(LassoOptions)
    rows = draw_rows(task, options.rows)
    found = in_one_task(task, lasso_weights, rows, Penalty(float(options.alpha)), LassoFit)
    scores = np.abs(found.weight)
    notes = {i: f"weight {weight:.3g}" for i, weight in enumerate(found.weight.tolist())}
    return Outcome(
        by_score(scores, task.limits),
        scores,
        np.zeros(len(scores)),
        notes=notes,
        warnings=() if found.converged else (_SLOW,),
        findings=Findings(sample=rows.note, extra={"nonzero": int((scores > 0).sum())}),
    )


def _forest(task: Task) -> Outcome:
    options, limits = task.options_as(ForestOptions), task.limits
    rows = draw_rows(task, options.rows)
    open_ = np.flatnonzero(~limits.never)
    keep = (
        min(limits.k, len(open_)) if task.request.budget is None and limits.units is None else 1
    )  # costs and groups need the order of all
    settings = Elimination(open_, keep, options.trees, options.step, task.request.seed)
    found = in_one_task(task, forest_elimination, rows, settings, Eliminated)
    scores = np.full(len(limits.never), -1.0 - len(limits.never))
    scores[open_] = found.importance - found.rank
    errors = np.zeros(len(scores))
    return Outcome(by_score(scores, limits), scores, errors, findings=Findings(sample=rows.note))


_ASSUMES = "unlabelled rows may count as negative"

METHODS = (
    Method(
        "k-best",
        "Chi-square of each feature, scaled to [0, 1], with the label (as scikit-learn's SelectKBest with chi2)",
        _ASSUMES,
        "one pass over the rows",
        "a baseline from a library",
        _k_best,
    ),
    Method(
        "lasso",
        "Size of the weights of an L1-penalised linear fit of the label (scikit-learn's Lasso)",
        f"{_ASSUMES}; the label is linear in the features",
        "one task on a bounded sample",
        "a baseline from a library",
        _lasso,
        LassoOptions,
        from_sample=True,
    ),
    Method(
        "dt-rfe",
        "Recursive elimination of the features least important to a random forest (scikit-learn's RFE)",
        _ASSUMES,
        "one forest per feature dropped, in one task on a bounded sample",
        "a baseline from a library; features that matter together",
        _forest,
        ForestOptions,
        from_sample=True,
        trial_options={"trees": 50, "step": 5},
    ),
)
