"""Tables that both engines can be given, and the places where their rows may lie."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
import pytest

from spark_pufs.engines import local as local_engine
from spark_pufs.engines.base import Engine
from spark_pufs.engines.local import LocalEngine

_PANDAS = {
    "tinyint": "Int8",
    "int": "Int32",
    "bigint": "Int64",
    "float": "float32",
    "double": "float64",
    "boolean": "boolean",
    "timestamp": "datetime64[us, UTC]",
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

    def spark(self, session: Any, parts: list[list[int]]) -> Any:
        """A DataFrame with one partition for each list of row numbers in ``parts``."""
        from pyspark.sql import types as T

        fields = [T.StructField(name, T._parse_datatype_string(type_)) for name, (type_, _) in self.columns.items()]
        pieces = [session.sparkContext.parallelize([self.rows[i] for i in part], 1) for part in parts]
        # persisted, or every pass would bring the rows from Python again
        return session.createDataFrame(session.sparkContext.union(pieces), T.StructType(fields)).persist()


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
PLACES = [
    "local",
    "local shuffled",
    "local small slices",
    *(pytest.param(p, marks=pytest.mark.spark) for p in PARTS if p != SINGLE.values[0]),
    SINGLE,
]
ENGINES = ["local", pytest.param("spark 2 partitions", marks=pytest.mark.spark)]

Placed = Callable[[Table], Engine]


def engine_at(place: str, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Placed:
    if place in PARTS:
        from spark_pufs.spark.engine import SparkEngine

        session = request.getfixturevalue("spark")
        return lambda table: SparkEngine(table.spark(session, PARTS[place](len(table.rows))))
    if place == "local shuffled":
        return lambda table: LocalEngine(table.pandas().sample(frac=1, random_state=5))
    if place == "local small slices":
        monkeypatch.setattr(local_engine, "SLICE", 7)
    return lambda table: LocalEngine(table.pandas())
