from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import spark_pufs
from spark_pufs.core.artificial import CONDITIONS, make_artificial


def table(condition: int) -> pd.DataFrame:
    data = make_artificial(CONDITIONS[condition], seed=5, negatives=1600, positives=200)
    return pd.DataFrame(data.X, columns=data.names).assign(label=data.s.astype(int))


@pytest.mark.parametrize(("condition", "verdict"), [(0, "holds"), (3, "holds"), (8, "does not hold")])
def test_the_assumption_is_told_from_its_absence(condition: int, verdict: str) -> None:
    found = spark_pufs.check_clusters(table(condition), label="label", features=["relevant_*"])
    assert found.verdict == verdict
    assert found.reason


def test_shuffled_labels_do_not_hold() -> None:
    shuffled = table(0)
    shuffled["label"] = np.random.default_rng(0).permutation(shuffled["label"])
    assert spark_pufs.check_clusters(shuffled, label="label", features=["relevant_*"]).verdict != "holds"


def test_scores_are_public() -> None:
    predicted = np.array([1, 1, 1, 0, 0, 0], bool)
    labelled = np.array([1, 0, 0, 0, 0, 0], bool)
    found = spark_pufs.scores(predicted, labelled, rho=0.5)
    assert found.recall.value == 1.0
    assert found.precision.value == pytest.approx(1 / (0.5 * 3))
