"""Tables with a known answer."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spark_pufs.core.baselines.scored import Free

__all__ = ["Peer", "Planted", "first", "planted_rows"]

Peer = tuple[NDArray[np.float64], NDArray[np.bool_]]


class Planted(NamedTuple):
    """Rows in [0, 1] with two features that tell the class, 2 and 5; some positives are labelled."""

    X: NDArray[np.float64]
    label: NDArray[np.uint8]
    y: NDArray[np.bool_]


def planted_rows(seed: int) -> Planted:
    rng = np.random.default_rng(seed)
    y = rng.random(240) < 0.4
    X = rng.random((240, 8))
    X[:, 2] = 0.3 * X[:, 2] + 0.7 * y
    X[:, 5] = 0.4 * X[:, 5] + 0.6 * ~y
    return Planted(X, (y & (rng.random(240) < 0.6)).astype(np.uint8), y)


def first(k: int, features: int) -> Free:
    """Any ``k`` features."""

    def free(chosen: list[int]) -> NDArray[np.bool_]:
        mask = np.full(features, len(chosen) < k)
        mask[chosen] = False
        return mask

    return free
