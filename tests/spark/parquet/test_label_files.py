"""Files without the label column are told, not read as unlabelled rows, whoever reads them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import spark_pufs
from spark_pufs.errors import DataError
from spark_pufs.spark.engine import SparkEngine
from spark_pufs.spark.parquet.label_files import check_files

TOLD = r"^Column 'label': is not in 1 of 2 files, 'c d%\.parquet' for one\. Their rows would count as unlabelled"


def test_some_hold_it_and_some_do_not() -> None:
    with pytest.raises(DataError, match=TOLD):
        check_files([("file:///t/a.parquet", True), ("file:///t/c%20d%25.parquet", False)], "label")


def test_where_all_hold_it() -> None:
    for held in ([True, True], []):
        check_files([(f"{place}.parquet", one) for place, one in enumerate(held)], "label")


def test_a_schema_that_was_given_has_it_and_no_file_does() -> None:
    with pytest.raises(DataError, match=r"is not in 1 of 1 files"):
        check_files([("a.parquet", False)], "label")


def written(place: Path, *columns: str) -> Path:
    place.parent.mkdir(parents=True, exist_ok=True)
    pd.DataFrame({name: [0, 1] * 10 for name in columns}).to_parquet(place)
    return place


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """One file with the label, in other letters, and one without."""
    written(tmp_path / "t" / "a.parquet", "x", "y", "Label")
    return written(tmp_path / "t" / "c d%.parquet", "x", "y").parent


@pytest.fixture
def elsewhere(spark: Any, folder: Path) -> Any:
    """The folder as a file system that is not this machine's."""
    own = spark.newSession()
    own.conf.set("fs.viewfs.mounttable.elsewhere.link./t", folder.as_uri())
    return own.read.parquet("viewfs://elsewhere/t")


@pytest.mark.spark
@pytest.mark.parametrize("reader", ["arrow", "spark"])
def test_either_reader(spark: Any, folder: Path, reader: str) -> None:
    frame = spark.read.parquet(str(folder)).withColumnRenamed("Label", "label")
    with pytest.raises(DataError, match=TOLD):
        SparkEngine(frame, reader=reader).source(["x"], [], "label")


@pytest.mark.spark
def test_another_file_system(elsewhere: Any) -> None:
    with pytest.raises(DataError, match=TOLD):
        spark_pufs.select(elsewhere.withColumnRenamed("Label", "label"), label="label", method="mim", k=1)


@pytest.mark.spark
@pytest.mark.parametrize(
    "query",
    [
        lambda table: table.where("x >= 0"),
        lambda table: table.selectExpr("x", "y", "Label as other", "x + y as z").withColumnRenamed("other", "label"),
        lambda table: table.join(table.sparkSession.range(2).withColumnRenamed("id", "x"), "x", "left"),
        lambda table: table.limit(30).cache(),
    ],
    ids=["filter", "names", "join", "cached"],
)
def test_queries_that_leave_the_label_as_it_is(spark: Any, folder: Path, query: Any) -> None:
    frame = query(spark.read.parquet(str(folder)))
    label = frame.columns[[name.lower() for name in frame.columns].index("label")]
    with pytest.raises(DataError, match=TOLD.replace("label", label, 1)):
        spark_pufs.select(frame, label=label, method="mim", k=1)
    frame.unpersist()


@pytest.mark.spark
def test_labels_that_are_computed_or_in_folders(spark: Any, folder: Path, tmp_path: Path) -> None:
    table = spark.read.parquet(str(folder))
    computed = table.selectExpr("x", "y", "coalesce(Label, 0) as label")
    assert SparkEngine(computed).source(["x"], [], "label") is not None
    for value in (0, 1):
        written(tmp_path / "p" / f"label={value}" / "a.parquet", "x", "y")
    keyed = spark.read.parquet(str(tmp_path / "p"))
    for reader in ("arrow", "spark"):
        assert SparkEngine(keyed, reader=reader).source(["x"], [], "label") is not None
