"""A source that is read in several passes must be the same in each: files may be replaced meanwhile, a query may draw
random numbers. Then the counts of one pass do not belong to the bins of another, and no answer is better than that."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from spark_pufs.errors import DataError, Fault

__all__ = ["Watch"]


class Watch:
    """Remembers what the first pass saw and holds every later one to it."""

    def __init__(self) -> None:
        self._first: NDArray[np.uint64] | None = None

    @property
    def began(self) -> bool:
        return self._first is not None

    def look(self, witness: NDArray[np.uint64], what: str) -> None:
        """Raise unless the pass ``what`` saw the rows of the first pass."""
        if self._first is None:
            self._first = witness
        elif not np.array_equal(witness, self._first):
            raise DataError(_changed(int(self._first[1]), int(witness[1]), what))


def _changed(before: int, now: int, what: str) -> Fault:
    rows = f"{before:,} rows at first, {now:,}" if before != now else f"{now:,} rows as at first, but other values"
    fix = "Select from a table that stays as it is: a snapshot, a copy, without random numbers in its query."
    return Fault("Table", f"changed while it was read: {rows} in pass '{what}'", fix)
