"""Kernels over the partitions of a DataFrame: states merge in the tasks, then in a few groups, then on the driver."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from functools import reduce as fold
from typing import TYPE_CHECKING, TypeVar

import pyarrow as pa

from spark_pufs.core.counting.kernel import Held, Kernel, State
from spark_pufs.core.process_state import undisturbed
from spark_pufs.core.records import like, to_bytes
from spark_pufs.spark.own_session import is_connect, setting
from spark_pufs.spark.worker import freeze_loaded

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["arrow_rows", "at_most", "one_machine", "partitions", "reduce", "setting", "slots"]

Rows = TypeVar("Rows")
Task = Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]
Reader = Callable[[Iterator[pa.RecordBatch]], Iterator[Rows]]

GROUPS = 16  # more partial states than this are merged in the cluster before they come to the driver


def reduce(frame: DataFrame, reader: Reader[Rows], kernel: Kernel[Rows, Held], count: int | None = None) -> Held:
    """The merged state of all rows of ``frame``; ``count`` is its number of partitions where that is known."""
    states = frame.mapInArrow(_partial(reader, kernel), "state binary")
    count = count or partitions(frame)
    if count is None or count > GROUPS:
        states = states.repartition(GROUPS).mapInArrow(_join(kernel), "state binary")
    return _merged(kernel, (bytes(row[0]) for row in states.collect()))


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
        yield _row(state)

    return run


def _join(kernel: Kernel[Rows, Held]) -> Task:
    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        yield _row(_merged(kernel, (value.as_py() for batch in batches for value in batch.column(0))))

    return run


def _row(state: State) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays([pa.array([to_bytes(state)], pa.binary())], ["state"])


def partitions(frame: DataFrame) -> int | None:
    """Number of partitions, or None where Spark Connect does not tell or a shuffle would have to run to tell."""
    if is_connect(frame.sparkSession) or "Exchange" in frame._jdf.queryExecution().executedPlan().toString():
        return None
    return frame.rdd.getNumPartitions()


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
