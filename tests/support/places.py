"""Tables that both engines can be given, and the places where their rows may lie."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from spark_pufs.engines import local as local_engine
from spark_pufs.engines.base import Engine
from spark_pufs.engines.local import LocalEngine

if TYPE_CHECKING:
    from spark_pufs.spark.engine import ReaderChoice

_PANDAS = {
    "tinyint": "Int8",
    "int": "Int32",
    "bigint": "Int64",
    "float": "float32",
    "double": "float64",
    "boolean": "boolean",
    "timestamp": "datetime64[us, UTC]",
}


_ARROW = {
    "tinyint": pa.int8(),
    "int": pa.int32(),
    "bigint": pa.int64(),
    "float": pa.float32(),
    "double": pa.float64(),
    "boolean": pa.bool_(),
    "string": pa.string(),
    "date": pa.date32(),
    "timestamp": pa.timestamp("us", "UTC"),
}


@dataclass(frozen=True)
class Table:
    """Columns by name: a Spark type and values, None being null."""

    columns: dict[str, tuple[str, list[Any]]]

    @cached_property
    def rows(self) -> list[tuple[Any, ...]]:
        return list(zip(*(values for _, values in self.columns.values()), strict=True))

    def pandas(self) -> pd.DataFrame:
        series = {
            name: pd.Series(values, dtype=_PANDAS.get(type_, "object"))
            for name, (type_, values) in self.columns.items()
        }
        return pd.DataFrame(series)

    def parquet(self, folder: Path, parts: list[list[int]]) -> None:
        """Two row groups for each list of row numbers in ``parts``, a file for every two lists."""
        schema = pa.schema([(name, _arrow(type_)) for name, (type_, _) in self.columns.items()])
        columns = [
            pa.array(values, type_) for (_, values), type_ in zip(self.columns.values(), schema.types, strict=True)
        ]
        whole = pa.Table.from_arrays(columns, schema=schema)
        for number in range(0, len(parts), 2):
            with pq.ParquetWriter(folder / f"part {number}.parquet", schema) as file:
                for part in parts[number : number + 2]:
                    file.write_table(whole.take(pa.array(part, pa.int64())), row_group_size=max(1, len(part) // 2))

    def spark(self, session: Any, parts: list[list[int]]) -> Any:
        """A DataFrame with one partition for each list of row numbers in ``parts``."""
        from pyspark.sql import types as T

        fields = [T.StructField(name, T._parse_datatype_string(type_)) for name, (type_, _) in self.columns.items()]
        pieces = [session.sparkContext.parallelize([self.rows[i] for i in part], 1) for part in parts]
        # persisted, or every pass would bring the rows from Python again
        return session.createDataFrame(session.sparkContext.union(pieces), T.StructType(fields)).persist()


def _arrow(type_: str) -> pa.DataType:
    if type_.startswith("decimal"):
        return pa.decimal128(*map(int, type_.removeprefix("decimal(").removesuffix(")").split(",")))
    return _ARROW[type_]


def _even(rows: int, parts: int) -> list[list[int]]:
    return [part.tolist() for part in np.array_split(np.arange(rows), parts)]


def _shuffled(rows: int) -> list[list[int]]:
    return [part.tolist() for part in np.array_split(np.random.default_rng(5).permutation(rows), 3)]


def _skewed(rows: int) -> list[list[int]]:
    """Nearly everything in one partition, a few rows in others, and partitions without rows around them."""
    return [[], [0], [], list(range(3, rows)), [], [1, 2], []]


def _single(rows: int) -> list[list[int]]:
    """One row in each of 20 partitions, more than are merged on the driver; the others in a last one."""
    return [*([i] for i in range(20)), list(range(20, rows))]


PARTS: dict[str, Callable[[int], list[list[int]]]] = {
    "spark 1 partition": lambda rows: _even(rows, 1),
    "spark 2 partitions": lambda rows: _even(rows, 2),
    "spark 7 partitions": lambda rows: _even(rows, 7),
    "spark shuffled": _shuffled,
    "spark skewed and empty partitions": _skewed,
    "spark one row per partition": _single,
}
WHOLE = local_engine.SLICE  # one slice holds all rows of these tables
SINGLE = pytest.param("spark one row per partition", marks=pytest.mark.spark)
FILES: dict[str, tuple[ReaderChoice, Callable[[int], list[list[int]]]]] = {
    "files read by tasks": ("arrow", _shuffled),
    "files read by spark": ("spark", _shuffled),
    "skewed and empty files read by tasks": ("arrow", _skewed),
}
PLACES = [
    "local",
    "local shuffled",
    "local small slices",
    *(pytest.param(p, marks=pytest.mark.spark) for p in PARTS if p != SINGLE.values[0]),
    SINGLE,
    *(pytest.param(p, marks=pytest.mark.spark) for p in FILES),
]
ENGINES = ["local", *(pytest.param(p, marks=pytest.mark.spark) for p in ("spark 2 partitions", "files read by tasks"))]

Placed = Callable[[Table], Engine]


def engine_at(place: str, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Placed:
    if place in PARTS:
        from spark_pufs.spark.engine import SparkEngine

        session = request.getfixturevalue("spark")
        return lambda table: SparkEngine(table.spark(session, PARTS[place](len(table.rows))))
    if place in FILES:
        return _on_files(place, request)
    if place == "local shuffled":
        return lambda table: LocalEngine(table.pandas().sample(frac=1, random_state=5))
    if place == "local small slices":
        monkeypatch.setattr(local_engine, "SLICE", 7)
    return lambda table: LocalEngine(table.pandas())


def _on_files(place: str, request: pytest.FixtureRequest) -> Placed:
    from spark_pufs.spark.engine import SparkEngine

    session, folder, numbers = request.getfixturevalue("spark"), request.getfixturevalue("tmp_path"), count()
    reader, parts = FILES[place]

    def placed(table: Table) -> Engine:
        path = folder / f"table {next(numbers)}"
        path.mkdir()
        table.parquet(path, parts(len(table.rows)))
        return SparkEngine(session.read.parquet(str(path)), reader=reader)

    return placed
