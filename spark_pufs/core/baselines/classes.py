"""Two classes for methods that need them, from tables where only one is labelled."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from spark_pufs.core.baselines.scored import Floats, Labels
from spark_pufs.types import LABELLED_NEGATIVE, LABELLED_POSITIVE, UNLABELLED

__all__ = ["SECOND_CLASSES", "SecondClass", "known_classes", "plausible_negatives"]

CHUNK_BYTES = 2**25  # distances in memory at once
SecondClass = Literal["plausible", "unlabelled", "none"]
SECOND_CLASSES: tuple[SecondClass, ...] = ("plausible", "unlabelled", "none")


def known_classes(X: Floats, label: Labels, second: SecondClass) -> NDArray[np.int8]:
    """+1 for labelled positives, -1 for the second class, 0 for rows of unknown class, (n,).

    Rows labelled negative are the second class. Without any it is, by ``second``: the plausible negatives, as many as
    there are positives (Han & Shen 2016); all unlabelled rows; or nothing.
    """
    sign = np.zeros(len(label), np.int8)
    sign[label == LABELLED_POSITIVE] = 1
    sign[label == LABELLED_NEGATIVE] = -1
    if (sign == -1).any() or second == "none":
        return sign
    if second == "plausible":
        sign[plausible_negatives(X, label)] = -1
    else:
        sign[label == UNLABELLED] = -1
    return sign


def plausible_negatives(X: Floats, label: Labels) -> NDArray[np.intp]:
    """As many unlabelled rows as there are positives, those with the smallest mean similarity to the positives.

    Similarity exp(-|x - x'|^2 / t), t the mean squared distance between the two groups (Han & Shen 2016, section 3).
    """
    unlabelled = np.flatnonzero(label == UNLABELLED)
    positive = np.flatnonzero(label == LABELLED_POSITIVE)
    if not len(unlabelled) or not len(positive):
        return unlabelled[:0]
    groups = X[unlabelled], X[positive]
    width = sum(part.sum() for part in _squared_distances(*groups)) / (len(unlabelled) * len(positive)) or 1.0
    similarity = np.concatenate([np.exp(-part / width).mean(axis=1) for part in _squared_distances(*groups)])
    return np.sort(unlabelled[np.argsort(similarity, kind="stable")[: len(positive)]])


def _squared_distances(left: Floats, right: Floats) -> Iterator[Floats]:
    """Squared distances (b, m) from some rows of ``left`` to all of ``right`` at a time."""
    from scipy.spatial.distance import cdist

    size = max(1, CHUNK_BYTES // (8 * len(right)))
    for first in range(0, len(left), size):
        yield cdist(left[first : first + size], right, "sqeuclidean")
