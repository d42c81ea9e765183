"""Unlabelled rows in positive clusters, as a DataFrame that is computed when it is used."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from spark_pufs.core.clusters.cluster_model import ClusterModel
from spark_pufs.core.counting.row_sample import label_codes
from spark_pufs.core.schema import label_states
from spark_pufs.engines.arrow_batches import raw_batch
from spark_pufs.types import UNLABELLED, LabelRule

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["likely_rows"]


def likely_rows(frame: DataFrame, kept: int, model: ClusterModel, rule: LabelRule) -> DataFrame:
    """``frame``: ``kept`` columns to pass on, then x (array of doubles), text columns, the label; adds ``cluster``."""
    from pyspark.sql.types import IntegerType, StructField, StructType

    schema = StructType([*frame.schema.fields[:kept], StructField("cluster", IntegerType())])

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            numbers, *text, label = batch.columns[kept:]
            rows = raw_batch(numbers.flatten(), len(model.numeric), text, label)
            states, _ = label_states(dict.fromkeys(rows.label.values, 0), rule)
            cluster = model.clusters(model.numbers(rows))
            likely = model.positive[cluster] & (label_codes(rows, states) == UNLABELLED)
            own = [column.filter(pa.array(likely)) for column in batch.columns[:kept]]
            found = pa.array(cluster[likely].astype(np.int32))
            yield pa.RecordBatch.from_arrays([*own, found], names=[*batch.schema.names[:kept], "cluster"])

    return frame.mapInArrow(run, schema)
