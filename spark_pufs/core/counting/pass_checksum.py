"""Did every pass see the same rows? A number per pass that tells, for little beside what the pass itself costs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spark_pufs.core.counting.hashing import mix, text_hashes
from spark_pufs.core.counting.kernel import Kernel, State
from spark_pufs.errors import DataError, Fault
from spark_pufs.types import RawBatch

__all__ = ["Nothing", "Witnessed", "changed_table", "witness_of"]

_KEY = "witness"


def witness_of(batch: RawBatch) -> NDArray[np.uint64]:
    """Sum of a hash of every row, and the number of rows (2,): the same for any order and partitioning.

    A row's hash is a product with odd factors: another value in one column always gives another hash, and the usual
    mixing of every single value, which the fingerprint pays for, is saved.
    """
    width = batch.numeric.shape[1]
    salt = mix(np.arange(width + len(batch.text) + 1, dtype=np.uint64)) | np.uint64(1)
    total = _one_piece(batch.numeric).view(np.uint64) @ salt[:width]
    for text, mark in zip([*batch.text, batch.label], salt[width:], strict=True):
        total = total + (text_hashes([*text.values, "\0null"]) * mark)[text.codes]
    return np.array([mix(total).sum(dtype=np.uint64), batch.rows], np.uint64)


def _one_piece(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """The values (n, D) by rows or by columns, whichever they are in already."""
    return values if values.flags.f_contiguous else np.ascontiguousarray(values)


@dataclass(frozen=True)
class Witnessed:
    """A kernel that also sums up what ``of`` says of each batch."""

    inner: Kernel[Any]
    of: Callable[[Any], NDArray[np.uint64]] = witness_of

    def start(self) -> State:
        return {**self.inner.start(), _KEY: np.zeros(2, np.uint64)}

    def add(self, state: State, batch: Any) -> State:
        own, seen = self.split(state)
        return {**self.inner.add(own, batch), _KEY: seen + self.of(batch)}

    def merge(self, left: State, right: State) -> State:
        (own, seen), (other, also) = self.split(left), self.split(right)
        return {**self.inner.merge(own, other), _KEY: seen + also}

    def split(self, state: State) -> tuple[State, NDArray[np.uint64]]:
        """The inner kernel's state, and the witness."""
        return {name: value for name, value in state.items() if name != _KEY}, state[_KEY]


class Nothing:
    """A kernel that counts nothing: a pass for its witness alone."""

    def start(self) -> State:
        return {}

    def add(self, state: State, batch: Any) -> State:
        return state

    def merge(self, left: State, right: State) -> State:
        return left


def changed_table(found: str) -> DataError:
    """What to tell of a table that was not the same in every pass."""
    fix = "Select from a table that stays as it is: a snapshot, a copy, without random numbers in its query."
    return DataError(Fault("Table", f"changed while it was read: {found}", fix))
