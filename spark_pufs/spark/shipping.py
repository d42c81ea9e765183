"""Arrays that every task needs: sent to the workers once, as a file."""

from __future__ import annotations

import atexit
import gc
import hashlib
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from spark_pufs.core.records import from_bytes, to_bytes
from spark_pufs.engines.base import Result, Shared, Unit
from spark_pufs.spark.scan import single_thread

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["each", "receive", "ship"]


def ship(spark: SparkSession, record: object) -> str:
    """Send ``record`` to every worker of the session; the name to ``receive`` it by."""
    data = to_bytes(record)
    # Named by content: a session that works on the same state again sends the same file.
    name = f"state-{hashlib.sha256(data).hexdigest()[:24]}.npz"
    file = _outbox() / name
    file.write_bytes(data)
    spark.addArtifacts(str(file), file=True)
    return name


@lru_cache(maxsize=1)
def _outbox() -> Path:
    """Where files stay as long as this process: workers that join late fetch them then."""
    folder = tempfile.mkdtemp(prefix="spark-pufs-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return Path(folder)


@lru_cache(maxsize=1)
def receive(name: str, kind: Any) -> Any:
    """The record, read once by each worker: Spark keeps Python workers from task to task."""
    from pyspark import SparkFiles

    record = from_bytes(kind, Path(SparkFiles.get(name)).read_bytes())
    gc.collect()
    gc.freeze()  # Spark collects garbage after each task: 15 ms that what is loaded need not cost
    return record


def each(
    spark: SparkSession,
    function: Callable[[Shared, Unit], Result],
    shared: Shared,
    units: Sequence[Unit],
    result: type[Result],
) -> list[Result]:
    """``function(shared, unit)`` for every unit, a task each, in the order of ``units``."""
    name, parts = ship(spark, shared), [to_bytes(unit) for unit in units]
    shared_kind: Any = type(shared)
    unit_kind = type(units[0])

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        single_thread()
        for batch in batches:
            for unit in batch.column(0).to_pylist():
                found = to_bytes(function(receive(name, shared_kind), from_bytes(unit_kind, parts[unit])))
                columns = [pa.array([unit]), pa.array([found], pa.binary())]
                yield pa.RecordBatch.from_arrays(columns, ["unit", "result"])

    rows = spark.range(0, len(parts), 1, len(parts)).mapInArrow(run, "unit long, result binary").collect()
    return [from_bytes(result, bytes(row["result"])) for row in sorted(rows, key=lambda row: row["unit"])]
