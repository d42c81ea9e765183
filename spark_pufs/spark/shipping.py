"""Arrays that every task needs: sent to the workers once, and taken back when the work is done."""

from __future__ import annotations

import gc
import hashlib
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from spark_pufs.core.process_state import undisturbed
from spark_pufs.core.records import from_bytes, to_bytes
from spark_pufs.engines.base import Result, Shared, Unit
from spark_pufs.spark.own_session import is_connect
from spark_pufs.spark.scan import jobs_called

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["Parcel", "each", "receive", "ship"]


@dataclass(frozen=True)
class Parcel:
    """What was sent: a broadcast variable, or under Spark Connect, which has none, a file of the session."""

    name: str
    broadcast: Any = None

    def read(self) -> bytes:
        """The bytes, on a worker."""
        if self.broadcast is not None:
            return bytes(self.broadcast.value)
        from pyspark import SparkFiles

        return Path(SparkFiles.get(self.name)).read_bytes()

    def withdraw(self) -> None:
        """Take it back from the cluster; a file goes with the session that is ours."""
        if self.broadcast is not None:
            self.broadcast.destroy()


def ship(spark: SparkSession, record: object) -> Parcel:
    """Send ``record`` to every worker of the session."""
    data = to_bytes(record)
    # Named by content: a session that works on the same state again sends the same file.
    name = f"state-{hashlib.sha256(data).hexdigest()[:24]}.npz"
    if not is_connect(spark):
        return Parcel(name, spark.sparkContext.broadcast(data))
    with tempfile.TemporaryDirectory(prefix="spark-pufs-") as folder:
        file = Path(folder, name)
        file.write_bytes(data)
        spark.addArtifacts(str(file), file=True)
    return Parcel(name)


_received: dict[tuple[str, str], Any] = {}  # of this worker, the last one: Spark keeps Python workers from task to task


def receive(parcel: Parcel, kind: Any) -> Any:
    """The record, read once by each worker."""
    key = (parcel.name, repr(kind))
    if key not in _received:
        _received.clear()
        _received[key] = from_bytes(kind, parcel.read())
        gc.collect()
        gc.freeze()  # Spark collects garbage after each task: 15 ms that what is loaded need not cost
    return _received[key]


def each(
    spark: SparkSession,
    function: Callable[[Shared, Unit], Result],
    shared: Shared,
    units: Sequence[Unit],
    result: type[Result],
) -> list[Result]:
    """``function(shared, unit)`` for every unit, a task each, in the order of ``units``."""
    parcel, parts = ship(spark, shared), [to_bytes(unit) for unit in units]
    shared_kind: Any = type(shared)
    unit_kind = type(units[0])

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        with undisturbed():
            for unit in (unit for batch in batches for unit in batch.column(0).to_pylist()):
                found = to_bytes(function(receive(parcel, shared_kind), from_bytes(unit_kind, parts[unit])))
                columns = [pa.array([unit]), pa.array([found], pa.binary())]
                yield pa.RecordBatch.from_arrays(columns, ["unit", "result"])

    inner = getattr(function, "func", function)  # what a partial is of
    name = getattr(inner, "__name__", type(inner).__name__)
    what = f"{name.replace('_', ' ')}, {len(parts)} tasks"
    try:
        with jobs_called(spark, what):
            rows = spark.range(0, len(parts), 1, len(parts)).mapInArrow(run, "unit long, result binary").collect()
    finally:
        parcel.withdraw()
    return [from_bytes(result, bytes(row["result"])) for row in sorted(rows, key=lambda row: row["unit"])]
