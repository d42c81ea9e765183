"""Comparison, choice and stability give the same answer on Spark as in-process."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import spark_pufs
from spark_pufs.core.counting import grouped_counts
from spark_pufs.core.synthetic.artificial import CONDITIONS, make_artificial

pytestmark = pytest.mark.spark


def table() -> pd.DataFrame:
    data = make_artificial(CONDITIONS[0], seed=5, negatives=400, positives=100)
    return pd.DataFrame(data.X, columns=data.names).assign(
        label=data.s, word=["yes" if one else "no" for one in data.s]
    )


def test_the_same_comparison(spark: Any) -> None:
    frame = table()
    options: dict[str, Any] = {"label": "label", "methods": ["semi-mim", "semi-jmi"], "k": 5, "folds": 3, "repeats": 1}
    here = spark_pufs.compare(frame, **options)
    there = spark_pufs.compare(spark.createDataFrame(frame).repartition(3), **options)
    pd.testing.assert_frame_equal(here.table().drop(columns="seconds"), there.table().drop(columns="seconds"))


def test_the_same_choice(spark: Any) -> None:
    frame = table().drop(columns="word")
    options: dict[str, Any] = {"label": "label", "method": "auto", "methods": ["semi-mim", "lasso"], "folds": 3, "k": 6}
    here = spark_pufs.select(frame, **options, stability=4)
    there = spark_pufs.select(spark.createDataFrame(frame).repartition(3), **options, stability=4)
    assert there.names == here.names
    assert there.details["choice"] == here.details["choice"]
    assert there.details["stability"] == here.details["stability"]


def test_the_same_half_samples(spark: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grouped_counts, "FEW", 100)
    frame = pd.concat([table()] * 3).reset_index(drop=True)
    frame["noise"] = np.random.default_rng(6).normal(size=len(frame))  # no two rows are equal
    options: dict[str, Any] = {"label": "label", "method": "semi-jmi", "k": 4, "stability": 5}
    here = spark_pufs.select(frame, **options)
    there = spark_pufs.select(spark.createDataFrame(frame).repartition(3), **options)
    assert there.details["stability"] == here.details["stability"]
    assert "sample" not in [one.what for one in there.run.passes]
