"""Packed blocks as a DataFrame: one row per block, codes and labels as bytes."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Generic

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from spark_pufs.core.counting.kernel import Held, Kernel
from spark_pufs.core.counting.pass_checksum import Empty, Nothing, Seen, Witnessed, changed_table, witness_of
from spark_pufs.engines.base import Packer, raw_width, record
from spark_pufs.engines.parquet.reading import CHANGED
from spark_pufs.findings.run_facts import Pass
from spark_pufs.spark import scan
from spark_pufs.spark.io import spark_errors
from spark_pufs.spark.watch import Watch
from spark_pufs.spark.worker import freeze_loaded
from spark_pufs.types import Block, RawBatch

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = [
    "CachedBlocks",
    "LaterCachedBlocks",
    "Raw",
    "UncachedBlocks",
    "block_rows",
    "cut",
    "even",
    "packing",
    "read_blocks",
]

# Halves of the witness, so that SQL can add them.
SCHEMA = "label binary, codes binary, groups binary, low long, high long"
BLOCK_BYTES = 32 * 2**20  # raw values behind one block, so that a wide table does not fill a worker
BLOCK_ROWS = 10_000
BLOCKS_PER_BATCH = 4
CACHED_BYTES = 2**18  # of codes in one cached block
READ_BYTES = 6 * 2**20  # values that Spark's reader decodes at a time: 262 rows of 3,000 columns
READ_ROWS = ("spark.sql.parquet.columnarReaderBatchSize", "spark.sql.orc.columnarReaderBatchSize")
CACHED_ROWS = "spark.sql.inMemoryColumnarStorage.batchSize"
TASKS_PER_SLOT = 2


@dataclass(frozen=True)
class Raw:
    """The source: ``reader`` finds raw batches in the Arrow batches of ``frame``, ``rows`` rows to a batch.

    ``width``: numbers in a row, ``texts``: columns of text, the label not among them. ``tasks``: partitions of the
    frame where it holds no rows, but tells who reads which files.
    """

    frame: DataFrame
    reader: scan.Reader[RawBatch]
    rows: int
    width: int = 0
    texts: int = 0
    watch: Watch = field(default_factory=Watch)
    tasks: int | None = None
    parts: scan.Parts = field(default_factory=scan.Parts)

    def scan(self, kernel: Kernel[RawBatch, Held], what: str, passes: list[Pass]) -> Held:
        """One pass, which must see the rows that the first one saw."""
        began = time.perf_counter()
        with self.reading(), self.unchanged(), scan.jobs_called(self.frame.sparkSession, what):
            seen = self._reduced(Witnessed(kernel, witness_of))
        self.watch.look(seen.witness, what)
        record(passes, what, began, int(seen.witness[1]), self.row_bytes)
        return seen.state

    def _reduced(self, kernel: Kernel[RawBatch, Seen[Held]]) -> Seen[Held]:
        parts = self.parts if self.tasks is None else scan.Parts(self.tasks)
        return scan.reduce(self.frame, self.reader, kernel, parts)

    @property
    def row_bytes(self) -> int:
        return raw_width(self.width, self.texts)

    @contextmanager
    def unchanged(self) -> Iterator[None]:
        """A pass over a changed table may fail at a value that was not there before; the change is what to tell."""
        try:
            yield
        except spark_errors() as error:
            if file := re.search(f"{CHANGED}: (.*)", str(error)):
                raise changed_table(file.group(1)) from error
            with suppress(*spark_errors()):
                if self.watch.began:
                    nothing: Witnessed[RawBatch, Empty] = Witnessed(Nothing(), witness_of)
                    self.watch.look(self._reduced(nothing).witness, "after a failure")
            raise

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Settings for a job that reads the source.

        Spark's reader decodes 4,096 rows column by column and then goes through them row by row. With thousands of
        columns each value is then far from the last one, and two tasks hold 200 MB: smaller batches stay in the cache.
        Tasks that read files themselves need none of this.
        """
        if self.tasks is not None:
            yield
            return
        spark, rows = self.frame.sparkSession, max(1, READ_BYTES // (8 * max(1, self.width)))
        with ExitStack() as stack:
            stack.enter_context(scan.arrow_rows(spark, self.rows))
            for name in READ_ROWS:
                stack.enter_context(scan.at_most(spark, name, rows))
            yield


def block_rows(width: int) -> int:
    """Rows of ``width`` numbers that come to a task at a time and make one block.

    >>> block_rows(81), block_rows(5_000)
    (10000, 838)
    """
    return max(1, min(BLOCK_ROWS, BLOCK_BYTES // (8 * max(1, width))))


def read_blocks(batches: Iterator[pa.RecordBatch]) -> Iterator[Block]:
    """The blocks of an Arrow batch as one: they are cut small for Spark's heap, counting wants many rows at once."""
    for batch in batches:
        labels, codes, groups = (
            [np.frombuffer(one.as_buffer(), np.uint8) for one in column] for column in batch.columns[:3]
        )
        parts = [own.reshape(-1, len(label)) for label, own in zip(labels, codes, strict=True) if len(label)]
        if parts:
            low, high = (sum(column.to_pylist()) for column in batch.columns[3:])
            rows, group = np.concatenate(labels), np.concatenate(groups)
            witness = _witness(low, high, len(rows))
            yield Block(np.concatenate(parts, axis=1), rows, witness, group if len(group) else None)


def _witness(low: int, high: int, rows: int) -> NDArray[np.uint64]:
    return np.array([(low + (high << 32)) % 2**64, rows], np.uint64)


def _kept_witness(block: Block) -> NDArray[np.uint64]:
    return np.zeros(2, np.uint64) if block.witness is None else block.witness


@dataclass(frozen=True)
class PackingKernel(Generic[Held]):
    """A kernel of blocks as one of raw rows."""

    inner: Kernel[Block, Held]
    packer: Packer

    def start(self) -> Held:
        return self.inner.start()

    def add(self, state: Held, batch: RawBatch) -> Held:
        return self.inner.add(state, self.packer.pack(batch))


class UncachedBlocks:
    """Rows packed anew in every pass, for platforms that discourage caching."""

    def __init__(self, source: Raw, packer: Packer, passes: list[Pass]) -> None:
        self._source = source
        self._packer = packer
        self._passes = passes

    def scan(self, kernel: Kernel[Block, Held], what: str) -> Held:
        return self._source.scan(PackingKernel(kernel, self._packer), what, self._passes)

    def release(self) -> None:
        """Nothing is held."""


class LaterCachedBlocks:
    """Rows packed on the way in the first pass, and kept in the cluster from the second on.

    For rows that cost less to read than to keep: many a method makes one pass over its blocks.
    """

    def __init__(self, source: Raw, packer: Packer, passes: list[Pass]) -> None:
        self._first = UncachedBlocks(source, packer, passes)
        self._cached = CachedBlocks(source, packer, passes)
        self._used = False

    def scan(self, kernel: Kernel[Block, Held], what: str) -> Held:
        blocks, self._used = self._cached if self._used else self._first, True
        return blocks.scan(kernel, what)

    def release(self) -> None:
        self._cached.release()


class CachedBlocks:
    """Rows packed before the first pass and kept in the cluster."""

    def __init__(self, source: Raw, packer: Packer, passes: list[Pass]) -> None:
        self._source = source
        self._packer = packer
        self._passes = passes
        self._blocks: DataFrame | None = None
        self._parts = scan.Parts()

    def scan(self, kernel: Kernel[Block, Held], what: str) -> Held:
        blocks = self._packed()
        began = time.perf_counter()
        witnessed = Witnessed(kernel, _kept_witness)  # blocks that were lost are packed again, from what is there then
        spark = blocks.sparkSession
        with scan.arrow_rows(spark, BLOCKS_PER_BATCH), self._source.unchanged(), scan.jobs_called(spark, what):
            seen = scan.reduce(blocks, read_blocks, witnessed, self._parts)
        self._source.watch.look(seen.witness, what)
        record(self._passes, what, began, int(seen.witness[1]), self._packer.features)
        return seen.state

    def release(self) -> None:
        if self._blocks is not None:
            self._blocks.unpersist()

    def _packed(self) -> DataFrame:
        """The blocks, distributed evenly so that a skewed source does not make skewed passes."""
        from pyspark import StorageLevel

        if self._blocks is None:
            began = time.perf_counter()
            spark = self._source.frame.sparkSession
            count = TASKS_PER_SLOT * scan.slots(spark)
            self._parts.count = count
            packed = self._source.frame.mapInArrow(packing(self._source, self._packer, CACHED_BYTES), SCHEMA)
            # On local disk, where the shuffle has just put them: the system's page cache serves a pass as fast as
            # Spark's heap, which ten million rows would fill.
            blocks = self._blocks = packed.repartition(count).persist(StorageLevel.DISK_ONLY)
            # Packing reads many rows to a batch and the passes read few blocks to one: it has to be a job of its own.
            # One block makes one cached batch: Spark would join blocks up to 4 MB, and it holds the last 100 batches
            # that a task has written or read.
            sums = ("sum(low)", "sum(high)", "sum(length(label))")
            with (
                self._source.reading(), scan.setting(spark, CACHED_ROWS, 1), self._source.unchanged(),
                scan.jobs_called(spark, "pack"),
            ):  # fmt: skip
                found = blocks.selectExpr(*sums).collect()[0]
            witness = _witness(*(int(part or 0) for part in found))
            self._source.watch.look(witness, "pack")
            record(self._passes, "pack", began, int(witness[1]), self._source.row_bytes)
        return self._blocks


def packing(source: Raw, packer: Packer, most: int) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """Blocks that depend on the rows alone, not on the batches they come in.

    A lost executor's blocks are packed again by the job that misses them, in the batches that job has asked for. Spark
    deals blocks out by their number, so other blocks than the first time would leave rows out or bring them twice.
    """
    reader, rows = source.reader, source.rows

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        freeze_loaded()
        for raw in reader(even(batches, rows)):
            high, low = divmod(int(witness_of(raw)[0]), 2**32)
            for block in cut(packer.pack(raw), most):
                group = np.zeros(0, np.uint8) if block.group is None else block.group
                columns = [pa.array([part.tobytes()], pa.binary()) for part in (block.label, block.codes, group)]
                columns += [pa.array([low], pa.int64()), pa.array([high], pa.int64())]
                yield pa.RecordBatch.from_arrays(columns, ["label", "codes", "groups", "low", "high"])
                high = low = 0  # the first part speaks for all of them

    return run


def even(batches: Iterator[pa.RecordBatch], rows: int) -> Iterator[pa.RecordBatch]:
    """The same rows in batches of ``rows``, the last one smaller.

    >>> batches = [pa.RecordBatch.from_pydict({"x": list(range(n))}) for n in (3, 1, 5)]
    >>> [batch.num_rows for batch in even(iter(batches), 4)]
    [4, 4, 1]
    """
    held: list[pa.RecordBatch] = []
    for batch in batches:
        held.append(batch)
        count = sum(part.num_rows for part in held)
        if count >= rows:
            whole = _joined(held)
            full = count - count % rows
            yield from (whole.slice(first, rows) for first in range(0, full, rows))
            held = [whole.slice(full)]
    if sum(part.num_rows for part in held):
        yield _joined(held)


def _joined(batches: list[pa.RecordBatch]) -> pa.RecordBatch:
    if len(batches) == 1:
        return batches[0]
    return pa.Table.from_batches(batches).combine_chunks().to_batches()[0]


def cut(block: Block, most: int) -> Iterator[Block]:
    """The block in parts of at most ``most`` codes, a row at least: a hundred of them are in Spark's heap at a time.

    >>> wide = Block(np.zeros((3000, 1000), np.uint8), np.zeros(1000, np.uint8))
    >>> [part.codes.shape for part in cut(wide, 2**20)]
    [(3000, 349), (3000, 349), (3000, 302)]
    """
    rows = max(1, most // max(1, len(block.codes)))
    for first in range(0, len(block.label), rows):
        part = slice(first, first + rows)
        group = None if block.group is None else block.group[part]
        yield Block(block.codes[:, part], block.label[part], group=group)
