"""A table for methods that read numbers: its text columns as one number per level, where rows are read.

The numbers come from counts of the whole table (``core.information.level_numbers``), so they are the same bits on every
engine and for any partitioning, and every pass over the rows and every sample of them sees the same ones.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Generic, Protocol

import numpy as np
from numpy.typing import NDArray

from spark_pufs.core.counting.kernel import Held, Kernel
from spark_pufs.core.information.level_numbers import LevelNumbers, level_numbers
from spark_pufs.table.counter import Counter
from spark_pufs.table.pu_table import PUTable
from spark_pufs.types import RawBatch

__all__ = ["NumericView", "TableRows", "TextNumbers", "numeric_view", "text_numbers"]

Floats = NDArray[np.float64]


class TableRows(Protocol):
    """What a pass over rows needs."""

    def scan(self, kernel: Kernel[RawBatch, Held], what: str) -> Held: ...


@dataclass(frozen=True)
class TextNumbers:
    """Text columns of a batch by their places, each with the numbers of its levels."""

    columns: tuple[tuple[int, LevelNumbers], ...]

    def of(self, batch: RawBatch) -> RawBatch:
        """The batch with these columns after its numeric ones."""
        added = [levels.of(batch.text[place]) for place, levels in self.columns]
        nulls = np.concatenate([batch.nulls, np.zeros(len(added), np.int64)])
        return replace(batch, numeric=np.column_stack([batch.numeric, *added]), nulls=nulls)


@dataclass(frozen=True)
class EncodedKernel(Generic[Held]):
    """A kernel that sees text as numbers."""

    kernel: Kernel[RawBatch, Held]
    numbers: TextNumbers

    def start(self) -> Held:
        return self.kernel.start()

    def add(self, state: Held, batch: RawBatch) -> Held:
        return self.kernel.add(state, self.numbers.of(batch))


@dataclass(frozen=True)
class EncodedRows:
    """Rows in which text columns are numbers."""

    rows: TableRows
    numbers: TextNumbers

    def scan(self, kernel: Kernel[RawBatch, Held], what: str) -> Held:
        return self.rows.scan(EncodedKernel(kernel, self.numbers), what)


@dataclass(frozen=True)
class NumericView:
    """Rows whose numeric ``columns`` are the features, in their order, with the finite range (D,) of each."""

    rows: TableRows
    columns: tuple[int, ...]
    low: Floats
    high: Floats


def numeric_view(table: PUTable, counter: Counter) -> NumericView:
    """Every feature as a column of numbers; without text features the table as it is."""
    plan = table.plan
    place = {name: i for i, name in enumerate(plan.schema.numeric)}
    text = text_numbers(table, counter)
    place |= {name: len(plan.schema.numeric) + i for i, name in enumerate(text)}
    columns = tuple(place[name] for name in table.names)
    low = np.concatenate([plan.profile.low, [levels.low for levels in text.values()]])[list(columns)]
    high = np.concatenate([plan.profile.high, [levels.high for levels in text.values()]])[list(columns)]
    if not text:
        return NumericView(plan.source, columns, low, high)
    numbers = TextNumbers(tuple((plan.schema.text.index(name), levels) for name, levels in text.items()))
    return NumericView(EncodedRows(plan.source, numbers), columns, low, high)


def text_numbers(table: PUTable, counter: Counter) -> dict[str, LevelNumbers]:
    """The numbers of every text feature's levels, by its name."""
    wanted = [(i, bins) for i, bins in enumerate(table.bins) if bins.kind == "text"]
    if not wanted:
        return {}
    counts = counter.labels()
    return {
        bins.name: LevelNumbers.of_levels(bins, level_numbers(counts[:, table.layout.span(i)])) for i, bins in wanted
    }
