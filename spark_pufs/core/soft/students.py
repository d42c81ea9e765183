"""Students: which columns tell what the teacher says. Each ranks all features by another view of the same rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from spark_pufs.core.counting.counts import one_hot
from spark_pufs.core.soft.boosting import boosting_importance
from spark_pufs.core.soft.encoding import Codes, Encoding, Floats, grouped
from spark_pufs.core.soft.teacher import MEMBERS, Bools, linear_design, linear_weights
from spark_pufs.core.soft.trees import grown, importance
from spark_pufs.core.soft.views import LABEL_KINDS, LABEL_VIEWS, label_views
from spark_pufs.types import Layout

__all__ = [
    "STUDENTS",
    "VIEWS",
    "VIEW_KINDS",
    "Report",
    "forward_additive",
    "forward_joint",
    "mean_rank",
    "ranked",
    "ranks",
    "students_report",
    "view_weights",
]

STUDENTS = ("trees", "ridge", "label weights", "soft joint information", "forward regression", "boosting")
VIEWS = (*STUDENTS, *LABEL_VIEWS)
# Of which kind the views are: one is worth what the teacher's member of its kind is.
VIEW_KINDS = ("trees", "linear", "linear", "naive Bayes", "naive Bayes", "trees", *LABEL_KINDS)
RIDGE = 10.0
SHRINKAGE = 5.0  # rows that a level's effect is shrunk by
INFORMATION_GROUPS = 5
MOST_PROBES = 16  # shuffled columns that show what chance gives
MOST_REGRESSED = 100  # features, or twice as many as are wanted


@dataclass(frozen=True)
class Report:
    """What the views found.

    ``scores`` (S, D): every view's own, larger is better. ``strength`` (V, D): the views that weigh all features at
    once, as shares of the best, 0 where a column is no better than one whose rows were shuffled.
    """

    scores: Floats
    strength: Floats


def students_report(
    codes: Codes, labelled: Bools, target: Floats, soft: Floats, encoding: Encoding, k: int, trees: int, seed: int
) -> Report:
    """Every student and every view of the label alone on codes (D, n).

    ``target`` (n,) is the teacher's score, ``soft`` (n,) the soft labels in [0, 1]; forward searches go ``k`` steps.
    """
    count = len(codes)
    probes = np.random.default_rng([seed, 21]).permutation(count)[:MOST_PROBES]
    mixed = np.vstack([codes, _shuffled(codes[probes], seed)])
    design = linear_design(mixed, encoding.with_copies(probes))
    weighed = np.vstack(
        [
            importance(grown(mixed, target, trees, seed)),
            design.importance(_ridge(design.X, target)),
            design.importance(linear_weights(design, labelled)),
        ]
    )
    joint = forward_joint(*_regrouped(codes, encoding, INFORMATION_GROUPS), soft, k)
    views = np.vstack([weighed[:, :count], ranked(joint, count)])
    alone = label_views(codes, labelled, encoding, trees, seed)
    # The regression works on pairs of levels, boosting is asked column by column: of a wide table they are given the
    # columns that the others put first.
    some = np.sort(np.argsort(-mean_rank(np.vstack([views, alone])), kind="stable")[: max(2 * k, MOST_REGRESSED)])
    part = Layout(tuple(encoding.coarse.levels[i] for i in some))
    order = forward_additive(encoding.coarse_codes(codes)[some], part, target, k)
    boosted = np.zeros(count)
    boosted[some] = boosting_importance(codes[some], target, seed)
    scores = np.vstack([views, ranked(some[order].tolist(), count), boosted, alone])
    return Report(scores, _strength(weighed[:, :count], weighed[:, count:]))


def _shuffled(codes: Codes, seed: int) -> Codes:
    """Columns with their rows in random order: what chance looks like to a student."""
    return np.random.default_rng([seed, 22]).permuted(codes, axis=1)


def _strength(weighed: Floats, probes: Floats) -> Floats:
    chance = probes.mean(axis=1, keepdims=True)
    best = weighed.max(axis=1, keepdims=True)
    found: Floats = np.clip((weighed - chance) / np.where(best > chance, best - chance, 1.0), 0.0, 1.0)
    return found


def ranks(scores: Floats) -> Floats:
    """Each feature's rank in every view (S, D), from 1 for the best towards 0."""
    found: Floats = rankdata(scores, axis=1) / scores.shape[1]
    return found


