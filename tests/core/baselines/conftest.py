from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray


class Planted(NamedTuple):
    """Rows in [0, 1] with two features that tell the class, 2 and 5; some positives are labelled."""

    X: NDArray[np.float64]
    label: NDArray[np.uint8]
    y: NDArray[np.bool_]


@pytest.fixture(params=[1, 2])
def planted(request: pytest.FixtureRequest) -> Planted:
    rng = np.random.default_rng(request.param)
    y = rng.random(240) < 0.4
    X = rng.random((240, 8))
    X[:, 2] = 0.3 * X[:, 2] + 0.7 * y
    X[:, 5] = 0.4 * X[:, 5] + 0.6 * ~y
    return Planted(X, (y & (rng.random(240) < 0.6)).astype(np.uint8), y)


@pytest.fixture
def peer() -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Thirty rows given to scikit-feature 1.2.1 and ITMO_FS 0.3.3, whose answers tests quote."""
    rng = np.random.default_rng(5)
    y = np.arange(30) % 2 == 0
    X = rng.random((30, 5))
    X[:, 1] = 0.5 * X[:, 1] + 0.5 * y
    X[:, 3] = 0.7 * X[:, 3] + 0.3 * ~y
    return X.round(3), y
