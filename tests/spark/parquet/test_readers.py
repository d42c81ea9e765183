"""Tasks that read Parquet files themselves see what Spark's reader sees, bit for bit, or leave the files to Spark."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest

from spark_pufs import select
from spark_pufs.core.counting.profile import Profile, ProfileKernel
from spark_pufs.engines.parquet.footers import Unfit
from spark_pufs.errors import ConfigError, DataError
from spark_pufs.findings.run_facts import Reading
from spark_pufs.request import Request
from spark_pufs.run.execution import execute, prepare, select_with
from spark_pufs.spark import scan
from spark_pufs.spark.engine import SparkEngine
from spark_pufs.spark.parquet.files import _probe
from spark_pufs.types import LabelRule
from support.odd_parquet import ODD, Odd

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.spark


@contextmanager
def settings(spark: SparkSession, values: dict[str, str]) -> Iterator[None]:
    before = {name: spark.conf.get(name) for name in values}
    for name, value in values.items():
        spark.conf.set(name, value)
    yield
    for name, old in before.items():
        spark.conf.set(name, str(old))


def profile(engine: SparkEngine) -> Profile:
    """Of every column that can be read: as numbers where it can be, and as text."""
    columns = [c for c in engine.columns() if c.kind != "unsupported" and c.name != "label"]
    numeric = [c.name for c in columns if c.kind == "numeric"]
    kernel = ProfileKernel(len(numeric), len(columns))
    return kernel.read(engine.source(numeric, [c.name for c in columns], "label").scan(kernel, "profile"))


def same(left: Profile, right: Profile) -> None:
    for one in fields(Profile):
        _same(getattr(left, one.name), getattr(right, one.name), one.name)


def _same(left: Any, right: Any, name: str) -> None:
    if hasattr(left, "value"):
        for part in ("value", "rows", "next"):
            np.testing.assert_array_equal(getattr(left, part), getattr(right, part), name)
    elif isinstance(left, np.ndarray):
        np.testing.assert_array_equal(left, right, name)
    else:
        assert left == right, name


def test_there_are_many() -> None:
    assert len(ODD) >= 60


@pytest.mark.parametrize("name", ODD)
def test_odd_files(spark: SparkSession, tmp_path: Path, name: str) -> None:
    odd: Odd = ODD[name]
    path = tmp_path / "table"
    path.mkdir()
    with settings(spark, odd.settings):
        odd.write(path, spark)
        frame = odd.read(spark, str(path))
        by_spark, either = SparkEngine(frame, reader="spark"), SparkEngine(frame)
        try:
            expected = profile(by_spark)
        except Exception as error:  # Spark cannot read it either
            with pytest.raises(type(error)):
                profile(either)
        else:
            same(profile(either), expected)
            assert expected.rows
    assert either.reading.reader == ("spark" if odd.reason else "arrow"), either.reading
    assert odd.reason in (either.reading.reader_reason or "")


def table(rows: int = 400) -> pd.DataFrame:
    X = np.random.default_rng(0).normal(size=(rows, 5))
    frame = pd.DataFrame(X, columns=list("abcde")).assign(w=np.where(X[:, 1] > 0, "x", "y"))
    return frame.assign(label=(X[:, 0] + 0.3 * X[:, 2] > 1) * 1)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    folder = tmp_path / "files"
    folder.mkdir()
    whole = table()
    for number in range(3):
        part = whole.iloc[number * 134 : (number + 1) * 134]
        part.to_parquet(folder / f"{number}.parquet", index=False, row_group_size=60)
    return folder


METHODS: dict[str, dict[str, Any]] = {
    "semi-jmi": {},
    "distil": {},
    "soft-jmi": {},
    "semi-iamb": {"k": None},
    "k-best": {},
    "fscpu": {"generations": 1, "generation_size": 16},
}


@pytest.mark.parametrize("method", METHODS)
def test_the_same_selection_by_both_readers(spark: SparkSession, path: Path, method: str) -> None:
    found = []
    for reader in ("arrow", "spark"):
        asked = Request.of(LabelRule("label"), method=method, **{"k": 3, **_options(METHODS[method])})
        selection = select_with(SparkEngine(spark.read.parquet(str(path)), reader=reader), asked)
        assert selection.run.reading.reader == reader
        found.append({**selection.as_dict(), "run": None})
    assert found[0] == found[1]


def _options(given: dict[str, Any]) -> dict[str, Any]:
    common = {name: value for name, value in given.items() if name == "k"}
    return {**common, "options": {name: value for name, value in given.items() if name != "k"}}


def test_the_setting_of_the_session_counts(spark: SparkSession, path: Path) -> None:
    frame = spark.read.parquet(str(path))
    spark.conf.set("spark.pufs.reader", "spark")
    try:
        found = select(frame, label="label", method="semi-mim", k=1)
        spark.conf.set("spark.pufs.reader", "arow")
        with pytest.raises(ConfigError, match="must be one of auto, arrow, spark, got 'arow'"):
            select(frame, label="label", method="semi-mim", k=1)
    finally:
        spark.conf.unset("spark.pufs.reader")
    assert (found.run.reading.reader, found.run.reading.reader_reason) == ("spark", "it was asked for")


def test_arrow_that_cannot_be_had_is_an_error(spark: SparkSession, path: Path) -> None:
    frame = spark.read.parquet(str(path)).where("a > 0")
    with pytest.raises(ConfigError) as caught:
        prepare(SparkEngine(frame, reader="arrow"), Request.of(LabelRule("label"), method="semi-mim", k=1))
    found = "cannot read this table: the DataFrame is more than files: Filter"
    assert str(caught.value) == f"Reader 'arrow': {found}. Set the reader to auto."


def more_than_files(spark: SparkSession, path: Path) -> Iterator[tuple[DataFrame, str]]:
    files = spark.read.parquet(str(path))
    files.createOrReplaceTempView("files_in_a_view")
    files.write.mode("overwrite").saveAsTable("files_in_a_catalog")
    yield spark.table("files_in_a_view"), "more than files: View"
    yield spark.table("files_in_a_catalog"), "a catalog table is read by Spark, as its catalog allows"
    yield files.join(files.select("a"), "a"), "more than files: Join"
    yield files.union(files), "more than files: Union"
    yield files.limit(5), "more than files: "
    yield files.dropDuplicates(), "more than files: "
    yield spark.createDataFrame(table()), "more than files: "
    yield spark.read.option("ignoreCorruptFiles", True).parquet(str(path)), "option 'ignorecorruptfiles' is for Spark"
    yield spark.read.orc(orc(spark, path)), "the files are not plain Parquet: OrcFileFormat"
    yield files.cache(), "more than files: InMemoryRelation"


def orc(spark: SparkSession, path: Path) -> str:
    folder = str(path.parent / "orc")
    spark.read.parquet(str(path)).write.orc(folder)
    return folder


def test_whatever_is_more_than_files_is_left_to_spark(spark: SparkSession, path: Path) -> None:
    for frame, reason in more_than_files(spark, path):
        engine = SparkEngine(frame)
        engine.source(["a"], [], "label")
        assert engine.reading.reader == "spark"
        assert reason in (engine.reading.reader_reason or "")
    spark.catalog.clearCache()
    spark.sql("drop table files_in_a_catalog")


def test_a_broken_file_is_left_to_spark(spark: SparkSession, path: Path) -> None:
    frame = spark.read.parquet(str(path))
    (path / "1.parquet").write_bytes(b"PAR1 no longer PAR1")
    engine = SparkEngine(frame)
    engine.source(["a"], [], "label")
    assert "file '1.parquet' cannot be read by pyarrow" in (engine.reading.reader_reason or "")


REQUEST = Request.of(LabelRule("label"), method="semi-mim", k=1)


def test_a_file_that_is_written_again_between_two_passes_is_told(spark: SparkSession, path: Path) -> None:
    engine = SparkEngine(spark.read.parquet(str(path)), reader="arrow")
    plan = prepare(engine, REQUEST)
    table(50).to_parquet(path / "1.parquet", index=False)
    with pytest.raises(DataError, match=r"changed while it was read: '.*1\.parquet' was written again\. Select from"):
        execute(engine, plan, REQUEST)


def test_a_file_that_goes_between_two_passes_is_told(spark: SparkSession, path: Path) -> None:
    engine = SparkEngine(spark.read.parquet(str(path)), reader="arrow")
    plan = prepare(engine, REQUEST)
    (path / "1.parquet").unlink()
    with pytest.raises(DataError, match=r"changed while it was read: '.*1\.parquet' is gone\. Select from"):
        execute(engine, plan, REQUEST)


def test_a_value_that_changes_unseen_by_the_file_system_is_told(spark: SparkSession, path: Path) -> None:
    engine = SparkEngine(spark.read.parquet(str(path)), reader="arrow")
    plan = prepare(engine, REQUEST)
    file = path / "1.parquet"
    before, frame = file.stat(), pd.read_parquet(file)
    frame.loc[frame.index[3], "b"] = -frame.loc[frame.index[3], "b"]
    frame.to_parquet(file, index=False, row_group_size=60)
    assert file.stat().st_size == before.st_size
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    with pytest.raises(DataError, match="400 rows as at first, but other values in pass 'label x feature'"):
        execute(engine, plan, REQUEST)


def test_on_a_cluster_workers_must_see_the_files(
    spark: SparkSession, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scan, "one_machine", lambda session: False)
    engine = SparkEngine(spark.read.parquet(str(path)))
    engine.source(["a"], [], "label")
    assert engine.reading == Reading(reader="arrow")
    with pytest.raises(Unfit, match="workers do not see the files that the driver sees"):
        _probe(spark.range(1), [(str(path / "0.parquet"), 1)])