def mean_rank(scores: Floats, weights: Floats | None = None) -> Floats:
    """The mean over views (S, D) of each feature's rank (D,), the views weighed by ``weights`` (S,).

    >>> views = np.array([[3.0, 1.0], [0.0, 9.0]])
    >>> mean_rank(views), mean_rank(views, np.array([3.0, 1.0]))
    (array([0.75, 0.75]), array([0.875, 0.625]))
    """
    found: Floats = np.average(ranks(scores), axis=0, weights=weights)
    return found


def view_weights(kinds: tuple[str, ...], members: Floats) -> Floats:
    """The weight (S,) of each view: that of the teacher's member of its kind, so that a table on which no linear model
    tells anything does not hear linear views."""
    place = {name: i for i, name in enumerate(MEMBERS)}
    return members[[place[kind] for kind in kinds]]


def ranked(order: list[int], features: int) -> Floats:
    """Scores (D,) of an order of some features: falling along it, 0 for all others."""
    scores = np.zeros(features)
    scores[order] = np.arange(features, features - len(order), -1)
    return scores


def _ridge(X: Floats, target: Floats) -> Floats:
    """Weights (P,) of a ridge regression, by the smaller of the two normal equations."""
    y = target - target.mean()
    n, width = X.shape
    if width <= n:
        return np.linalg.solve(X.T @ X + RIDGE * np.eye(width), X.T @ y)
    found: Floats = X.T @ np.linalg.solve(X @ X.T + RIDGE * np.eye(n), y)
    return found


def _regrouped(codes: Codes, encoding: Encoding, groups: int) -> tuple[Codes, Layout]:
    """Codes (D, n) of numbers in ``groups`` groups of about equal frequency; text and missing values stay."""
    layout, found, sizes = encoding.layout, np.empty_like(codes), []
    for i, row in enumerate(codes):
        own = np.arange(layout.levels[i])
        known = int((~encoding.named[layout.span(i)]).sum())
        if known:
            own[:known] = grouped(np.bincount(row, minlength=len(own))[:known], groups)
            own[known:] = own[known - 1] + 1
        found[i] = own[row]
        sizes.append(int(own.max()) + 1)
    return found, Layout(tuple(sizes))


def forward_joint(codes: Codes, layout: Layout, soft: Floats, k: int) -> list[int]:
    """Joint information with the soft label: the first feature by its own, the next by its sum given each chosen.

    What chance would give is taken off each term: levels less one over twice the rows, scaled by how far the soft
    labels spread.
    """
    hot = one_hot(codes, layout)
    rows, share = codes.shape[1], soft.mean()
    noise = soft.var() / max(share * (1 - share), 1e-12) / (2 * rows)
    levels = np.array(layout.levels)
    weighted = np.vstack([soft, np.ones(rows)]).astype(np.float32)
    chosen: list[int] = []
    total = np.zeros(len(codes))
    for _ in range(min(k, len(codes))):
        given = _pieces(codes, chosen, weighted)
        occupied = len(given) // 2
        sums = (given @ hot.T).astype(np.float64).reshape(occupied, 2, -1)
        value = _information(sums[:, 0], sums[:, 1], layout) / rows - noise * (levels - 1) * occupied
        total = value if len(chosen) < 2 else total + value  # after the first feature the sum starts anew
        score = total.copy()
        score[chosen] = -np.inf
        chosen.append(int(np.argmax(score)))
    return chosen


def _pieces(codes: Codes, chosen: list[int], weighted: NDArray[np.float32]) -> NDArray[np.float32]:
    """Soft labels and ones (2 Z, n), apart for each of the Z levels that the feature chosen last takes."""
    if not chosen:
        return weighted
    last = codes[chosen[-1]]
    return np.vstack([weighted * (last == level) for level in np.unique(last)])


def _information(soft: Floats, rows: Floats, layout: Layout) -> Floats:
    """Rows times I(X;Y|Z) (D,) from sums of soft labels and rows, each (levels of Z, L)."""
    cells = _xlogx(soft) + _xlogx(rows - soft) - _xlogx(rows)
    inside = np.add.reduceat(cells.sum(axis=0), layout.offsets[:-1])
    first = layout.span(0)
    s, n = soft[:, first].sum(axis=1), rows[:, first].sum(axis=1)
    found: Floats = inside - (_xlogx(s) + _xlogx(n - s) - _xlogx(n)).sum()
    return found


def _xlogx(x: Floats) -> Floats:
    x = np.maximum(x, 0.0)  # float32 sums may pass their rows by a rounding
    return x * np.log(np.where(x > 0, x, 1.0))


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
