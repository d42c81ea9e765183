"""One pass over the source: rows, label values, ranges, nulls, NaN, infinities, distinct values, a fingerprint, and a
sample of rows.

Exact copies of columns are found by a checksum of each column whose terms are weighted by a hash of their row: sums of
64 bits that no order or partitioning of the rows changes, equal for two columns that are equal in every row.

The sample holds the rows with the smallest hashes of their content, so it does not depend on partitions. Equal rows are
one row of it. While all different rows fit, they are weighed by how often they occur; beyond that each counts once:
whether a row that makes up much of the table is drawn would be a gamble.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spark_pufs.core.counting.hashing import mix, one_form, text_hashes
from spark_pufs.core.counting.kernel import State
from spark_pufs.types import RawBatch, Text

__all__ = ["Extremes", "Profile", "ProfileKernel"]

Words = tuple[NDArray[np.uint64], NDArray[np.int32]]  # hashes of a column's texts, null last, and codes (n,) into them

SKETCH = 256  # smallest hashes kept per numeric column: exact below 256 values, about 6 % beyond
MOST_VALUES = 4096  # a text column with more distinct values is treated as an identifier
SAMPLE_ROWS, LEAST_ROWS, SAMPLE_CELLS = 8192, 1024, 1 << 20  # rows of the sample: fewer of a wide table
_NONE = np.uint64(2**64 - 1)
_SLOT = np.uint64(4095)
_COUNTS = ("rows", "label_nulls", "nulls", "nans", "infinite", "fractions", "text_nulls")
_HASHES = ("hash", "checksums", "text_checksums")  # sums modulo 2^64
_SLICE = 1024
NULL = "\0null"  # whose hash stands for a missing text


@dataclass(frozen=True)
class Extremes:
    """The outermost finite value of each column (D,), in how many rows it stands, and the next value inwards."""

    value: NDArray[np.float64]
    rows: NDArray[np.int64]
    next: NDArray[np.float64]

    def of(self, columns: list[int]) -> Extremes:
        """Those of some columns."""
        return Extremes(self.value[columns], self.rows[columns], self.next[columns])


@dataclass(frozen=True)
class Profile:
    """What the pass found; arrays are (numeric columns,)."""

    rows: int
    labels: dict[str | None, int]
    too_many_labels: bool
    nulls: NDArray[np.int64]
    nans: NDArray[np.int64]
    infinite: NDArray[np.int64]
    lowest: Extremes
    highest: Extremes
    whole: NDArray[np.bool_]
    distinct: NDArray[np.float64]
    text_nulls: NDArray[np.int64]
    text_counts: list[dict[str, int] | None]
    fingerprint: str
    checksums: NDArray[np.uint64]  # (2, numeric columns)
    text_checksums: NDArray[np.uint64]  # (2, text columns)
    sample: NDArray[np.float64]  # (rows of the sample, numeric columns)
    text_sample: NDArray[np.uint64]  # (rows of the sample, text columns), hashes of the texts
    sample_weight: NDArray[np.float64]

    @property
    def low(self) -> NDArray[np.float64]:
        return self.lowest.value

    @property
    def high(self) -> NDArray[np.float64]:
        return self.highest.value

    def of(self, columns: list[int], text: list[int]) -> Profile:
        """The profile with some of the numeric columns and of the text columns alone."""
        arrays = ("nulls", "nans", "infinite", "whole", "distinct")
        own = {name: getattr(self, name)[columns] for name in arrays}
        own |= {"checksums": self.checksums[:, columns], "text_checksums": self.text_checksums[:, text]}
        return replace(
            self,
            **own,
            lowest=self.lowest.of(columns),
            highest=self.highest.of(columns),
            sample=self.sample[:, columns],
            text_sample=self.text_sample[:, text],
            text_nulls=self.text_nulls[text],
            text_counts=[self.text_counts[i] for i in text],
        )


@dataclass(frozen=True)
class ProfileKernel:
    """Counts, extremes and bottom-k hash sketches of ``numeric`` and ``text`` columns."""

    numeric: int
    text: int

    @property
    def sample_rows(self) -> int:
        return min(SAMPLE_ROWS, max(LEAST_ROWS, SAMPLE_CELLS // max(self.numeric, self.text, 1)))

    def start(self) -> State:
        n = self.numeric
        return {
            "rows": np.zeros(1, np.int64),
            "labels": {},
            "label_nulls": np.zeros(1, np.int64),
            "nulls": np.zeros(n, np.int64),
            "nans": np.zeros(n, np.int64),
            "infinite": np.zeros(n, np.int64),
            **_under("low", _no_extremes(n)),
            **_under("high", _no_extremes(n)),
            "fractions": np.zeros(n, np.int64),
            "sketch": np.full((n, SKETCH), _NONE),
            "text_nulls": np.zeros(self.text, np.int64),
            "text_counts": [{} for _ in range(self.text)],
            "hash": np.zeros(1, np.uint64),
            "checksums": np.zeros((2, n), np.uint64),
            "text_checksums": np.zeros((2, self.text), np.uint64),
            **_under("sample", _no_rows(n, self.text)),
        }

    def add(self, state: State, batch: RawBatch) -> State:
        return self.merge(state, self._of(batch, state)) if batch.rows else state

    def merge(self, left: State, right: State) -> State:
        merged = {name: left[name] + right[name] for name in (*_COUNTS, *_HASHES)}
        for end in ("low", "high"):
            merged |= _under(end, _merge_extremes(_part(left, end), _part(right, end)))
        merged |= _under("sample", _merge_samples(_part(left, "sample"), _part(right, "sample"), self.sample_rows))
        merged["sketch"] = _merge_sketches(left["sketch"], right["sketch"])
        merged["labels"] = _add_counts(left["labels"], right["labels"])
        merged["text_counts"] = list(map(_add_counts, left["text_counts"], right["text_counts"]))
        return merged

    def _of(self, batch: RawBatch, state: State) -> State:
        X = one_form(batch.numeric)
        values = _finite_values(X) if np.isfinite(X).all() else _any_values(X)
        nan = values.pop("nan")
        hashes = mix(X.view(np.uint64))
        words = [(text_hashes([*text.values, NULL]), text.codes) for text in (*batch.text, batch.label)]
        rows = _row_hashes(hashes, words)
        texts = np.array([known[codes] for known, codes in words[:-1]], np.uint64).reshape(-1, batch.rows)
        return {
            **values,
            "rows": np.array([batch.rows], np.int64),
            "labels": _text_counts(batch.label),
            "label_nulls": np.array([np.count_nonzero(batch.label.codes < 0)], np.int64),
            "nulls": batch.nulls,
            "nans": (0 if nan is None else nan.sum(axis=0)) - batch.nulls,
            "sketch": _sketch(hashes, nan, state["sketch"]),
            "text_nulls": np.array([np.count_nonzero(t.codes < 0) for t in batch.text], np.int64),
            "text_counts": [_text_counts(t) for t in batch.text],
            "hash": np.array([rows.sum(dtype=np.uint64)], np.uint64),
            "checksums": _checksums(rows, hashes),
            "text_checksums": _checksums(rows, texts.T),
            **_under("sample", _sampled(rows, X, texts.T, state["sample.hash"], self.sample_rows)),
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
            lowest=_read_extremes(_part(state, "low"), 1.0),
            highest=_read_extremes(_part(state, "high"), -1.0),
            whole=state["fractions"] == 0,
            distinct=_distinct(state["sketch"]),
            text_nulls=state["text_nulls"],
            text_counts=state["text_counts"],
            fingerprint=f"{int(state['hash'][0]):016x}-{int(state['rows'][0])}",
            checksums=state["checksums"],
            text_checksums=state["text_checksums"],
            sample=state["sample.rows"],
            text_sample=state["sample.texts"],
            sample_weight=_sample_weight(state["sample.count"], int(state["rows"][0])),
        )


def _finite_values(X: NDArray[np.float64]) -> State:
    """Extremes and counts of values (n, D) that are all finite: the usual batch, in half the passes over memory."""
    return {
        **_under("low", _extremes(X, 1.0)),
        **_under("high", _extremes(X, -1.0)),
        "fractions": (np.floor(X) != X).sum(axis=0),
        "infinite": np.zeros(X.shape[1], np.int64),
        "nan": None,
    }


def _any_values(X: NDArray[np.float64]) -> State:
    finite, nan = np.isfinite(X), np.isnan(X)
    return {
        **_under("low", _extremes(X, 1.0, finite)),
        **_under("high", _extremes(X, -1.0, finite)),
        "fractions": (finite & (np.floor(X) != X)).sum(axis=0),
        "infinite": (~finite & ~nan).sum(axis=0),
        "nan": nan,
    }


def _row_hashes(hashes: NDArray[np.uint64], words: list[Words]) -> NDArray[np.uint64]:
    """A hash (n,) of each whole row; its sum is blind to row order and partitioning, not to any value."""
    salt = mix(np.arange(hashes.shape[1] + len(words), dtype=np.uint64)) | np.uint64(1)
    # The hashes of the values are well spread: an odd factor per column is enough to tell the columns apart.
    total = hashes @ salt[: hashes.shape[1]]
    for (known, codes), mark in zip(words, salt[hashes.shape[1] :], strict=True):
        total = total + mix(known ^ mark)[codes]
    return mix(total)


def _checksums(rows: NDArray[np.uint64], hashes: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Sums (2, D) over the rows of values' hashes (n, D), weighted by two hashes of the row: 128 bits per column.

    The weight ties a value to its row: two columns with the same values in other rows have other sums.
    """
    return np.stack([np.einsum("i,ij->j", weight, hashes) for weight in (rows, mix(rows))])


