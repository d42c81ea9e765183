"""Kernels over the partitions of a DataFrame: states merge in the tasks, then in a few groups, then on the driver."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import reduce as fold
from typing import TYPE_CHECKING, TypeVar

import pyarrow as pa

from spark_pufs.core.counting.kernel import Held, Kernel, State
from spark_pufs.core.process_state import undisturbed
from spark_pufs.core.records import like, to_bytes
from spark_pufs.engines.at_work import job_name
from spark_pufs.errors import Fault, Stopped
from spark_pufs.spark.io import spark_errors
from spark_pufs.spark.own_session import is_connect, setting
from spark_pufs.spark.worker import freeze_loaded

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["Parts", "arrow_rows", "at_most", "jobs_called", "one_machine", "partitions", "reduce", "setting", "slots"]

Rows = TypeVar("Rows")
Task = Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]
Reader = Callable[[Iterator[pa.RecordBatch]], Iterator[Rows]]

DESCRIPTION = "spark.job.description"
CANCELLED = re.compile(r"SPARK_JOB_CANCELLED|Job \d+ cancelled")  # Spark 4, Spark 3.5
STATES = "state binary, parts long"
GROUPS = 16  # more partial states than this are merged in the cluster before they come to the driver


@dataclass
class Parts:
    """How many partitions a frame has, once that is known: Spark Connect does not tell, the first pass does."""

    count: int | None = None


def reduce(frame: DataFrame, reader: Reader[Rows], kernel: Kernel[Rows, Held], parts: Parts | None = None) -> Held:
    """The merged state of all rows of ``frame``; ``parts`` is kept from pass to pass over the same frame."""
    parts = parts or Parts()
    states = frame.mapInArrow(_partial(reader, kernel), STATES)
    parts.count = parts.count or partitions(frame)
    if parts.count is None or parts.count > GROUPS:
        states = states.repartition(GROUPS).mapInArrow(_join(kernel), STATES)
    rows = states.collect()
    parts.count = sum(int(row[1]) for row in rows)
    return _merged(kernel, (bytes(row[0]) for row in rows))


def _merged(kernel: Kernel[Rows, Held], states: Iterator[bytes]) -> Held:
    start = kernel.start()
    return fold(lambda left, data: left.merge(like(start, data)), states, start)


def _partial(reader: Reader[Rows], kernel: Kernel[Rows, Held]) -> Task:
    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        freeze_loaded()
        with undisturbed():
            state = kernel.start()
            for batch in reader(batches):
                state = kernel.add(state, batch)
        yield _row(state, 1)

    return run


def _join(kernel: Kernel[Rows, Held]) -> Task:
    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        parts: list[int] = []

        def states() -> Iterator[bytes]:
            for batch in batches:
                parts.extend(batch.column(1).to_pylist())
                yield from batch.column(0).to_pylist()

        yield _row(_merged(kernel, states()), sum(parts))

    return run


def _row(state: State, parts: int) -> pa.RecordBatch:
    """A state, and of how many partitions it is."""
    columns = [pa.array([to_bytes(state)], pa.binary()), pa.array([parts], pa.int64())]
    return pa.RecordBatch.from_arrays(columns, ["state", "parts"])


def partitions(frame: DataFrame) -> int | None:
    """Number of partitions, or None where Spark Connect does not tell or a shuffle would have to run to tell."""
    if is_connect(frame.sparkSession) or "Exchange" in frame._jdf.queryExecution().executedPlan().toString():
        return None
    return frame.rdd.getNumPartitions()


@contextmanager
def jobs_called(spark: SparkSession, what: str) -> Iterator[None]:
    """Jobs that this thread starts inside have a name in Spark's UI and event log; a tag under Spark Connect.

    They stay in the job group of the thread, if it has one: whoever cancels that group stops the selection.
    """
    name = job_name(what)
    try:
        with _tagged(spark, name) if is_connect(spark) else _described(spark, name):
            yield
    except spark_errors() as error:
        if not CANCELLED.search(str(error)):
            raise
        fix = "Nothing was written. Run it again; a search that keeps a checkpoint goes on where it was."
        raise Stopped(Fault("Spark job", f"was cancelled in '{what}'", fix)) from error


@contextmanager
def _described(spark: SparkSession, name: str) -> Iterator[None]:
    context = spark.sparkContext
    before = context.getLocalProperty(DESCRIPTION)
    context.setLocalProperty(DESCRIPTION, name)
    try:
        yield
    finally:
        context.setLocalProperty(DESCRIPTION, before)  # type: ignore[arg-type]  # None takes it away


@contextmanager
def _tagged(spark: SparkSession, name: str) -> Iterator[None]:
    tag = name.replace(",", ";")  # which Spark does not allow in one
    had = tag in spark.getTags()
    spark.addTag(tag)
    try:
        yield
    finally:
        if not had:
            spark.removeTag(tag)


def slots(spark: SparkSession) -> int:
    """How many tasks run at once."""
    if is_connect(spark):
        from pyspark.sql import functions as F

        return max(1, spark.range(1024).select(F.spark_partition_id()).distinct().count())
    return max(1, spark.sparkContext.defaultParallelism)


def one_machine(spark: SparkSession) -> bool:
    """Whether the driver's own cores are all there is; Spark Connect does not tell."""
    return not is_connect(spark) and str(spark.sparkContext.master).startswith("local")


def at_most(spark: SparkSession, name: str, value: int) -> AbstractContextManager[None]:
    """As ``setting``, unless the session's own value is smaller."""
    return setting(spark, name, min(value, int(str(spark.conf.get(name)))))


def arrow_rows(spark: SparkSession, rows: int) -> AbstractContextManager[None]:
    """Rows per Arrow batch for the jobs inside."""
    return setting(spark, "spark.sql.execution.arrow.maxRecordsPerBatch", rows)
