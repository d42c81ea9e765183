"""A memory of counts on Spark: what pandas counted is gone on with, and the other way round, bit for bit."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

import spark_pufs
from spark_pufs import Selection
from spark_pufs.errors import DataError
from spark_pufs.findings.run_facts import RunFacts
from spark_pufs.memory.store import Store
from spark_pufs.rundir.folder import RunFolder
from spark_pufs.spark.partitions import FramePartitions
from support.memory_days import OPTIONS, day, days

pytestmark = pytest.mark.spark


def remembered(table: Any, path: Path, late: Any = None) -> Selection:
    """Of a method that has rows kept too."""
    own = {**OPTIONS, "method": "lasso"}
    return spark_pufs.select(table, memory=path, partition="day", window=3, late_labels=late, **own)


def answer(found: Selection) -> Any:
    return json.loads(replace(found, run=RunFacts("", 0.0), findings=replace(found.findings, memory=None)).to_json())


def counts(path: Path) -> dict[str, tuple[str, list[int]]]:
    """Counts by partition, and the file of its rows, which is named after what is in it."""
    store = Store(RunFolder(path))
    index = store.index()
    assert index is not None
    return {key: (one.kept, store.counts(one).counts.counts.ravel().tolist()) for key, one in index.partitions.items()}


def write(flows: Path, number: int, name: str = "a.parquet") -> None:
    folder = flows / f"day=2026-01-0{number}"
    folder.mkdir(parents=True, exist_ok=True)
    day(number).drop(columns="day").to_parquet(folder / name, index=False)


def test_engines_share_a_memory(spark: SparkSession, tmp_path: Path) -> None:
    """Made by Spark and gone on with by pandas; made by pandas and gone on with by Spark; files tell what is new."""
    flows = tmp_path / "flows"
    write(flows, 1)
    write(flows, 2)
    remembered(spark.read.parquet(str(flows)), tmp_path / "spark")
    remembered(days(1, 2), tmp_path / "pandas")
    assert counts(tmp_path / "pandas") == counts(tmp_path / "spark")
    on_pandas = remembered(day(3), tmp_path / "spark")
    on_spark = remembered(spark.createDataFrame(day(3).replace({np.nan: None})), tmp_path / "pandas")
    assert on_spark.run.engine == "spark"
    assert counts(tmp_path / "pandas") == counts(tmp_path / "spark")
    assert answer(on_spark) == answer(on_pandas)
    write(flows, 2, "late.parquet")
    labels = pd.DataFrame({"d": day(2)["d"][:3], "label": 1})
    late = remembered(spark.read.parquet(str(flows)), tmp_path / "spark", spark.createDataFrame(labels))
    again = pd.concat([day(2), day(2)])
    on_pandas = remembered(again, tmp_path / "pandas", labels)
    assert late.findings.memory is not None
    assert (late.findings.memory.read, late.findings.memory.rows_read) == (("2026-01-02",), 800)
    assert counts(tmp_path / "pandas") == counts(tmp_path / "spark")
    assert answer(late) == answer(on_pandas)


def test_other_frames_are_known_by_a_hash(spark: SparkSession) -> None:
    """Of any order of rows and columns; a null is told from a null beside it."""
    rows = [(1, None, "x", "2026-01-01"), (None, 1, "y", "2026-01-02"), (2, 3, None, "2026-01-02")]
    frame = spark.createDataFrame(rows, "a int, b int, word string, day string")
    table = frame.withColumn("day", F.expr("cast(day as timestamp) + interval 5 hours"))
    found = {one.key: one.mark for one in FramePartitions(table, "day").partitions()}
    assert list(found) == ["2026-01-01", "2026-01-02"]
    other = table.select("day", "word", "b", "a").repartition(3)
    assert {one.key: one.mark for one in FramePartitions(other, "day").partitions()} == found
    swapped = table.selectExpr("b as a", "a as b", "word", "day")
    marks = {one.key: one.mark for one in FramePartitions(swapped, "day").partitions()}
    assert all(marks[key] != found[key] for key in found)
    with pytest.raises(DataError, match="Column 'word': 1 rows have no value"):
        FramePartitions(table, "word").partitions()
    with pytest.raises(DataError, match="'week' is the name of 0 columns"):
        FramePartitions(table, "week")
