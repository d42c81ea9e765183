"""q-values and expected false findings, by hand and by definition."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm

from spark_pufs.core.evidence.false_discoveries import expected_false, null_share, q_values


def test_q_values_by_hand() -> None:
    """4 tests: .01 x 4 / 1, .04 x 4 / 2, .03 x 4 / 2 -> sorted .01 .03 .04 .5: .04, .06 -> .0533, .0533, .5."""
    assert q_values([0.01, 0.04, 0.03, 0.5]) == pytest.approx([0.04, 0.16 / 3, 0.16 / 3, 0.5])
    assert q_values([0.01, 0.04], any_dependence=True) == pytest.approx([0.03, 0.06])
    assert q_values([]).tolist() == []


def test_a_q_value_is_the_least_rate_at_which_the_step_up_rule_finds_it() -> None:
    p = np.random.default_rng(0).uniform(size=40) ** 3
    for rate in (0.05, 0.1, 0.3):
        ordered = np.sort(p)
        passed = np.flatnonzero(ordered <= rate * np.arange(1, 41) / 40)
        bound = ordered[passed[-1]] if len(passed) else -1.0
        assert ((q_values(p) <= rate) == (p <= bound)).all()


def test_expected_false_is_the_number_of_tests_times_p() -> None:
    assert expected_false([0.1, 0.5]).tolist() == [0.2, 1.0]


@pytest.mark.parametrize("together", [0.0, 0.5, 0.9, 1.0])
def test_the_share_of_false_findings_is_kept_where_tests_depend_on_each_other(together: float) -> None:
    """Two-sided tests of 50 normal means, 25 of them 0, with this correlation; 2,000 draws at a rate of 0.1."""
    rng = np.random.default_rng(3)
    mean = np.where(np.arange(50) < 25, 3.0, 0.0)
    z = mean + np.sqrt(together) * rng.normal(size=(2000, 1)) + np.sqrt(1 - together) * rng.normal(size=(2000, 50))
    false = []
    for p in 2 * norm.sf(np.abs(z)):
        hit = q_values(p, level=0.1) <= 0.1
        assert (hit >= (q_values(p) <= 0.1)).all()  # the share is at most 1
        false.append(hit[25:].sum() / max(hit.sum(), 1))
    assert np.mean(false) <= 0.1 + 3 * np.std(false) / np.sqrt(2000)


def test_the_share_of_tests_that_find_nothing_by_hand() -> None:
    """(1 + 3 above .2) / (5 x .8) = 1; (1 + 1) / (5 x .8) = .5, and q-values are so much smaller."""
    assert null_share([0.01, 0.1, 0.3, 0.5, 0.9], 0.2) == 1.0
    p = [0.001, 0.01, 0.02, 0.03, 0.9]
    assert null_share(p, 0.2) == pytest.approx(0.5)
    assert q_values(p, level=0.2) == pytest.approx(np.minimum(0.5 * q_values(p), 1))
