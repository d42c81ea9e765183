from __future__ import annotations

import numpy as np
import pytest

from support.planting import Peer, Planted, planted_rows


@pytest.fixture(params=[1, 2])
def planted(request: pytest.FixtureRequest) -> Planted:
    return planted_rows(request.param)


@pytest.fixture
def peer() -> Peer:
    """Thirty rows given to scikit-feature 1.2.1 and ITMO_FS 0.3.3, whose answers tests quote."""
    rng = np.random.default_rng(5)
    y = np.arange(30) % 2 == 0
    X = rng.random((30, 5))
    X[:, 1] = 0.5 * X[:, 1] + 0.5 * y
    X[:, 3] = 0.7 * X[:, 3] + 0.3 * ~y
    return X.round(3), y
