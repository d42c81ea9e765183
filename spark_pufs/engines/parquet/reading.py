"""Row groups of Parquet files as raw batches: who reads which, and the reading itself.

The parts of a task and the rows of a batch depend on the files alone, so that a task that is run again gives the same
batches.
"""

from __future__ import annotations

import heapq
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from spark_pufs.engines.parquet.columns import constant, numbers, texts
from spark_pufs.engines.parquet.footers import Footer, open_file
from spark_pufs.types import RawBatch, Text

__all__ = ["CHANGED", "ColumnPlace", "FilePart", "FilesReader", "assign", "parts_of"]

CHANGED = "file changed while it was read"


@dataclass(frozen=True)
class ColumnPlace:
    """Where a wanted column is in one file: a leaf, or else one value for all rows."""

    type: str
    leaf: int | None = None
    value: Any = None

    @property
    def fixed(self) -> pa.Array:
        """The value of every row, of one row."""
        found = constant(self.type, self.value)
        assert found is not None  # types without are refused when a reader is chosen
        return found


@dataclass(frozen=True)
class FilePart:
    """Some row groups of a file as it was when its footer was read."""

    path: str
    size: int
    modified: int
    places: tuple[ColumnPlace, ...]
    dictionaries: tuple[str, ...]
    groups: tuple[int, ...]

    @cached_property
    def leaves(self) -> list[int]:
        return sorted({place.leaf for place in self.places if place.leaf is not None})


def parts_of(footer: Footer, places: tuple[ColumnPlace, ...], timed: bool = True) -> list[tuple[int, FilePart]]:
    """A part for every row group that has rows, with the bytes that it makes a task read.

    ``timed``: all tasks see the driver's own file, and so the time of its last change.
    """
    by_leaf = {column.leaf: name for name, column in footer.columns.named.items() if column is not None}
    texts_of = {p.leaf for p in places if p.leaf is not None and p.type == "string"}
    words = tuple(by_leaf[leaf] for leaf in texts_of if all(group.encoded[leaf] for group in footer.groups))
    whole = FilePart(footer.path, footer.size, footer.modified * timed, places, words, ())
    sized = [(i, group.rows + sum(group.bytes[leaf] for leaf in whole.leaves)) for i, group in enumerate(footer.groups)]
    return [(size, replace(whole, groups=(i,))) for i, size in sized if footer.groups[i].rows]


def assign(parts: Sequence[tuple[int, FilePart]], tasks: int) -> tuple[tuple[FilePart, ...], ...]:
    """The parts dealt out to at most so many tasks: the largest first, always to the task that has least.

    >>> parts = [(size, FilePart(path, 0, 0, (), (), (0,))) for size, path in ((5, "a"), (3, "b"), (3, "c"), (1, "d"))]
    >>> [[part.path for part in task] for task in assign(parts, 2)]
    [['a', 'd'], ['b', 'c']]
    """
    heap = [(0, number) for number in range(max(1, min(tasks, len(parts))))]
    dealt: list[list[FilePart]] = [[] for _ in heap]
    for size, part in sorted(parts, key=lambda one: (-one[0], one[1].path, one[1].groups)):
        load, number = heapq.heappop(heap)
        dealt[number].append(part)
        heapq.heappush(heap, (load + size, number))
    return tuple(tuple(sorted(own, key=lambda part: (part.path, part.groups))) for own in dealt)


@dataclass(frozen=True)
class FilesReader:
    """Arrow batches of task numbers as the raw batches of those tasks, at most ``rows`` rows each.

    Of the places of a part, ``width`` are of numbers, the last is the label, those between are of text.
    """

    tasks: tuple[tuple[FilePart, ...], ...]
    width: int
    rows: int

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[RawBatch]:
        for batch in batches:
            for number in batch.column(0).to_pylist():
                for part in self.tasks[number]:
                    yield from self.read(part)

    def read(self, part: FilePart) -> Iterator[RawBatch]:
        """The rows of one part."""
        _check_unchanged(part)
        with open_file(part.path, list(part.dictionaries)) as file:
            if not part.leaves:  # no column of the file is asked for, only how many rows it has
                yield from self._empty(part, sum(file.metadata.row_group(i).num_rows for i in part.groups))
                return
            # Columns by number: a name with a dot would be taken for a nested column.
            wanted = {"row_groups": list(part.groups), "column_indices": part.leaves}
            for batch in file.reader.iter_batches(self.rows, use_threads=False, **wanted):
                yield self._raw(part, batch.num_rows, dict(zip(part.leaves, batch.columns, strict=True)))
        _check_unchanged(part)

    def _empty(self, part: FilePart, rows: int) -> Iterator[RawBatch]:
        for first in range(0, rows, self.rows):
            yield self._raw(part, min(self.rows, rows - first), {})

    def _raw(self, part: FilePart, rows: int, columns: dict[int, pa.Array]) -> RawBatch:
        X = np.empty((self.width, rows))
        nulls = np.zeros(self.width, np.int64)
        for i, place in enumerate(part.places[: self.width]):
            X[i], nulls[i] = _numbers(place, rows, columns)
        *text, label = [_text(place, rows, columns) for place in part.places[self.width :]]
        return RawBatch(X.T, nulls, text, label)


def _numbers(place: ColumnPlace, rows: int, columns: dict[int, pa.Array]) -> tuple[NDArray[np.float64], int]:
    if place.leaf is not None:
        return numbers(columns[place.leaf])
    value, null = numbers(place.fixed)
    return value, rows * null  # one value, which numpy spreads over the rows


def _text(place: ColumnPlace, rows: int, columns: dict[int, pa.Array]) -> Text:
    if place.leaf is not None:
        return texts(columns[place.leaf])
    one = texts(place.fixed)
    return Text(np.full(rows, one.codes[0], np.int32), one.values)


def _check_unchanged(part: FilePart) -> None:
    """Raise unless the file is the one whose footer was read: other bytes might be read as values."""
    try:
        now = os.stat(part.path)
    except FileNotFoundError as error:
        raise RuntimeError(f"{CHANGED}: '{part.path}' is gone") from error
    # Copies on the disks of other machines have times of their own: then the checksum of the pass tells a change.
    if now.st_size != part.size or part.modified not in (0, now.st_mtime_ns):
        raise RuntimeError(f"{CHANGED}: '{part.path}' was written again")
