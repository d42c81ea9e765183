"""A bounded sample of a partition's rows, for methods that cannot do with counts, and what several of them make.

Drawn by a hash of the row's content, as every sample is: rows labelled positive up to a bound, others up to another,
and rows that make up much of a partition for certain. A window takes from each partition what lies below the smallest
of their thresholds, so that every row of the window had the same chance.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from spark_pufs.core.counting.row_sample import ALL, SampledRows, SampleKernel, Wanted
from spark_pufs.core.information.surrogate import Labels
from spark_pufs.selectors.sampling import HEAVY, with_heavy
from spark_pufs.table.numbers import TableRows
from spark_pufs.types import LABELLED_NEGATIVE, LABELLED_POSITIVE, UNLABELLED

__all__ = ["SEED", "KeptRows", "WindowRows", "draw_kept", "window_rows"]

ROWS = 4096  # of a partition: at most about so many labelled positive, and so many others
SEED = 0x6D656D6F7279  # a draw from what is kept must not hang on what was kept


@dataclass(frozen=True)
class KeptRows:
    """``sample`` holds every row with a hash up to ``labelled``, if it is labelled positive, else up to ``threshold``,
    and the ``heavy`` ones."""

    sample: SampledRows
    threshold: int
    labelled: int
    heavy: NDArray[np.uint64]


@dataclass(frozen=True)
class WindowRows:
    """X (n, D) and ``label`` states (n,) of rows drawn alike from all partitions, but for those labelled positive.

    ``even`` (n,): rows of which each had the same chance, whatever its label.
    """

    X: NDArray[np.float64]
    label: NDArray[np.uint8]
    even: NDArray[np.bool_]

    @property
    def labels(self) -> Labels:
        rows = np.bincount(self.label, minlength=3).tolist()
        return Labels(rows[LABELLED_POSITIVE], rows[LABELLED_NEGATIVE], rows[UNLABELLED])

    @property
    def alike(self) -> WindowRows:
        """The even rows alone."""
        return WindowRows(self.X[self.even], self.label[self.even], self.even[self.even])


def draw_kept(source: TableRows, wanted: Wanted, positive: int, others: int, most: int = ROWS) -> KeptRows:
    """The sample of a partition with so many rows labelled ``positive`` and ``others``."""
    threshold = ALL if others <= most else int(most / others * 2**64)
    labelled = ALL if positive <= most else int(most / positive * 2**64)
    kernel = SampleKernel(wanted, threshold, np.zeros(0, np.uint64), labelled)
    if others <= most:
        return KeptRows(source.scan(kernel, "rows to keep"), threshold, labelled, kernel.heavy)
    kernel, state = with_heavy(source, kernel, HEAVY * others / most)
    return KeptRows(state, threshold, labelled, kernel.heavy)


def window_rows(parts: Sequence[KeptRows]) -> WindowRows:
    """The rows of a window, in any order of partitions; heavy ones come as often as a draw would expect them."""
    threshold, labelled = min(one.threshold for one in parts), min(one.labelled for one in parts)
    heavy = np.unique(np.concatenate([one.heavy for one in parts]))
    every = reduce(lambda left, right: left.merge(right), [one.sample for one in parts])
    positive = every.label == LABELLED_POSITIVE
    certain = np.isin(every.hash, heavy) & ~positive
    limit = np.where(positive, np.uint64(labelled), np.uint64(threshold))
    thinned = np.maximum(np.rint(every.count * (threshold / ALL)), 1)
    copies = np.where(certain, thinned, np.where(every.hash <= limit, every.count, 0)).astype(np.int64)
    place = np.where(certain, every.hash / ALL, every.hash / limit)
    even = _part(copies, min(threshold, labelled) / limit, place)
    X, label = np.repeat(every.rows, copies, axis=0), np.repeat(every.label, copies)
    nth = np.arange(len(label)) - np.repeat(np.cumsum(copies) - copies, copies)
    return WindowRows(X, label, nth < np.repeat(even, copies))


def _part(copies: NDArray[np.int64], share: NDArray[np.float64], place: NDArray[np.float64]) -> NDArray[np.int64]:
    """A ``share`` of so many copies of each row, by chance where that is not whole: ``place`` in (0, 1] is the chance.

    >>> _part(np.array([1, 1, 10]), np.array([0.25, 0.25, 0.25]), np.array([0.2, 0.3, 0.4])).tolist()
    [1, 0, 3]
    """
    return np.minimum(np.floor(copies * share + 1 - place), copies).astype(np.int64)
