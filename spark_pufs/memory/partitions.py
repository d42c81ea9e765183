"""A table cut into partitions, whatever holds it, and the order of their keys."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from pyarrow import fs

from spark_pufs.errors import DataError, Fault
from spark_pufs.findings.run_facts import Pass
from spark_pufs.masking.addresses import address_shown
from spark_pufs.masking.texts import gist
from spark_pufs.table.numbers import TableRows
from spark_pufs.types import Column

__all__ = [
    "Partition",
    "PartitionRows",
    "PartitionedTable",
    "file_mark",
    "file_system",
    "in_order",
    "last_of",
    "no_value",
]

_WHOLE = re.compile(r"-?\d{1,18}")


@dataclass(frozen=True)
class Partition:
    """Rows that are counted together. ``mark`` changes when they may have changed, such as with the names, sizes and
    times of files; empty: only the rows themselves tell.
    """

    key: str
    mark: str = ""


class PartitionRows(Protocol):
    """The rows of one partition: an engine, or what reads as one."""

    @property
    def name(self) -> str: ...

    @property
    def passes(self) -> list[Pass]: ...

    def columns(self) -> list[Column]: ...

    def source(self, numeric: Sequence[str], text: Sequence[str], label: str) -> TableRows: ...


class PartitionedTable(Protocol):
    """Where new rows come from."""

    def columns(self) -> list[Column]:
        """Those of every partition, without the one that tells partitions apart."""

    def partitions(self) -> list[Partition]:
        """All that are there; no row is read to tell, unless nothing else can."""

    def engine(self, key: str) -> PartitionRows:
        """The rows of one of them."""


def in_order(keys: Iterable[str]) -> list[str]:
    """Oldest first: whole numbers by their size, all else, such as days, by letters.

    >>> in_order(["10", "9"]), in_order(["2026-01-10", "2026-01-09"])
    (['9', '10'], ['2026-01-09', '2026-01-10'])
    """
    known = set(keys)
    if all(_WHOLE.fullmatch(key) for key in known):
        return sorted(known, key=lambda key: (int(key), key))
    return sorted(known)


def last_of(keys: Iterable[str], window: int | None, until: str | None = None) -> list[str]:
    """The newest ``window`` of them, none after ``until``, oldest first.

    >>> last_of(["c", "a", "b"], 2), last_of(["c", "a", "b"], None), last_of(["c", "a", "b"], 1, until="b")
    (['b', 'c'], ['a', 'b', 'c'], ['b'])
    """
    known = set(keys)
    ordered = in_order(known) if until is None else in_order({*known, until})
    here = ordered if until is None else [key for key in ordered[: ordered.index(until) + 1] if key in known]
    return here if window is None else here[-window:]


def no_value(column: str, rows: int) -> DataError:
    """What to tell of rows whose partition is not known."""
    found = f"{rows:,} rows have no value and belong to no partition"
    return DataError(Fault(f"Column '{column}'", found, "Fill it, or leave these rows out."))


def file_system(path: str) -> tuple[fs.FileSystem, str]:
    """Where an address or a path leads."""
    if "://" not in path and not path.startswith("file:/"):
        return fs.LocalFileSystem(), path
    found: tuple[fs.FileSystem, str] = fs.FileSystem.from_uri(re.sub("^file:/+", "file:///", path))
    return found


def file_mark(paths: Iterable[str]) -> str:
    """What changes when a file in these folders comes, goes or is written again."""
    files = sorted(one for path in paths for one in _files(path))
    return f"files:{hashlib.sha256(json.dumps(files).encode()).hexdigest()[:32]}"


def _files(path: str) -> list[tuple[str, int, int]]:
    """Names within it, sizes and times; a file is a folder of one."""
    try:
        system, place = file_system(path)
        info = system.get_file_info(place)
        inside = system.get_file_info(fs.FileSelector(place, recursive=True)) if not info.is_file else [info]
    except (OSError, ValueError) as error:
        found = f"cannot be listed: {gist(error)}"
        raise DataError(Fault(f"Source '{address_shown(path)}'", found, "Check source.path.")) from error
    return [
        (one.path.removeprefix(place), one.size, one.mtime_ns)
        for one in inside
        if one.is_file and not one.base_name.startswith(("_", "."))
    ]
