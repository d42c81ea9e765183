"""Partitions in places of their own: folders named ``day=2026-01-31``, or a path with ``{day}`` in it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from urllib.parse import unquote

from pyarrow import fs

from spark_pufs.engines.base import Engine
from spark_pufs.errors import DataError, Fault
from spark_pufs.masking.addresses import address_shown
from spark_pufs.memory.partitions import Partition, file_mark, file_system, in_order
from spark_pufs.types import Column

__all__ = ["FolderPartitions", "fixed_part", "folders_of"]

_NO_VALUE = "__HIVE_DEFAULT_PARTITION__"


class FolderPartitions:
    """The place of each partition by its key; ``open_`` reads one. Names, sizes and times of files tell of changes."""

    def __init__(self, places: Mapping[str, str], partition: str, open_: Callable[[str], Engine]) -> None:
        self._places, self._partition, self._open = places, partition, open_
        self._last: tuple[str, Engine] | None = None  # rows in memory, so that they are read once

    def columns(self) -> list[Column]:
        return self._columns

    def partitions(self) -> list[Partition]:
        return [Partition(key, file_mark([self._places[key]])) for key in in_order(self._places)]

    def engine(self, key: str) -> Engine:
        if self._last is None or self._last[0] != key:
            self._last = None  # those of another partition go first
            self._last = key, self._open(self._places[key])
        return self._last[1]

    @cached_property
    def _columns(self) -> list[Column]:
        return _without(self.engine(in_order(self._places)[-1]).columns(), self._partition)


def _without(columns: list[Column], partition: str) -> list[Column]:
    return [column for column in columns if column.name != partition]


def folders_of(path: str, partition: str) -> dict[str, str] | None:
    """Places by key; None where the path has no place for each partition, or Arrow cannot look into it.

    ``path`` has ``{partition}`` in one of its parts, or it holds folders named after the column, or it is one of these.
    """
    if f"{{{partition}}}" in path:
        return _by_template(path, partition)
    _, _, last = path.rstrip("/").rpartition("/")
    if _key(last, partition) is not None:
        return {str(_key(last, partition)): path}
    listed = _listed(path)
    keys = {name: _key(name, partition) for name in listed or ()}
    found = {key: f"{path.rstrip('/')}/{name}" for name, key in keys.items() if key is not None}
    if _NO_VALUE in found:
        raise DataError(Fault(f"Source '{address_shown(path)}'", "has a partition without a value", "Give it one."))
    return found or None


def fixed_part(path: str, partition: str) -> str:
    """The path up to the first part that changes with the partition.

    >>> fixed_part("data/flows/{day}/rows.parquet", "day")
    'data/flows'
    """
    before, mark, _ = path.partition(f"{{{partition}}}")
    return before.rpartition("/")[0] if mark else path


def _between(name: str, around: list[str]) -> str:
    """What stands between the texts ``around`` it in a name, the same each time; empty where the name does not fit.

    >>> _between("flows-2026-01-31.csv", ["flows-", ".csv"])
    '2026-01-31'
    >>> _between("7+7", ["", "+", ""]), _between("7+8", ["", "+", ""])
    ('7', '')
    """
    length = (len(name) - sum(map(len, around))) // (len(around) - 1)
    key = name[len(around[0]) :][: max(length, 0)]
    return key if key.join(around) == name else ""


def _by_template(path: str, partition: str) -> dict[str, str]:
    mark = f"{{{partition}}}"
    folder = fixed_part(path, partition) or ("/" if path.startswith("/") else ".")
    part, slash, rest = path[len(fixed_part(path, partition)) :].lstrip("/").partition("/")
    found = {}
    for name in _listed(folder) or ():
        key = _between(name, part.split(mark))
        place = f"{folder}/{name}{slash}{rest.replace(mark, key)}"
        if key and not name.startswith(("_", ".")) and (not rest or _is_there(place)):
            found[key] = place
    if not found:
        shown = address_shown(path)
        raise DataError(Fault(f"Source '{shown}'", "fits no file or folder", f"{mark} stands for a partition's key."))
    return found


def _key(name: str, partition: str) -> str | None:
    """The value in a folder's name, as Hive writes it."""
    column, equals, value = name.partition("=")
    return unquote(value) if equals and column == partition else None


def _is_there(path: str) -> bool:
    system, place = file_system(path)
    return bool(system.get_file_info(place).type != fs.FileType.NotFound)


def _listed(path: str) -> list[str] | None:
    """Names in a folder; None where it is none, or of a file system that Arrow does not know."""
    try:
        system, place = file_system(path)
        if system.get_file_info(place).type != fs.FileType.Directory:
            return None
        return sorted(info.base_name for info in system.get_file_info(fs.FileSelector(place)))
    except (OSError, ValueError):
        return None
