"""PUlasso beside scikit-learn, a general optimiser and closed forms."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.optimize import check_grad, minimize
from scipy.special import logit
from sklearn.linear_model import LogisticRegression

from spark_pufs.core.pu.pulasso import PuLoss, Solver, orthonormal, penalty_path

Floats = NDArray[np.float64]
PENALTY = 0.03


def rows(seed: int, n: int = 600, p: int = 6) -> tuple[Floats, NDArray[np.bool_]]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    y = rng.random(n) < 1 / (1 + np.exp(0.5 - 1.2 * X[:, 0] + 0.8 * X[:, 1]))
    return np.column_stack([orthonormal(X[:, [j]]) for j in range(p)]), y


def loss_of(y: NDArray[np.bool_], share: float, seed: int = 1) -> PuLoss:
    z = y & (np.random.default_rng(seed).random(len(y)) < share)
    return PuLoss(z, np.zeros(len(y), bool), z.sum() / y.sum())


def solver_of(Q: Floats, loss: PuLoss, groups: list[int] | None = None) -> Solver:
    group = np.arange(Q.shape[1]) if groups is None else np.array(groups)
    return Solver(Q, group, int(group.max()) + 1, loss, tolerance=1e-14)


def test_with_all_positives_labelled_it_is_the_lasso_of_scikit_learn() -> None:
    Q, y = rows(0)
    found = solver_of(Q, PuLoss(y, np.zeros(len(y), bool), 1.0))
    assert found.fit(PENALTY, np.ones(6, bool))
    peer = LogisticRegression(l1_ratio=1.0, solver="saga", C=1 / (len(y) * PENALTY), tol=1e-9, max_iter=20_000)
    peer.fit(Q, y)
    np.testing.assert_allclose(found.b, peer.coef_[0], atol=1e-4)
    np.testing.assert_allclose(found.intercept, peer.intercept_[0], atol=1e-4)


@pytest.mark.parametrize("share", [0.3, 0.7])
def test_the_optimum_is_that_of_a_general_optimiser(share: float) -> None:
    Q, y = rows(1)
    loss, p = loss_of(y, share), Q.shape[1]
    found = solver_of(Q, loss)
    found.fit(0.01, np.ones(p, bool))

    def objective(t: Floats) -> float:  # both signs of a coefficient apart, so that the penalty is smooth
        return loss.value(t[0] + Q @ (t[1 : p + 1] - t[p + 1 :])) + 0.01 * float(t[1:].sum())

    bounds = [(None, None)] + [(0, None)] * (2 * p)
    peer = minimize(objective, np.r_[0, np.full(2 * p, 0.01)], bounds=bounds, options={"ftol": 1e-15, "maxfun": 10**5})
    assert found.objective(0.01) == pytest.approx(peer.fun, abs=1e-8)
    np.testing.assert_allclose(found.b, peer.x[1 : p + 1] - peer.x[p + 1 :], atol=2e-3)


def test_slope_is_the_derivative_and_the_start_is_the_prior() -> None:
    _, y = rows(2, 40)
    loss = loss_of(y, 0.5)
    eta = np.random.default_rng(0).normal(size=40)
    assert check_grad(loss.value, lambda e: loss.slope(e) / 40, eta) < 1e-6
    # Without columns the fitted share of positives is the one that the label rate stands for: c p = labelled / rows.
    assert loss.start() == pytest.approx(logit(y.mean()), abs=1e-9)


def test_groups_come_in_whole_and_hold_the_conditions_of_an_optimum() -> None:
    Q, y = rows(3)
    pairs = [0, 0, 1, 1, 2, 2]
    Q = np.column_stack([orthonormal(Q[:, [i, i + 1]]) for i in (0, 2, 4)])
    found = solver_of(Q, loss_of(y, 0.4), pairs)
    found.fit(0.05, np.ones(3, bool))
    inside = found.sizes() > 0
    assert inside.tolist() == [True, False, False]
    assert (found.b[:2] != 0).all()
    entries = found.entries()  # the slope of a group in the model is the penalty, that of the others is below it
    assert entries[0] == pytest.approx(0.05, rel=1e-3)
    assert (entries[1:] < 0.05).all()


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10**6), st.floats(0.15, 1.0), st.floats(0.002, 0.05))
def test_the_objective_never_rises(seed: int, share: float, penalty: float) -> None:
    Q, y = rows(seed, 120, 4)
    found = Solver(Q, np.arange(4), 4, loss_of(y, share, seed), tolerance=1e-6)
    values = [found.objective(penalty)]
    for _ in range(3):
        found.fit(penalty, np.ones(4, bool))
        values.append(found.objective(penalty))
    assert (np.diff(values) <= 1e-12).all()


def test_the_path_lets_what_tells_in_first_and_recovers_the_coefficients() -> None:
    """The example of the authors' package: two of five columns, one sample of positives and one of all rows."""
    rng = np.random.default_rng(4)
    X = rng.normal(size=(20_000, 5)) + 1.5 * np.where(rng.random(20_000) < 0.5, 1, -1)[:, None] * [1, 1, 0, 0, 0]
    y = rng.random(20_000) < 1 / (1 + np.exp(-X @ [0.9, 0.6, 0, 0, 0]))
    labelled, others = np.flatnonzero(y)[:3000], np.arange(17_000, 20_000)
    both = X[np.r_[labelled, others]]
    z = np.arange(6000) < 3000
    parts = [orthonormal(both[:, [j]]) for j in range(5)]
    loss = PuLoss(z, np.zeros(6000, bool), 3000 / (3000 + y.mean() * 3000))
    solver = solver_of(np.column_stack(parts), loss)
    path = penalty_path(solver, 20, 0.02)
    assert set(np.argsort(-path.entered)[:2]) == {0, 1}
    assert path.settled
    solver.fit(1e-5, np.ones(5, bool))
    slopes = [np.polyfit(both[:, j], parts[j][:, 0] * solver.b[j], 1)[0] for j in range(5)]
    np.testing.assert_allclose(slopes, [0.9, 0.6, 0, 0, 0], atol=0.12)