def _under(name: str, part: State) -> State:
    """A part of a state by names of its own: states that travel are flat."""
    return {f"{name}.{key}": value for key, value in part.items()}


def _part(state: State, name: str) -> State:
    return {key.removeprefix(f"{name}."): value for key, value in state.items() if key.startswith(f"{name}.")}


def _no_extremes(columns: int) -> State:
    return {
        "value": np.full(columns, np.inf),
        "rows": np.zeros(columns, np.int64),
        "next": np.full(columns, np.inf),
    }


def _extremes(X: NDArray[np.float64], sign: float, finite: NDArray[np.bool_] | None = None) -> State:
    """Of ``sign`` times X (n, D): the smallest value of each column, its rows, and the next; infinite where none is."""
    found = _no_extremes(X.shape[1])
    for first in range(0, len(X), _SLICE):  # four steps on what the cache holds, not each on everything
        part = sign * X[first : first + _SLICE]
        if finite is not None:
            part[~finite[first : first + _SLICE]] = np.inf
        value = part.min(axis=0)
        at = part == value
        rows = np.where(np.isfinite(value), at.sum(axis=0), 0)
        part[at] = np.inf
        found = _merge_extremes(found, {"value": value, "rows": rows, "next": part.min(axis=0)})
    return found


def _merge_extremes(left: State, right: State) -> State:
    value = np.minimum(left["value"], right["value"])
    rows = sum(np.where(side["value"] == value, side["rows"], 0) for side in (left, right))
    others = [np.where(side["value"] == value, np.inf, side["value"]) for side in (left, right)]
    return {"value": value, "rows": rows, "next": np.minimum.reduce([left["next"], right["next"], *others])}


