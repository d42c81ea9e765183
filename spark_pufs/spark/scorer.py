"""Masks drawn and scored by the cluster: the sample goes to the workers once, theta with each generation.

The driver broadcasts what masks are drawn from, theta and the generation's seed; a pandas UDF over the numbers of masks
draws its own and clusters the sample under them; counts come back.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from spark_pufs.core.clusters.diagonal_em import Draws, MixtureSettings
from spark_pufs.core.clusters.mixture import MixtureSample, generation_draws, make_sample, score_chunk
from spark_pufs.core.counting.row_sample import RowSample
from spark_pufs.core.process_state import undisturbed
from spark_pufs.core.search.mask_draws import CHUNK, MaskDraws
from spark_pufs.spark.own_session import is_connect
from spark_pufs.spark.scan import jobs_called, slots
from spark_pufs.spark.shipping import Parcel, receive, ship

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["SparkScorer"]

SCHEMA = "first long, labelled binary, rows binary"
Counts = tuple[NDArray[np.float64], NDArray[np.float64]]
Key = tuple[str, MixtureSettings, tuple[int, ...], int]
Frames = Callable[[Iterator[pd.DataFrame]], Iterator[pd.DataFrame]]


class Shared(Protocol):
    """A broadcast variable, or what stands for one."""

    @property
    def value(self) -> MaskDraws: ...


@dataclass(frozen=True)
class InClosure:
    """Under Connect, which has no broadcast variables, the value travels with the function."""

    value: MaskDraws


@dataclass(frozen=True)
class Evaluation:
    """How masks are scored: on which rows of which sample, with which random numbers."""

    sample: Parcel
    settings: MixtureSettings
    seed: tuple[int, ...]
    rows: int


class SparkScorer:
    """One Spark job per generation; a failed or repeated task gives the same bits."""

    def __init__(self, spark: SparkSession, sample: RowSample, settings: MixtureSettings) -> None:
        self._spark = spark
        self._settings = settings
        self._slots = slots(spark)
        self._parcel = ship(spark, sample)

    def score(self, draws: MaskDraws, seed: Sequence[int], rows: int) -> Counts:
        count = -(-draws.count // CHUNK)
        # Chunks cost alike, so one task per slot is balanced; with many, two even out a slow machine.
        tasks = self._slots * (2 if count >= 16 * self._slots else 1)
        numbers = self._spark.range(0, draws.count, CHUNK, min(count, tasks))
        how = Evaluation(self._parcel, self._settings, tuple(seed), rows)
        with broadcast(self._spark, draws) as shared, jobs_called(self._spark, f"score {draws.count} masks"):
            found = numbers.mapInPandas(_scorer(shared, how), SCHEMA).collect()
        found.sort(key=lambda row: row["first"])
        labelled, total = (
            np.concatenate([np.frombuffer(row[name]).reshape(-1, self._settings.components) for row in found])
            for name in ("labelled", "rows")
        )
        return labelled, total

    def close(self) -> None:
        self._parcel.withdraw()


@contextmanager
def broadcast(spark: SparkSession, draws: MaskDraws) -> Iterator[Shared]:
    """The draws where every task can read them, for the jobs inside."""
    if is_connect(spark):
        yield InClosure(draws)
        return
    variable = spark.sparkContext.broadcast(draws)
    try:
        yield variable
    finally:
        variable.destroy()


def _scorer(shared: Shared, how: Evaluation) -> Frames:
    def run(frames: Iterator[pd.DataFrame]) -> Iterator[pd.DataFrame]:
        with undisturbed():
            sample, common = _prepared(how)
            for first in (first for frame in frames for first in frame["id"].tolist()):
                counts = score_chunk(sample, shared.value.chunk(first), how.settings, how.seed, common)
                labelled, rows = ([part.tobytes()] for part in counts)
                yield pd.DataFrame({"first": [first], "labelled": labelled, "rows": rows})

    return run


_ready: dict[tuple[str, str], MixtureSample] = {}  # the sample of this worker, the last one
_current: dict[Key, tuple[MixtureSample, Draws | None]] = {}  # its rows in the last generation, and what masks share


def _prepared(how: Evaluation) -> tuple[MixtureSample, Draws | None]:
    """The rows of this generation, and what its masks share: made once by each worker."""
    key = (how.sample.name, how.settings, how.seed, how.rows)
    if key not in _current:
        _current.clear()
        part = _sample(how.sample, how.settings.scale).part(how.rows)
        _current[key] = part, generation_draws(part, how.settings, how.seed)
    return _current[key]


def _sample(parcel: Parcel, scale: str) -> MixtureSample:
    """The sample, made ready once by each worker."""
    if (parcel.name, scale) not in _ready:
        _ready.clear()
        rows: RowSample = receive(parcel, RowSample)
        _ready[parcel.name, scale] = make_sample(rows.X, rows.labelled, rows.weight, scale=scale)
    return _ready[parcel.name, scale]
