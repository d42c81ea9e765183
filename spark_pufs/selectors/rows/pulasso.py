"""PUlasso: features in the order in which a penalised regression under the PU model lets them in.

Song & Raskutti 2020, with these readings. A number enters as its normal score, so that no outlier decides; missing
values and the levels of text have columns of their own. All columns of a feature form a group, which is in the model or
out of it as a whole; features that are chosen together form one. Where nothing is said of the prior, three positives
are assumed for each labelled row, and a warning says so.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spark_pufs.core.baselines.scored import settled, tied
from spark_pufs.core.pu.pulasso import Floats, PuLoss, Solver, orthonormal, penalty_path
from spark_pufs.core.soft.encoding import Encoding
from spark_pufs.findings import Findings
from spark_pufs.selectors.base import Method, Outcome, Task
from spark_pufs.selectors.by_score import by_score
from spark_pufs.selectors.options import Options, number, one_of, whole
from spark_pufs.selectors.soft.training_sample import SAMPLE_MB, TrainingRows, draw_training_sample

__all__ = ["METHODS"]

WITHIN = 1e-6  # of the score of a group: its features in the order of what each tells by itself


@dataclass(frozen=True)
class PulassoOptions(Options):
    """Options of pulasso."""

    rows: int = whole(20_000, 100)
    penalties: int = whole(40, 2, 1000)
    ratio: float = number(0.05, 0, 1)
    curves: str = one_of("straight", "straight", "bent")


@dataclass(frozen=True)
class PathUnit:
    """``group`` (D,): which group each column of the sample belongs to; the path of penalties."""

    group: NDArray[np.int64]
    bent: bool
    penalties: int
    ratio: float


@dataclass(frozen=True)
class EnteredColumns:
    """Scores (D,): the penalty at which each column came in; sizes (D,) of coefficients at the last penalty."""

    scores: Floats
    sizes: Floats
    objective: Floats
    settled: bool


def enter_columns(shared: TrainingRows, unit: PathUnit) -> EnteredColumns:
    """The path on the rows of a sample."""
    blocks = [_columns_of(shared, i, unit.bent) for i in range(len(shared.codes))]
    groups = int(unit.group.max()) + 1
    parts = [
        orthonormal(np.column_stack([blocks[i] for i in np.flatnonzero(unit.group == number)]))
        for number in range(groups)
    ]
    group = np.repeat(np.arange(groups), [part.shape[1] for part in parts])
    loss = PuLoss(shared.positive, shared.negative, _labelled_share(shared))
    solver = Solver(np.column_stack(parts), group, groups, loss)
    alone = _alone(blocks, solver)
    found = penalty_path(solver, unit.penalties, unit.ratio)
    scores = found.entered[unit.group] * (1 - WITHIN * (1 - alone / max(float(alone.max(initial=0.0)), 1e-300)))
    scores = settled(tied(scores, shared.codes.T.astype(np.float64)))
    return EnteredColumns(scores, found.coefficients[unit.group], np.array(found.objective), found.settled)


def _columns_of(shared: TrainingRows, column: int, bent: bool) -> Floats:
    """The columns (n, c) of one feature: its normal score, with ``bent`` the square too, and one for each name."""
    encoding: Encoding = shared.encoding
    level = shared.codes[column].astype(np.int64) + int(encoding.layout.offsets[column])
    span = encoding.layout.span(column)
    score = encoding.score[level]
    names = [(level == place).astype(np.float64) for place in range(span.start, span.stop) if encoding.named[place]]
    return np.column_stack([score, *([score**2] if bent else []), *names])


def _alone(blocks: list[Floats], solver: Solver) -> Floats:
    """How steep the loss is (D,) along each feature by itself, without any other."""
    slope = solver.loss.slope(np.full(len(solver.X), solver.intercept))
    parts = [orthonormal(block) for block in blocks]
    return np.array([np.sqrt(((part.T @ slope) ** 2).sum() / max(part.shape[1], 1)) for part in parts])


def _labelled_share(shared: TrainingRows) -> float:
    """The share of positives among the rows of the sample that are labelled."""
    positive = int(shared.positive.sum())
    hidden = shared.hidden * int((~shared.positive & ~shared.negative).sum())
    return positive / (positive + hidden)


def _run(task: Task) -> Outcome:
    options = task.options_as(PulassoOptions)
    sample = draw_training_sample(task, min(options.rows, _rows_that_fit(task)))
    task.note(f"a path of {options.penalties} penalties on {sample.note}")
    own = np.unique(task.limits.unit[sample.place], return_inverse=True)[1]
    unit = PathUnit(own.astype(np.int64), options.curves == "bent", options.penalties, float(options.ratio))
    found = task.engine.each(enter_columns, sample.rows(), [unit], EnteredColumns)[0]
    scores = sample.by_feature(found.scores)
    told = {"prior": sample.prior, "in_model": int((found.sizes > 0).sum()), "penalties": len(found.objective) + 1}
    return Outcome(
        by_score(scores, task.limits),
        scores,
        np.zeros(len(scores)),
        warnings=_warnings(task, sample.prior, found.settled),
        findings=Findings(sample=sample.note, extra=told),
    )


def _rows_that_fit(task: Task) -> int:
    """Rows of a sample in which every level of text is a column."""
    columns = sum(2 if one.kind == "numeric" else one.levels for one in task.table.bins)
    return max(100, SAMPLE_MB * 2**20 // (8 * columns))


def _warnings(task: Task, prior: float, settled_: bool) -> tuple[str, ...]:
    told = []
    if task.request.prior is None:
        told.append(
            f"pulasso assumes that {prior:.3g} of all rows are positive, three for each labelled one. "
            "Give prior, or prior: estimate."
        )
    if not settled_:
        told.append("pulasso had not settled at some penalties. Raise ratio, or leave out columns that nearly repeat.")
    return tuple(told)


METHODS = (
    Method(
        "pulasso",
        "The order in which a group lasso under the PU likelihood lets features in",
        "labels depend on the class alone (SCAR); log-odds add up over features; the share of positives is known",
        "one task on a sample (option rows); products of columns, a path of penalties",
        "effects that add up, a model without redundancy, a prior at hand",
        _run,
        PulassoOptions,
        from_sample=True,
    ),
)
