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

__all__ = ["SparkBlocks", "pack_blocks", "read_blocks"]

SCHEMA = "label binary, codes binary"
BLOCK_BYTES = 32 * 2**20  # raw values behind one block, so that a wide table does not fill a worker
BLOCKS_PER_BATCH = 8
TASKS_PER_SLOT = 2


def pack_blocks(frame: DataFrame, reader: scan.Reader, packer: Packer) -> DataFrame:
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
    """Packed rows, cached in the cluster after the first pass."""

    def __init__(self, frame: DataFrame, passes: list[Pass], cache: bool) -> None:
        self._frame = frame.persist() if cache else frame
        self._passes = passes

    def scan(self, kernel: Kernel[Block], what: str) -> State:
        began = time.perf_counter()
        with scan.arrow_rows(self._frame.sparkSession, BLOCKS_PER_BATCH):
            state = scan.reduce(self._frame, read_blocks, kernel)
        record(self._passes, what, began)
        return state

    def release(self) -> None:
        self._frame.unpersist()
