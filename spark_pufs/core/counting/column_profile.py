"""What a pass finds of each numeric column alone: missing and infinite values, the outermost values, distinct values.

Batches are gone through a few columns at a time, so that every step works on what the cache holds. The least and the
largest value of a column tell most of the rest: whether anything is missing or infinite, and whether the outermost
values found before can change at all.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spark_pufs.core.counting.hashing import mix

__all__ = ["SKETCH", "ColumnProfiles", "Extremes", "distinct_values"]

SKETCH = 256  # smallest hashes kept per numeric column: exact below 256 values, about 6 % beyond
_NONE = np.uint64(2**64 - 1)
_SLOTS, _FEW, _FIRST = 4096, 16, 1024
_VALUES = 65_536  # gone through at a time
_NAN_HASH = mix(np.array([np.nan]).view(np.uint64))[0]

Floats = NDArray[np.float64]
Hashes = NDArray[np.uint64]


@dataclass(frozen=True)
class Extremes:
    """The outermost finite value of each column (D,), in how many rows it stands, and the next value inwards."""

    value: Floats
    rows: NDArray[np.int64]
    next: Floats

    @classmethod
    def none(cls, columns: int) -> Extremes:
        """Those of no rows, as smallest values."""
        return cls(np.full(columns, np.inf), np.zeros(columns, np.int64), np.full(columns, np.inf))

    def of(self, columns: list[int] | NDArray[np.intp]) -> Extremes:
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

    def take(self, columns: NDArray[np.intp], sign: float, x: Floats, least: Floats) -> None:
        """Take in ``sign`` times x (g, n) of some columns, whose smallest values are ``least`` (g,), inf where none is.

        A column whose smallest value lies inside of the two that are known changes nothing, and is not looked at.
        """
        own = np.flatnonzero((least <= self.next[columns]) & (least < np.inf))
        if not len(own):
            return
        part, value, at = x[own] if len(own) < len(x) else x, least[own], columns[own]
        rows = _true(part == (sign * value)[:, None])
        # Mostly no value lies between this end and the nearest known one: counting tells that faster than a minimum.
        known = np.where(value < self.value[at], self.value[at], self.next[at])
        outside = (np.less if sign > 0 else np.greater)(part, (sign * known)[:, None])
        following = np.full(len(own), np.inf)
        for i in np.flatnonzero(_true(outside) > rows):
            following[i] = np.min(np.where(sign * part[i] > value[i], sign * part[i], np.inf))
        if (value == self.value[at]).all() and (following == np.inf).all():
            self.rows[at] += rows
            return
        merged = self.of(at).merge(Extremes(value, rows, following))
        self.value[at], self.rows[at], self.next[at] = merged.value, merged.rows, merged.next


def _true(flags: NDArray[np.bool_]) -> NDArray[np.int64]:
    """How many flags (g, n) of each row are set; numpy counts one row far faster than it sums along an axis."""
    return np.array([np.count_nonzero(row) for row in flags], np.int64)


@dataclass(frozen=True)
class ColumnProfiles:
    """Of each numeric column (D,): NaN, infinite values, whether all are whole; the ends, ``highest`` of values times
    -1; and the smallest distinct hashes (D, SKETCH)."""

    nans: NDArray[np.int64]
    infinite: NDArray[np.int64]
    whole: NDArray[np.bool_]
    lowest: Extremes
    highest: Extremes
    sketch: Hashes

    @classmethod
    def none(cls, columns: int) -> ColumnProfiles:
        """Those of no rows."""
        return cls(
            np.zeros(columns, np.int64),
            np.zeros(columns, np.int64),
            np.ones(columns, np.bool_),
            Extremes.none(columns),
            Extremes.none(columns),
            np.full((columns, SKETCH), _NONE),
        )

    def of(self, columns: list[int]) -> ColumnProfiles:
        """Those of some columns."""
        arrays = (self.nans[columns], self.infinite[columns], self.whole[columns])
        return ColumnProfiles(*arrays, self.lowest.of(columns), self.highest.of(columns), self.sketch[columns])

    def merge(self, other: ColumnProfiles) -> ColumnProfiles:
        return ColumnProfiles(
            self.nans + other.nans,
            self.infinite + other.infinite,
            self.whole & other.whole,
            self.lowest.merge(other.lowest),
            self.highest.merge(other.highest),
            _merge_sketches(self.sketch, other.sketch),
        )

    def take(self, values: Floats) -> Hashes:
        """Take in the rows of values (n, D), and give the hash (D, n) of each value; equal values have equal hashes."""
        rows, columns = values.shape
        hashes = np.empty((columns, rows), np.uint64)
        together = max(1, _VALUES // max(1, rows))
        for first in range(0, columns, together):
            part = np.arange(first, min(first + together, columns))
            x = np.add(values.T[first : first + together], 0.0, order="C")  # one zero
            self._take_some(part, x)
            mix(x.view(np.uint64), hashes[first : first + together])
            self._take_hashes(part, hashes[first : first + together])
        return hashes

    def _take_some(self, columns: NDArray[np.intp], x: Floats) -> None:
        """Take in x (g, n) of some columns; NaN get one form."""
        least, largest = x.min(axis=1), x.max(axis=1)
        if np.isfinite(least).all() and np.isfinite(largest).all():
            low = high = x
        else:
            least, largest, low, high = self._take_odd(columns, x)
        self.lowest.take(columns, 1.0, low, least)
        self.highest.take(columns, -1.0, high, -largest)
        asked = np.flatnonzero(self.whole[columns])
        if len(asked):
            own = x[asked]
            fractions = (np.floor(own) != own) & ~np.isnan(own)
            self.whole[columns[asked]] = ~fractions.any(axis=1)

    def _take_odd(self, columns: NDArray[np.intp], x: Floats) -> tuple[Floats, Floats, Floats, Floats]:
        """Count what is not finite in x (g, n); the ends of what is, and x for lowest and for highest values."""
        absent, finite = np.isnan(x), np.isfinite(x)
        x[absent] = np.nan
        self.nans[columns] += np.count_nonzero(absent, axis=1)
        self.infinite[columns] += np.count_nonzero(~finite & ~absent, axis=1)
        low, high = np.where(finite, x, np.inf), np.where(finite, x, -np.inf)
        return low.min(axis=1), high.max(axis=1), low, high

    def _take_hashes(self, columns: NDArray[np.intp], hashes: Hashes) -> None:
        room = self.sketch[columns, -1]
        smaller = hashes < room[:, None]
        for column, own, below in zip(columns, hashes, smaller, strict=True):
            if count := np.count_nonzero(below):
                self._take_smaller(self.sketch[column], own, below, int(count))

    def _take_smaller(self, kept: Hashes, own: Hashes, below: NDArray[np.bool_], count: int) -> None:
        """Hashes ``own`` (n,) of a column into those ``kept`` (SKETCH,), for which ``count`` are small enough."""
        if len(own) > _FIRST and kept[-1] == _NONE:  # some rows tell how small a hash has to be
            self._take_smaller(kept, own[:_FIRST], below[:_FIRST], _FIRST)
            below &= own < kept[-1]
        if count > len(own) // _FEW:
            # Most values have been seen before: one look into a small table is far cheaper than sorting them again.
            seen = np.full(_SLOTS, _NONE)
            seen[kept.view(np.int64) & (_SLOTS - 1)] = kept
            below &= seen.take(own.view(np.int64) & (_SLOTS - 1)) != own
        new = own[below]
        new = new[(kept.take(np.searchsorted(kept, new)) != new) & (new != _NAN_HASH)]
        if len(new):
            both = np.sort(np.concatenate([kept, new]))  # faster than np.unique, which hashes first
            found = both[np.append(True, both[1:] != both[:-1])][:SKETCH]
            kept[: len(found)] = found


def _merge_sketches(left: Hashes, right: Hashes) -> Hashes:
    both = np.sort(np.hstack([left, right]), axis=1)
    both[:, 1:][both[:, 1:] == both[:, :-1]] = _NONE
    merged: Hashes = np.sort(both, axis=1)[:, :SKETCH]
    return merged


def distinct_values(sketch: Hashes) -> Floats:
    """Exact while the sketch is not full, else (k-1) / (k-th smallest hash as a share of all hashes)."""
    kept = (sketch != _NONE).sum(axis=1)
    share = sketch[:, -1].astype(np.float64) / 2.0**64
    return np.where(kept < SKETCH, kept, (SKETCH - 1) / share)
