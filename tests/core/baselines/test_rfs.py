from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.optimize import minimize

from spark_pufs.core.baselines.l21 import row_sizes, weighted_ridge
from spark_pufs.core.baselines.rfs import fit_rfs, rfs
from support.planting import Peer, Planted


def one_hot(y: NDArray[np.bool_]) -> NDArray[np.float64]:
    return np.column_stack([y, ~y]).astype(float)


def test_weighted_ridge_is_the_normal_equation() -> None:
    rng = np.random.default_rng(0)
    A, Y, sizes, loss = rng.random((9, 4)), rng.random((9, 2)), rng.random(4), rng.random(9)
    expected = np.linalg.solve(A.T @ np.diag(loss) @ A + 0.3 * np.diag(0.5 / sizes), A.T @ np.diag(loss) @ Y)
    assert weighted_ridge(A, Y, sizes, 0.3, loss) == pytest.approx(expected)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 20), st.integers(1, 30), st.floats(1e-3, 10))
def test_objective_never_rises(seed: int, rows: int, features: int, gamma: float) -> None:
    rng = np.random.default_rng(seed)
    _, objective = fit_rfs(rng.random((rows, features)), one_hot(rng.random(rows) < 0.5), gamma, 60)
    assert (np.diff(objective) <= 1e-9 * objective[0]).all()


def test_no_general_minimiser_finds_less(peer: Peer) -> None:
    A, Y = np.column_stack([peer[0], np.ones(30)]), one_hot(peer[1])

    def value(w: NDArray[np.float64]) -> float:
        W = w.reshape(6, 2)
        return float(row_sizes(A @ W - Y).sum() + 0.1 * row_sizes(W).sum())

    found = minimize(value, np.full(12, 0.1), method="BFGS", options={"maxiter": 3000, "gtol": 1e-8})
    assert fit_rfs(A, Y, 0.1, 5000)[1][-1] <= found.fun * (1 + 1e-6)


@pytest.mark.parametrize(
    ("gamma", "expected"),
    [
        (0.1, [0.33461, 1.73084, 0.22748, 0.8649, 0.47628, 0.72907]),
        (1.0, [0.02485, 1.87997, 0.0, 0.41202, 0.08221, 1.06681]),
    ],
)
def test_weights_as_itmo_fs(peer: Peer, gamma: float, expected: list[float]) -> None:
    # ITMO_FS RFS, 2,000 iterations. scikit-feature codes classes -1 and 1, so its weights are about twice as large.
    W, _ = fit_rfs(np.column_stack([peer[0], np.ones(30)]), one_hot(peer[1]), gamma, 5000)
    assert np.sqrt((W**2).sum(axis=1)) == pytest.approx(expected, abs=1e-3)


def test_rfs_finds_what_was_planted(planted: Planted) -> None:
    found = rfs(planted.X, planted.label, np.random.default_rng(0))
    assert set(np.argsort(-found.scores)[:2]) == {2, 5}
    assert len(found.scores) == 8


def test_few_labels_are_outliers_among_all_rows() -> None:
    rng = np.random.default_rng(3)
    X, label = rng.random((200, 3)), (np.arange(200) < 6).astype(np.uint8)
    X[:6, 1] = 1.0
    assert rfs(X, label, rng, second_class="unlabelled", gamma=1.0).scores.max() < 1e-3
    assert rfs(X, label, rng, gamma=1.0).scores.max() > 0.1
