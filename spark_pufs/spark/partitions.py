"""A Spark DataFrame cut by a column."""

from __future__ import annotations

import hashlib
import json
from functools import cached_property
from pathlib import PurePosixPath
from typing import TYPE_CHECKING
from urllib.parse import unquote

from spark_pufs.engines.arrow_batches import plain_text
from spark_pufs.engines.parquet.footers import Unfit
from spark_pufs.errors import DataError, Fault, did_you_mean
from spark_pufs.memory.partitions import Partition, file_mark, no_value
from spark_pufs.spark.engine import SparkEngine
from spark_pufs.spark.parquet.bare_scan import bare_scan
from spark_pufs.types import Column

if TYPE_CHECKING:
    from pyspark.sql import Column as Expression
    from pyspark.sql import DataFrame

__all__ = ["FramePartitions"]


class FramePartitions:
    """Where the frame is nothing but Parquet files in folders named after the column, their names, sizes and times tell
    of changes, and a partition's folder alone is read. Else Spark hashes the rows, which it has to read for that.
    """

    def __init__(self, frame: DataFrame, partition: str) -> None:
        if frame.columns.count(partition) != 1:
            found = f"'{partition}' is the name of {frame.columns.count(partition)} columns"
            raise DataError(Fault("Option 'partition'", found, did_you_mean(partition, frame.columns)))
        self._frame, self._name = frame, partition

    def columns(self) -> list[Column]:
        return SparkEngine(self._rest(self._frame)).columns()

    def partitions(self) -> list[Partition]:
        if self._folders is not None:
            return [Partition(key, file_mark(folders)) for key, folders in self._folders.items()]
        return [Partition(key, mark) for key, (_, mark) in self._hashed.items()]

    def engine(self, key: str) -> SparkEngine:
        if self._folders is not None:
            schema = self._rest(self._frame).schema
            rows = self._frame.sparkSession.read.schema(schema).parquet(*self._folders[key])
            return SparkEngine(rows, from_path=True)
        from pyspark.sql import functions as F

        value = F.lit(self._hashed[key][0])
        return SparkEngine(self._rest(self._frame.filter(self._value.eqNullSafe(value))))

    def _rest(self, frame: DataFrame) -> DataFrame:
        return frame.drop(self._name)

    @cached_property
    def _folders(self) -> dict[str, list[str]] | None:
        """The folders of each partition; None where the frame is more than files in such folders."""
        try:
            scan = bare_scan(self._frame)
        except Unfit:
            return None
        if scan.keys != (self._name,) or list(scan.names) != self._frame.columns:
            return None
        found: dict[str, set[str]] = {}
        for file in scan.files:
            folder = file.rpartition("/")[0]
            column, _, value = PurePosixPath(folder).name.partition("=")
            if unquote(column) != self._name:
                return None
            found.setdefault(unquote(value), set()).add(folder)
        return {key: sorted(folders) for key, folders in found.items()}

    @property
    def _value(self) -> Expression:
        """What tells partitions apart; of moments the day, in UTC."""
        from pyspark.sql import functions as F

        name = f"`{self._name.replace('`', '``')}`"
        kind = self._frame.schema[self._name].dataType.typeName()
        if kind == "timestamp":
            return F.expr(f"date_from_unix_date(cast(floor(unix_micros({name}) / 86400000000) as int))")
        return F.expr(f"cast({name} as date)") if kind == "timestamp_ntz" else F.expr(name)

    @cached_property
    def _hashed(self) -> dict[str, tuple[object, str]]:
        """The value behind each key, and a hash of its rows in any order; nulls count as values of their own."""
        from pyspark.sql import functions as F

        own = [F.col(f"`{name.replace('`', '``')}`") for name in sorted(self._rest(self._frame).columns)]
        hashed = F.xxhash64(*own, *[one.isNull() for one in own]).cast("decimal(20,0)")
        grouped = self._frame.groupBy(self._value.alias("key")).agg(F.count("*").alias("n"), F.sum(hashed).alias("h"))
        rows = grouped.collect()
        absent = sum(int(row["n"]) for row in rows if row["key"] is None)
        if absent:
            raise no_value(self._name, absent)
        return {plain_text(row["key"]): (row["key"], f"spark:{_digest([row['n'], row['h']])}") for row in rows}


def _digest(values: list[object]) -> str:
    return hashlib.sha256(json.dumps(values, default=str).encode()).hexdigest()[:32]
