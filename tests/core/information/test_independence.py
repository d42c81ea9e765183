"""p-values of independence: never below their level under the null, at few labels and rare levels."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import chi2_contingency

from spark_pufs.core.information.independence import log_p_values
from spark_pufs.types import Layout

TABLES = {
    "five": [900] * 5,
    "rare": [4_410, 90],
    "thirty": [150] * 30,
    "falling": [round(1_100 / i) for i in range(1, 33)],
    "nearly constant": [4_440, 40, 10, 10],
}


@pytest.mark.parametrize("n", [10, 30, 150])
@pytest.mark.parametrize("name", TABLES)
def test_labels_dealt_at_random_pass_no_more_often_than_they_may(name: str, n: int) -> None:
    sizes, draws = np.array(TABLES[name]), 600
    positives = np.random.default_rng(n).multivariate_hypergeometric(sizes, n, draws).ravel()
    counts = np.stack([np.tile(sizes, draws) - positives, positives])[:, None]
    p = np.exp(log_p_values(counts, Layout((len(sizes),) * draws)))
    for level in (0.1, 0.05, 0.01):
        assert (p <= level).mean() <= level + 3 * math.sqrt(level * (1 - level) / draws)


def test_many_labels_give_the_g_test_of_scipy() -> None:
    table = np.array([[4_000, 3_900, 4_100], [300, 400, 330]])
    peer = chi2_contingency(table, lambda_="log-likelihood").pvalue
    assert log_p_values(table[:, None], Layout((3,)))[0] == pytest.approx(math.log(peer), rel=5e-3)


def test_levels_too_rare_for_the_moments_are_tested_apart() -> None:
    """2,000 labels in 100,000 rows, all 4 rows of a rare level labelled: twice C(2000, 4) / C(100000, 4), and hardly
    another table is as far from chance."""
    sizes, own = np.array([50_000, 49_996, 4]), np.array([1_000, 996, 4])
    exact = math.log(2) + 4 * math.log(2_000 / 100_000)
    assert log_p_values(np.stack([sizes - own, own])[:, None], Layout((3,)))[0] == pytest.approx(exact, abs=0.01)


def test_strata_of_one_class_and_constant_features_tell_nothing() -> None:
    counts = np.array([[[5, 5, 10], [0, 0, 0]], [[0, 0, 0], [3, 3, 6]]])
    assert log_p_values(counts, Layout((2, 1))).tolist() == [0, 0]
    assert log_p_values(np.array([[[10]], [[4]]]), Layout((1,))).tolist() == [0]
