"""One run of a memory: which partitions to read, their counts, and the window they make with those that are kept."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from spark_pufs.core.counting.profile import Content, ContentKernel
from spark_pufs.core.schema import label_states
from spark_pufs.errors import DataError, Fault
from spark_pufs.findings.run_facts import Pass
from spark_pufs.memory.counts import PartitionState
from spark_pufs.memory.kept_rows import KeptRows, draw_kept
from spark_pufs.memory.late_labels import CorrectedTable, LateLabels, belonging
from spark_pufs.memory.partitions import Partition, PartitionedTable, PartitionRows
from spark_pufs.memory.reference import Reference
from spark_pufs.memory.store import Entry, Index, Store
from spark_pufs.table.numbers import TableRows
from spark_pufs.types import LABELLED_POSITIVE

__all__ = ["Counting", "Kept"]

log = logging.getLogger("spark_pufs")


@dataclass(frozen=True)
class Kept:
    """Partitions of a window by key, and what their counts come to; ``read``: those that were counted just now;
    ``labels``: label x level (3, L) of each, oldest first."""

    entries: Mapping[str, Entry]
    state: PartitionState
    read: tuple[str, ...]
    rows: Mapping[str, KeptRows]
    labels: Sequence[NDArray[np.int64]]

    @property
    def rows_read(self) -> int:
        return sum(self.entries[key].rows for key in self.read)


@dataclass(frozen=True)
class Counted:
    """One partition; ``rows`` where they are asked for."""

    state: PartitionState
    rows: KeptRows | None


@dataclass
class Counting:
    """Counts partitions of ``table`` by a reference; without ``keep`` nothing is written."""

    table: PartitionedTable
    store: Store
    note: Callable[[str], None]
    keep: bool = True
    there: Mapping[str, Partition] = field(default_factory=dict)
    passes: list[Pass] = field(default_factory=list)
    engine: str = "memory"  # the name of what read rows last
    rows: bool = False  # whether kept rows are asked for

    def look(self) -> Mapping[str, Partition]:
        """The partitions of the table."""
        self.there = {one.key: one for one in self.table.partitions()}
        return self.there

    def correct(
        self, index: Index | None, keys: Sequence[str], others: Sequence[str], label: str, late: LateLabels | None
    ) -> tuple[str, int]:
        """Read the table with the labels that came later, now and before: the file that keeps them, and how many of the
        new ones belong to no row of the partitions ``keys``. Those of ``others`` are kept too."""
        corrections, unfound = self.store.corrections(index).of([*keys, *others]), 0
        if late is not None:
            self.note(f"looking for the rows of {len(late.ids):,} late labels")
            found = belonging(self.table, late, [key for key in keys if key in self.there], label)
            unfound = len(set(late.ids) - {one for own in found.values() for one in own})
            corrections = corrections.with_(late.column, found)
        if corrections.partitions:
            self.table = CorrectedTable(self.table, corrections)
            self.look()
        return self.store.write_corrections(corrections) if self.keep else "", unfound

    def window(self, reference: Reference, keys: Sequence[str], known: Mapping[str, Entry]) -> Kept:
        """The partitions ``keys``, read where they are not ``known`` as they are now."""
        entries, read, rows, labels = {}, [], {}, []
        state = reference.kernel().start()
        for key in keys:
            one = self._kept(reference, key, known.get(key))
            if one is None:
                one = self._counted(reference, key)
                entries[key] = self._entry(key, one)
                read.append(key)
            else:
                entries[key] = known[key]
            labels.append(one.state.labels.copy())
            state = state.merge(one.state)  # one at a time: those of a wide table are large
            if self.rows and one.rows is not None:
                rows[key] = one.rows
        return Kept(entries, state, tuple(read), rows, labels)

    def _kept(self, reference: Reference, key: str, entry: Entry | None) -> Counted | None:
        """The counts that are kept of a partition; None where it has to be read."""
        if entry is None or (key in self.there and self._changed(reference, key, entry)):
            return None
        try:
            return Counted(self.store.counts(entry), self.store.kept_rows(entry) if self.rows else None)
        except DataError as error:
            if key not in self.there:
                raise
            log.warning("%s Partition '%s' is counted again.", error, key)
            return None

    def _changed(self, reference: Reference, key: str, entry: Entry) -> bool:
        mark = self.there[key].mark
        return entry.mark != mark if mark else entry.content != self._content(reference, key)

    def _content(self, reference: Reference, key: str) -> str:
        source = _source(self.table.engine(key), reference, key)
        return str(source.scan(ContentKernel(), f"content of {key}"))

    def _counted(self, reference: Reference, key: str) -> Counted:
        self.note(f"counting partition {key}")
        engine = self.table.engine(key)
        before = len(engine.passes)
        source = _source(engine, reference, key)
        state = source.scan(reference.kernel(), f"counts of {key}")
        states = _states(reference, key, state)
        rows = _drawn(source, reference, states, state) if reference.rows else None
        self.passes += engine.passes[before:]
        self.engine = engine.name
        return Counted(state, rows)

    def _entry(self, key: str, counted: Counted) -> Entry:
        state, rows = counted.state, counted.rows
        file = self.store.write_counts(state) if self.keep else ""
        kept = self.store.write_rows(rows) if self.keep and rows is not None else ""
        content = Content(state.profile.hash, state.profile.rows)
        mark = self.there[key].mark if key in self.there else ""
        return Entry(file, state.profile.rows, str(content), mark, kept)


def _source(engine: PartitionRows, reference: Reference, key: str) -> TableRows:
    """The columns that are counted, of the kinds that they were."""
    reference.check_columns(engine.columns(), f"partition '{key}'")
    return engine.source(reference.numeric, reference.text, reference.label.column)


def _drawn(source: TableRows, reference: Reference, states: Mapping[str, int], state: PartitionState) -> KeptRows:
    """The rows to keep of a partition that was counted."""
    profile = state.profile
    positive = sum(rows for value, rows in (profile.labels or {}).items() if states[value] == LABELLED_POSITIVE)
    return draw_kept(source, reference.wanted(states), positive, profile.rows - positive)


def _states(reference: Reference, key: str, state: PartitionState) -> dict[str, int]:
    """What label values mean; those that nobody declared are refused before they are kept."""
    counted = state.profile.labels
    if counted is None:
        raise DataError(Fault(f"Partition '{key}'", "its label has too many distinct values", "Name another column."))
    labels: dict[str | None, int] = dict(counted.items())
    states, faults = label_states(labels, reference.label)
    if faults:
        raise DataError([replace(fault, where=f"Partition '{key}', {fault.where}") for fault in faults])
    return states
