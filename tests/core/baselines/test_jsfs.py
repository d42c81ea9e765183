from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit
from sklearn.linear_model import LogisticRegression

from spark_pufs.core.baselines.graph import laplacian, neighbour_graph
from spark_pufs.core.baselines.jsfs import BIAS_PRECISION, STEEP, fit_jsfs, jsfs, pseudo_signs
from support.planting import Planted


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 12), st.floats(0, 5), st.floats(0, 5))
def test_the_evidence_never_falls(seed: int, features: int, mu: float, gamma: float) -> None:
    rng = np.random.default_rng(seed)
    X = rng.random((30, features))
    sign = np.array([1.0, -1.0] * 5 + [1.0] * 8 + [-1.0] * 8 + [0.0] * 4)
    A = np.column_stack([X, np.ones(30)])
    _, _, objective = fit_jsfs(A, sign, np.arange(30) >= 10, neighbour_graph(X, 4), mu, gamma, 40)
    assert (np.diff(objective) <= 1e-8 * max(abs(objective[0]), 1)).all()


def test_first_weights_in_closed_form() -> None:
    rng = np.random.default_rng(0)
    A = np.column_stack([rng.random((12, 2)), np.ones(12)])
    sign = np.array([1.0] * 4 + [-1.0] * 4 + [1.0] * 4)
    S = neighbour_graph(A, 3)
    mean, _, _ = fit_jsfs(A, sign, np.arange(12) >= 8, S, 0.1, 0.2, 1)
    # rows of known class count 1 with v = 1, the others 0.1 with E v = 1 and E v^2 = 2; the bound starts at 1
    counts, curve = np.array([1.0] * 8 + [0.1] * 4), (expit(1.0) - 0.5) / 2
    squares = np.array([1.0] * 8 + [2.0] * 4)
    inverse = np.diag([1, 1, BIAS_PRECISION]) + (A.T * (2 * curve * counts * squares)) @ A
    inverse += 0.2 * A.T @ (laplacian(S) @ A)
    assert mean == pytest.approx(np.linalg.solve(inverse, (counts * sign / 2) @ A))


def test_first_trust_in_closed_form() -> None:
    # with no say of the rows (mu = 0) only the step and the prior are left: E v = (STEEP / 2) / (1 + 2 STEEP^2 curve)
    A = np.column_stack([np.linspace(0, 1, 6), np.ones(6)])
    _, trust, _ = fit_jsfs(A, np.ones(6), np.arange(6) >= 2, neighbour_graph(A, 2), 0.0, 0.0, 1)
    curve = (expit(STEEP) - 0.5) / (2 * STEEP)
    assert trust == pytest.approx([1, 1] + [STEEP / 2 / (1 + 2 * STEEP**2 * curve)] * 4)


def test_separates_as_a_logistic_regression_does() -> None:
    rng = np.random.default_rng(2)
    X = rng.random((400, 3))
    y = rng.random(400) < expit(8 * (X[:, 0] - X[:, 1]))
    A = np.column_stack([X, np.ones(400)])
    mean, _, _ = fit_jsfs(A, np.where(y, 1.0, -1.0), np.zeros(400, bool), neighbour_graph(X, 5), 0.01, 0.0, 200)
    peer = LogisticRegression(C=1e6).fit(X, y).coef_[0]
    assert mean[:2] == pytest.approx(peer[:2], rel=0.1)
    assert abs(mean[2]) < 0.3 < abs(mean[:2]).min()  # the third feature is turned off


def test_rows_whose_label_contradicts_the_others_lose_trust() -> None:
    x = np.concatenate([np.linspace(0, 0.2, 10), np.linspace(0.8, 1, 10), [0.05, 0.95]])
    sign = np.array([-1.0] * 10 + [1.0] * 10 + [1.0, 1.0])  # row 20 says positive among negatives
    A = np.column_stack([x, np.ones(22)])
    _, trust, _ = fit_jsfs(A, sign, np.arange(22) >= 20, neighbour_graph(x[:, None], 3), 1.0, 0.0, 50)
    assert trust[20] < trust[21]


def test_labels_spread_along_the_graph() -> None:
    x = np.array([0.0, 0.1, 0.2, 5.0, 5.1, 5.2, 50.0, 50.1])[:, None]
    sign = np.array([1, 0, 0, -1, 0, 0, 0, 0], np.int8)
    assert pseudo_signs(neighbour_graph(x, 1), sign).tolist() == [1, 1, 1, -1, -1, -1, 0, 0]


def test_jsfs_finds_what_was_planted(planted: Planted) -> None:
    found = jsfs(planted.X, planted.label, np.random.default_rng(0))
    assert set(np.argsort(-found.scores)[:2]) == {2, 5}
    assert len(found.scores) == 8
