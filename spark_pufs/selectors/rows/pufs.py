"""PUFS: features by their weight in a projection that keeps neighbours together and plausible negatives apart.

Han & Shen 2016, with these readings. The width theta of the similarities, for which the paper gives no value, is the
median distance to the k-th neighbour. Plausible negatives are ranked by eq. 3 on the graph; nearly all rows tie there
at 0, and ties go by the same mean without the cut at k neighbours. Rows labelled negative come first among them. The
start is the direction between the groups' means instead of a random one. Copies of a column count once and share the
weight's rank.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from spark_pufs.core.counting.hashing import row_hashes
from spark_pufs.core.pu.neighbours import Nearest, Searched, blocks_of, median_reach, mutual_graph, nearest_block
from spark_pufs.core.pu.pufs import (
    LaplacianPart,
    Links,
    PufsSettings,
    Solution,
    TiedRows,
    balanced,
    laplacian_block,
    plausible_negatives,
    solve,
)
from spark_pufs.findings import Findings
from spark_pufs.request import is_positive, is_whole
from spark_pufs.selectors.base import Method, Outcome, Task
from spark_pufs.selectors.by_score import by_score
from spark_pufs.selectors.options import Options, number, one_of, option, whole
from spark_pufs.selectors.sampling import draw_rows, rows_in
from spark_pufs.types import LABELLED_NEGATIVE, LABELLED_POSITIVE, UNLABELLED, Json

__all__ = ["METHODS"]

Floats = NDArray[np.float64]
States = NDArray[np.uint8]

OUTWEIGH = 10.0  # with alpha 'balance', what the links gain over what the graph costs, at the start
DIGITS = 9  # of |w|: what is behind them is rounding, and equal features must tie


_PAPER = PufsSettings()


@dataclass(frozen=True)
class PufsOptions(Options):
    """Options of pufs; those of the solver are named as in ``PufsSettings``."""

    neighbours: int = whole(10, 1)
    theta: float | Literal["median"] = option(
        "median", "median or a number above 0", lambda v: v == "median" or is_positive(v)
    )
    negatives: int | None = option(None, "a whole number of at least 1", lambda v: v is None or is_whole(v, 1))
    alpha: float | Literal["balance"] = option(
        _PAPER.alpha, "balance or a number above 0", lambda v: v == "balance" or is_positive(v)
    )
    beta: float = number(_PAPER.beta, open_low=False)
    gamma: float = number(_PAPER.gamma)
    delta: float = number(_PAPER.delta)
    theta_m: float = number(_PAPER.theta_m)
    theta_c: float = number(_PAPER.theta_c)
    steps: int = whole(_PAPER.steps, 1)
    scale: str = one_of("deviation", "deviation", "range")
    rows: int = whole(100_000, 100)
    sample_mb: int = whole(64, 1)
    linked: int = whole(500, 2)


@dataclass(frozen=True)
class Graph:
    """X'LX (D, D), the width of the similarities, and how similar every row (n,) is to labelled ones, cut and uncut."""

    laplacian: Floats
    theta: float
    edges: int
    tied: Floats
    similarity: Floats


def _run(task: Task) -> Outcome:
    options = task.options_as(PufsOptions)
    rows = draw_rows(task, min(options.rows, rows_in(options.sample_mb, task)))
    # Rows in an order that does not hang on the order of columns: the descent stops before its end, and rounding shows.
    order = np.argsort(row_hashes(np.sort(rows.X, axis=1), rows.label, seed=0), kind="stable")
    label = rows.label[order]
    X, column = np.unique(rows.X[order], axis=1, return_inverse=True)
    X = _scaled(X, options.scale)
    task.note(f"neighbours of {len(X):,} rows")
    graph = _graph(task, X, label)
    links = _links(task, X, label, graph)
    even = balanced(graph.laplacian, links, _settings(options, _PAPER.alpha))
    alpha = float(OUTWEIGH * even or _PAPER.alpha) if options.alpha == "balance" else options.alpha
    solution = solve(graph.laplacian, links, _settings(options, alpha))
    scores = np.abs(solution.w).round(DIGITS)[column]
    return Outcome(
        by_score(scores, task.limits),
        scores,
        np.zeros(len(scores)),
        warnings=_warnings(alpha, even, solution),
        findings=Findings(sample=rows.note, extra={"alpha": alpha, **_figures(graph, links, solution)}),
    )


