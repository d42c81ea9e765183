"""One number per level of a text column, for methods that read numbers.

Levels are ordered by their share of labelled rows where a G-test says that the shares differ, else by how common they
are. Ordering by labels always would make any column of many levels follow them: with random text columns added, six in
ten of the columns chosen were random; with this rule as few as with numbers that saw no label (docs/text_columns.md).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spark_pufs.core.information.gtest import log_p_value
from spark_pufs.types import LABELLED_POSITIVE, Bins, Text

__all__ = ["LevelNumbers", "differ", "level_numbers", "smoothed_lift"]

LEVEL = 0.01  # of the test; at most .034 of random columns pass it where cells are few (docs/text_columns.md)
STRENGTH = 5.0  # labelled rows of the whole table's mixture that every level is given besides its own


@dataclass(frozen=True)
class LevelNumbers:
    """The numbers (l,) of a text column's ``categories``, of all ``other`` values and of ``missing`` ones.

    NaN where the table that they were counted in had no such values: another table may.
    """

    categories: tuple[str, ...]
    numbers: NDArray[np.float64]
    other: float
    missing: float

    @classmethod
    def of_levels(cls, bins: Bins, numbers: NDArray[np.float64]) -> LevelNumbers:
        """From the number of each level of the column's bins."""
        known = len(bins.categories)
        other = float(numbers[known]) if bins.pooled else np.nan
        return cls(bins.categories, numbers[:known], other, float(numbers[-1]) if bins.missing else np.nan)

    def of(self, text: Text) -> NDArray[np.float64]:
        """The number (n,) of every row.

        >>> rows = Text(np.array([0, 1, 2, -1], np.int32), ["a", "z", "c"])
        >>> LevelNumbers(("c", "a"), np.array([0.5, 2.0]), 1.0, np.nan).of(rows)
        array([2. , 1. , 0.5, nan])
        """
        known = dict(zip(self.categories, self.numbers.tolist(), strict=True))
        numbers = np.array([known.get(value, self.other) for value in text.values] + [self.missing])
        found: NDArray[np.float64] = numbers[text.codes]  # -1 picks the last one
        return found

    @property
    def low(self) -> float:
        return float(np.nanmin([*self.numbers, self.other, self.missing]))

    @property
    def high(self) -> float:
        return float(np.nanmax([*self.numbers, self.other, self.missing]))


def level_numbers(counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """Numbers (l,) from label x level counts (3, l): the lift of the label where levels differ, else the frequency.

    >>> level_numbers(np.array([[40, 20, 20], [1, 1, 0], [0, 0, 0]])).tolist()  # nothing to be seen: rows of 82
    [0.5, 0.25609756097560976, 0.24390243902439024]
    >>> level_numbers(np.array([[50, 10], [0, 40], [0, 0]])).round(2).tolist()
    [0.2, 1.8]
    """
    labelled, rows = counts[LABELLED_POSITIVE], counts.sum(axis=0)
    if differ(labelled, rows):
        return smoothed_lift(labelled, rows)
    return np.asarray(rows / rows.sum())


def differ(labelled: NDArray[np.int64], rows: NDArray[np.int64]) -> bool:
    """Whether the share of labelled rows differs between levels (l,), by a G-test."""
    seen = rows > 0
    table = np.stack([labelled, rows - labelled])[:, seen].astype(np.float64)
    expected = table.sum(axis=1, keepdims=True) * table.sum(axis=0) / table.sum()
    cells = table > 0
    g = 2 * float(np.sum(table[cells] * np.log(table[cells] / expected[cells])))
    return bool(log_p_value(g, seen.sum() - 1) < np.log(LEVEL))


def smoothed_lift(labelled: NDArray[np.int64], rows: NDArray[np.int64]) -> NDArray[np.float64]:
    """How much commoner the label is in each level (l,) than in all rows; rare levels are drawn towards 1."""
    share = labelled.sum() / rows.sum()
    return np.asarray((labelled + STRENGTH) / (rows + STRENGTH / share) / share)
