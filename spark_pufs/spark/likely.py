"""Rows that a model lists, as a DataFrame that is computed when it is used."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pyarrow as pa

from spark_pufs.core.counting.row_sample import label_codes
from spark_pufs.core.schema import label_states
from spark_pufs.engines.arrow_batches import raw_batch
from spark_pufs.engines.base import RowLister
from spark_pufs.types import LabelRule

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["likely_rows"]


def likely_rows(frame: DataFrame, kept: int, model: RowLister, rule: LabelRule) -> DataFrame:
    """``frame``: ``kept`` columns to pass on, then x (array of doubles), text columns, the label; adds the model's."""
    from pyspark.sql.types import DoubleType, IntegerType, StructField, StructType

    told_type = IntegerType() if model.whole else DoubleType()
    schema = StructType([*frame.schema.fields[:kept], StructField(model.column, told_type)])

    name = model.column

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            numbers, *text, label = batch.columns[kept:]
            rows = raw_batch(numbers.flatten(), len(model.numeric), text, label)
            states, _ = label_states(dict.fromkeys(rows.label.values, 0), rule)
            likely, told = model.listed(rows, label_codes(rows, states))
            own = [column.filter(pa.array(likely)) for column in batch.columns[:kept]]
            yield pa.RecordBatch.from_arrays([*own, pa.array(told[likely])], names=[*batch.schema.names[:kept], name])

    return frame.mapInArrow(run, schema)
