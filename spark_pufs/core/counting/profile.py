"""One pass over the source: rows, label values, ranges, nulls, NaN, infinities, distinct values, a fingerprint, and a
sample of rows.

Exact copies of columns are found by a checksum of each column whose terms are weighted by a hash of their row: sums of
64 bits that no order or partitioning of the rows changes, equal for two columns that are equal in every row.

The sample holds the rows with the smallest hashes of their content, so it does not depend on partitions. Equal rows are
one row of it. While all different rows fit, they are weighed by how often they occur; beyond that each counts once:
whether a row that makes up much of the table is drawn would be a gamble.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from spark_pufs.core.counting.hashing import mix, one_form, text_hashes
from spark_pufs.types import RawBatch, Text

__all__ = ["Content", "ContentKernel", "Extremes", "Profile", "ProfileKernel", "ProfileState", "SmallestRows"]

SKETCH = 256  # smallest hashes kept per numeric column: exact below 256 values, about 6 % beyond
MOST_VALUES = 4096  # a text column with more distinct values is treated as an identifier
SAMPLE_ROWS, LEAST_ROWS, SAMPLE_CELLS = 8192, 1024, 1 << 20  # rows of the sample: fewer of a wide table
_NONE = np.uint64(2**64 - 1)
_SLOT = np.uint64(4095)
_SLICE = 1024
NULL = "\0null"  # whose hash stands for a missing text


@dataclass(frozen=True)
class Extremes:
    """The outermost finite value of each column (D,), in how many rows it stands, and the next value inwards."""

    value: NDArray[np.float64]
    rows: NDArray[np.int64]
    next: NDArray[np.float64]

    @classmethod
    def none(cls, columns: int) -> Extremes:
        """Those of no rows, as smallest values."""
        return cls(np.full(columns, np.inf), np.zeros(columns, np.int64), np.full(columns, np.inf))

    def of(self, columns: list[int]) -> Extremes:
        """Those of some columns."""
        return Extremes(self.value[columns], self.rows[columns], self.next[columns])

    def merge(self, other: Extremes) -> Extremes:
        """The smallest values of both."""
        value = np.minimum(self.value, other.value)
        rows = sum(np.where(side.value == value, side.rows, 0) for side in (self, other))
        others = [np.where(side.value == value, np.inf, side.value) for side in (self, other)]
        return Extremes(value, np.asarray(rows), np.minimum.reduce([self.next, other.next, *others]))

    def turned(self) -> Extremes:
        """Smallest values of a column times -1 as its largest ones."""
        return Extremes(-self.value, self.rows, -self.next)


@dataclass(frozen=True)
class SmallestRows:
    """Different rows (U, D), with hashes of their texts (U, T), the ``most`` with the smallest ``hash`` (U,), and how
    often each occurs."""

    hash: NDArray[np.uint64]
    rows: NDArray[np.float64]
    texts: NDArray[np.uint64]
    count: NDArray[np.int64]
    most: int

    @classmethod
    def none(cls, columns: int, texts: int, most: int) -> SmallestRows:
        rows = np.zeros((0, columns)), np.zeros((0, texts), np.uint64)
        return cls(np.zeros(0, np.uint64), *rows, np.zeros(0, np.int64), most)

    def merge(self, other: SmallestRows) -> SmallestRows:
        if not len(other.hash):
            return self
        both = np.concatenate([self.hash, other.hash])
        hashes, first, place = np.unique(both, return_index=True, return_inverse=True)
        count = np.zeros(len(hashes), np.int64)
        np.add.at(count, place, np.concatenate([self.count, other.count]))
        most, kept = self.most, first[: self.most]
        rows, texts = np.concatenate([self.rows, other.rows]), np.concatenate([self.texts, other.texts])
        return SmallestRows(hashes[:most], rows[kept], texts[kept], count[:most], most)

    def weight(self, total: int) -> NDArray[np.float64]:
        """Rows (U,) of the table that each stands for; of ``total`` rows."""
        return (self.count if self.count.sum() == total else np.ones(len(self.count))).astype(np.float64)


Words = tuple[NDArray[np.uint64], NDArray[np.int32]]  # hashes of a column's texts, null last, and codes (n,) into them
TextCounts = Mapping[str, int]


@dataclass(frozen=True)
class ProfileState:
    """Sums, extremes and sketches of some rows; ``highest`` of values times -1. Hashes are sums modulo 2^64."""

    rows: int
    labels: TextCounts | None
    label_nulls: int
    nulls: NDArray[np.int64]
    nans: NDArray[np.int64]
    infinite: NDArray[np.int64]
    fractions: NDArray[np.int64]
    lowest: Extremes
    highest: Extremes
    sketch: NDArray[np.uint64]
    text_nulls: NDArray[np.int64]
    text_counts: tuple[TextCounts | None, ...]
    hash: NDArray[np.uint64]
    checksums: NDArray[np.uint64]
    text_checksums: NDArray[np.uint64]
    sample: SmallestRows

    def of(self, columns: list[int], text: list[int]) -> ProfileState:
        """The state with some of the numeric and of the text columns alone; its ``hash`` is that of whole rows."""
        own = {name: getattr(self, name)[columns] for name in ("nulls", "nans", "infinite", "fractions", "sketch")}
        sample = replace(self.sample, rows=self.sample.rows[:, columns], texts=self.sample.texts[:, text])
        return replace(
            self,
            **own,
            lowest=self.lowest.of(columns),
            highest=self.highest.of(columns),
            checksums=self.checksums[:, columns],
            text_checksums=self.text_checksums[:, text],
            text_nulls=self.text_nulls[text],
            text_counts=tuple(self.text_counts[i] for i in text),
            sample=sample,
        )

    def merge(self, other: ProfileState) -> ProfileState:
        sums = {name: getattr(self, name) + getattr(other, name) for name in _SUMS}
        parts = {name: getattr(self, name).merge(getattr(other, name)) for name in ("lowest", "highest", "sample")}
        return ProfileState(
            **sums,
            **parts,
            sketch=_merge_sketches(self.sketch, other.sketch),
            labels=_add_counts(self.labels, other.labels),
            text_counts=tuple(map(_add_counts, self.text_counts, other.text_counts)),
        )


_SUMS = ("rows", "label_nulls", "nulls", "nans", "infinite", "fractions", "text_nulls", "hash", "checksums",
         "text_checksums")  # fmt: skip


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
    text_counts: list[TextCounts | None]
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
class Content:
    """What rows hold, in any order: the sum of their hashes, and how many there are."""

    hash: NDArray[np.uint64]
    rows: int

    def merge(self, other: Content) -> Content:
        return Content(self.hash + other.hash, self.rows + other.rows)

    def __str__(self) -> str:
        return f"{int(self.hash[0]):016x}-{self.rows}"


class ContentKernel:
    """The fingerprint of a profile without the rest of it."""

    def start(self) -> Content:
        return Content(np.zeros(1, np.uint64), 0)

    def add(self, state: Content, batch: RawBatch) -> Content:
        rows = _row_hashes(mix(one_form(batch.numeric).view(np.uint64)), _words(batch))
        return state.merge(Content(np.array([rows.sum(dtype=np.uint64)], np.uint64), batch.rows))


@dataclass(frozen=True)
class ProfileKernel:
    """Counts, extremes and bottom-k hash sketches of ``numeric`` and ``text`` columns; ``sampled``: and some rows."""

    numeric: int
    text: int
    sampled: bool = True

    @property
    def sample_rows(self) -> int:
        return min(SAMPLE_ROWS, max(LEAST_ROWS, SAMPLE_CELLS // max(self.numeric, self.text, 1)))

    def start(self) -> ProfileState:
        n = self.numeric
        zeros = np.zeros(n, np.int64)
        return ProfileState(
            rows=0,
            labels={},
            label_nulls=0,
            nulls=zeros,
            nans=zeros,
            infinite=zeros,
            fractions=zeros,
            lowest=Extremes.none(n),
            highest=Extremes.none(n),
            sketch=np.full((n, SKETCH), _NONE),
            text_nulls=np.zeros(self.text, np.int64),
            text_counts=({},) * self.text,
            hash=np.zeros(1, np.uint64),
            checksums=np.zeros((2, n), np.uint64),
            text_checksums=np.zeros((2, self.text), np.uint64),
            sample=self._no_rows(),
        )

    def add(self, state: ProfileState, batch: RawBatch) -> ProfileState:
        return state.merge(self._of(batch, state)) if batch.rows else state

    def _of(self, batch: RawBatch, state: ProfileState) -> ProfileState:
        X = one_form(batch.numeric)
        finite = np.isfinite(X)
        if finite.all():  # the usual batch, in half the passes over memory
            known, nan = None, None
        else:
            known, nan = finite, np.isnan(X)
        fractions = np.floor(X) != X
        hashes = mix(X.view(np.uint64))
        words = _words(batch)
        rows = _row_hashes(hashes, words)
        texts = np.array([codes_of[codes] for codes_of, codes in words[:-1]], np.uint64).reshape(-1, batch.rows)
        return ProfileState(
            rows=batch.rows,
            labels=_text_counts(batch.label),
            label_nulls=int(np.count_nonzero(batch.label.codes < 0)),
            nulls=batch.nulls,
            nans=(0 if nan is None else nan.sum(axis=0)) - batch.nulls,
            infinite=np.zeros(X.shape[1], np.int64) if nan is None else (~finite & ~nan).sum(axis=0),
            fractions=(fractions if known is None else known & fractions).sum(axis=0),
            lowest=_extremes(X, 1.0, known),
            highest=_extremes(X, -1.0, known),
            sketch=_sketch(hashes, nan, state.sketch),
            text_nulls=np.array([np.count_nonzero(t.codes < 0) for t in batch.text], np.int64),
            text_counts=tuple(_text_counts(t) for t in batch.text),
            hash=np.array([rows.sum(dtype=np.uint64)], np.uint64),
            checksums=_checksums(rows, hashes),
            text_checksums=_checksums(rows, texts.T),
            sample=_sampled(rows, X, texts.T, state.sample) if self.sampled else self._no_rows(),
        )

    def _no_rows(self) -> SmallestRows:
        return SmallestRows.none(self.numeric, self.text, self.sample_rows)

    def read(self, state: ProfileState) -> Profile:
        """The state as plain facts."""
        labels: dict[str | None, int] = dict((state.labels or {}).items())
        if state.label_nulls:
            labels[None] = state.label_nulls
        return Profile(
            rows=state.rows,
            labels=labels,
            too_many_labels=state.labels is None,
            nulls=state.nulls,
            nans=state.nans,
            infinite=state.infinite,
            lowest=state.lowest,
            highest=state.highest.turned(),
            whole=state.fractions == 0,
            distinct=_distinct(state.sketch),
            text_nulls=state.text_nulls,
            text_counts=list(state.text_counts),
            fingerprint=str(Content(state.hash, state.rows)),
            checksums=state.checksums,
            text_checksums=state.text_checksums,
            sample=state.sample.rows,
            text_sample=state.sample.texts,
            sample_weight=state.sample.weight(state.rows),
        )


def _words(batch: RawBatch) -> list[Words]:
    return [(text_hashes([*text.values, NULL]), text.codes) for text in (*batch.text, batch.label)]


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


def _extremes(X: NDArray[np.float64], sign: float, finite: NDArray[np.bool_] | None) -> Extremes:
    """Of ``sign`` times X (n, D): the smallest value of each column, its rows, and the next; infinite where none is."""
    found = Extremes.none(X.shape[1])
    for first in range(0, len(X), _SLICE):  # four steps on what the cache holds, not each on everything
        part = sign * X[first : first + _SLICE]
        if finite is not None:
            part[~finite[first : first + _SLICE]] = np.inf
        value = part.min(axis=0)
        at = part == value
        rows = np.where(np.isfinite(value), at.sum(axis=0), 0)
        part[at] = np.inf
        found = found.merge(Extremes(value, rows, part.min(axis=0)))
    return found


def _sampled(
    hashes: NDArray[np.uint64], X: NDArray[np.float64], texts: NDArray[np.uint64], kept: SmallestRows
) -> SmallestRows:
    """Rows of X (n, D) and of the texts' hashes (n, T) that the sample ``kept`` has room for."""
    most = kept.most
    rows = np.arange(len(hashes)) if len(kept.hash) < most else np.flatnonzero(hashes <= kept.hash[-1])
    smallest, first, count = np.unique(hashes[rows], return_index=True, return_counts=True)
    picked = rows[first[:most]]
    return SmallestRows(
        smallest[:most], np.ascontiguousarray(X[picked]), np.ascontiguousarray(texts[picked]), count[:most], most
    )


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


def _text_counts(text: Text) -> TextCounts | None:
    counts = np.bincount(text.codes[text.codes >= 0], minlength=len(text.values))
    found = {value: int(count) for value, count in zip(text.values, counts, strict=True) if count}
    return found if len(found) <= MOST_VALUES else None


def _add_counts(left: TextCounts | None, right: TextCounts | None) -> TextCounts | None:
    """Counts per value, or None once there are too many: true of all rows as soon as it is true of some."""
    if left is None or right is None:
        return None
    total = dict(left)
    for value, count in right.items():
        total[value] = total.get(value, 0) + count
    return total if len(total) <= MOST_VALUES else None
