"""Several partitions as one table with rows, read one after the other: what cut points are made from."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from spark_pufs.core.counting.kernel import Held, Kernel
from spark_pufs.core.counting.pass_checksum import Witnessed
from spark_pufs.engines.base import Packer, raw_width, record
from spark_pufs.findings.run_facts import Pass, Reading
from spark_pufs.memory.partitions import PartitionedTable
from spark_pufs.memory.window import WithoutRows, no_rows
from spark_pufs.table.numbers import TableRows
from spark_pufs.types import Column, RawBatch

__all__ = ["UnionEngine"]


class UnionEngine(WithoutRows):
    """The partitions ``keys`` of a table."""

    def __init__(self, table: PartitionedTable, keys: Sequence[str]) -> None:
        self._table, self._keys = table, tuple(keys)
        self.name = "union"
        self.reading = Reading()
        self.passes: list[Pass] = []

    def columns(self) -> list[Column]:
        return self._table.columns()

    def source(self, numeric: Sequence[str], text: Sequence[str], label: str) -> UnionSource:
        return UnionSource(self._table, self._keys, tuple(numeric), tuple(text), label, self.passes)


@dataclass(frozen=True)
class UnionSource:
    """Some columns of them; a partition's rows are in memory while it is read and no longer."""

    table: PartitionedTable
    keys: tuple[str, ...]
    numeric: tuple[str, ...]
    text: tuple[str, ...]
    label: str
    passes: list[Pass]

    def scan(self, kernel: Kernel[RawBatch, Held], what: str) -> Held:
        began = time.perf_counter()
        counted = Witnessed(kernel, _rows)
        seen = _merged(source.scan(counted, what) for source in self._sources())
        width = raw_width(len(self.numeric), len(self.text))
        record(self.passes, f"{what}, {len(self.keys)} partitions", began, int(seen.witness[1]), width)
        return seen.state

    def pack(self, packer: Packer) -> NoReturn:
        raise no_rows("a table in blocks")

    def _sources(self) -> Iterable[TableRows]:
        return (self.table.engine(key).source(self.numeric, self.text, self.label) for key in self.keys)


def _rows(batch: RawBatch) -> NDArray[np.uint64]:
    return np.array([0, batch.rows], np.uint64)


def _merged(states: Iterable[Held]) -> Held:
    return reduce(lambda left, right: left.merge(right), states)
