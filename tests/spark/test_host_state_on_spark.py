"""A selection leaves the user's session as it found it, alone and beside others in the same session."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest

import spark_pufs
from spark_pufs.spark import PUFeatureSelector, engine
from support.host import assert_unchanged
from support.quick_options import quick

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.filterwarnings("ignore::spark_pufs.errors.PufsWarning")]

ROWS = 160
# One of each family: counts, blankets, soft labels, mixtures, rows in tasks, held-out evidence.
FAMILIES = ("semi-jmi", "semi-iamb", "distil", "fscpu", "lasso", "auto")
SIDE_BY_SIDE = (*FAMILIES, "dt-rfe", "consensus")


def pandas_table(seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(ROWS, 4))
    X[:, :2] += 3 * (np.arange(ROWS) < 60)[:, None]
    return pd.DataFrame(X, columns=list("abcd")).assign(label=(np.arange(ROWS) < 40).astype(int), row=np.arange(ROWS))


def table(spark: SparkSession, seed: int = 0) -> DataFrame:
    return spark.createDataFrame(pandas_table(seed)).repartition(3)


def asked(method: str) -> dict[str, Any]:
    return {"label": "label", "method": method, "k": 2, "keep": ["row"], **quick(method)}


@pytest.fixture(autouse=True)
def own_temporary_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))


@pytest.fixture(autouse=True)
def loaded() -> None:
    spark_pufs.select(pandas_table(), **asked("auto"))


@pytest.mark.parametrize("method", FAMILIES)
def test_a_selection_leaves_the_session_as_it_was(spark: SparkSession, method: str) -> None:
    frame = table(spark)
    with assert_unchanged(spark):
        spark_pufs.select(frame, **asked(method))


def test_masks_scored_by_the_cluster_leave_no_sample_behind(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    frame = table(spark)
    expected = spark_pufs.select(frame, **asked("fscpu"))
    monkeypatch.setattr(engine, "SMALL_SAMPLE", 0)
    with assert_unchanged(spark):
        assert spark_pufs.select(frame, **asked("fscpu")).features == expected.features


def other_doors(spark: SparkSession) -> dict[str, Callable[[], Any]]:
    frame, own = table(spark), {"label": "label", "keep": ["row"]}
    clusters = spark_pufs.select(frame, **asked("fscpu"))
    stage = PUFeatureSelector(inputCols=list("abcd"), labelCol="label", method="lasso", k=1)
    return {
        "compare": lambda: spark_pufs.compare(frame, **own, methods=["lasso"], k=1, folds=2, repeats=1),
        "check": lambda: spark_pufs.check_clusters(frame, **own, clusters=3),
        "likely": lambda: spark_pufs.likely_positives(clusters, frame).count(),
        "pyspark.ml": lambda: stage.fit(frame).transform(frame).count(),
        "an error": lambda: refused(frame),
    }


def refused(frame: DataFrame) -> None:
    with pytest.raises(spark_pufs.PufsError):
        spark_pufs.select(frame, label="label", positive="x")


@pytest.mark.parametrize("door", ["compare", "check", "likely", "pyspark.ml", "an error"])
def test_other_doors_leave_the_session_as_it_was(spark: SparkSession, door: str) -> None:
    call = other_doors(spark)[door]
    with assert_unchanged(spark):
        call()


def test_eight_at_once_answer_as_alone_and_leave_the_session_as_it_was(spark: SparkSession) -> None:
    """The user's own cached tables and views in the same session stay what they are."""
    frames = [table(spark, seed) for seed in range(len(SIDE_BY_SIDE))]
    frames[0].createOrReplaceTempView("flows")
    frames[0] = spark.sql("select * from flows")
    calls = [(frame, asked(method)) for frame, method in zip(frames, SIDE_BY_SIDE, strict=True)]
    alone = [spark_pufs.select(pandas_table(seed), **asked(method)) for seed, method in enumerate(SIDE_BY_SIDE)]
    frames[1].cache().count()
    try:
        with assert_unchanged(spark), ThreadPoolExecutor(len(calls)) as pool:
            found = list(pool.map(lambda call: spark_pufs.select(call[0], **call[1]), calls))
    finally:
        frames[1].unpersist()
        spark.catalog.dropTempView("flows")
    assert [one.features for one in found] == [one.features for one in alone]


def test_settings_of_the_user_rule_in_our_session(spark: SparkSession) -> None:
    """A zone that was set after the session began; a view that was replaced after the table was named."""
    before = spark.conf.get("spark.sql.session.timeZone")
    frame = pandas_table().assign(label=lambda own: np.where(own["label"] == 1, "23:00", "01:00"))
    spark.createDataFrame(frame).createOrReplaceTempView("moments")
    named = spark.sql("select a, b, hour(timestamp_micros(0)) = 9 as tokyo, label from moments")
    spark.range(1).createOrReplaceTempView("moments")
    try:
        spark.conf.set("spark.sql.session.timeZone", "Asia/Tokyo")
        found = spark_pufs.select(named, label="label", positive="23:00", unlabelled="01:00", method="semi-mim", k=2)
    finally:
        spark.conf.set("spark.sql.session.timeZone", str(before))
        spark.catalog.dropTempView("moments")
    assert set(found.names) == {"a", "b"}
