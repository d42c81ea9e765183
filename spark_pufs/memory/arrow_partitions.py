"""An Arrow table cut by a column."""

from __future__ import annotations

from functools import cached_property

import pyarrow as pa
import pyarrow.compute as pc

from spark_pufs.engines.arrow_batches import plain_text
from spark_pufs.engines.memory import MemoryEngine
from spark_pufs.errors import DataError, Fault, did_you_mean
from spark_pufs.memory.partitions import Partition, no_value
from spark_pufs.types import Column

__all__ = ["ArrowPartitions"]


class ArrowPartitions:
    """Only the rows themselves tell whether a partition has changed: they are looked at, and not counted again."""

    def __init__(self, table: pa.Table, partition: str) -> None:
        if partition not in table.column_names:
            found = f"'{partition}' is the name of 0 columns"
            raise DataError(Fault("Option 'partition'", found, did_you_mean(partition, table.column_names)))
        self._rest = table.drop_columns([partition])
        self._column, self._name = table.column(partition), partition

    def columns(self) -> list[Column]:
        return MemoryEngine(self._rest.slice(0, 0)).columns()

    def partitions(self) -> list[Partition]:
        return [Partition(key) for key in self._rows]

    def engine(self, key: str) -> MemoryEngine:
        return MemoryEngine(self._rest.take(self._rows[key]))

    @cached_property
    def _rows(self) -> dict[str, pa.Array]:
        """The rows of each partition by its key; of moments the day, in UTC where they have a zone."""
        column = self._column
        if pa.types.is_timestamp(column.type):
            column = column.cast(pa.timestamp("us")).cast(pa.date32(), safe=False)
        if column.null_count:
            raise no_value(self._name, column.null_count)
        values = pc.unique(column)
        return {plain_text(value.as_py()): pc.indices_nonzero(pc.equal(column, value)) for value in values}
