"""G-tests against scipy, and p-values far below the smallest double against mpmath."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2, chi2_contingency

from spark_pufs.core.information.gtest import g_statistic, log_p_value
from spark_pufs.core.information.mutual_information import conditional_mutual_information, mutual_information

mpmath.mp.dps = 60


def exact_log_p(g: float, df: float) -> float:
    a, x = mpmath.mpf(df) / 2, mpmath.mpf(g) / 2
    return float(mpmath.log(mpmath.gammainc(a, x, regularized=True)))


def contingency(table: np.ndarray) -> tuple[float, float, int]:
    found = chi2_contingency(table, lambda_="log-likelihood", correction=False)
    return found.statistic, found.pvalue, found.dof


@given(st.integers(0, 2**32 - 1))
def test_against_scipy(seed: int) -> None:
    table = np.random.default_rng(seed).integers(1, 30, (4, 3))
    statistic, p, df = contingency(table)
    g = g_statistic(mutual_information(table), int(table.sum()))
    assert g == pytest.approx(statistic, rel=1e-10, abs=1e-10)
    assert np.exp(log_p_value(g, df)) == pytest.approx(p, rel=1e-8)


@given(st.integers(0, 2**32 - 1))
def test_conditional_test_is_the_sum_of_the_tests_in_the_strata(seed: int) -> None:
    tables = np.random.default_rng(seed).integers(1, 30, (5, 3, 2))
    strata = [contingency(table) for table in tables]
    g = g_statistic(conditional_mutual_information(tables), int(tables.sum()))
    assert g == pytest.approx(sum(s[0] for s in strata), rel=1e-10, abs=1e-10)
    df = sum(s[2] for s in strata)
    assert df == (3 - 1) * (2 - 1) * 5
    assert np.exp(log_p_value(g, df)) == pytest.approx(chi2.sf(g, df), rel=1e-8)


@pytest.mark.parametrize("df", [1, 2, 3, 4, 10, 99, 400, 5_000])
@pytest.mark.parametrize("digits", [1, 10, 100, 270, 279, 280, 281, 290, 308, 330, 1_000, 5_000])
def test_far_tail_against_mpmath(df: int, digits: int) -> None:
    """The statistic whose p-value is about 10**-digits, found by bisection; then the exact tail there."""
    low, high = float(df), 2.0 * df + 10.0 * digits * math.log(10)
    target = -digits * math.log(10)
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (middle, high) if log_p_value(middle, df) > target else (low, middle)
    expected = exact_log_p(low, df)
    assert expected == pytest.approx(target, rel=1e-3)
    assert float(log_p_value(low, df)) == pytest.approx(expected, rel=1e-10)


def test_two_degrees_of_freedom_have_a_closed_form() -> None:
    """P(chi2 >= g) = exp(-g/2); with fewer degrees the tail is lighter, with more it is heavier."""
    g = np.array([0.5, 10.0, 1e3, 1e5])
    np.testing.assert_allclose(log_p_value(g, 2), -g / 2, rtol=1e-12)
    assert (log_p_value(g, 1) < -g / 2).all()
    assert (log_p_value(g, 3) > -g / 2).all()


def test_p_values_fall_as_the_statistic_grows() -> None:
    for df in (1, 7, 300):
        log_p = log_p_value(np.linspace(0, 6_000, 4_001), df)
        assert (np.diff(log_p) <= 0).all()
        assert log_p[0] == 0.0
        assert (np.diff(log_p)[1_000:] < 0).all()  # also where the two formulas meet


def test_no_degree_of_freedom_tells_nothing() -> None:
    assert log_p_value([0.0, 12.0], 0).tolist() == [0.0, 0.0]


def test_shapes_broadcast() -> None:
    found = log_p_value(np.array([[1.0], [5_000.0]]), np.array([1, 2, 3]))
    assert found.shape == (2, 3)
    assert found[1, 2] == pytest.approx(exact_log_p(5_000.0, 3), rel=1e-10)


def test_a_statistic_below_zero_by_rounding_has_p_one() -> None:
    assert log_p_value(-1e-12, 3) == 0.0
