from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spark_pufs.core.baselines.embedding import fit_jelsr, fit_ndfs, jelsr, ndfs, start_clusters
from spark_pufs.core.baselines.graph import neighbour_graph, normalised_laplacian
from support.planting import Peer


def two_clusters(seed: int = 0, rows: int = 120) -> tuple[np.ndarray, np.ndarray]:
    """Features 0 and 1 split the rows in two clusters; five more are narrow noise."""
    rng = np.random.default_rng(seed)
    side = np.arange(rows) % 2
    X = 0.5 + 0.05 * rng.standard_normal((rows, 7))
    X[:, :2] += 0.35 * (side[:, None] - 0.5) * 2
    return X, np.zeros(rows, np.uint8)


def laplacian_of(X: np.ndarray) -> np.ndarray:
    return normalised_laplacian(neighbour_graph(X, 5)).toarray()


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 12), st.floats(1e-3, 10), st.floats(1e-2, 10))
def test_jelsr_never_rises(seed: int, features: int, alpha: float, beta: float) -> None:
    X = np.random.default_rng(seed).random((25, features))
    _, objective = fit_jelsr(X - X.mean(axis=0), laplacian_of(X), 3, alpha, beta, 15)
    assert (np.diff(objective) <= 1e-8 * abs(objective[0])).all()


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 12), st.floats(1e-2, 10), st.floats(1e-3, 10), st.sampled_from([1.0, 1e8]))
def test_ndfs_never_rises(seed: int, features: int, alpha: float, beta: float, gamma: float) -> None:
    X = np.random.default_rng(seed).random((25, features))
    F = start_clusters(X, 3, seed)
    _, F, objective = fit_ndfs(X - X.mean(axis=0), laplacian_of(X), F, (alpha, beta, gamma), 40)
    assert (np.diff(objective) <= 1e-8 * abs(objective[0])).all()
    assert (F >= 0).all()


def test_jelsr_with_all_weights_off_is_the_spectral_embedding() -> None:
    X = np.random.default_rng(1).random((30, 4))
    L = laplacian_of(X)
    W, objective = fit_jelsr(X - X.mean(axis=0), L, 3, 1e9, 0.5, 20)
    assert np.abs(W).max() < 1e-6
    # what is left: the three smallest eigenvalues, and beta |Y|^2; the penalty of weights smoothed at 1e-6 is known too
    expected = np.linalg.eigvalsh(L)[:3].sum() + 0.5 * (3 + 1e9 * 4 * 1e-6)
    assert objective[-1] == pytest.approx(expected, rel=1e-6)


def test_where_the_zero_lies_does_not_matter() -> None:
    X, label = two_clusters()
    for method in (jelsr, ndfs):
        here, there = (method(X + shift, label, np.random.default_rng(0)).scores for shift in (0, 3))
        assert here == pytest.approx(there, rel=1e-4)


def test_ndfs_indicators_become_orthonormal() -> None:
    X, _ = two_clusters()
    F = start_clusters(X, 2, 0)
    _, F, _ = fit_ndfs(X - X.mean(axis=0), laplacian_of(X), F, (1.0, 0.1, 1e8), 300)
    assert pytest.approx(np.eye(2), abs=1e-3) == F.T @ F


def test_ndfs_weights_as_itmo_fs(peer: Peer) -> None:
    # ITMO_FS NDFS(p=4, c=2, alpha=1, beta=0.1, gamma=1e8) from the same start. Its graph differs, but at this gamma the
    # indicators stay as they are in both: it is the regression that agrees.
    X, y = peer[0] - peer[0].mean(axis=0), peer[1]
    F = np.column_stack([y, ~y]) / np.sqrt(15)
    W, _, _ = fit_ndfs(X, laplacian_of(X), F, (1.0, 0.1, 1e8), 2000)
    assert np.sqrt((W**2).sum(axis=1)) == pytest.approx([0.0, 0.490228, 0.0, 0.177735, 0.038666], abs=1e-4)


def test_start_is_orthonormal_but_for_the_shift() -> None:
    F = start_clusters(two_clusters()[0], 2, 0) - 0.02
    assert pytest.approx(np.eye(2)) == F.T @ F


@pytest.mark.parametrize("seed", [0, 1])
def test_clusters_show_their_features(seed: int) -> None:
    X, label = two_clusters(seed)
    rng = np.random.default_rng(0)
    assert set(np.argsort(-jelsr(X, label, rng, dimensions=2).scores)[:2]) == {0, 1}
    assert set(np.argsort(-ndfs(X, label, rng, clusters=2).scores)[:2]) == {0, 1}


def test_labels_are_not_read() -> None:
    X, label = two_clusters()
    for method in (jelsr, ndfs):
        a, b = (method(X, other, np.random.default_rng(0)).scores for other in (label, label + 1))
        assert np.array_equal(a, b)


def test_rows_that_differ_by_rounding_leave_no_cluster_empty() -> None:
    """Five different rows, of which k-means can tell two apart."""
    X = np.repeat([[0.3], [0.7]], [3, 2], axis=0) + np.array([[0], [1], [2], [0], [1]]) * 2e-16
    F = start_clusters(X, 5, 0)
    assert len(np.unique(X)) > 2
    assert np.isfinite(F).all()
