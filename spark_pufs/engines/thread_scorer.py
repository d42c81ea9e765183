"""Masks scored in this process, a thread per core: the products leave Python's lock alone.

The scorer of the local engine, and of Spark where no cluster is there to use and a job would cost more than the work.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.typing import NDArray

from spark_pufs.core.clusters.diagonal_em import MixtureSettings
from spark_pufs.core.clusters.mixture import generation_draws, make_sample, score_chunk
from spark_pufs.core.counting.row_sample import RowSample
from spark_pufs.core.process_state import single_thread, undisturbed
from spark_pufs.core.search.mask_draws import CHUNK, MaskDraws

__all__ = ["ThreadScorer"]


class ThreadScorer:
    """The reference scorer; the answer does not depend on ``threads``."""

    def __init__(self, sample: RowSample, settings: MixtureSettings, threads: int | None = None) -> None:
        self._whole = make_sample(sample.X, sample.labelled, sample.weight, scale=settings.scale)
        self._part, self._rows = self._whole, len(sample.weight)
        self._settings = settings
        self._pool = ThreadPoolExecutor(threads or os.cpu_count(), initializer=single_thread)

    def score(
        self, draws: MaskDraws, seed: Sequence[int], rows: int
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        if rows != self._rows:
            self._part, self._rows = self._whole.part(rows), rows
        # One BLAS thread: the chunks themselves run side by side, and bits must not depend on the core count.
        with undisturbed():
            shared = generation_draws(self._part, self._settings, seed)
            firsts = range(0, draws.count, CHUNK)
            found = self._pool.map(
                lambda first: score_chunk(self._part, draws.chunk(first), self._settings, seed, shared), firsts
            )
            labelled, total = zip(*found, strict=True)
        return np.concatenate(labelled), np.concatenate(total)

    def close(self) -> None:
        self._pool.shutdown()
