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

from spark_pufs.core.counting.kernel import State, decode, encode
from spark_pufs.core.process_state import undisturbed
from spark_pufs.spark.own_session import is_connect

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


def ship(spark: SparkSession, state: State) -> Parcel:
    """Send ``state`` to every worker of the session."""
    data = encode(state)
    # Named by content: a session that works on the same state again sends the same file.
    name = f"state-{hashlib.sha256(data).hexdigest()[:24]}.npz"
    if not is_connect(spark):
        return Parcel(name, spark.sparkContext.broadcast(data))
    with tempfile.TemporaryDirectory(prefix="spark-pufs-") as folder:
        file = Path(folder, name)
        file.write_bytes(data)
        spark.addArtifacts(str(file), file=True)
    return Parcel(name)


_received: dict[str, State] = {}  # of this worker, the last one: Spark keeps Python workers from task to task


def receive(parcel: Parcel) -> State:
    """The state, read once by each worker."""
    if parcel.name not in _received:
        _received.clear()
        _received[parcel.name] = decode(parcel.read())
        gc.collect()
        gc.freeze()  # Spark collects garbage after each task: 15 ms that what is loaded need not cost
    return _received[parcel.name]


def each(
    spark: SparkSession, function: Callable[[State, State], State], shared: State, units: Sequence[State]
) -> list[State]:
    """``function(shared, unit)`` for every unit, a task each, in the order of ``units``."""
    parcel, parts = ship(spark, shared), [encode(unit) for unit in units]

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        with undisturbed():
            for batch in batches:
                for unit in batch.column(0).to_pylist():
                    result = encode(function(receive(parcel), decode(parts[unit])))
                    columns = [pa.array([unit]), pa.array([result], pa.binary())]
                    yield pa.RecordBatch.from_arrays(columns, ["unit", "result"])

    try:
        rows = spark.range(0, len(parts), 1, len(parts)).mapInArrow(run, "unit long, result binary").collect()
    finally:
        parcel.withdraw()
    return [decode(row["result"]) for row in sorted(rows, key=lambda row: row["unit"])]
