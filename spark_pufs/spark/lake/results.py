"""Results as tables of Delta or Iceberg: the rows of one run, or of one partition, take the place of earlier ones.

The rows are replaced in one commit of the table: a run that is done again, after a crash for one, leaves them once.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce
from typing import TYPE_CHECKING

import pandas as pd

from spark_pufs.errors import ConfigError, DataError, Fault
from spark_pufs.spark.io import source_fault, spark_errors
from spark_pufs.spark.lake.snapshots import KEPT, format_of, quoted

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["RANKING", "check_target", "put_rows", "ranking_rows"]

# Columns of a ranking as a table of a catalog has them.
RANKING = (
    "name string, rank bigint, relevance double, relevance_error double, score double, standard_error double, "
    "p_value double, q_value double, selected boolean, cost double, notes string"
)


def ranking_rows(spark: SparkSession, ranking: pd.DataFrame) -> DataFrame:
    plain = ranking.astype(object).where(ranking.notna(), None)
    return spark.createDataFrame(plain.to_numpy().tolist(), RANKING)


def check_target(spark: SparkSession, name: str, format_: str, key: Mapping[str, str], columns: list[str]) -> None:
    """Refuse, before any work, a table that could not take the rows; one that is not there yet can be made."""
    where = f"Table '{name}'"
    try:
        if not spark.catalog.tableExists(quoted(name)):
            _check_place(spark, name, where)
            return
        found = format_of(spark, name)
        there = spark.table(quoted(name)).columns
    except spark_errors() as error:
        found = f"cannot be used: {source_fault(where, error).found}"
        raise ConfigError(Fault(where, found, "Name another table.")) from error
    if found not in KEPT:
        told = f"is {found or 'a view'}, whose rows cannot be replaced run by run"
        raise ConfigError(Fault(where, told, "Name a table of Delta or Iceberg, or one that is not there yet."))
    missing = [column for column in (*key, *columns) if column not in there]
    if missing:
        raise ConfigError(Fault(where, f"has no column '{missing[0]}'", "Name another table, or add the column."))


def _check_place(spark: SparkSession, name: str, where: str) -> None:
    *schema, _ = quoted(name).split(".")
    if schema:
        try:
            spark.sql(f"DESCRIBE NAMESPACE {'.'.join(schema)}").collect()
        except spark_errors() as error:
            found = f"its schema cannot be used: {source_fault(where, error).found}"
            raise ConfigError(Fault(where, found, "Create the schema, or name another table.")) from error


def put_rows(frame: DataFrame, name: str, format_: str, key: Mapping[str, str]) -> None:
    """The rows of ``key`` in a table are those of ``frame`` from now on; the table is made where there is none."""
    from pyspark.sql import functions as F

    spark = frame.sparkSession
    keyed = frame.select(*[F.lit(value).alias(column) for column, value in key.items()], "*")
    try:
        if not spark.catalog.tableExists(quoted(name)):
            keyed.writeTo(quoted(name)).using(format_).partitionedBy(*map(F.col, key)).create()
            return
        ours = reduce(lambda a, b: a & b, (F.col(column) == F.lit(value) for column, value in key.items()))
        keyed.writeTo(quoted(name)).overwrite(ours)
    except spark_errors() as error:
        fault = source_fault(f"Table '{name}'", error)
        fix = "Name another table, or one whose partitions are the columns of output.tables.partition."
        raise DataError(Fault(fault.where, fault.found.replace("cannot be read", "cannot be written"), fix)) from error
