"""A selection from a memory of counts: partitions that are new are read, all others were counted before."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace

from spark_pufs.core.schema import match, patterns
from spark_pufs.engines.base import Engine, Keeper
from spark_pufs.errors import ConfigError, DataError, Fault
from spark_pufs.findings.parts import OutsideBins, WindowCounts
from spark_pufs.memory.kept_rows import window_rows
from spark_pufs.memory.late_labels import LateLabels
from spark_pufs.memory.newest import drift_of_newest, newest_warning
from spark_pufs.memory.outside import outside_of, outside_warning
from spark_pufs.memory.partitions import PartitionedTable, last_of
from spark_pufs.memory.recount import Counting, Kept
from spark_pufs.memory.reference import Reference, frozen_at
from spark_pufs.memory.settings import MemorySettings
from spark_pufs.memory.store import Index, Store
from spark_pufs.memory.union import UnionEngine
from spark_pufs.memory.window import Window, WindowEngine
from spark_pufs.request import Request
from spark_pufs.run.copies import one_of_each
from spark_pufs.run.execution import check, execute, execute_kept, prepare
from spark_pufs.run.provenance import identity
from spark_pufs.rundir.folder import RunFolder
from spark_pufs.rundir.lock import held
from spark_pufs.selection import Selection
from spark_pufs.selectors.registry import method_named
from spark_pufs.table.pu_table import Frozen, Plan, bins_of, inspect
from spark_pufs.types import Json

__all__ = ["Recalled", "recall", "select_remembered"]

log = logging.getLogger("spark_pufs")


@dataclass(frozen=True)
class Recalled:
    """A table found fit for a request; ``counts`` where it is a window of which all that is asked for is counted."""

    engine: Engine
    plan: Plan
    request: Request
    counts: WindowCounts | None = None

    @property
    def identity(self) -> dict[str, Json]:
        return identity(self.plan, self.request)

    def select(self, note: Callable[[str], None] = lambda what: None, keeper: Keeper | None = None) -> Selection:
        """Run the method on it."""
        return self._counted(execute(self.engine, self.plan, self.request, note, keeper))

    def select_kept(self, checkpoint: str | None) -> Selection:
        """The same, with the state of a search in a folder."""
        return self._counted(execute_kept(self.engine, self.plan, self.request, checkpoint))

    def _counted(self, found: Selection) -> Selection:
        return replace(found, findings=replace(found.findings, memory=self.counts))


def select_remembered(
    table: PartitionedTable,
    request: Request,
    settings: MemorySettings,
    late: LateLabels | None = None,
    checkpoint: str | None = None,
) -> Selection:
    """Count what is new, add what is kept, run the method."""
    return recall(table, request, settings, late=late).select_kept(checkpoint)


def recall(
    table: PartitionedTable,
    request: Request,
    settings: MemorySettings,
    note: Callable[[str], None] = lambda what: None,
    keep: bool = True,
    late: LateLabels | None = None,
) -> Recalled:
    """Bring the memory up to the table and to ``late`` labels; without ``keep`` nothing is written."""
    check(request)
    folder = RunFolder(settings.path)
    with held(folder) if keep else nullcontext():
        return _recalled(table, request, settings, Store(folder), note, keep, late)


def _needs_rows(request: Request) -> bool:
    """Whether rows are needed besides counts."""
    method = method_named(request.method)
    asked = request.estimate_prior or request.check_labels or (request.propose_k and not method.own_size)
    return method.counts is None or asked or bool(request.stability)


def _recalled(
    table: PartitionedTable,
    request: Request,
    settings: MemorySettings,
    store: Store,
    note: Callable[[str], None],
    keep: bool,
    late: LateLabels | None,
) -> Recalled:
    request = _apart_from(settings.partition, request, [column.name for column in table.columns()])
    run = Update(Counting(table, store, note, keep, rows=_needs_rows(request)), request, settings)
    window, counts = run.window(late)
    engine = WindowEngine(window, run.counting.engine, run.counting.passes)
    reference = window.reference
    plan = prepare(engine, request, frozen=Frozen(window.bins(), reference.near_copies, reference.digest))
    _check_counted(window, plan, store.where)
    drawn_from = None if window.rows is None else window.rows.labels
    told = (*plan.warnings, *_warnings(counts, settings), *_sampled(window, request))
    plan = replace(plan, warnings=told, drawn_from=drawn_from)
    return Recalled(engine, plan, request, counts)


@dataclass(frozen=True)
class Made:
    """A window's counts, and the index that names them; ``anew``: by cut points that were made for it."""

    index: Index
    reference: Reference
    kept: Kept
    anew: bool

    @property
    def window(self) -> Window:
        rows = window_rows(list(self.kept.rows.values())) if self.kept.rows else None
        return Window(self.reference, self.kept.state, rows)


