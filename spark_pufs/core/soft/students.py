"""Three views of which columns tell what the teacher says and who is labelled, each of which fails differently.

- joint information with the soft labels: weighs what columns tell together and what they tell twice;
- information with the label alone, which no error of the teacher's can touch;
- boosting that learns the teacher's score, which sees columns that work together.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spark_pufs.core.counting.counts import level_sums, one_hot
from spark_pufs.core.soft.boosting import boosting_importance
from spark_pufs.core.soft.encoding import Codes, Encoding, Floats, grouped
from spark_pufs.core.soft.teacher import Bools
from spark_pufs.types import Layout

__all__ = [
    "CORE_VIEWS",
    "MOST_REGRESSED",
    "Report",
    "core_report",
    "first_by_rank",
    "forward_joint",
    "label_information",
    "mean_rank",
    "ranked",
    "ranks",
]

CORE_VIEWS = ("soft joint information", "information", "boosting")
INFORMATION_GROUPS = 5
MOST_REGRESSED = 100  # features, or twice as many as are wanted


@dataclass(frozen=True)
class Report:
    """What the views found.

    ``scores`` (S, D): every view's own, larger is better. ``strength`` (3, D): what soft labels, the label and boosting
    say of each column, as shares of the best, 0 where it is no more than chance gives.
    """

    scores: Floats
    strength: Floats


def core_report(
    codes: Codes, labelled: Bools, target: Floats, soft: Floats, encoding: Encoding, k: int, seed: int
) -> Report:
    """The three views of codes (D, n).

    ``target`` (n,): the teacher's score. ``soft`` (n,): soft labels in [0, 1]. The forward search goes ``k`` steps.
    """
    count = len(codes)
    order, alone = forward_joint(*_regrouped(codes, encoding, INFORMATION_GROUPS), soft, k)
    joint, told = ranked(order, count), label_information(codes, labelled, encoding)
    boosted = np.zeros(count)
    some = first_by_rank(np.vstack([joint, told]), k)
    boosted[some] = boosting_importance(codes[some], target, seed)
    strength = np.vstack([_share(own) for own in (alone, told - 1.0, boosted)])  # chance has a deviation of 1
    return Report(np.vstack([joint, told, boosted]), strength)


def first_by_rank(scores: Floats, k: int) -> NDArray[np.intp]:
    """Columns for work that grows with their number: of a wide table those that views (S, D) put first, in order."""
    return np.sort(np.argsort(-mean_rank(scores), kind="stable")[: max(2 * k, MOST_REGRESSED)])


def _share(values: Floats) -> Floats:
    """Values (D,) as shares of the largest; below 0 is nothing."""
    most = float(values.max())
    return np.clip(values / most, 0.0, 1.0) if most > 0 else np.zeros_like(values)


def ranks(scores: Floats) -> Floats:
    """Each feature's rank in every view (S, D), from 1 for the best towards 0."""
    from scipy.stats import rankdata

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


def ranked(order: list[int], features: int) -> Floats:
    """Scores (D,) of an order of some features: falling along it, 0 for all others."""
    scores = np.zeros(features)
    scores[order] = np.arange(features, features - len(order), -1)
    return scores


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


def forward_joint(codes: Codes, layout: Layout, soft: Floats, k: int) -> tuple[list[int], Floats]:
    """Joint information with the soft label: the first feature by its own, the next by its sum given each chosen.

    Also what each feature tells alone (D,).

    What chance would give is taken off each term: levels less one over twice the rows, scaled by how far the soft
    labels spread.
    """
    hot = one_hot(codes, layout)
    rows, share = codes.shape[1], soft.mean()
    noise = soft.var() / max(share * (1 - share), 1e-12) / (2 * rows)
    levels = np.array(layout.levels)
    weighted = np.vstack([soft, np.ones(rows)]).astype(np.float32)
    chosen: list[int] = []
    total = alone = np.zeros(len(codes))
    for _ in range(min(k, len(codes))):
        given = _pieces(codes, chosen, weighted)
        occupied = len(given) // 2
        sums = (given @ hot.T).astype(np.float64).reshape(occupied, 2, -1)
        value = _information(sums[:, 0], sums[:, 1], layout) / rows - noise * (levels - 1) * occupied
        alone = alone if chosen else value
        total = value if len(chosen) < 2 else total + value  # after the first feature the sum starts anew
        score = total.copy()
        score[chosen] = -np.inf
        chosen.append(int(np.argmax(score)))
    return chosen, alone


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


def label_information(codes: Codes, labelled: Bools, encoding: Encoding) -> Floats:
    """Information with the label in units of its deviation under chance: levels less one, by the chi-square."""
    layout = encoding.coarse
    counts = level_sums(np.vstack([labelled, ~labelled]).astype(np.float32), encoding.coarse_codes(codes), layout)
    rows = counts.sum(axis=0)
    expected = rows * np.array([labelled.mean(), 1 - labelled.mean()])[:, None]
    cells = counts * np.log(np.where(counts > 0, counts, 1.0) / np.where(expected > 0, expected, 1.0))
    g = 2 * np.add.reduceat(cells.sum(axis=0), layout.offsets[:-1])
    free = np.maximum(np.add.reduceat((rows > 0).astype(np.float64), layout.offsets[:-1]) - 1, 1)
    found: Floats = (g - free) / np.sqrt(2 * free)
    return found
