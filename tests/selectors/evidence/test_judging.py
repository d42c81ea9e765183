"""The judge of any method: rows held out, beside all features and chance."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import spark_pufs
from spark_pufs.selectors.soft.held_out import NOISE


def table(rows: int = 600, signal: bool = True) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(rows, 5))
    label = (X[:, 1] > 1) if signal else rng.random(rows) < 0.15
    return pd.DataFrame(X, columns=list("abcde")).assign(label=label * 1)


@pytest.mark.parametrize("method", ["semi-mim", "semi-iamb", "lasso"])
def test_a_choice_is_judged_beside_all_features(method: str) -> None:
    found = spark_pufs.select(table(), label="label", method=method, k=1, judge=True)
    held = found.findings.held_out
    assert held is not None
    assert found.names == ["b"]
    assert held.chosen > 0.95
    assert held.every > 0.9
    assert held.every_error is not None
    assert found.verdict.startswith("Better than chance: held-out AUC ")
    assert "with 1 of 5 columns" in found.verdict


def test_noise_is_called_noise() -> None:
    found = spark_pufs.select(table(signal=False), label="label", method="semi-mim", k=1, judge=True)
    assert found.verdict.startswith("No better than chance")
    assert NOISE in found.warnings


def test_a_choice_that_loses_much_is_told() -> None:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(800, 4))
    frame = pd.DataFrame(X, columns=list("abcd")).assign(label=(X.sum(axis=1) > 2.5) * 1)
    found = spark_pufs.select(frame, label="label", method="semi-mim", k=1, judge=True)
    assert any(warning.startswith("Worse than all 4 columns by 0.") for warning in found.warnings)


def test_too_few_labels_to_hold_out_and_not_asked_for() -> None:
    few = table()
    few["label"] = (np.arange(len(few)) < 4) * 1
    assert spark_pufs.select(few, label="label", method="semi-mim", k=1, judge=True).verdict == ""
    assert spark_pufs.select(table(), label="label", method="semi-mim", k=1).verdict == ""


def test_the_ranking_is_the_same_with_a_judge() -> None:
    judged, plain = (spark_pufs.select(table(), label="label", method="jmi", k=2, judge=j) for j in (True, False))
    assert judged.scores == plain.scores
