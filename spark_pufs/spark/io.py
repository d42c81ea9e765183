"""Reading and writing what Spark reads and writes, with its complaints in our words."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from spark_pufs.errors import ConfigError, DataError, EnvironmentFault, Fault, PufsError
from spark_pufs.masking.addresses import address_shown
from spark_pufs.masking.texts import MOST_READ, foreign

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = [
    "Unreadable",
    "address_for_spark",
    "check_reach",
    "plain_errors",
    "plan_errors",
    "read_table",
    "source_fault",
    "spark_errors",
    "store_errors",
    "write_table",
]

WRITTEN = {"csv": {"header": "true"}, "parquet": {"parquet.enable.dictionary": "false"}}
# Rows that do not fit the others would have nulls, and count as unlabelled, or be a column of their own.
DEFAULTS = {"csv": {"header": "true", "inferSchema": "true", "mode": "FAILFAST"}, "json": {"mode": "FAILFAST"}}


def read_table(
    spark: SparkSession, path: str | None, table: str | None, format_: str, options: Mapping[str, Any]
) -> DataFrame:
    """A file, a folder of files or a catalog table."""
    try:
        if table is not None:
            return spark.read.table(table)
        place = None if path is None else address_for_spark(spark, path)
        return spark.read.format(format_).options(**{**DEFAULTS.get(format_, {}), **options}).load(place)
    except spark_errors() as error:
        where = table if table is not None else address_shown(str(path))
        raise DataError(source_fault(f"Source '{where}'", error)) from error


def address_for_spark(spark: SparkSession, address: str) -> str:
    """What this Spark calls a place: Hadoop has s3a:// only, unless a platform has set s3:// up for its own means."""
    scheme, mark, rest = address.partition("://")
    if not mark or scheme.lower() not in ("s3", "s3n"):
        return address
    return address if _has_s3(spark, scheme.lower()) else f"s3a://{rest}"


def _has_s3(spark: Any, scheme: str) -> bool:
    from spark_pufs.spark.own_session import is_connect

    if is_connect(spark):  # the settings that a server began with are not to be asked for: s3:// may be its own
        return not str(spark.conf.get("spark.hadoop.fs.s3a.impl", ""))
    return spark._jsc.hadoopConfiguration().get(f"fs.{scheme}.impl") is not None


def check_reach(spark: Any, address: str, where: str) -> None:
    """Refuse an address that this Spark has no means for, or that it cannot reach, before any work."""
    from spark_pufs.spark.own_session import is_connect

    if "://" not in address or is_connect(spark):
        return
    try:
        path = spark._jvm.org.apache.hadoop.fs.Path(address_for_spark(spark, address))
        path.getFileSystem(spark._jsc.hadoopConfiguration()).exists(path)
    except spark_errors() as error:
        raise _out_of_reach(where, error) from error


def _out_of_reach(where: str, error: Exception) -> PufsError:
    text = str(error)
    if any(mark in text for mark in ("No FileSystem for scheme", "ClassNotFoundException", "NoClassDefFoundError")):
        fix = "Add the jars of the store: --packages org.apache.hadoop:hadoop-aws of Spark's Hadoop for S3."
        return EnvironmentFault(Fault(where, f"Spark has no means for this store: {_gist(error)}", fix))
    if any(mark in text for mark in ("AccessDenied", "403", "NoSuchBucket", "UnknownHost", "does not exist")):
        return ConfigError(Fault(where, f"Spark cannot use it: {_gist(error)}", "Check the address and the rights."))
    return PufsError(Fault(where, f"Spark cannot reach it: {_gist(error)}", "Check the network; try again."))


@contextmanager
def store_errors(where: str) -> Iterator[None]:
    """What Spark says while it writes rows of ours: the place's fault, told as such; the rows' own goes on."""
    try:
        yield
    except spark_errors() as error:
        if not any(mark in str(error) for mark in _OF_A_STORE):
            raise
        raise _out_of_reach(where, error) from error


def write_table(frame: DataFrame, path: str, format_: str, overwrite: bool, drawn: bool = False) -> None:
    """Write a new table, or a new one in place of the one that is there.

    ``drawn``: its values are random numbers that hardly repeat. Parquet's dictionaries of them would save nothing and
    take, with some thousand columns, more than Spark's default memory.
    """
    writer = frame.write.format(format_).mode("overwrite" if overwrite else "errorifexists")
    try:
        place = address_for_spark(frame.sparkSession, path)
        writer.options(**(WRITTEN.get(format_, {}) if drawn or format_ == "csv" else {})).save(place)
    except spark_errors() as error:
        message = str(error)
        if "PATH_ALREADY_EXISTS" in message:
            fix = "Name another place, or overwrite it."
            raise ConfigError(Fault(f"Output '{address_shown(path)}'", "is there already", fix)) from error
        if "DATA_SOURCE_NOT_FOUND" in message:
            fix = "Use parquet, csv, json or orc."
            raise ConfigError(Fault(f"Format '{format_}'", "is not known to Spark", fix)) from error
        raise


