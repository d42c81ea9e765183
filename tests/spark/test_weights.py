"""Weights on Spark: the same answer as in memory, from DataFrames and pyspark.ml."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from pyspark.sql import SparkSession

from spark_pufs import DataError, select
from spark_pufs.spark import PUFeatureSelector
from spark_pufs.spark.weights import repeated_rows

pytestmark = pytest.mark.spark


def table() -> pd.DataFrame:
    rng = np.random.default_rng(1)
    y = np.arange(200) % 3 == 0
    X = pd.DataFrame(rng.normal(size=(200, 3)).round(3), columns=["a.x", "b", "c"])
    X["b"] += 2 * y
    return X.assign(w=rng.integers(0, 4, 200), label=(y & (np.arange(200) % 2 == 0)).astype(int))


def test_rows_are_repeated(spark: SparkSession) -> None:
    rows = spark.createDataFrame([(1, 2.0, "x"), (2, 0.0, "y"), (3, 1.0, "z")], ["a.x", "w", "t"])
    found = repeated_rows(rows, "w")
    assert found.columns == ["a.x", "t"]
    assert sorted(map(tuple, found.collect())) == [(1, "x"), (1, "x"), (3, "z")]


def test_the_answer_is_that_of_memory(spark: SparkSession) -> None:
    given = {"label": "label", "method": "semi-jmi", "k": 1, "weights": "w", "groups": {"G": ["a.x", "b"]}}
    here, there = select(table(), **given), select(spark.createDataFrame(table()).repartition(3), **given)
    assert set(here.names) == {"a.x", "b"}
    assert (there.names, there.scores, there.facts) == (here.names, here.scores, here.facts)
    model = PUFeatureSelector(
        inputCols=["a.x", "b", "c"], labelCol="label", weightCol="w", method="semi-jmi", k=1, groups={"G": ["a.x", "b"]}
    ).fit(spark.createDataFrame(table()))
    assert (model.selectedNames, model.scores) == (here.names, here.scores)


@pytest.mark.parametrize(
    ("values", "told"),
    [
        (["1", "x"], "1 values are missing or no numbers"),
        ([1.5, 2.0], "1 values are no whole numbers"),
        ([None, 1], "1 values are missing"),
    ],
)
def test_wrong_weights(spark: SparkSession, values: list[object], told: str) -> None:
    rows = spark.createDataFrame([(i, value) for i, value in enumerate(values)], ["a", "w"])
    with pytest.raises(DataError, match=f"Weights 'w': {told}"):
        repeated_rows(rows, "w")
