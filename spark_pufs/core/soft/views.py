"""More views of the same rows, for a consensus of many: each is worth what the teacher's member of its kind is."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from spark_pufs.core.counting.counts import one_hot
from spark_pufs.core.soft.encoding import Codes, Encoding, Floats
from spark_pufs.core.soft.students import CORE_VIEWS, Report, core_report, first_by_rank, ranked
from spark_pufs.core.soft.teacher import MEMBERS, Bools, linear_design, linear_weights, squared
from spark_pufs.core.soft.trees import grown, importance
from spark_pufs.types import Layout

__all__ = ["VIEWS", "VIEW_KINDS", "forward_additive", "view_weights", "wide_report"]

VIEWS = (*CORE_VIEWS, "trees", "ridge", "label weights", "forward regression", "AUC", "label trees", "spread")
VIEW_KINDS = (
    *("naive Bayes", "naive Bayes", "trees"),
    *("trees", "linear", "linear", "naive Bayes", "linear", "trees", "spread"),
)
RIDGE = 10.0
SHRINKAGE = 5.0  # rows that a level's effect is shrunk by


def wide_report(
    codes: Codes, labelled: Bools, target: Floats, soft: Floats, encoding: Encoding, k: int, trees: int, seed: int
) -> Report:
    """The views of ``core_report`` on codes (D, n), and seven more."""
    core = core_report(codes, labelled, target, soft, encoding, k, seed)
    design, spread = (linear_design(codes, one) for one in (encoding, squared(encoding)))
    some = first_by_rank(core.scores, k)
    part = Layout(tuple(encoding.coarse.levels[i] for i in some))
    order = forward_additive(encoding.coarse_codes(codes)[some], part, target, k)
    more = [
        importance(grown(codes, target, trees, seed)),
        design.importance(_ridge(design.X, target)),
        design.importance(linear_weights(design, labelled)),
        ranked(some[order].tolist(), len(codes)),
        _distance_from_half(codes, labelled),
        importance(grown(codes, labelled, trees, seed)),
        spread.importance(linear_weights(spread, labelled)),
    ]
    return Report(np.vstack([core.scores, *more]), core.strength)


def view_weights(kinds: tuple[str, ...], members: Floats) -> Floats:
    """The weight (S,) of each view: that of the teacher's member of its kind, so that a table on which no linear model
    tells anything does not hear linear views."""
    place = {name: i for i, name in enumerate(MEMBERS)}
    return members[[place[kind] for kind in kinds]]


def _ridge(X: Floats, target: Floats) -> Floats:
    """Weights (P,) of a ridge regression, by the smaller of the two normal equations."""
    y = target - target.mean()
    n, width = X.shape
    if width <= n:
        return np.linalg.solve(X.T @ X + RIDGE * np.eye(width), X.T @ y)
    found: Floats = X.T @ np.linalg.solve(X @ X.T + RIDGE * np.eye(n), y)
    return found


def forward_additive(codes: Codes, layout: Layout, target: Floats, k: int) -> list[int]:
    """Forward selection of an additive model of ``target`` (n,): each step takes the feature whose levels explain most
    of what is left.

    Works on the centred counts of level pairs (L, L) alone; a level's effect is shrunk as if by ``SHRINKAGE`` rows.
    """
    hot = one_hot(codes, layout)
    rows = hot.sum(axis=1, dtype=np.float64)
    pairs = (hot @ hot.T).astype(np.float64) - np.outer(rows, rows) / codes.shape[1]
    left = (hot @ (target - target.mean()).astype(np.float32)).astype(np.float64)
    spans = [layout.span(i) for i in range(len(codes))]
    chosen: list[int] = []
    for _ in range(min(k, len(codes))):
        gains = np.array([_gain(pairs[span, span], left[span]) for span in spans])
        gains[chosen] = -np.inf
        best = int(np.argmax(gains))
        chosen.append(best)
        span = spans[best]
        block = np.linalg.solve(pairs[span, span] + SHRINKAGE * np.eye(span.stop - span.start), pairs[span])
        left = left - block.T @ left[span]
        pairs = pairs - pairs[:, span] @ block
    return chosen


def _gain(block: NDArray[np.float64], left: Floats) -> float:
    return float(left @ np.linalg.solve(block + SHRINKAGE * np.eye(len(left)), left))


def _distance_from_half(codes: Codes, labelled: Bools) -> Floats:
    """How far the AUC of each column lies from one half; the levels of a text stand in the order of their rows."""
    from scipy.stats import rankdata

    few, many = int(labelled.sum()), int((~labelled).sum())
    ranks = rankdata(codes, axis=1)[:, labelled].sum(axis=1)
    auc = (ranks - few * (few + 1) / 2) / (few * many)
    found: Floats = np.abs(auc - 0.5)
    return found