@contextmanager
def plain_errors(where: str) -> Iterator[None]:
    """Turn a failure to read rows, which Spark finds only while it works, into one clear data error."""
    try:
        with plan_errors():
            yield
    except Unreadable as error:
        raise DataError(Fault(where, error.faults[0].found, error.faults[0].fix)) from error


class Unreadable(DataError):
    """Rows of the table cannot be read or computed."""


@contextmanager
def plan_errors() -> Iterator[None]:
    """What Spark says of the user's own plan and rows, which no retry changes, as one clear error."""
    try:
        yield
    except spark_errors() as error:
        if any(mark in str(error) for mark in _UNREADABLE):
            fault = Fault("Table", f"cannot be read: {_gist(error)}", _fix(error))
        elif _of_the_plan(error):
            fix = "Correct the query behind the table, or the rows that it fails on; try_cast and the like give null."
            fault = Fault("Table", f"its query fails: {_gist(error)}", fix)
        else:
            raise
        raise Unreadable(fault) from error


def _of_the_plan(error: Exception) -> bool:
    """Whether the query itself fails: arithmetic, casts, functions of users; not lost executors, not memory."""
    from pyspark import errors

    if isinstance(error, errors.PythonException):
        return "spark_pufs" not in str(error)  # ours would be a bug, and is reported as such
    names = ("AnalysisException", "ArithmeticException", "ArrayIndexOutOfBoundsException", "DateTimeException",
             "IllegalArgumentException", "NumberFormatException", "ParseException", "SparkRuntimeException",
             "UnsupportedOperationException")  # fmt: skip
    return isinstance(error, tuple(getattr(errors, name) for name in names if hasattr(errors, name)))


_OF_A_STORE = ("No FileSystem for scheme", "s3a", "S3A", "ConnectException", "SocketTimeout", "NoRouteToHost",
               "UnknownHostException", "AccessDenied", "AccessControlException", "hdfs.")  # fmt: skip
_MALFORMED = re.compile(r"MALFORMED_\w*RECORD|Malformed records are detected")  # in CSV and JSON
_UNREADABLE = (
    "Malformed records are detected",
    "FAILED_READ_FILE",
    "CANNOT_READ_FILE",
    "is not a Parquet file",
    "MALFORMED",
)


def _fix(error: Exception) -> str:
    """Of rows that do not fit the others, and of all else."""
    drop = "Correct the file, or leave such rows out: source.options.mode=DROPMALFORMED."
    return drop if _MALFORMED.search(str(error)) else "Write the table again."


def source_fault(where: str, error: Exception) -> Fault:
    message = str(error)
    if _MALFORMED.search(message):
        return Fault(where, "holds rows that do not fit the others", _fix(error))
    if "PATH_NOT_FOUND" in message or "TABLE_OR_VIEW_NOT_FOUND" in message:
        return Fault(where, "does not exist", "Check source.path or source.table.")
    if "UNABLE_TO_INFER_SCHEMA" in message:
        return Fault(where, "holds no files of that format", "Check source.path and source.format.")
    if "DATA_SOURCE_NOT_FOUND" in message:
        return Fault(where, "its format is not known to Spark", "Check source.format: parquet, csv, json, orc.")
    return Fault(where, f"cannot be read: {_gist(error)}", "Check source.path, source.format and source.options.")


def _gist(error: Exception) -> str:
    """The line of Spark's message that says it: the innermost cause, or the first line; the Java stack does not."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    if type(error).__name__ == "PythonException":  # a traceback, which says it in its last line
        lines = [line for line in lines if not line.startswith("at ")][-1:]
    if lines and lines[0].startswith("An error occurred while calling"):  # of py4j, which then gives Java's words
        lines = [line.removeprefix(": ") for line in lines[1:]]
    causes = [line.removeprefix("Caused by: ") for line in lines if line.startswith("Caused by: ")]
    told = [*lines[:1], *causes, type(error).__name__][len(causes) if lines else -1]
    return foreign(told[:MOST_READ])[:300]


def spark_errors() -> tuple[type[Exception], ...]:
    """What Spark raises; some failures of its readers come through py4j unconverted."""
    from pyspark.errors import PySparkException

    try:
        from py4j.protocol import Py4JJavaError
    except ImportError:  # the Connect client alone has no py4j
        return (PySparkException,)
    return (PySparkException, Py4JJavaError)
