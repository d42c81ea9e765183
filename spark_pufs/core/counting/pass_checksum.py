"""Did every pass see the same rows? A number per pass that tells, for little beside what the pass itself costs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from spark_pufs.core.counting.hashing import column_sums, mix, text_hashes
from spark_pufs.core.counting.kernel import Held, Kernel
from spark_pufs.errors import DataError, Fault
from spark_pufs.types import RawBatch

__all__ = ["Empty", "Nothing", "Seen", "Witnessed", "changed_table", "row_marks", "witness_of"]

Rows = TypeVar("Rows")


def witness_of(batch: RawBatch) -> NDArray[np.uint64]:
    """Sum of a hash of every row, and the number of rows (2,): the same for any order and partitioning."""
    return np.array([row_marks(batch).sum(dtype=np.uint64), batch.rows], np.uint64)


def row_marks(batch: RawBatch) -> NDArray[np.uint64]:
    """A hash (n,) of every row, as its values lie in memory.

    It is a product with odd factors: another value in one column always gives another hash, and the usual mixing of
    every single value, which the fingerprint pays for, is saved.
    """
    width = batch.numeric.shape[1]
    salt = mix(np.arange(width + len(batch.text) + 1, dtype=np.uint64)) | np.uint64(1)
    total = _number_sums(batch.numeric, salt[:width])
    for text, mark in zip([*batch.text, batch.label], salt[width:], strict=True):
        total = total + (text_hashes([*text.values, "\0null"]) * mark)[text.codes]
    return mix(total)


def _number_sums(values: NDArray[np.float64], factors: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The sum (n,) of the bits of values (n, D) times a factor (D,) each, by rows or by columns as they are."""
    if values.flags.f_contiguous:
        return column_sums(values.T.view(np.uint64), factors)
    total: NDArray[np.uint64] = np.ascontiguousarray(values).view(np.uint64) @ factors
    return total


@dataclass(frozen=True)
class Seen(Generic[Held]):
    """A kernel's state, and the ``witness`` (2,) of the rows behind it."""

    state: Held
    witness: NDArray[np.uint64]

    def merge(self, other: Seen[Held]) -> Seen[Held]:
        return Seen(self.state.merge(other.state), self.witness + other.witness)


@dataclass(frozen=True)
class Witnessed(Generic[Rows, Held]):
    """A kernel that also sums up what ``of`` says of each batch."""

    inner: Kernel[Rows, Held]
    of: Callable[[Rows], NDArray[np.uint64]]

    def start(self) -> Seen[Held]:
        return Seen(self.inner.start(), np.zeros(2, np.uint64))

    def add(self, state: Seen[Held], batch: Rows) -> Seen[Held]:
        return Seen(self.inner.add(state.state, batch), state.witness + self.of(batch))


@dataclass(frozen=True)
class Empty:
    """No state."""

    def merge(self, other: Empty) -> Empty:
        return self


class Nothing:
    """A kernel that counts nothing: a pass for its witness alone."""

    def start(self) -> Empty:
        return Empty()

    def add(self, state: Empty, batch: object) -> Empty:
        return state


def changed_table(found: str) -> DataError:
    """What to tell of a table that was not the same in every pass."""
    fix = "Select from a table that stays as it is: a snapshot, a copy, without random numbers in its query."
    return DataError(Fault("Table", f"changed while it was read: {found}", fix))
