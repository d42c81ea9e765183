"""Which state of a table is read: found once, before anything is read of it, and the same for every pass.

Delta and Iceberg keep earlier states of a table. What is read without naming one is the newest at the moment, and that
moment is another for every pass: here the state is named, so that the table may change while it is read.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from spark_pufs.errors import ConfigError, DataError, Fault
from spark_pufs.masking.addresses import address_shown
from spark_pufs.spark.io import read_table, source_fault, spark_errors
from spark_pufs.types import Json

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["KEPT", "Snapshot", "find_snapshot", "format_of", "quoted", "read_snapshot", "table_at"]

KEPT = ("delta", "iceberg")  # formats that keep the states of a table
_PART = re.compile(r"`(?:[^`]|``)+`|[^`.\s]+")
_ISO = "date_format(to_utc_timestamp({0}, current_timezone()), \"yyyy-MM-dd HH:mm:ss.SSS 'UTC'\")"


@dataclass(frozen=True)
class Snapshot:
    """One state of a table: Delta's version or Iceberg's snapshot, and when it was committed, where that is known."""

    format: str
    version: int
    committed: str | None = None

    def __str__(self) -> str:
        called = "version" if self.format == "delta" else "snapshot"
        return f"{self.format} {called} {self.version}" + (f" of {self.committed}" if self.committed else "")

    def facts(self) -> dict[str, Json]:
        return {"format": self.format, "version": self.version, "committed": self.committed}


@dataclass(frozen=True)
class Columns:
    """Of a table's history: the number of a state, when it was made, and by which of them the last one is known."""

    format: str
    number: str
    moment: str
    order: str


def table_at(
    spark: SparkSession,
    path: str | None = None,
    table: str | None = None,
    format: str = "parquet",
    version: int | str | None = None,
    timestamp: str | None = None,
) -> DataFrame:
    """A table at one state for as long as it is used: the newest, or the one of a version, tag or time."""
    found = find_snapshot(spark, path, table, format, {}, version, timestamp)
    if found is None:
        return read_table(spark, path, table, format, {})
    return read_snapshot(spark, path, table, found.format, {}, found.version)


def find_snapshot(
    spark: SparkSession,
    path: str | None,
    table: str | None,
    format_: str,
    options: Mapping[str, object],
    version: int | str | None = None,
    timestamp: str | None = None,
) -> Snapshot | None:
    """The state that is asked for, or the newest; None for what keeps none: files, views, other databases."""
    where = f"Source '{table if table is not None else address_shown(str(path))}'"
    try:
        kind = format_.lower() if table is None else format_of(spark, table)
        if kind == "delta":
            name = quoted(table) if table is not None else f"delta.{_tick(str(path))}"
            found = _delta(spark, name, version, timestamp)
        elif kind == "iceberg":
            found = _iceberg(spark, path, table, options, version, timestamp)
        elif version is None and timestamp is None:
            return None
        else:
            told = f"is {kind or 'a view'}, which keeps no earlier states"
            raise ConfigError(Fault(where, told, "Take version and timestamp out of source."))
    except spark_errors() as error:
        raise DataError(source_fault(where, error)) from error
    if found is None and (version, timestamp) != (None, None):
        asked = f"version {version}" if version is not None else f"state of {timestamp} or before"
        raise DataError(Fault(where, f"has no {asked}", "Name one that its history lists."))
    return found


def read_snapshot(
    spark: SparkSession, path: str | None, table: str | None, format_: str, options: Mapping[str, object], version: int
) -> DataFrame:
    """The rows of one state."""
    if table is None:
        return read_table(spark, path, None, format_, {**options, "versionAsOf": str(version)})
    try:
        return spark.sql(f"SELECT * FROM {quoted(table)} VERSION AS OF {int(version)}")
    except spark_errors() as error:
        raise DataError(source_fault(f"Source '{table}'", error)) from error


def quoted(table: str) -> str:
    """The name of a table of a catalog as SQL has it, whatever its parts are.

    >>> quoted("lake.flows-2026"), quoted("lake.`a.b`")
    ('`lake`.`flows-2026`', '`lake`.`a.b`')
    """
    parts = _PART.findall(table)
    if ".".join(parts) != table:
        raise ConfigError(Fault(f"Table '{table}'", "is not the name of a table", "For example lake.flows."))
    return ".".join(part if part.startswith("`") else _tick(part) for part in parts)


def _tick(part: str) -> str:
    return "`" + part.replace("`", "``") + "`"


def format_of(spark: SparkSession, table: str) -> str:
    """The format of a table of a catalog; nothing for a view."""
    read_table(spark, None, table, "", {}).columns  # noqa: B018 - what is not there is told as such
    told = spark.sql(f"DESCRIBE TABLE EXTENDED {quoted(table)}").collect()
    return next((str(row[1]).lower() for row in told if row[0] == "Provider"), "")


def _delta(spark: SparkSession, name: str, version: int | str | None, timestamp: str | None) -> Snapshot | None:
    if version is None and timestamp is None:
        history = spark.sql(f"DESCRIBE HISTORY {name} LIMIT 1")
    else:
        history = spark.sql(f"DESCRIBE HISTORY {name}")
    return _newest(history, Columns("delta", "version", "timestamp", "version"), version, timestamp)


def _iceberg(
    spark: SparkSession,
    path: str | None,
    table: str | None,
    options: Mapping[str, object],
    version: int | str | None,
    timestamp: str | None,
) -> Snapshot | None:
    """The newest state is the one of the branch main, which may have been set back to an earlier one."""

    def part(name: str) -> DataFrame:
        if table is not None:
            return spark.table(f"{quoted(table)}.{name}")
        return read_table(spark, f"{path}#{name}", None, "iceberg", options)

    if timestamp is not None:
        made = Columns("iceberg", "snapshot_id", "made_current_at", "made_current_at")
        return _newest(part("history"), made, None, timestamp)
    if not isinstance(version, int):
        refs = part("refs")
        named = refs.where(refs["name"] == (version or "main")).select("snapshot_id").head(1)
        if not named:
            return None
        version = int(named[0][0])
    committed = Columns("iceberg", "snapshot_id", "committed_at", "committed_at")
    return _newest(part("snapshots"), committed, version, None)


def _newest(history: DataFrame, columns: Columns, version: int | str | None, timestamp: str | None) -> Snapshot | None:
    """The last line of a history that is asked for."""
    from pyspark.sql import functions as F

    if version is not None:
        history = history.where(F.col(columns.number) == F.lit(version))
    if timestamp is not None:
        history = history.where(F.col(columns.moment) <= F.lit(timestamp).cast("timestamp"))
    told = history.orderBy(F.col(columns.order).desc()).select(columns.number, F.expr(_ISO.format(columns.moment)))
    rows = told.head(1)
    return Snapshot(columns.format, int(rows[0][0]), str(rows[0][1])) if rows else None
