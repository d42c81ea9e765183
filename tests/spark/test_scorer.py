"""The search on Spark: same bits as in-process, for any partitioning, with tasks that die, after a kill."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import spark_pufs
from spark_pufs.core.clusters.mixture import MixtureSettings
from spark_pufs.core.counting.row_sample import RowSample
from spark_pufs.core.search.budget import Budget
from spark_pufs.core.search.mask_draws import SizedMasks
from spark_pufs.core.synthetic.artificial import CONDITIONS, make_artificial
from spark_pufs.engines.thread_scorer import ThreadScorer
from spark_pufs.spark import scorer
from spark_pufs.spark.scorer import SparkScorer

pytestmark = pytest.mark.spark

SETTINGS = MixtureSettings()


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    data = make_artificial(CONDITIONS[4], seed=1, negatives=800, positives=100)
    frame = pd.DataFrame(data.X, columns=[name.replace("_", ".") for name in data.names])
    return frame.assign(label=data.s.astype(int), row=np.arange(len(frame)))


@pytest.fixture(scope="module")
def rows(table: pd.DataFrame) -> RowSample:
    X = table.drop(columns=["label", "row"]).to_numpy()
    return RowSample(X, (table["label"].to_numpy() == 1).astype(np.uint8), np.ones(len(table)))


@pytest.fixture(scope="module")
def masks() -> SizedMasks:
    rng = np.random.default_rng(0)
    fractions = rng.choice([0.25, 0.5, 1.0], 70)
    return SizedMasks(rng.random(50), fractions, Budget.of(np.ones(50), 25), np.ones(50, np.bool_), (3, 0, 1))


def test_counts_equal_those_in_process(spark: Any, rows: RowSample, masks: SizedMasks) -> None:
    here, there = ThreadScorer(rows, SETTINGS), SparkScorer(spark, rows, SETTINGS)
    for seed, used in (([1, 0], 900), ([1, 1], 300)):
        for ours, theirs in zip(here.score(masks, seed, used), there.score(masks, seed, used), strict=True):
            np.testing.assert_array_equal(ours, theirs)
    here.close()
    there.close()


def test_a_task_that_dies_changes_nothing(
    spark: Any, rows: RowSample, masks: SizedMasks, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ours = SparkScorer(spark, rows, SETTINGS)
    expected = ours.score(masks, [1, 0], 900)
    honest, marker = scorer._scorer, str(tmp_path / "died")

    def mortal(*arguments: Any) -> Any:
        score = honest(*arguments)

        def run(batches: Any) -> Any:
            for batch in score(batches):
                yield batch
                if not os.path.exists(marker):
                    open(marker, "w").close()
                    os._exit(1)  # the worker process, in the middle of its task

        return run

    monkeypatch.setattr(scorer, "_scorer", mortal)
    found = ours.score(masks, [1, 0], 900)
    assert os.path.exists(marker)
    for before, after in zip(expected, found, strict=True):
        np.testing.assert_array_equal(before, after)
    ours.close()


@pytest.mark.parametrize("partitions", [1, 2, 7])
def test_selection_equals_the_local_one(spark: Any, table: pd.DataFrame, partitions: int) -> None:
    options = {"label": "label", "method": "fscpu", "k": 25, "keep": ["row"], "generations": 2, "generation_size": 48}
    local = spark_pufs.select(table, **options)
    frame = spark.createDataFrame(table.sample(frac=1.0, random_state=partitions)).repartition(partitions)
    found = spark_pufs.select(frame, **options)
    assert found.features == local.features
    assert found.details == local.details
    assert found.fingerprint == local.fingerprint
    likely = spark_pufs.likely_positives(found, frame).toPandas()
    expected = spark_pufs.likely_positives(local, table)
    assert sorted(zip(likely["row"], likely["cluster"], strict=True)) == sorted(
        zip(expected["row"], expected["cluster"], strict=True)
    )


@pytest.mark.parametrize("partitions", [1, 5])
def test_a_bounded_sample_is_the_same_on_both_engines(spark: Any, partitions: int) -> None:
    rng = np.random.default_rng(4)
    table = pd.DataFrame(rng.normal(size=(30_000, 8)), columns=list("abcdefgh"))
    table.loc[::3, :] = 0.25  # a third of all rows are equal
    table["label"] = (table["a"] > 2.2).astype(int)
    options = {"label": "label", "method": "fscpu", "k": 3, "generations": 1, "generation_size": 16, "sample_mb": 1}
    local = spark_pufs.select(table, **options)
    found = spark_pufs.select(spark.createDataFrame(table).repartition(partitions), **options)
    assert local.details["sample_rows"] < 16_384 + 100
    assert found.details == local.details
