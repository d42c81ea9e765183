from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import roots_jacobi
from scipy.stats import beta as beta_distribution

from spark_pufs.core.evidence.label_rate import Beta
from spark_pufs.core.information.mutual_information import entropy, mutual_information
from spark_pufs.core.pu.pucfs import (
    beta_of_mean,
    beta_of_range,
    beta_quadrature,
    class_correlation,
    mutual_correlation,
)
from spark_pufs.types import Layout

SHARES = st.floats(0.05, 60)


def at(labels: np.ndarray, layout: Layout, prior: float) -> np.ndarray:
    return class_correlation(labels, layout, np.array([prior]), np.ones(1))[0]


def labels_of(joint: np.ndarray, labelled: int) -> np.ndarray:
    """Counts (3, L): ``labelled`` of 1 in ... of the positives of a table (2, L) of class by level."""
    known = joint[1] // labelled
    return np.stack([joint[0] + joint[1] - known, known, 0 * known])


def test_by_hand() -> None:
    """100 rows, half of them x = 1; of 10 labelled positives 8. With p = .2: P(x=1|0) = (.5 - .16) / .8 = .425."""
    labels = np.array([[48, 42], [2, 8], [0, 0]])
    p1, p0 = np.array([0.2, 0.8]), np.array([0.575, 0.425])
    mixture = np.array([0.5, 0.5])
    information = (0.2 * p1 * np.log(p1 / mixture) + 0.8 * p0 * np.log(p0 / mixture)).sum()
    expected = information / -(0.2 * np.log(0.2) + 0.8 * np.log(0.8))
    assert at(labels, Layout((2,)), 0.2) == pytest.approx([expected])


def test_what_goes_below_zero_is_cut_and_the_rest_renormalised() -> None:
    """P(x) = (.5, .5), P(x|1) = (.2, .8), p = .8: .5 - .64 < 0, so P(x|0) = (1, 0)."""
    labels = np.array([[48, 42], [2, 8], [0, 0]])
    p1, p0 = np.array([0.2, 0.8]), np.array([1.0, 0.0])
    mixture = 0.8 * p1 + 0.2 * p0
    information = (0.8 * p1 * np.log(p1 / mixture)).sum() + 0.2 * np.log(1 / mixture[0])
    expected = information / -(0.2 * np.log(0.2) + 0.8 * np.log(0.8))
    assert at(labels, Layout((2,)), 0.8) == pytest.approx([expected])


@given(st.lists(st.tuples(st.integers(0, 50), st.integers(0, 9)), min_size=2, max_size=6))
def test_with_the_true_prior_it_is_that_of_the_hidden_class(cells: list[tuple[int, int]]) -> None:
    """Every tenth positive labelled, level by level: P(x|1) is exact, and so is all that follows."""
    joint = np.array([[n + 1, 10 * (p + 1)] for n, p in cells]).T
    layout = Layout((len(cells),))
    prior = joint[1].sum() / joint.sum()
    expected = mutual_information(joint) / entropy(joint.sum(axis=1))
    assert at(labels_of(joint, 10), layout, prior) == pytest.approx([expected], abs=1e-12)


def test_a_feature_that_knows_nothing() -> None:
    labels = np.array([[90, 180], [10, 20], [0, 0]])
    value, error = class_correlation(labels, Layout((2,)), np.array([0.3]), np.ones(1))
    assert value == pytest.approx([0.0], abs=1e-15)
    assert error == pytest.approx([0.0], abs=1e-9)


def test_labelled_negatives_count_among_all_rows() -> None:
    layout = Layout((2, 3))
    labels = np.array([[40, 50, 30, 30, 30], [8, 2, 5, 3, 2], [0, 0, 0, 0, 0]])
    moved = labels + np.array([[-10, 0, -4, -3, -3], [0] * 5, [10, 0, 4, 3, 3]])
    assert (at(labels, layout, 0.3) == at(moved, layout, 0.3)).all()