def _read_extremes(state: State, sign: float) -> Extremes:
    return Extremes(sign * state["value"], state["rows"], sign * state["next"])


def _no_rows(columns: int, texts: int) -> State:
    rows = {"rows": np.zeros((0, columns)), "texts": np.zeros((0, texts), np.uint64)}
    return {"hash": np.zeros(0, np.uint64), **rows, "count": np.zeros(0, np.int64)}


def _sampled(
    hashes: NDArray[np.uint64], X: NDArray[np.float64], texts: NDArray[np.uint64], kept: NDArray[np.uint64], most: int
) -> State:
    """Rows of X (n, D) and of the texts' hashes (n, T) that the sample with hashes ``kept`` has room for."""
    rows = np.arange(len(hashes)) if len(kept) < most else np.flatnonzero(hashes <= kept[-1])
    smallest, first, count = np.unique(hashes[rows], return_index=True, return_counts=True)
    picked = rows[first[:most]]
    return {"hash": smallest[:most], "rows": X[picked], "texts": texts[picked], "count": count[:most]}


def _merge_samples(left: State, right: State, most: int) -> State:
    if not len(right["hash"]):
        return left
    both = {name: np.concatenate([left[name], right[name]]) for name in left}
    hashes, first, place = np.unique(both["hash"], return_index=True, return_inverse=True)
    count = np.zeros(len(hashes), np.int64)
    np.add.at(count, place, both["count"])
    kept = {name: both[name][first[:most]] for name in ("rows", "texts")}
    return {"hash": hashes[:most], **kept, "count": count[:most]}


def _sample_weight(count: NDArray[np.int64], rows: int) -> NDArray[np.float64]:
    return (count if count.sum() == rows else np.ones(len(count))).astype(np.float64)


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
