"""FW-SemiFS: a forward wrapper that labels more rows as it goes (Ren, Qiu, Fan, Cheng & Yu 2008)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from spark_pufs.core.baselines.classes import SecondClass, known_classes
from spark_pufs.core.baselines.scored import Bools, Floats, Free, Labels, Scored, forward

__all__ = ["fw_semifs", "votes"]

NEAR = 4  # four times as many of a pool as vote are expected among the rows looked at: one in 50,000 times too few


def fw_semifs(
    X: Floats,
    label: Labels,
    rng: np.random.Generator,
    *,
    free: Free,
    voters: int = 3,
    samplings: int = 10,
    sampling_rate: float = 0.5,
    second_class: SecondClass = "plausible",
) -> Scored:
    """Each step labels the other rows with a 3-nearest-neighbour classifier on the features so far, adds a random half
    of them to the labelled rows, ten times over, and takes the feature that helps the classifier most often.

    Helps: the largest share of right votes on the rows of known class, each left out of its own neighbours. 3-NN as in
    Sechidis & Brown (2017). Scores: how often of the ten, and the mean share of right votes as what decides between
    equals. The first step, with no feature yet, has labelled rows only.
    """
    # Of equally near rows the first vote: they must not be first because of their class.
    mixed = rng.permutation(len(X))
    X, label = X[mixed], label[mixed]
    sign = known_classes(X, label, second_class)
    known = np.flatnonzero(sign)
    draws = rng.random((samplings, len(X))) < sampling_rate
    draws[:, known] = True

    def score(chosen: list[int]) -> Floats:
        rows, judged, guess, pools = known, np.arange(len(known)), sign[known], np.ones((1, len(known)), bool)
        if chosen:
            near = votes(_squared_distances(X, known, chosen), known, sign, voters)
            rows, judged, pools = np.arange(len(X)), known, draws
            guess = np.where(sign == 0, np.where(near > 0, 1, -1), sign)
        base = _squared_distances(X[rows], judged, chosen)
        right = np.stack([_right_votes(base, X[rows, j], judged, guess, pools, voters) for j in range(X.shape[1])], 1)
        right[:, chosen] = -1.0
        wins = right >= right.max(axis=1, keepdims=True) - 1e-12
        often = (wins / wins.sum(axis=1, keepdims=True)).mean(axis=0)
        total: Floats = often + right.mean(axis=0) / 2
        return total

    return forward(score, free)


def _squared_distances(X: Floats, some: NDArray[np.intp], features: list[int]) -> Floats:
    """From some rows to every row, (K, n); a row is infinitely far from itself."""
    from scipy.spatial.distance import cdist

    distance = np.zeros((len(some), len(X)))
    if features:
        distance = cdist(X[some][:, features], X[:, features], "sqeuclidean")
    distance[np.arange(len(some)), some] = np.inf
    return distance


def votes(distance: Floats, known: NDArray[np.intp], sign: NDArray[np.int8], voters: int) -> Floats:
    """The sum of the signs of the ``voters`` rows of known class nearest to each row, (n,)."""
    count = min(voters, len(known))
    nearest = np.argsort(distance, axis=0, kind="stable")[:count]
    found: Floats = sign[known][nearest].sum(axis=0).astype(np.float64)
    return found


def _nearest(distance: Floats, count: int) -> NDArray[np.intp]:
    """The ``count`` nearest columns of each row, nearest first."""
    some = np.sort(np.argpartition(distance, count - 1, axis=1)[:, :count], axis=1)
    order = np.argsort(np.take_along_axis(distance, some, axis=1), axis=1, kind="stable")
    return np.take_along_axis(some, order, axis=1)


def _right_votes(
    base: Floats, column: Floats, judged: NDArray[np.intp], sign: NDArray[np.int8], pools: Bools, voters: int
) -> Floats:
    """The share of right votes for the judged rows among the rows of each pool, with one more column, (T,)."""
    distance = base + (column[judged, None] - column) ** 2
    enough = int(np.ceil(NEAR * voters / pools.mean(axis=1).min()))
    order = _nearest(distance, min(enough, len(column) - 1))
    inside = pools[:, order]  # (T, K, near)
    taken = inside & (np.cumsum(inside, axis=2, dtype=np.int32) <= voters)
    right = (sign[order] == sign[judged, None]) & taken
    share: Floats = right.sum(axis=(1, 2)) / np.maximum(taken.sum(axis=(1, 2)), 1)
    return share