@pytest.mark.parametrize("prior", [0.2, 0.5])
def test_standard_error_against_redrawn_tables(prior: float) -> None:
    rng = np.random.default_rng(0)
    shares = np.array([0.25, 0.35, 0.3, 0.01, 0.03, 0.06])  # unlabelled, then labelled, by level
    layout, weight = Layout((3,)), np.ones(1)
    draws = rng.multinomial(5000, shares, 600).reshape(600, 2, 3)
    found = [
        class_correlation(np.vstack([d, np.zeros((1, 3), np.int64)]), layout, np.array([prior]), weight) for d in draws
    ]
    values, errors = np.array([v[0] for v, _ in found]), np.array([e[0] for _, e in found])
    assert np.median(errors) == pytest.approx(values.std(), rel=0.1)


@given(SHARES, SHARES, st.integers(1, 20))
def test_quadrature_has_the_moments_of_the_beta(a: float, b: float, nodes: int) -> None:
    points, weight = beta_quadrature(Beta(a, b), nodes)
    assert weight.sum() == pytest.approx(1)
    assert ((points > 0) & (points < 1)).all()
    for power in range(min(2 * nodes, 6)):
        moment = np.prod([(a + i) / (a + b + i) for i in range(power)])
        assert weight @ points**power == pytest.approx(moment, rel=1e-7, abs=1e-10)


@pytest.mark.parametrize(("a", "b"), [(1, 1), (0.5, 0.5), (2, 7.5), (30, 4)])
def test_quadrature_against_scipy(a: float, b: float) -> None:
    points, weight = beta_quadrature(Beta(a, b), 12)
    peer, peer_weight = roots_jacobi(12, b - 1, a - 1)
    assert points == pytest.approx((peer + 1) / 2, rel=1e-9)
    assert weight == pytest.approx(peer_weight / peer_weight.sum(), rel=1e-7)


def test_a_sharp_beta_does_not_overflow() -> None:
    points, weight = beta_quadrature(Beta(1e6, 9e6), 64)
    assert weight @ points == pytest.approx(0.1)
    assert weight @ (points - 0.1) ** 2 == pytest.approx(0.1 * 0.9 / 1e7, rel=1e-4)


@pytest.mark.parametrize(("a", "b"), [(1, 4), (2, 6), (5, 45), (3, 3)])
def test_the_average_against_dense_integration(a: float, b: float) -> None:
    rng = np.random.default_rng(int(a * 10 + b))
    layout = Layout((2, 5, 3))
    joint = np.hstack([rng.multinomial(300, rng.dirichlet(np.ones(n))) for n in layout.levels])
    known = np.hstack([rng.multinomial(40, rng.dirichlet(np.ones(n))) for n in layout.levels])
    labels = np.stack([joint, known, 0 * known])
    dense = beta_distribution.ppf((np.arange(4000) + 0.5) / 4000, a, b)
    expected, _ = class_correlation(labels, layout, dense, np.full(4000, 1 / 4000))
    found, _ = class_correlation(labels, layout, *beta_quadrature(Beta(a, b), 64))
    assert found == pytest.approx(expected, rel=2e-3)


def test_a_sharp_belief_is_a_point() -> None:
    labels, layout = np.array([[48, 42], [2, 8], [0, 0]]), Layout((2,))
    found, _ = class_correlation(labels, layout, *beta_quadrature(beta_of_mean(0.2, 1e7), 16))
    assert found == pytest.approx(at(labels, layout, 0.2), rel=1e-4)


@given(st.floats(0.001, 0.998), st.floats(0.0005, 0.99))
def test_a_range_reaches_two_deviations_from_the_mean(low: float, width: float) -> None:
    high = low + width * (0.999 - low)
    belief = beta_of_range(low, high)
    mean, variance = beta_distribution.stats(belief.a, belief.b, moments="mv")
    assert mean == pytest.approx((low + high) / 2, rel=1e-6)
    assert np.sqrt(variance) == pytest.approx((high - low) / 4, rel=1e-3)


def test_correlation_of_features_goes_both_ways() -> None:
    information, entropies = np.array([0.7, 0.1, 0.0]), np.array([0.7, 0.5, 0.0])
    assert mutual_correlation(information, entropies, 0) == pytest.approx([0.0, 0.1 / 0.5 + 0.1 / 0.7, 0.0])
