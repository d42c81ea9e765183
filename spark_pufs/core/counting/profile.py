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

from spark_pufs.core.counting.column_profile import ColumnProfiles, Extremes, distinct_values
from spark_pufs.core.counting.hashing import column_sums, mix, one_form, text_hashes
from spark_pufs.types import RawBatch, Text

__all__ = ["Content", "ContentKernel", "Profile", "ProfileKernel", "ProfileState", "SmallestRows"]

MOST_VALUES = 4096  # a text column with more distinct values is treated as an identifier
SAMPLE_ROWS, LEAST_ROWS, SAMPLE_CELLS = 8192, 1024, 1 << 20  # rows of the sample: fewer of a wide table
NULL = "\0null"  # whose hash stands for a missing text


@dataclass(frozen=True)
class SmallestRows:
    """Different rows (U, D), with hashes of their texts (U, T), the ``most`` with the smallest ``hash`` (U,), and how
    often each occurs; in any order."""

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
        both = [np.concatenate([getattr(self, name), getattr(other, name)]) for name in ("hash", "rows", "texts")]
        hashes, first, place = np.unique(both[0], return_index=True, return_inverse=True)
        count = np.zeros(len(hashes), np.int64)
        np.add.at(count, place, np.concatenate([self.count, other.count]))
        most, kept = self.most, first[: self.most]
        return SmallestRows(hashes[:most], both[1][kept], both[2][kept], count[:most], most)

    def take(self, hashes: NDArray[np.uint64], X: NDArray[np.float64], texts: NDArray[np.uint64]) -> SmallestRows:
        """With rows of X (n, D) and of the texts' hashes (n, T), as far as there is room; uses its arrays again."""
        full = len(self.hash) == self.most
        rows = np.flatnonzero(hashes <= self.hash.max()) if full else np.arange(len(hashes))
        smallest, first, count = np.unique(hashes[rows], return_index=True, return_counts=True)
        picked = rows[first[: self.most]]
        new = SmallestRows(
            smallest[: self.most], one_form(X[picked]), texts[picked], count[: self.most].astype(np.int64), self.most
        )
        return self._replaced(new) if full else self.merge(new)

    def _replaced(self, new: SmallestRows) -> SmallestRows:
        """As ``merge``, where all room is taken: rows that leave make room for rows that come, the others stay put."""
        order = np.argsort(self.hash)
        place = order[np.minimum(np.searchsorted(self.hash, new.hash, sorter=order), self.most - 1)]
        known = self.hash[place] == new.hash
        self.count[place[known]] += new.count[known]
        fresh = np.flatnonzero(~known)
        smallest = np.argsort(np.concatenate([self.hash[order], new.hash[fresh]]), kind="stable")[: self.most]
        comes = fresh[smallest[smallest >= self.most] - self.most]
        leaves = order[self.most - len(comes) :]
        for name in ("hash", "rows", "texts", "count"):
            getattr(self, name)[leaves] = getattr(new, name)[comes]
        return self

    def sorted(self) -> SmallestRows:
        """By hash: the same for the same rows."""
        order = np.argsort(self.hash)
        return SmallestRows(self.hash[order], self.rows[order], self.texts[order], self.count[order], self.most)

    def weight(self, total: int) -> NDArray[np.float64]:
        """Rows (U,) of the table that each stands for; of ``total`` rows."""
        return (self.count if self.count.sum() == total else np.ones(len(self.count))).astype(np.float64)


Words = tuple[NDArray[np.uint64], NDArray[np.int32]]  # hashes of a column's texts, null last, and codes (n,) into them
TextCounts = Mapping[str, int]


@dataclass(frozen=True)
class ProfileState:
    """Sums, extremes and sketches of some rows; NaN of ``columns`` with those that stand for null. Hashes are sums
    modulo 2^64."""

    rows: int
    labels: TextCounts | None
    label_nulls: int
    nulls: NDArray[np.int64]
    columns: ColumnProfiles
    text_nulls: NDArray[np.int64]
    text_counts: tuple[TextCounts | None, ...]
    hash: NDArray[np.uint64]
    checksums: NDArray[np.uint64]
    text_checksums: NDArray[np.uint64]
    sample: SmallestRows

    def of(self, columns: list[int], text: list[int]) -> ProfileState:
        """The state with some of the numeric and of the text columns alone; its ``hash`` is that of whole rows."""
        sample = replace(self.sample, rows=self.sample.rows[:, columns], texts=self.sample.texts[:, text])
        return replace(
            self,
            nulls=self.nulls[columns],
            columns=self.columns.of(columns),
            checksums=self.checksums[:, columns],
            text_checksums=self.text_checksums[:, text],
            text_nulls=self.text_nulls[text],
            text_counts=tuple(self.text_counts[i] for i in text),
            sample=sample,
        )

    def merge(self, other: ProfileState) -> ProfileState:
        sums = {name: getattr(self, name) + getattr(other, name) for name in _SUMS}
        return ProfileState(
            **sums,
            columns=self.columns.merge(other.columns),
            sample=self.sample.merge(other.sample),
            labels=_add_counts(self.labels, other.labels),
            text_counts=tuple(map(_add_counts, self.text_counts, other.text_counts)),
        )


