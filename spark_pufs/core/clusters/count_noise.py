"""How many rows of the sample a search needs: as many as keep what counting only some of them adds to f small.

Masks differ by far more than the error of counting their clusters on a part of the rows, at least at first and where
positives are easy to find. The search starts with few rows and doubles them where that error grows beyond ``SHARE`` of
the variance of log f between masks of one size.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spark_pufs.core.clusters.mixture_sample import part_sizes
from spark_pufs.core.clusters.objective import best_prefix

__all__ = ["FIRST_ROWS", "Rows"]

Floats = NDArray[np.float64]

FIRST_ROWS = 1536
SHARE = 0.1


@dataclass(frozen=True)
class Rows:
    """``used`` of the ``labelled`` and ``others`` rows of a sample."""

    labelled: int
    others: int
    used: int

    @classmethod
    def first(cls, labelled: int, others: int, few: bool) -> Rows:
        """Where a search begins: with a few, or with all."""
        return cls(labelled, others, min(FIRST_ROWS, labelled + others) if few else labelled + others)

    def after(self, masks: NDArray[np.bool_], labelled: Floats, rows: Floats) -> Rows:
        """For the next generation, by the counts (M, K) of this one's masks (M, D)."""
        total = self.labelled + self.others
        if self.used >= total or self.noise(masks, labelled, rows) <= SHARE:
            return self
        return Rows(self.labelled, self.others, min(2 * self.used, total))

    def noise(self, masks: NDArray[np.bool_], labelled: Floats, rows: Floats) -> float:
        """The error's share of the variance of log f between masks of one size, on average over the sizes."""
        hit, taken = best_prefix(labelled, rows)
        seen, sizes = hit > 0, masks.sum(axis=1)
        error, value = (
            self._error(hit, taken, labelled, rows),
            np.log(np.where(seen, hit**2 / np.maximum(taken, 1e-300), 1)),
        )
        groups = [seen & (sizes == size) for size in np.unique(sizes)]
        shares = [error[own].mean() / max(value[own].var(), 1e-12) for own in groups if own.sum() > 2]
        return float(np.mean(shares)) if shares else 0.0

    def _error(self, hit: Floats, taken: Floats, labelled: Floats, rows: Floats) -> Floats:
        """Variance (M,) of log A^2/B for the best prefix, A of its labelled rows and B of all, by drawing rows."""
        here = part_sizes(self.labelled, self.others, self.used)
        recall = hit / np.maximum(labelled.sum(axis=1), 1e-300)
        share = (taken - hit) / np.maximum((rows - labelled).sum(axis=1), 1e-300)
        left = [1 - part / max(whole, 1) for part, whole in zip(here, (self.labelled, self.others), strict=True)]
        of_hits = 4 * (1 - recall) / np.maximum(recall * here[0], 1) * left[0]
        of_taken = (
            (1 - share) / np.maximum(share * here[1], 1) * left[1] * ((taken - hit) / np.maximum(taken, 1e-300)) ** 2
        )
        error: Floats = of_hits + of_taken
        return error
