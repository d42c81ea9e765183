"""A source that is read in several passes must be the same in each: files may be replaced meanwhile, a query may draw
random numbers. Then the counts of one pass do not belong to the bins of another, and no answer is better than that."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spark_pufs.core.counting.pass_checksum import changed_table

__all__ = ["FirstPass", "Watch"]


@dataclass
class FirstPass:
    """How many rows a table had in the first pass over any of its columns; None before that."""

    rows: int | None = None


class Watch:
    """Remembers what the first pass saw and holds every later one to it.

    Sources of other columns of the same table share ``table``.
    """

    def __init__(self, table: FirstPass | None = None) -> None:
        self._first: NDArray[np.uint64] | None = None
        self._table = table or FirstPass()

    @property
    def began(self) -> bool:
        return self._first is not None

    def look(self, witness: NDArray[np.uint64], what: str) -> None:
        """Raise unless the pass ``what`` saw the rows of the first pass."""
        now = int(witness[1])
        if self._table.rows is None:
            self._table.rows = now
        if self._first is None:
            self._first = witness
        if now != self._table.rows or not np.array_equal(witness, self._first):
            raise changed_table(_seen(self._table.rows, now, what))


def _seen(before: int, now: int, what: str) -> str:
    rows = f"{before:,} rows at first, {now:,}" if before != now else f"{now:,} rows as at first, but other values"
    return f"{rows} in pass '{what}'"
