"""How rows become blocks on Spark: their size does not depend on caching, nor on how blocks are read back."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from spark_pufs.core.counting.counts import PairKernel
from spark_pufs.engines.base import Packer
from spark_pufs.request import Request
from spark_pufs.spark import blocks, scan
from spark_pufs.spark.engine import RawReader, SparkEngine
from spark_pufs.spark.own_session import in_own_session
from spark_pufs.table.pu_table import inspect, pack
from spark_pufs.types import Bins, Block, LabelRule

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark
ARROW = "spark.sql.execution.arrow.maxRecordsPerBatch"
CACHE = "spark.sql.inMemoryColumnarStorage.batchSize"


def sizes() -> Any:
    """A pass that notes the rows of every block; made here so that it travels to the workers by value."""

    @dataclass(frozen=True)
    class Sizes:
        rows: np.ndarray

        def merge(self, other: Sizes) -> Sizes:
            return Sizes(np.concatenate([self.rows, other.rows]))

    class SizeKernel:
        def start(self) -> Sizes:
            return Sizes(np.zeros(0, np.int64))

        def add(self, state: Sizes, block: Block) -> Sizes:
            return state.merge(Sizes(np.array([len(block.label)])))

    return SizeKernel()


@pytest.mark.parametrize("cache", [False, True])
def test_blocks_hold_as_many_rows_as_a_batch_of_the_source(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch, cache: bool
) -> None:
    """32 rows, eight to a block; read back, one to each of the cache's partitions, they must stay blocks of eight."""
    monkeypatch.setattr(blocks, "BLOCK_ROWS", 8)
    rng = np.random.default_rng(1)
    table = pd.DataFrame(rng.random((32, 3)), columns=list("abc")).assign(s=[1, 0] * 16)
    before = [spark.conf.get(name) for name in (ARROW, CACHE)]
    engine = SparkEngine(spark.createDataFrame(table).coalesce(1), cache=cache)
    packed = pack(inspect(engine, Request(LabelRule("s"), "mim")), Request(LabelRule("s"), "mim"))
    try:
        for _ in range(2):
            assert packed.blocks.scan(sizes(), "sizes").rows.tolist() == [8, 8, 8, 8]
        pairs = packed.blocks.scan(PairKernel(packed.layout), "pairs").counts
    finally:
        packed.blocks.release()
    assert pairs.sum() == 32 * 9
    assert [spark.conf.get(name) for name in (ARROW, CACHE)] == before


def test_blocks_of_a_batch_are_joined_in_order() -> None:
    first, none = np.array([0, 1, 2], np.uint8), np.zeros(0, np.uint8)
    parts = [Block(np.arange(6, dtype=np.uint8).reshape(2, 3), first, group=first + 9)]
    parts += [Block(np.zeros((2, 0), np.uint8), none, group=none), Block(parts[0].codes + 6, first, group=first)]
    kinds = ("label", "codes", "group")
    columns = [pa.array([getattr(part, name).tobytes() for part in parts], pa.binary()) for name in kinds]
    columns += [pa.array(halves, pa.int64()) for halves in ([7, 0, 1], [1, 0, 2])]
    batch = pa.RecordBatch.from_arrays(columns, ["label", "codes", "groups", "low", "high"])
    (joined,) = blocks.read_blocks(iter([batch, batch.slice(1, 1)]))
    assert joined.codes.tolist() == [[0, 1, 2, 6, 7, 8], [3, 4, 5, 9, 10, 11]]
    assert joined.label.tolist() == [0, 1, 2, 0, 1, 2]
    assert joined.group is not None
    assert joined.group.tolist() == [9, 10, 11, 0, 1, 2]


def test_wide_tables_make_blocks_of_fewer_rows() -> None:
    assert blocks.block_rows(5_000) * 5_000 * 8 <= blocks.BLOCK_BYTES
    assert blocks.block_rows(81) == blocks.BLOCK_ROWS
    assert blocks.block_rows(0) == blocks.BLOCK_ROWS
    assert blocks.block_rows(10**8) == 1


def test_wide_tables_are_decoded_a_few_rows_at_a_time(spark: SparkSession) -> None:
    """A session's own smaller number stays, what was set before comes back, and a user's session is not touched."""
    theirs, frame = spark, in_own_session(spark.range(1))
    spark, names = frame.sparkSession, [ARROW, *blocks.READ_ROWS]

    def inside(width: int) -> list[str | None]:
        with blocks.Raw(frame, iter, 7, width).reading():
            return [spark.conf.get(name) for name in names]

    before = [spark.conf.get(name) for name in names]
    assert inside(81) == ["7", "4096", "4096"]
    assert inside(3_000) == ["7", "262", "262"]
    assert inside(10**7) == ["7", "1", "1"]
    with scan.setting(spark, names[1], 100):
        assert inside(3_000) == ["7", "100", "262"]
    assert [spark.conf.get(name) for name in names] == before
    with scan.setting(theirs, ARROW, 7), scan.setting(spark, ARROW, 8):
        assert (theirs.conf.get(ARROW), spark.conf.get(ARROW)) == (before[0], "8")


def test_packed_rows_are_cut_small_and_kept_on_disk(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    """In memory they filled Spark's default heap at ten million rows. Parts of a block hold all of its rows."""
    monkeypatch.setattr(blocks, "CACHED_BYTES", 15)  # five rows of three features
    monkeypatch.setattr(blocks, "BLOCKS_PER_BATCH", 1)
    table = pd.DataFrame(np.random.default_rng(1).random((32, 3)), columns=list("abc")).assign(s=[1, 0] * 16)
    request = Request(LabelRule("s"), "mim")
    packed = pack(inspect(SparkEngine(spark.createDataFrame(table).coalesce(1)), request), request)
    try:
        assert sorted(packed.blocks.scan(sizes(), "sizes").rows.tolist()) == [2, *[5] * 6]
        level = packed.blocks._blocks.storageLevel
        assert (level.useMemory, level.useDisk) == (False, True)
    finally:
        packed.blocks.release()


@pytest.mark.parametrize("sizes_of_batches", [[20], [8, 8, 4], [1] * 20, [3, 17]])
def test_blocks_do_not_depend_on_the_batches_that_rows_come_in(sizes_of_batches: list[int]) -> None:
    """Blocks of a lost executor are packed again by a job with batches of its own: they must be the same blocks."""
    values = np.random.default_rng(2).random((20, 2))
    edges = [0, *np.cumsum(sizes_of_batches)]
    arrays = [pa.array(values.tolist()), pa.array(["1", None] * 10)]
    whole = pa.RecordBatch.from_arrays(arrays, ["x", "t0"])
    batches = [whole.slice(first, last - first) for first, last in itertools.pairwise(edges)]
    bins = tuple((i, i, Bins(name, "numeric", edges=(0.3, 0.6))) for i, name in enumerate("ab"))
    source = blocks.Raw(None, RawReader(2), 8)  # type: ignore[arg-type]
    run = blocks.packing(source, Packer(bins, (), {"1": 1}, grouped=True), 2**20)
    found = [batch.to_pydict() for batch in run(iter(batches))]
    assert [len(block["label"][0]) for block in found] == [8, 8, 4] == [len(block["groups"][0]) for block in found]
    assert found == [batch.to_pydict() for batch in run(iter([whole]))]
