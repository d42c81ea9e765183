"""A table for methods that read numbers: its text columns as one number per level, where rows are read.

The numbers come from counts of the whole table (``core.information.level_numbers``), so they are the same bits on every
engine and for any partitioning, and every pass over the rows and every sample of them sees the same ones.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Generic, Protocol

import numpy as np
from numpy.typing import NDArray

from spark_pufs.core.counting.bins import code_text
from spark_pufs.core.counting.kernel import Held, Kernel
from spark_pufs.core.information.level_numbers import level_numbers
from spark_pufs.table.counter import Counter
from spark_pufs.table.pu_table import PUTable
from spark_pufs.types import Bins, RawBatch

__all__ = ["NumericView", "Rows", "TextNumbers", "numeric_view"]

Floats = NDArray[np.float64]


class Rows(Protocol):
    """What a pass over rows needs."""

    def scan(self, kernel: Kernel[RawBatch, Held], what: str) -> Held: ...


@dataclass(frozen=True)
class TextNumbers:
    """Text columns of a batch, each with its bins and the number (levels,) of every level; missing is a level too."""

    columns: tuple[tuple[int, Bins, Floats], ...]

    def of(self, batch: RawBatch) -> RawBatch:
        """The batch with these columns after its numeric ones."""
        added = [values[code_text(batch.text[place], bins)] for place, bins, values in self.columns]
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

    rows: Rows
    numbers: TextNumbers

    def scan(self, kernel: Kernel[RawBatch, Held], what: str) -> Held:
        return self.rows.scan(EncodedKernel(kernel, self.numbers), what)


@dataclass(frozen=True)
class NumericView:
    """Rows whose numeric ``columns`` are the features, in their order, with the finite range (D,) of each."""

    rows: Rows
    columns: tuple[int, ...]
    low: Floats
    high: Floats


def numeric_view(table: PUTable, counter: Counter) -> NumericView:
    """Every feature as a column of numbers; without text features the table as it is."""
    plan = table.plan
    place = {name: i for i, name in enumerate(plan.schema.numeric)}
    numbers = _text_numbers(table, counter)
    place |= {bins.name: len(plan.schema.numeric) + i for i, (_, bins, _) in enumerate(numbers.columns)}
    columns = tuple(place[name] for name in table.names)
    low, high = (
        np.concatenate([known, [bound(values) for _, _, values in numbers.columns]])[list(columns)]
        for known, bound in ((plan.profile.low, np.min), (plan.profile.high, np.max))
    )
    rows: Rows = EncodedRows(plan.source, numbers) if numbers.columns else plan.source
    return NumericView(rows, columns, low, high)


def _text_numbers(table: PUTable, counter: Counter) -> TextNumbers:
    text = table.plan.schema.text
    wanted = [(i, bins) for i, bins in enumerate(table.bins) if bins.kind == "text"]
    counts = counter.labels() if wanted else None
    return TextNumbers(
        tuple(
            (text.index(bins.name), bins, level_numbers(counts[:, table.layout.span(i)]))
            for i, bins in wanted
            if counts is not None
        )
    )
