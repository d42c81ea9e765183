from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from planting import Planted
from scipy.special import expit

from spark_pufs.core.baselines.graph import neighbour_graph
from spark_pufs.core.baselines.jsfs import BIAS_PRECISION, fit_jsfs, jsfs


@settings(max_examples=12, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 12), st.floats(0, 5), st.floats(1e-11, 1e-2))
def test_the_evidence_never_falls(seed: int, features: int, eta: float, gamma: float) -> None:
    rng = np.random.default_rng(seed)
    X = rng.random((30, features))
    sign = np.array([1.0, -1.0] * 5 + [0.0] * 20)
    A = np.column_stack([X, np.ones(30)])
    _, trust, objective = fit_jsfs(A, sign, neighbour_graph(X, 4), eta, gamma, 40)
    assert (np.diff(objective) <= 1e-8 * max(abs(objective[0]), 1)).all()
    assert ((trust >= 0) & (trust <= 1)).all()


def test_first_step_in_closed_form() -> None:
    rng = np.random.default_rng(0)
    A = np.column_stack([rng.random((12, 2)), np.ones(12)])
    sign = np.array([1.0] * 4 + [-1.0] * 4 + [0.0] * 4)
    mean, _, _ = fit_jsfs(A, sign, neighbour_graph(A, 3), 0.0, 1e-11, 1)
    seen, curve = A[:8], (expit(1.0) - 0.5) / 2
    inverse = np.diag([1, 1, BIAS_PRECISION]) + 2 * curve * seen.T @ seen
    assert mean == pytest.approx(np.linalg.solve(inverse, seen.T @ sign[:8] / 2))


def test_rows_at_odds_with_their_neighbours_lose_trust() -> None:
    rng = np.random.default_rng(1)
    X = np.concatenate([0.1 * rng.random(20), 0.9 + 0.1 * rng.random(20), [0.5]])[:, None]
    sign = np.zeros(41)
    sign[:5], sign[20:25] = -1, 1
    _, trust, _ = fit_jsfs(np.column_stack([X, np.ones(41)]), sign, neighbour_graph(X, 5, 1.0), 0.05, 1e-11, 50)
    assert trust[40] < trust[:40].min()


def test_jsfs_finds_what_was_planted(planted: Planted) -> None:
    found = jsfs(planted.X, planted.label, np.random.default_rng(0))
    assert set(np.argsort(-found.scores)[:2]) == {2, 5}
    assert len(found.scores) == 8
