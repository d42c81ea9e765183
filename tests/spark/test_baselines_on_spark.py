from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pytest

import spark_pufs

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


@pytest.mark.parametrize("method", ["sselect", "ndfs", "fw-semifs"])
def test_a_baseline_is_the_same_on_spark(spark: SparkSession, method: str) -> None:
    """One that scores, one with random starts, one that searches within the limits where it runs."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(80, 5)), columns=list("abcde")).assign(label=(np.arange(80) < 12).astype(int))
    ask = {"label": "label", "method": method, "k": 3, "must": ["e"], "never": ["a"]}
    rows = spark.createDataFrame(table).repartition(3)
    assert spark_pufs.select(rows, **ask).features == spark_pufs.select(table, **ask).features