_SUMS = ("rows", "label_nulls", "nulls", "text_nulls", "hash", "checksums", "text_checksums")


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
        rows = _row_hashes(mix(one_form(batch.numeric).view(np.uint64)).T, _words(batch))
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
        return ProfileState(
            rows=0,
            labels={},
            label_nulls=0,
            nulls=np.zeros(n, np.int64),
            columns=ColumnProfiles.none(n),
            text_nulls=np.zeros(self.text, np.int64),
            text_counts=({},) * self.text,
            hash=np.zeros(1, np.uint64),
            checksums=np.zeros((2, n), np.uint64),
            text_checksums=np.zeros((2, self.text), np.uint64),
            sample=self._no_rows(),
        )

    def add(self, state: ProfileState, batch: RawBatch) -> ProfileState:
        if not batch.rows:
            return state
        hashes = state.columns.take(batch.numeric)
        words = _words(batch)
        rows = _row_hashes(hashes, words)
        texts = np.array([codes_of[codes] for codes_of, codes in words[:-1]], np.uint64).reshape(-1, batch.rows)
        return ProfileState(
            rows=state.rows + batch.rows,
            labels=_add_counts(state.labels, _text_counts(batch.label)),
            label_nulls=state.label_nulls + int(np.count_nonzero(batch.label.codes < 0)),
            nulls=state.nulls + batch.nulls,
            columns=state.columns,
            text_nulls=state.text_nulls + np.array([np.count_nonzero(t.codes < 0) for t in batch.text], np.int64),
            text_counts=tuple(map(_add_counts, state.text_counts, map(_text_counts, batch.text))),
            hash=state.hash + rows.sum(dtype=np.uint64),
            checksums=state.checksums + _checksums(rows, hashes),
            text_checksums=state.text_checksums + _checksums(rows, texts),
            sample=state.sample.take(rows, batch.numeric, texts.T) if self.sampled else state.sample,
        )

    def _no_rows(self) -> SmallestRows:
        return SmallestRows.none(self.numeric, self.text, self.sample_rows)

    def read(self, state: ProfileState) -> Profile:
        """The state as plain facts."""
        labels: dict[str | None, int] = dict((state.labels or {}).items())
        columns, sample = state.columns, state.sample.sorted()
        if state.label_nulls:
            labels[None] = state.label_nulls
        return Profile(
            rows=state.rows,
            labels=labels,
            too_many_labels=state.labels is None,
            nulls=state.nulls,
            nans=columns.nans - state.nulls,
            infinite=columns.infinite,
            lowest=columns.lowest,
            highest=columns.highest.turned(),
            whole=columns.whole,
            distinct=distinct_values(columns.sketch),
            text_nulls=state.text_nulls,
            text_counts=list(state.text_counts),
            fingerprint=str(Content(state.hash, state.rows)),
            checksums=state.checksums,
            text_checksums=state.text_checksums,
            sample=sample.rows,
            text_sample=sample.texts,
            sample_weight=sample.weight(state.rows),
        )


def _words(batch: RawBatch) -> list[Words]:
    return [(text_hashes([*text.values, NULL]), text.codes) for text in (*batch.text, batch.label)]


def _row_hashes(hashes: NDArray[np.uint64], words: list[Words]) -> NDArray[np.uint64]:
    """A hash (n,) of each whole row of hashes (D, n); its sum is blind to row order and partitioning, not to any
    value."""
    salt = mix(np.arange(len(hashes) + len(words), dtype=np.uint64)) | np.uint64(1)
    # The hashes of the values are well spread: an odd factor per column is enough to tell the columns apart.
    total = column_sums(hashes, salt[: len(hashes)])
    for (known, codes), mark in zip(words, salt[len(hashes) :], strict=True):
        total += mix(known ^ mark)[codes]
    return mix(total)


def _checksums(rows: NDArray[np.uint64], hashes: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Sums (2, D) over the rows of values' hashes (D, n), weighted by two hashes of the row: 128 bits per column.

    The weight ties a value to its row: two columns with the same values in other rows have other sums.
    """
    return np.stack([np.einsum("i,ji->j", weight, hashes) for weight in (rows, mix(rows))])


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
