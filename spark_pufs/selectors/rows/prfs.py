"""PRFS: features by the AUC of labelled rows against all others, in the better direction."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spark_pufs.core.counting.row_sample import Wanted
from spark_pufs.core.pu.prfs import CellKernel, PositiveKernel, grids_of
from spark_pufs.findings import Findings
from spark_pufs.selectors.base import Method, Outcome, Task
from spark_pufs.selectors.by_score import by_score
from spark_pufs.selectors.options import Options, whole
from spark_pufs.table.numbers import numeric_view

__all__ = ["METHODS"]

CELL_BYTES = 2 * 2 * 8  # a value of the grid makes two cells, each with two counts


@dataclass(frozen=True)
class PrfsOptions(Options):
    """Options of prfs."""

    grid_mb: int = whole(32)


def _run(task: Task) -> Outcome:
    view, states = numeric_view(task.table, task.counter), task.table.plan.states
    wanted = Wanted(view.columns, states, task.request.seed)
    most = max(task.options_as(PrfsOptions).grid_mb * 2**20 // (CELL_BYTES * len(view.columns)), 2)
    positives = view.rows.scan(PositiveKernel(wanted, most), "labelled values").rows
    kernel = CellKernel(view.columns, states, grids_of(positives))
    auc, error = kernel.aucs(view.rows.scan(kernel, "ranks"))
    scores = np.maximum(auc, 1 - auc)
    return Outcome(
        by_score(scores, task.limits), scores, error, notes=_directions(auc), findings=_findings(len(positives), most)
    )


def _directions(auc: NDArray[np.float64]) -> dict[int, str]:
    words = {1: "labelled rows lie higher", -1: "labelled rows lie lower"}
    return {feature: words[side] for feature, side in enumerate(np.sign(auc - 0.5).astype(int).tolist()) if side}


def _findings(values: int, most: int) -> Findings:
    """Cells are finer than any error where labelled rows were too many for all of their values to be cut points."""
    exact = values < most
    cut = "every labelled value" if exact else f"the values of {values:,} labelled rows"
    return Findings(sample=f"all rows, in cells cut at {cut}", extra={"exact": exact})


METHODS = (
    Method(
        "prfs",
        "AUC of each feature, labelled rows against all others, in the better direction",
        "labels depend on the class alone (SCAR); a relevant feature is higher or lower for positives",
        "two passes over the rows",
        "a quick ranking without bins, with a standard error; misses what matters in the middle or at both ends",
        _run,
        PrfsOptions,
    ),
)
