"""Reading what Spark reads, with its complaints in our words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from spark_pufs.errors import DataError, Fault

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["plain_errors", "read_table"]

DEFAULTS = {"csv": {"header": "true", "inferSchema": "true"}}


def read_table(
    spark: SparkSession, path: str | None, table: str | None, format_: str, options: Mapping[str, Any]
) -> DataFrame:
    """A file, a folder of files or a catalog table."""
    where = f"Source '{table or path}'"
    with plain_errors(where):
        if table is not None:
            return spark.read.table(table)
        return spark.read.format(format_).options(**{**DEFAULTS.get(format_, {}), **options}).load(path)


@contextmanager
def plain_errors(where: str) -> Iterator[None]:
    """Turn Spark's failures to read into one clear data error."""
    from pyspark.errors import AnalysisException, PySparkException

    try:
        yield
    except AnalysisException as error:
        raise DataError(_fault(where, error)) from error
    except PySparkException as error:
        if _is_read_failure(str(error)):
            raise DataError(Fault(where, f"cannot be read: {_gist(error)}", "Write the table again.")) from error
        raise


def _fault(where: str, error: Exception) -> Fault:
    condition = getattr(error, "getCondition", lambda: None)() or ""
    if "PATH_NOT_FOUND" in condition or "TABLE_OR_VIEW_NOT_FOUND" in condition:
        return Fault(where, "does not exist", "Check source.path or source.table.")
    if "UNABLE_TO_INFER_SCHEMA" in condition:
        return Fault(where, "holds no files of that format", "Check source.path and source.format.")
    if "DATA_SOURCE_NOT_FOUND" in condition:
        return Fault(where, "its format is not known to Spark", "Check source.format: parquet, csv, json, orc.")
    return Fault(where, f"cannot be read: {_gist(error)}", "Check source.path, source.format and source.options.")


def _is_read_failure(message: str) -> bool:
    marks = ("FAILED_READ_FILE", "CANNOT_READ_FILE", "is not a Parquet file", "MALFORMED")
    return any(mark in message for mark in marks)


def _gist(error: Exception) -> str:
    return next((line.strip() for line in str(error).splitlines() if line.strip()), type(error).__name__)[:300]
