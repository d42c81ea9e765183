"""What an operator sees of a selection in Spark's UI, and what a cancelled job group ends in."""

from __future__ import annotations

import threading
import time

import numpy as np
import pandas as pd
import pytest

import spark_pufs
from spark_pufs.spark import engine
from spark_pufs.spark.scan import DESCRIPTION, jobs_called

pytestmark = pytest.mark.spark


@pytest.fixture
def frame(spark):
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(400, 4)), columns=list("abcd"))
    table["label"] = ((table["a"] > 0.8) & (rng.random(400) < 0.5)).astype(int)
    return spark.createDataFrame(table)


def descriptions(spark, group: str) -> list[str]:
    jobs = spark.sparkContext.statusTracker().getJobIdsForGroup(group)
    store = spark.sparkContext._jsc.sc().statusStore()
    found = (store.job(int(job)).description() for job in jobs)
    return [one.get() for one in found if one.isDefined()]


def test_jobs_are_named_after_their_pass_and_the_thread_stays_as_it_was(spark, frame) -> None:
    context = spark.sparkContext
    context.setJobGroup("tested", "mine")
    try:
        spark_pufs.select(frame, label="label", k=2, method="semi-jmi")
        assert context.getLocalProperty(DESCRIPTION) == "mine"
        found = set(descriptions(spark, "tested"))
    finally:
        context.setLocalProperty("spark.jobGroup.id", None)
        context.setLocalProperty(DESCRIPTION, None)
    assert {"spark_pufs semi-jmi: profile"} <= found
    assert all(one.startswith("spark_pufs semi-jmi: ") for one in found)


def test_generations_of_a_search_are_counted(spark, frame, monkeypatch) -> None:
    monkeypatch.setattr(engine, "SMALL_SAMPLE", 0)  # masks are scored by the cluster
    context = spark.sparkContext
    context.setJobGroup("searched", "")
    try:
        spark_pufs.select(frame, label="label", k=2, method="fscpu", clusters=2, generations=2, generation_size=64)
        found = descriptions(spark, "searched")
    finally:
        context.setLocalProperty("spark.jobGroup.id", None)
        context.setLocalProperty(DESCRIPTION, None)
    assert "spark_pufs fscpu: generation 1 of 2, score 64 masks" in found


def test_a_cancelled_group_ends_in_stopped(spark) -> None:
    def slow(batches):
        time.sleep(60)
        yield from batches

    def cancel() -> None:
        tracker = spark.sparkContext.statusTracker()
        while not tracker.getJobIdsForGroup("cancelled"):
            time.sleep(0.05)
        spark.sparkContext.cancelJobGroup("cancelled")

    context = spark.sparkContext
    context.setJobGroup("cancelled", "", interruptOnCancel=True)
    canceller = threading.Thread(target=cancel)
    canceller.start()
    try:
        told = pytest.raises(spark_pufs.Stopped, match="Spark job: was cancelled in 'profile'")
        with told, jobs_called(spark, "profile"):
            spark.range(1).mapInArrow(slow, "id long").collect()
    finally:
        canceller.join()
        for name in ("spark.jobGroup.id", "spark.job.interruptOnCancel", DESCRIPTION):
            context.setLocalProperty(name, None)
