"""q-values and expected false findings, by hand and by definition."""

from __future__ import annotations

import numpy as np
import pytest

from spark_pufs.core.evidence.false_discoveries import expected_false, q_values


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
