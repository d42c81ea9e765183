"""Masks scored by the cluster: the sample goes to the workers once, each generation as a few bytes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from spark_pufs.core.clusters.diagonal_em import MixtureSettings
from spark_pufs.core.clusters.mixture import CHUNK, MixtureSample, make_sample, score_chunk
from spark_pufs.core.counting.row_sample import RowSample
from spark_pufs.core.process_state import undisturbed
from spark_pufs.spark.scan import slots
from spark_pufs.spark.shipping import Parcel, receive, ship

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["SparkScorer"]

SCHEMA = "chunk long, labelled binary, rows binary"


class SparkScorer:
    """One Spark job per generation; a failed or repeated task gives the same bits."""

    def __init__(self, spark: SparkSession, sample: RowSample, settings: MixtureSettings) -> None:
        self._spark = spark
        self._settings = settings
        self._slots = slots(spark)
        self._parcel = ship(spark, sample)

    def score(self, masks: NDArray[np.bool_], seed: Sequence[int]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        count = -(-len(masks) // CHUNK)
        # Chunks cost alike, so one task per slot is balanced; with many, two even out a slow machine.
        tasks = self._slots * (2 if count >= 16 * self._slots else 1)
        job = self._spark.range(0, count, 1, min(count, tasks))
        rows = job.mapInArrow(_scorer(self._parcel, masks, self._settings, tuple(seed)), SCHEMA).collect()
        rows.sort(key=lambda row: row["chunk"])
        clusters = self._settings.components
        labelled, total = (
            np.concatenate([np.frombuffer(row[name]).reshape(-1, clusters) for row in rows])
            for name in ("labelled", "rows")
        )
        return labelled, total

    def close(self) -> None:
        self._parcel.withdraw()


def _scorer(
    parcel: Parcel, masks: NDArray[np.bool_], settings: MixtureSettings, seed: tuple[int, ...]
) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    packed, shape = np.packbits(masks), masks.shape

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        every = np.unpackbits(packed, count=shape[0] * shape[1]).reshape(shape).astype(np.bool_)
        with undisturbed():
            sample = _sample(parcel, settings.scale)
            for chunk in (chunk for batch in batches for chunk in batch.column(0).to_pylist()):
                counts = score_chunk(sample, every[chunk * CHUNK : (chunk + 1) * CHUNK], settings, seed)
                columns = [pa.array([chunk]), *(pa.array([part.tobytes()], pa.binary()) for part in counts)]
                yield pa.RecordBatch.from_arrays(columns, ["chunk", "labelled", "rows"])

    return run


_ready: dict[tuple[str, str], MixtureSample] = {}  # the sample of this worker, the last one


def _sample(parcel: Parcel, scale: str) -> MixtureSample:
    """The sample, made ready once by each worker."""
    if (parcel.name, scale) not in _ready:
        _ready.clear()
        rows: RowSample = receive(parcel, RowSample)
        _ready[parcel.name, scale] = make_sample(rows.X, rows.labelled, rows.weight, scale=scale)
    return _ready[parcel.name, scale]
