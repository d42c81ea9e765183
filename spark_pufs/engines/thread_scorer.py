"""Masks scored in this process, a thread per core: the products leave Python's lock alone.

The scorer of the local engine, and of Spark where no cluster is there to use and a job would cost more than the work.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np
from numpy.typing import NDArray

from spark_pufs.core.clusters.diagonal_em import MixtureSettings
from spark_pufs.core.clusters.mixture import chunks, make_sample, score_chunk
from spark_pufs.core.counting.row_sample import RowSample
from spark_pufs.core.process_state import single_thread, undisturbed

__all__ = ["ThreadScorer"]


class ThreadScorer:
    """The reference scorer; the answer does not depend on ``threads``."""

    def __init__(self, sample: RowSample, settings: MixtureSettings, threads: int | None = None) -> None:
        self._sample = make_sample(sample.X, sample.labelled, sample.weight, scale=settings.scale)
        self._settings = settings
        self._pool = ThreadPoolExecutor(threads or os.cpu_count(), initializer=single_thread)

    def score(self, masks: NDArray[np.bool_], seed: Sequence[int]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        # One BLAS thread: the chunks themselves run side by side, and bits must not depend on the core count.
        with undisturbed():
            found = list(self._pool.map(partial(self._score_chunk, seed=seed), chunks(masks)))
        labelled, rows = zip(*found, strict=True)
        return np.concatenate(labelled), np.concatenate(rows)

    def _score_chunk(
        self, masks: NDArray[np.bool_], seed: Sequence[int]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        return score_chunk(self._sample, masks, self._settings, seed)

    def close(self) -> None:
        self._pool.shutdown()
