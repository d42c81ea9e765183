"""A table that changes between two passes gives an error, never an answer."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pytest

from spark_pufs.core.counting.counts import LabelKernel
from spark_pufs.errors import DataError
from spark_pufs.request import Request
from spark_pufs.run.execution import execute, prepare
from spark_pufs.spark.engine import SparkEngine
from spark_pufs.table.pu_table import pack
from spark_pufs.types import LabelRule

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.spark

FIX = "Select from a table that stays as it is: a snapshot, a copy, without random numbers in its query."
REQUEST = Request.of(LabelRule("label"), method="semi-mim", k=1)


def table() -> pd.DataFrame:
    X = np.random.default_rng(0).normal(size=(200, 3))
    return pd.DataFrame(X, columns=list("abc")).assign(w=np.where(X[:, 1] > 0, "x", "y"), label=(X[:, 0] > 0.8) * 1)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    table().to_parquet(tmp_path / "t.parquet", index=False)
    return tmp_path / "t.parquet"


def live(spark: SparkSession, path: Path) -> DataFrame:
    """What the file holds whenever it is looked at, as a query of a database would give it."""

    def now(_: Iterator[pd.DataFrame]) -> Iterator[pd.DataFrame]:
        yield pd.read_parquet(path)

    return spark.range(0, 1, 1, 1).mapInPandas(now, "a double, b double, c double, w string, label long")


def changed(path: Path, kind: str) -> int:
    """Change the file behind a query; the number of rows it has then."""
    frame = pd.read_parquet(path)
    if kind == "more rows":
        frame = pd.concat([frame, frame.iloc[:7]])
    elif kind == "fewer rows":
        frame = frame.iloc[:-3]
    elif kind == "one value":
        frame.loc[11, "b"] += 1e-9
    elif kind == "one word":
        frame.loc[11, "w"] = "new"
    elif kind == "one label":
        frame.loc[11, "label"] = 1 - frame.loc[11, "label"]
    elif kind == "a label that was not there":
        frame.loc[11, "label"] = 5
    frame.to_parquet(path, index=False)
    return len(frame)


KINDS = ["more rows", "fewer rows", "one value", "one word", "one label"]


@pytest.mark.parametrize(("kind", "cache"), [*((kind, True) for kind in KINDS), ("one value", False)])
def test_a_change_between_profile_and_pack_is_told(spark: SparkSession, path: Path, kind: str, cache: bool) -> None:
    engine = SparkEngine(live(spark, path), cache=cache)
    plan = prepare(engine, REQUEST)
    rows = changed(path, kind)
    with pytest.raises(DataError) as caught:
        execute(engine, plan, REQUEST)
    said = f"200 rows at first, {rows}" if rows != 200 else "200 rows as at first, but other values"
    what = "pack" if cache else "label x feature"
    assert str(caught.value) == f"Table: changed while it was read: {said} in pass '{what}'. {FIX}"


def test_a_label_that_was_not_there_before_is_told_as_a_change(spark: SparkSession, path: Path) -> None:
    engine = SparkEngine(live(spark, path))
    plan = prepare(engine, REQUEST)
    changed(path, "a label that was not there")
    with pytest.raises(DataError, match=r"200 rows as at first, but other values in pass 'after a failure'"):
        execute(engine, plan, REQUEST)


def test_lost_blocks_that_are_packed_again_from_other_rows_are_told(spark: SparkSession, path: Path) -> None:
    engine = SparkEngine(live(spark, path))
    packed = pack(prepare(engine, REQUEST), REQUEST)
    kernel = LabelKernel(packed.layout)
    before = packed.blocks.scan(kernel, "first")
    changed(path, "one value")
    np.testing.assert_array_equal(packed.blocks.scan(kernel, "second").counts, before.counts)  # still held
    packed.blocks.release()  # as when an executor is lost
    with pytest.raises(DataError, match="but other values in pass 'third'"):
        packed.blocks.scan(kernel, "third")


def test_a_table_that_stays_gives_the_answer_of_the_rows_themselves(spark: SparkSession, path: Path) -> None:
    engine = SparkEngine(live(spark, path))
    expected = SparkEngine(spark.createDataFrame(table()))
    answers = [execute(one, prepare(one, REQUEST), REQUEST) for one in (engine, expected)]
    assert answers[0].features == answers[1].features
