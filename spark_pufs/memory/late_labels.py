"""Labels that come after their rows: which partitions they belong to, and those partitions read with them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Generic

import numpy as np
from numpy.typing import NDArray

from spark_pufs.core.counting.kernel import Held, Kernel
from spark_pufs.errors import DataError, Fault, did_you_mean
from spark_pufs.findings.run_facts import Pass
from spark_pufs.memory.partitions import Partition, PartitionedTable, PartitionRows
from spark_pufs.table.numbers import TableRows
from spark_pufs.types import Column, RawBatch, Text

__all__ = ["CorrectedTable", "Corrections", "LateLabels", "belonging", "late_labels_of"]


@dataclass(frozen=True)
class LateLabels:
    """The label (n,) of the rows that column ``column`` tells apart by ``ids`` (n,); ``keys`` (n,): their partitions,
    where the user knows them."""

    column: str
    ids: tuple[str, ...]
    labels: tuple[str | None, ...]
    keys: tuple[str, ...] | None = None


@dataclass(frozen=True)
class Corrections:
    """Labels by partition and id, as they are kept; ``column`` tells rows apart."""

    column: str = ""
    partitions: Mapping[str, Mapping[str, str | None]] = field(default_factory=dict)

    def mark(self, key: str) -> str:
        """What changes with the labels of a partition; nothing where there are none."""
        own = self.partitions.get(key)
        return "" if not own else hashlib.sha256(json.dumps(sorted(own.items())).encode()).hexdigest()[:32]

    def of(self, keys: Sequence[str]) -> Corrections:
        """Those of some partitions."""
        return replace(self, partitions={key: own for key, own in self.partitions.items() if key in keys})

    def with_(self, column: str, found: Mapping[str, Mapping[str, str | None]]) -> Corrections:
        """These and newer ones, which count for more."""
        every = {*self.partitions, *found}
        merged = {key: {**self.partitions.get(key, {}), **found.get(key, {})} for key in sorted(every)}
        return Corrections(column, {key: own for key, own in merged.items() if own})


def late_labels_of(rows: PartitionRows, label: str, partition: str) -> LateLabels:
    """A table of two columns, the label and what tells rows apart, or of three, the partition being known too."""
    names = [column.name for column in rows.columns()]
    others = [name for name in names if name not in (label, partition)]
    if label not in names or len(others) != 1:
        found = f"expected columns '{label}', one that tells rows apart and perhaps '{partition}', found {names}"
        raise DataError(Fault("Late labels", found, "Leave other columns out."))
    texts = (others[0], partition) if partition in names else (others[0],)
    listed = rows.source((), texts, label).scan(_Listing(), "late labels")
    if not listed.labels:
        return LateLabels(others[0], (), ())
    ids = _whole(others[0], listed.texts[0])
    keys = _whole(partition, listed.texts[1]) if len(texts) > 1 else None
    _check_once(ids, keys, listed.labels)
    return LateLabels(others[0], ids, listed.labels, keys)


def belonging(
    table: PartitionedTable, late: LateLabels, keys: Sequence[str], label: str
) -> dict[str, dict[str, str | None]]:
    """Late labels by partition and id, of rows that are in the table; of every partition the ids are read, or of those
    that the user named."""
    given: dict[str, dict[str, str | None]] = {}
    for place, (one, value) in enumerate(zip(late.ids, late.labels, strict=True)):
        for key in keys if late.keys is None else late.keys[place : place + 1]:
            given.setdefault(key, {})[one] = value
    return {key: _present(table, late.column, own, key, label) for key, own in given.items() if key in keys}


def _present(
    table: PartitionedTable, column: str, own: Mapping[str, str | None], key: str, label: str
) -> dict[str, str | None]:
    rows = table.engine(key)
    names = [one.name for one in rows.columns()]
    if column not in names:
        found = f"'{column}' is not a column of partition '{key}'"
        raise DataError(Fault("Late labels", found, did_you_mean(column, names)))
    kernel = _Finding(tuple(own))
    there = rows.source((), (column,), label).scan(kernel, f"ids of {key}").found
    return {one: own[one] for one, is_there in zip(own, there.tolist(), strict=True) if is_there}


@dataclass(frozen=True)
class CorrectedTable:
    """A table whose rows have the labels that came later."""

    table: PartitionedTable
    corrections: Corrections

    def columns(self) -> list[Column]:
        return self.table.columns()

    def partitions(self) -> list[Partition]:
        return [replace(one, mark=self._mark(one)) for one in self.table.partitions()]

    def engine(self, key: str) -> PartitionRows:
        rows, own = self.table.engine(key), self.corrections.partitions.get(key)
        return _Corrected(rows, self.corrections.column, own) if own else rows

    def _mark(self, one: Partition) -> str:
        """Where rows themselves tell of changes, their labels do too."""
        own = self.corrections.mark(one.key)
        return f"{one.mark} labels:{own}" if one.mark and own else one.mark


@dataclass(frozen=True)
class _Corrected:
    rows: PartitionRows
    column: str
    labels: Mapping[str, str | None]

    @property
    def name(self) -> str:
        return self.rows.name

    @property
    def passes(self) -> list[Pass]:
        return self.rows.passes

    def columns(self) -> list[Column]:
        return self.rows.columns()

    def source(self, numeric: Sequence[str], text: Sequence[str], label: str) -> _CorrectedRows:
        return _CorrectedRows(self.rows.source(numeric, (*text, self.column), label), self.labels)


@dataclass(frozen=True)
class _CorrectedRows:
    rows: TableRows
    labels: Mapping[str, str | None]

    def scan(self, kernel: Kernel[RawBatch, Held], what: str) -> Held:
        return self.rows.scan(CorrectedKernel(kernel, self.labels), what)


@dataclass(frozen=True)
class CorrectedKernel(Generic[Held]):
    """A kernel that sees the labels of some ids, the last text column, as they were corrected, and not that column."""

    kernel: Kernel[RawBatch, Held]
    labels: Mapping[str, str | None]

    def start(self) -> Held:
        return self.kernel.start()

    def add(self, state: Held, batch: RawBatch) -> Held:
        *text, ids = batch.text
        return self.kernel.add(state, replace(batch, text=text, label=self._label(batch.label, ids)))

    def _label(self, label: Text, ids: Text) -> Text:
        """The label with corrected rows; -1 is null. Values that no row has any more are left out."""
        values = [*label.values, *sorted({v for v in self.labels.values() if v is not None} - set(label.values))]
        place = {value: code for code, value in enumerate(values)} | {None: -1}
        keep = -2
        wanted = np.array([place[self.labels[one]] if one in self.labels else keep for one in ids.values] + [keep])
        codes = np.where(wanted[ids.codes] == keep, label.codes, wanted[ids.codes]).astype(np.int32)
        used = np.flatnonzero(np.bincount(codes[codes >= 0], minlength=len(values)))
        packed = np.full(len(values) + 1, -1, np.int32)
        packed[used] = np.arange(len(used))
        return Text(packed[codes], [values[i] for i in used])


@dataclass(frozen=True)
class Found:
    """Which ids (n,) some rows have."""

    found: NDArray[np.bool_]

    def merge(self, other: Found) -> Found:
        return Found(self.found | other.found)


@dataclass(frozen=True)
class _Finding:
    """Looks for ids in the one text column."""

    ids: tuple[str, ...]

    def start(self) -> Found:
        return Found(np.zeros(len(self.ids), np.bool_))

    def add(self, state: Found, batch: RawBatch) -> Found:
        here = set(batch.text[0].values)
        return state.merge(Found(np.array([one in here for one in self.ids], np.bool_)))


@dataclass(frozen=True)
class Listed:
    """Text columns and labels, row by row: of a small table."""

    texts: tuple[tuple[str | None, ...], ...]
    labels: tuple[str | None, ...]

    def merge(self, other: Listed) -> Listed:
        if not self.texts:
            return other
        texts = tuple((*ours, *theirs) for ours, theirs in zip(self.texts, other.texts, strict=True))
        return Listed(texts, (*self.labels, *other.labels))


class _Listing:
    def start(self) -> Listed:
        return Listed((), ())

    def add(self, state: Listed, batch: RawBatch) -> Listed:
        return state.merge(Listed(tuple(map(_rows, batch.text)), _rows(batch.label)))


def _rows(text: Text) -> tuple[str | None, ...]:
    values: list[str | None] = [*text.values, None]
    return tuple(values[code] for code in text.codes)


def _whole(column: str, values: Sequence[str | None]) -> tuple[str, ...]:
    absent = sum(value is None for value in values)
    if absent:
        raise DataError(Fault("Late labels", f"{absent:,} rows have no '{column}'", "Fill it, or leave them out."))
    return tuple(str(value) for value in values)


def _check_once(ids: Sequence[str], keys: Sequence[str] | None, labels: Sequence[str | None]) -> None:
    told: dict[tuple[str, str], str | None] = {}
    twice = set()
    for one, key, value in zip(ids, keys or [""] * len(ids), labels, strict=True):
        if told.setdefault((key, one), value) != value:
            twice.add(one)
    if twice:
        some = ", ".join(sorted(twice)[:3])
        raise DataError(
            Fault("Late labels", f"{len(twice):,} ids have several labels ({some})", "Give each one label.")
        )