@dataclass(frozen=True)
class Update:
    """How the memory comes up to a table."""

    counting: Counting
    request: Request
    settings: MemorySettings

    def window(self, late: LateLabels | None) -> tuple[Window, WindowCounts]:
        """The counts of the window; the memory holds them."""
        before = self._index()
        known = before.partitions if before else {}
        every = {*self.counting.look(), *known}
        keys = last_of(every, self.settings.window, self.settings.until)
        if not keys:
            raise _no_partitions(every, self.settings.until)
        others = [key for key in known if key not in keys] if self.settings.until is not None else []
        labels, unfound = self.counting.correct(before, keys, others, self.request.label.column, late)
        made = self._anew(keys) if before is None or self.settings.refit == "now" else self._added(before, keys)
        window = made.window
        outside = outside_of(window, made.index.shares)
        if outside and self.settings.refit == "auto":
            log.info("%s: %s", self.counting.store.where, outside_warning(outside))
            made = self._anew(keys)
            window, outside = made.window, ()
        # What was counted by other cut points cannot stay beside them.
        stay = {} if made.anew else {key: known[key] for key in others}
        left = tuple(key for key in known if key not in keys and key not in stay)
        if self.counting.keep and (made.kept.read or left or labels != made.index.labels):
            self.counting.store.show(replace(made.index, partitions={**stay, **made.kept.entries}, labels=labels))
        elif self.counting.keep:
            self.counting.store.tidy(made.index)
        told = self._told(window, made, left, outside)
        newest = drift_of_newest(window.reference, made.kept.labels)
        return window, replace(told, labels_without_row=unfound, newest=newest)

    def _told(
        self, window: Window, made: Made, left: tuple[str, ...], outside: tuple[OutsideBins, ...]
    ) -> WindowCounts:
        keys, read = tuple(made.kept.entries), made.kept.read
        rows, rows_read = window.state.profile.rows, made.kept.rows_read
        told = f"{len(read)} of {len(keys)} partitions read, {rows_read:,} of {rows:,} rows; {len(left)} left"
        log.info("%s: %s the window", self.counting.store.where, told)
        return WindowCounts(len(keys), keys[0], keys[-1], rows, read, rows_read, left, made.anew, outside)

    def _index(self) -> Index | None:
        """What is kept, if it is of the same column."""
        index = self.counting.store.index()
        if index is not None and index.partition != self.settings.partition:
            found = f"is cut by '{index.partition}', asked for is '{self.settings.partition}'"
            raise ConfigError(Fault(self.counting.store.where, found, "Name the same column, or another folder."))
        return index

    def _added(self, index: Index, keys: Sequence[str]) -> Made:
        """By the cut points that are kept."""
        reference = self.counting.store.reference(index)
        binning = method_named(self.request.method).binning
        reference.check_request(self.request, binning, self.counting.store.where)
        if self.counting.rows and not reference.rows:
            found = "keeps no rows, since it was made for a method that counts"
            fix = "Set refit: now, with this method, to count all partitions again; or name another folder."
            raise ConfigError(Fault(self.counting.store.where, found, fix))
        return Made(index, reference, self.counting.window(reference, keys, index.partitions), anew=False)

    def _anew(self, keys: Sequence[str]) -> Made:
        """By cut points from all rows of the window: everything is read."""
        store = self.counting.store
        absent = [key for key in keys if key not in self.counting.there]
        if absent:
            found = f"cut points need all {len(keys)} partitions of the window, {len(absent)} are not in the table"
            fix = f"Give a table that has them (the first is '{absent[0]}'), a smaller window, or another folder."
            raise DataError(Fault(store.where, found, fix))
        log.info("%s: making cut points, all %d partitions are counted", store.where, len(keys))
        reference = self._reference(keys)
        kept = self.counting.window(reference, keys, {})
        shares = Window(reference, kept.state).labels.sum(axis=0)
        file = store.write_reference(reference) if self.counting.keep else ""
        return Made(Index(self.settings.partition, file, tuple(shares.tolist())), reference, kept, anew=True)

    def _reference(self, keys: Sequence[str]) -> Reference:
        self.counting.note(f"making cut points from {len(keys)} partitions")
        rows = UnionEngine(self.counting.table, keys)
        plan = inspect(rows, self.request, method_named(self.request.method).binning)
        bins = bins_of(plan, self.request)
        plan = one_of_each(plan, rows, replace(self.request, copies="one"))
        self.counting.passes.extend(rows.passes)
        return frozen_at(plan, bins, rows.columns(), self.request, self.counting.rows)


