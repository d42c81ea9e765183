"""Packed blocks as a DataFrame: one row per block, codes and labels as bytes."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from spark_pufs.core.kernel import Kernel, State
from spark_pufs.engine import Packer, Pass, record
from spark_pufs.spark import scan
from spark_pufs.types import Block

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["SparkBlocks", "block_rows", "cached_blocks", "read_blocks", "uncached_blocks"]

SCHEMA = "label binary, codes binary"
BLOCK_BYTES = 32 * 2**20  # raw values behind one block, so that a wide table does not fill a worker
BLOCK_ROWS = 10_000
BLOCKS_PER_BATCH = 8
TASKS_PER_SLOT = 2


def block_rows(width: int) -> int:
    """Rows of ``width`` numbers that come to a task at a time and make one block.

    >>> block_rows(81), block_rows(5_000)
    (10000, 838)
    """
    return max(1, min(BLOCK_ROWS, BLOCK_BYTES // (8 * max(1, width))))


def cached_blocks(frame: DataFrame, reader: scan.Reader, packer: Packer, rows: int, passes: list[Pass]) -> SparkBlocks:
    """Pack once, keep the blocks in the cluster. What is cached is planned now, with the settings of now.

    One block makes one cached batch: Spark would join blocks up to 4 MB, and it holds 100 batches per task when it
    reads a full cache back from disk: more than its default heap at ten million rows.
    """
    spark = frame.sparkSession
    with scan.arrow_rows(spark, rows), scan.setting(spark, "spark.sql.inMemoryColumnarStorage.batchSize", 1):
        blocks = _packed(frame, reader, packer).persist()
    return SparkBlocks(blocks, read_blocks, BLOCKS_PER_BATCH, passes)


def uncached_blocks(
    frame: DataFrame, reader: scan.Reader, packer: Packer, rows: int, passes: list[Pass]
) -> SparkBlocks:
    """Read and pack anew in every pass, for platforms that discourage caching."""

    def read(batches: Iterator[pa.RecordBatch]) -> Iterator[Block]:
        return map(packer.pack, reader(batches))

    return SparkBlocks(frame, read, rows, passes)


def _packed(frame: DataFrame, reader: scan.Reader, packer: Packer) -> DataFrame:
    """Pack every partition, then deal the blocks out evenly: a skewed source no longer makes skewed passes."""

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for raw in reader(batches):
            block = packer.pack(raw)
            columns = [pa.array([part.tobytes()], pa.binary()) for part in (block.label, block.codes)]
            yield pa.RecordBatch.from_arrays(columns, ["label", "codes"])

    blocks = frame.mapInArrow(run, SCHEMA)
    return blocks.repartition(TASKS_PER_SLOT * scan.slots(frame.sparkSession))


def read_blocks(batches: Iterator[pa.RecordBatch]) -> Iterator[Block]:
    """Blocks of a task, as views of Arrow's memory."""
    for batch in batches:
        for label, codes in zip(*batch.columns, strict=True):
            labels = np.frombuffer(label.as_buffer(), np.uint8)
            if len(labels):
                yield Block(np.frombuffer(codes.as_buffer(), np.uint8).reshape(-1, len(labels)), labels)


class SparkBlocks:
    """Packed rows in the cluster: ``reader`` finds blocks in the Arrow batches of ``frame``, ``rows`` to a batch."""

    def __init__(self, frame: DataFrame, reader: scan.Reader, rows: int, passes: list[Pass]) -> None:
        self._frame = frame
        self._reader = reader
        self._rows = rows
        self._passes = passes

    def scan(self, kernel: Kernel[Block], what: str) -> State:
        began = time.perf_counter()
        with scan.arrow_rows(self._frame.sparkSession, self._rows):
            state = scan.reduce(self._frame, self._reader, kernel)
        record(self._passes, what, began)
        return state

    def release(self) -> None:
        if self._reader is read_blocks:  # otherwise the frame is the user's
            self._frame.unpersist()
