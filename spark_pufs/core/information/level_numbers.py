"""One number per level of a text column, for methods that read numbers.

Levels are ordered by their share of labelled rows where a G-test says that the shares differ, else by how common they
are. Ordering by labels always would make any column of many levels follow them: with random text columns added, six in
ten of the columns chosen were random; with this rule as few as with numbers that saw no label (docs/text_columns.md).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from spark_pufs.core.information.gtest import log_p_value
from spark_pufs.types import LABELLED_POSITIVE

__all__ = ["differ", "level_numbers", "smoothed_lift"]

LEVEL = 0.01  # of the test; at most .034 of random columns pass it where cells are few (docs/text_columns.md)
STRENGTH = 5.0  # labelled rows of the whole table's mixture that every level is given besides its own


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