def _warnings(counts: WindowCounts, settings: MemorySettings) -> list[str]:
    outside = [outside_warning(counts.outside)] if counts.outside else []
    unfound = counts.labels_without_row
    late = [f"{unfound:,} late labels belong to no row of the table's partitions: they were not kept."]
    newest = [newest_warning(counts.last, counts.newest)] if counts.newest else []
    return [*outside, *newest, *(late if unfound else []), *_short(counts, settings)]


def _short(counts: WindowCounts, settings: MemorySettings) -> list[str]:
    """A window that ends before the newest partition may reach back to what is no longer kept."""
    if settings.until is None or settings.window is None or counts.partitions >= settings.window:
        return []
    found = f"The window up to {settings.until} has {counts.partitions} of {settings.window} partitions"
    return [f"{found}: others are neither in the table nor in the memory."]


def _no_partitions(keys: set[str], until: str | None) -> DataError:
    if not keys or until is None:
        return DataError(Fault("Table", "has no partitions", "Check the path, the date or the filter."))
    found = f"no partition is up to '{until}', the first is '{last_of(keys, None)[0]}'"
    return DataError(Fault("Option 'until'", found, "Name a later one."))


def _sampled(window: Window, request: Request) -> list[str]:
    """What a method that passes over all rows sees of them."""
    method, rows, every = method_named(request.method), window.rows, window.known
    if rows is None or method.counts or method.from_sample or rows.labels == every:
        return []
    kept, alike = rows.labels, rows.alike.labels
    seen = f"{kept.rows:,} of {every.rows:,}, with {kept.positive:,} of {every.positive:,} labelled"
    even = f"where labelled ones count like others it sees {alike.rows:,}, with {alike.positive:,}"
    return [f"Method '{method.name}' passes over rows, and a memory keeps some: {seen}; {even}."]


def _apart_from(partition: str, request: Request, names: Sequence[str]) -> Request:
    """The request on a table without the column that tells partitions apart, where it is named to be left out."""

    def others(texts: tuple[str, ...]) -> tuple[str, ...]:
        every = patterns(texts, [*names, partition])
        return tuple(one.text for one in every if match(names, [one]) or not match([partition], [one]))

    return replace(request, exclude=others(request.exclude), keep=others(request.keep))


def _check_counted(window: Window, plan: Plan, where: str) -> None:
    """Every partition must have read its labels as the window does."""
    rows = window.labels[:, window.reference.layout.span(0)].sum(axis=1).tolist()
    labels = plan.labels
    if rows != [labels.unlabelled, labels.positive, labels.negative]:
        found = "its partitions read the same label values differently"
        raise DataError(Fault(where, found, "Declare every label value as the table writes it, and set refit: now."))