def _warnings(alpha: float, even: float, solution: Solution) -> tuple[str, ...]:
    warnings = []
    if alpha < even:
        warnings.append(
            f"alpha {alpha:g}: the neighbour graph outweighs the labelled rows (they are even at {even:.3g}), "
            "and features that hardly matter may come first. Try alpha: balance."
        )
    if not solution.settled:
        warnings.append("pufs had not settled after its last outer step. Raise steps.")
    return tuple(warnings)


def _scaled(X: Floats, scale: str) -> Floats:
    if scale == "range":
        return X
    deviation = X.std(axis=0)
    scaled: Floats = (X - X.mean(axis=0)) / np.where(deviation > 0, deviation, 1.0)
    return scaled


def _graph(task: Task, X: Floats, label: States) -> Graph:
    units, options = blocks_of(len(X)), task.options_as(PufsOptions)
    found = task.engine.each(nearest_block, Searched(X, options.neighbours), units, Nearest)
    index, square = np.concatenate([part.index for part in found]), np.concatenate([part.square for part in found])
    theta = median_reach(square) if options.theta == "median" else float(options.theta)
    S = mutual_graph(index, square, theta)
    positive = np.flatnonzero(label == LABELLED_POSITIVE)
    degree = np.asarray(S.sum(axis=1)).ravel()
    inverse = np.where(degree > 0, 1 / np.sqrt(np.where(degree > 0, degree, 1.0)), 0.0)
    data = S.data * np.repeat(inverse, np.diff(S.indptr)) * inverse[S.indices]
    rows = TiedRows(X, positive, theta, data, S.indices, S.indptr)
    parts = task.engine.each(laplacian_block, rows, units, LaplacianPart)
    product = np.sum([part.product for part in parts], axis=0)
    tied = np.asarray(S[:, positive].sum(axis=1)).ravel() / len(positive)
    similarity = np.concatenate([part.similarity for part in parts])
    return Graph((product + product.T) / 2, theta, S.nnz // 2, tied, similarity)


def _links(task: Task, X: Floats, label: States, graph: Graph) -> Links:
    """Labelled rows and plausible negatives, as many of either, both thinned to what can be paired."""
    positive, negative = (np.flatnonzero(label == state) for state in (LABELLED_POSITIVE, LABELLED_NEGATIVE))
    options = task.options_as(PufsOptions)
    wanted = options.negatives or len(positive)
    more = max(wanted - len(negative), 0)
    plausible = plausible_negatives(label == UNLABELLED, graph.tied, graph.similarity, more)
    rng, most = np.random.default_rng([task.request.seed, 0]), options.linked
    both = (_thinned(group, most, rng) for group in (positive, np.concatenate([negative, plausible])))
    return Links(*(X[group] for group in both))


def _thinned(rows: NDArray[np.intp], most: int, rng: np.random.Generator) -> NDArray[np.intp]:
    return rows if len(rows) <= most else np.sort(rng.choice(rows, most, replace=False))


def _settings(options: PufsOptions, alpha: float) -> PufsSettings:
    return PufsSettings(**{one.name: getattr(options, one.name) for one in fields(PufsSettings)} | {"alpha": alpha})


def _figures(graph: Graph, links: Links, solution: Solution) -> dict[str, Json]:
    return {
        "theta": graph.theta,
        "edges": graph.edges,
        "linked": {"positive": len(links.positive), "negative": len(links.negative)},
        "objective": list(solution.values),
    }


METHODS = (
    Method(
        "pufs",
        "Weights of a projection that keeps neighbours together and labelled rows apart from plausible negatives",
        "near rows share a class; rows far from every labelled one are negative",
        "distances between all pairs of at most 100,000 rows, as parallel work; one small solve",
        "classes that lie apart in all features together; not beside many irrelevant ones",
        _run,
        PufsOptions,
        from_sample=True,
    ),
)
