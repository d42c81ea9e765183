"""One pass over the source: rows, label values, ranges, nulls, NaN, infinities, distinct values, a fingerprint."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spark_pufs.core.hashing import mix, one_form, text_hashes
from spark_pufs.core.kernel import State
from spark_pufs.types import RawBatch, Text

__all__ = ["Profile", "ProfileKernel"]

SKETCH = 256  # smallest hashes kept per numeric column: exact below 256 values, about 6 % beyond
MOST_VALUES = 4096  # a text column with more distinct values is treated as an identifier
_NONE = np.uint64(2**64 - 1)
_SLOT = np.uint64(4095)


@dataclass(frozen=True)
class Profile:
    """What the pass found; arrays are (numeric columns,)."""

    rows: int
    labels: dict[str | None, int]
    too_many_labels: bool
    nulls: NDArray[np.int64]
    nans: NDArray[np.int64]
    infinite: NDArray[np.int64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    whole: NDArray[np.bool_]
    distinct: NDArray[np.float64]
    text_nulls: NDArray[np.int64]
    text_counts: list[dict[str, int] | None]
    fingerprint: str

    def of(self, columns: list[int]) -> Profile:
        """The profile with some of the numeric columns alone."""
        arrays = ("nulls", "nans", "infinite", "low", "high", "whole", "distinct")
        own = {name: getattr(self, name)[columns] for name in arrays}
        return replace(self, **own, text_nulls=self.text_nulls[:0], text_counts=[])


@dataclass(frozen=True)
class ProfileKernel:
    """Counts, extremes and bottom-k hash sketches of ``numeric`` and ``text`` columns."""

    numeric: int
    text: int

    def start(self) -> State:
        n = self.numeric
        return {
            "rows": np.zeros(1, np.int64),
            "labels": {},
            "label_nulls": np.zeros(1, np.int64),
            "nulls": np.zeros(n, np.int64),
            "nans": np.zeros(n, np.int64),
            "infinite": np.zeros(n, np.int64),
            "low": np.full(n, np.inf),
            "high": np.full(n, -np.inf),
            "fractions": np.zeros(n, np.int64),
            "sketch": np.full((n, SKETCH), _NONE),
            "text_nulls": np.zeros(self.text, np.int64),
            "text_counts": [{} for _ in range(self.text)],
            "hash": np.zeros(1, np.uint64),
        }

    def add(self, state: State, batch: RawBatch) -> State:
        return self.merge(state, self._of(batch, state["sketch"])) if batch.rows else state

    def merge(self, left: State, right: State) -> State:
        sums = ("rows", "label_nulls", "nulls", "nans", "infinite", "fractions", "text_nulls", "hash")
        merged = {name: left[name] + right[name] for name in sums}
        merged["low"] = np.minimum(left["low"], right["low"])
        merged["high"] = np.maximum(left["high"], right["high"])
        merged["sketch"] = _merge_sketches(left["sketch"], right["sketch"])
        merged["labels"] = _add_counts(left["labels"], right["labels"])
        merged["text_counts"] = list(map(_add_counts, left["text_counts"], right["text_counts"]))
        return merged

    def _of(self, batch: RawBatch, kept: NDArray[np.uint64]) -> State:
        X = one_form(batch.numeric)
        values = _finite_values(X) if np.isfinite(X).all() else _any_values(X)
        nan = values.pop("nan")
        hashes = mix(X.view(np.uint64))
        return {
            **values,
            "rows": np.array([batch.rows], np.int64),
            "labels": _text_counts(batch.label),
            "label_nulls": np.array([np.count_nonzero(batch.label.codes < 0)], np.int64),
            "nulls": batch.nulls,
            "nans": (0 if nan is None else nan.sum(axis=0)) - batch.nulls,
            "sketch": _sketch(hashes, nan, kept),
            "text_nulls": np.array([np.count_nonzero(t.codes < 0) for t in batch.text], np.int64),
            "text_counts": [_text_counts(t) for t in batch.text],
            "hash": _row_hash(hashes, batch),
        }

    def read(self, state: State) -> Profile:
        """The state as plain facts."""
        labels: dict[str | None, int] = dict(state["labels"] or {})
        if state["label_nulls"][0]:
            labels[None] = int(state["label_nulls"][0])
        return Profile(
            rows=int(state["rows"][0]),
            labels=labels,
            too_many_labels=state["labels"] is None,
            nulls=state["nulls"],
            nans=state["nans"],
            infinite=state["infinite"],
            low=state["low"],
            high=state["high"],
            whole=state["fractions"] == 0,
            distinct=_distinct(state["sketch"]),
            text_nulls=state["text_nulls"],
            text_counts=state["text_counts"],
            fingerprint=f"{int(state['hash'][0]):016x}-{int(state['rows'][0])}",
        )


def _finite_values(X: NDArray[np.float64]) -> State:
    """Extremes and counts of values (n, D) that are all finite: the usual batch, in half the passes over memory."""
    return {
        "low": X.min(axis=0),
        "high": X.max(axis=0),
        "fractions": (np.floor(X) != X).sum(axis=0),
        "infinite": np.zeros(X.shape[1], np.int64),
        "nan": None,
    }


def _any_values(X: NDArray[np.float64]) -> State:
    finite, nan = np.isfinite(X), np.isnan(X)
    return {
        "low": np.where(finite, X, np.inf).min(axis=0),
        "high": np.where(finite, X, -np.inf).max(axis=0),
        "fractions": (finite & (np.floor(X) != X)).sum(axis=0),
        "infinite": (~finite & ~nan).sum(axis=0),
        "nan": nan,
    }


def _row_hash(hashes: NDArray[np.uint64], batch: RawBatch) -> NDArray[np.uint64]:
    """Sum over rows of a hash of the whole row: blind to row order and partitioning, not to any value."""
    salt = mix(np.arange(hashes.shape[1] + len(batch.text) + 1, dtype=np.uint64)) | np.uint64(1)
    # The hashes of the values are well spread: an odd factor per column is enough to tell the columns apart.
    total = hashes @ salt[: hashes.shape[1]]
    for text, mark in zip([*batch.text, batch.label], salt[hashes.shape[1] :], strict=True):
        known = text_hashes([*text.values, "\0null"])
        total = total + mix(known ^ mark)[text.codes]
    return np.array([mix(total).sum(dtype=np.uint64)], np.uint64)


def _sketch(
    hashes: NDArray[np.uint64], absent: NDArray[np.bool_] | None, kept: NDArray[np.uint64]
) -> NDArray[np.uint64]:
    """The smallest distinct hashes of each column (D, SKETCH) but those that ``kept`` has or has no room for."""
    sketch = np.full((hashes.shape[1], SKETCH), _NONE)
    by_column = np.ascontiguousarray(hashes.T)
    slot_of_kept = kept & _SLOT
    for column, own in enumerate(by_column):
        # Most values have been seen before: one look into a small table is far cheaper than sorting them again.
        seen = np.full(int(_SLOT) + 1, _NONE)
        seen[slot_of_kept[column]] = kept[column]
        new = (own < kept[column, -1]) & (seen[own & _SLOT] != own)
        if absent is not None:
            new &= ~absent[:, column]
        smallest = np.unique(own[new])[:SKETCH]
        sketch[column, : len(smallest)] = smallest
    return sketch


def _merge_sketches(left: NDArray[np.uint64], right: NDArray[np.uint64]) -> NDArray[np.uint64]:
    both = np.sort(np.hstack([left, right]), axis=1)
    both[:, 1:][both[:, 1:] == both[:, :-1]] = _NONE
    merged: NDArray[np.uint64] = np.sort(both, axis=1)[:, :SKETCH]
    return merged


def _distinct(sketch: NDArray[np.uint64]) -> NDArray[np.float64]:
    """Exact while the sketch is not full, else (k-1) / (k-th smallest hash as a share of all hashes)."""
    kept = (sketch != _NONE).sum(axis=1)
    share = sketch[:, -1].astype(np.float64) / 2.0**64
    return np.where(kept < SKETCH, kept, (SKETCH - 1) / share)


def _text_counts(text: Text) -> dict[str, int] | None:
    counts = np.bincount(text.codes[text.codes >= 0], minlength=len(text.values))
    found = {value: int(count) for value, count in zip(text.values, counts, strict=True) if count}
    return found if len(found) <= MOST_VALUES else None


def _add_counts(left: Any, right: Any) -> dict[str, int] | None:
    """Counts per value, or None once there are too many: true of all rows as soon as it is true of some."""
    if left is None or right is None:
        return None
    total = dict(left)
    for value, count in right.items():
        total[value] = total.get(value, 0) + count
    return total if len(total) <= MOST_VALUES else None
