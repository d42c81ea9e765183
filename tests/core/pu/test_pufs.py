from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import approx_fprime

from spark_pufs.core.pu.neighbours import blocks_of, mutual_graph, nearest
from spark_pufs.core.pu.pufs import (
    Links,
    PufsSettings,
    TiedRows,
    balanced,
    laplacian_block,
    link_weights,
    objective,
    plausible_negatives,
    solve,
    start,
    step_value,
)

PAPER = PufsSettings()
ROBUST = PufsSettings(alpha=3.0, beta=0.5, gamma=10.0, delta=0.4, theta_m=1.5, theta_c=2.5)


def problem(seed: int = 0, features: int = 6) -> tuple[np.ndarray, Links]:
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(features, features))
    return root @ root.T, Links(rng.normal(size=(7, features)), rng.normal(size=(9, features)) + 0.5)


@pytest.mark.parametrize("settings", [PAPER, ROBUST])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_gradient_against_finite_differences(settings: PufsSettings, seed: int) -> None:
    A, links = problem(seed)
    rng = np.random.default_rng(seed)
    w, phi = rng.normal(size=6), rng.random(6)
    g = link_weights(rng.normal(size=6), links, settings)
    value, gradient = step_value(w, A, links, settings, g, phi)
    numeric = approx_fprime(w, lambda v: step_value(v, A, links, settings, g, phi)[0], 1e-7)
    assert gradient == pytest.approx(numeric, rel=1e-4, abs=1e-6 * abs(value))


def test_a_step_by_hand() -> None:
    """One feature, two positives at 0 and 1, one negative at 3, w = 2: must-link d = 2, cannot-links d = 6 and 4."""
    links = Links(np.array([[0.0], [1.0]]), np.array([[3.0]]))
    settings = PufsSettings(alpha=2.0, beta=3.0, gamma=5.0, theta_m=2.0, theta_c=4.0)
    ones = (np.ones((2, 2)), np.ones((1, 1)), np.ones((2, 1)))
    must, cannot = (np.exp(-1) - 1) ** 2, np.exp(-36 / 16) ** 2 + np.exp(-1) ** 2
    expected = 7 * 4 + 2 * (must + cannot) + 3 * 0.25 * 4 + 5 * 9
    assert step_value(np.array([2.0]), np.array([[7.0]]), links, settings, ones, np.array([0.25]))[0] == pytest.approx(
        expected
    )


def test_weights_make_the_step_touch_the_objective() -> None:
    """At the w they come from, eq. 10 has the gradient of eq. 7: what makes half-quadratic steps descend it."""
    A, links = problem(4)
    w = np.random.default_rng(4).normal(size=6)
    g, phi = link_weights(w, links, ROBUST), 0.5 / np.abs(w)
    numeric = approx_fprime(w, lambda v: objective(v, A, links, ROBUST), 1e-7)
    assert step_value(w, A, links, ROBUST, g, phi)[1] == pytest.approx(numeric, rel=1e-4, abs=1e-4)


@pytest.mark.parametrize("settings", [PAPER, ROBUST, replace(PAPER, beta=0.0), replace(PAPER, beta=100.0)])
def test_every_outer_step_descends(settings: PufsSettings) -> None:
    A, links = problem(5)
    found = solve(A, links, settings)
    falls = -np.diff(found.values)
    assert (falls >= -1e-9 * np.abs(found.values[0])).all()
    assert found.values[-1] < found.values[0]
    assert found.values[-1] == objective(found.w, A, links, settings)


def test_a_steep_length_penalty_keeps_unit_length() -> None:
    A, links = problem(6)
    assert np.linalg.norm(solve(A, links, PAPER).w) == pytest.approx(1.0, abs=1e-3)


def test_without_links_and_sparsity_it_is_the_smallest_eigenvector() -> None:
    A, links = problem(7)
    found = solve(A, links, replace(PAPER, alpha=1e-12, beta=0.0, steps=50))
    vector = np.linalg.eigh(A)[1][:, 0]
    assert abs(found.w @ vector) == pytest.approx(1.0, abs=1e-3)


def test_the_separating_feature_gets_the_weight() -> None:
    rng = np.random.default_rng(8)
    positive, negative = rng.normal(size=(30, 5)), rng.normal(size=(30, 5))
    negative[:, 3] += 8
    found = solve(np.eye(5), Links(positive, negative), PufsSettings(alpha=10.0))
    assert np.argmax(np.abs(found.w)) == 3
    assert abs(found.w[3]) > 0.9


def test_sparsity_empties_features() -> None:
    A, links = problem(9)
    loose, tight = (np.abs(solve(A, links, replace(ROBUST, beta=beta)).w) for beta in (0.01, 30.0))
    assert np.sort(tight)[0] < np.sort(loose)[0]


def test_even_alpha_balances_graph_and_links_at_the_start() -> None:
    A, links = problem(10)
    w = start(links)
    bare = replace(PAPER, alpha=balanced(A, links, PAPER), beta=0.0, gamma=0.0)
    gain = objective(0 * w, 0 * A, links, bare) - objective(w, 0 * A, links, bare)
    assert gain == pytest.approx(w @ A @ w)
    assert balanced(A, links, ROBUST) == 0.0  # here must-links cost more than cannot-links gain


def test_groups_with_one_mean_start_evenly() -> None:
    links = Links(np.ones((2, 4)), np.ones((3, 4)))
    assert start(links) == pytest.approx(np.full(4, 0.5))


def test_laplacian_of_blocks_is_that_of_the_whole() -> None:
    X = np.random.default_rng(11).normal(size=(600, 4))
    S = mutual_graph(*nearest(X, 0, 600, 3), theta=0.7)
    degree = np.asarray(S.sum(axis=1)).ravel()
    assert (degree == 0).any()  # rows nobody chose: they have no part in L
    inverse = np.where(degree > 0, 1 / np.sqrt(np.where(degree > 0, degree, 1)), 0)
    dense = np.diag((degree > 0).astype(float)) - inverse[:, None] * S.toarray() * inverse
    data = S.data * np.repeat(inverse, np.diff(S.indptr)) * inverse[S.indices]
    shared = TiedRows(X, np.array([5, 9]), 0.7, data, S.indices, S.indptr)
    parts = [laplacian_block(shared, unit) for unit in blocks_of(600)]
    assert len(parts) == 3
    assert sum(part.product for part in parts) == pytest.approx(X.T @ dense @ X)
    similarity = np.exp(-((X[:, None] - X[[5, 9]]) ** 2).sum(axis=2) / 0.49).mean(axis=1)
    assert np.exp(np.concatenate([part.similarity for part in parts])) == pytest.approx(similarity)


def test_plausible_negatives_by_hand() -> None:
    # Row 0 is labelled, row 4 tied to it in the graph; of the others 3 and 1 are the least similar.
    unlabelled = np.array([False, True, True, True, True])
    tied = np.array([0.5, 0, 0, 0, 0.1])
    similarity = np.array([0.0, -3, -1, -7, -9])
    assert plausible_negatives(unlabelled, tied, similarity, 2).tolist() == [1, 3]
    assert plausible_negatives(unlabelled, tied, similarity, 9).tolist() == [1, 2, 3, 4]
