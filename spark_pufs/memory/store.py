"""The folder of a memory: an index that names a file per partition and one of the reference, each with its checksum.

New files are written beside the old ones, under names of their own; then the index is replaced in one step; then what
it no longer names is deleted. Whatever stops a run, the index on the disk names files that are whole.
"""

from __future__ import annotations

import hashlib
import json
import re
import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from spark_pufs.core.records import from_bytes, read, to_bytes, written
from spark_pufs.errors import ConfigError, DataError, Fault
from spark_pufs.masking.texts import gist
from spark_pufs.memory.counts import PackedCounts, PartitionState, packed, unpacked
from spark_pufs.memory.kept_rows import KeptRows
from spark_pufs.memory.late_labels import Corrections
from spark_pufs.memory.reference import Reference
from spark_pufs.rundir.folder import RunFolder
from spark_pufs.types import Json
from spark_pufs.version import __version__

__all__ = ["FORMAT", "INDEX", "Entry", "Index", "Store"]

INDEX = "memory.json"
FORMAT = 1
_HEAD = b"spark-pufs counts 1\n"
_OURS = re.compile(r"(counts|labels|reference|rows)-[0-9a-f]{32}\.bin")
_BROKEN = (ValueError, KeyError, TypeError, OSError, EOFError, RecursionError, MemoryError, zipfile.BadZipFile,
           zlib.error)  # fmt: skip

Record = TypeVar("Record")


@dataclass(frozen=True)
class Entry:
    """One partition: its file, its ``rows``, a hash of their ``content``, the ``mark`` of where they were read, and the
    file of those that are ``kept``."""

    file: str
    rows: int
    content: str
    mark: str
    kept: str = ""


@dataclass(frozen=True)
class Index:
    """What a memory holds; ``shares``: rows per level of all partitions when the reference was made; ``labels``: the
    file of those that came later."""

    partition: str
    reference: str
    shares: tuple[int, ...]
    partitions: Mapping[str, Entry] = field(default_factory=dict)
    labels: str = ""


class Store:
    """One memory, in a folder that the caller holds."""

    def __init__(self, folder: RunFolder) -> None:
        self._folder = folder

    @property
    def where(self) -> str:
        return f"Memory '{self._folder.path}'"

    def index(self) -> Index | None:
        """What is kept here; None where nothing is yet."""
        values = self._folder.read_json(INDEX)
        if values is None:
            return None
        if values.get("format") != FORMAT:
            found = f"has format {values.get('format')!r}, made by version {values.get('version')!r}; known is {FORMAT}"
            raise ConfigError(Fault(self.where, found, "Use the version that made it, or name another folder."))
        try:
            if values["sha256"] != _digest_of(values["index"]):
                raise ValueError("its checksum is wrong")
            return read(Index, values["index"], "index")
        except _BROKEN as error:
            raise self._damaged(INDEX, error) from error

    def reference(self, index: Index) -> Reference:
        return self._record(Reference, index.reference)

    def corrections(self, index: Index | None) -> Corrections:
        return self._record(Corrections, index.labels) if index and index.labels else Corrections()

    def counts(self, entry: Entry) -> PartitionState:
        return unpacked(self._record(PackedCounts, entry.file))

    def kept_rows(self, entry: Entry) -> KeptRows:
        return self._record(KeptRows, entry.kept)

    def write_rows(self, rows: KeptRows) -> str:
        return self._write("rows", to_bytes(rows))

    def write_reference(self, reference: Reference) -> str:
        return self._write("reference", to_bytes(reference))

    def write_corrections(self, corrections: Corrections) -> str:
        return self._write("labels", to_bytes(corrections)) if corrections.partitions else ""

    def write_counts(self, state: PartitionState) -> str:
        return self._write("counts", to_bytes(packed(state)))

    def show(self, index: Index) -> None:
        """Make ``index`` the memory, then take away what it does not name."""
        plain = written(index)
        values: dict[str, Json] = {"format": FORMAT, "version": __version__, "sha256": _digest_of(plain)}
        self._folder.write(INDEX, json.dumps({**values, "index": plain}, indent=1).encode())
        self.tidy(index)

    def tidy(self, index: Index) -> None:
        """Take away files of ours that the index does not name; a run that was killed may have left some."""
        named = {
            index.reference,
            index.labels,
            *(file for entry in index.partitions.values() for file in (entry.file, entry.kept)),
        }
        for name in self._folder.names():
            if _OURS.fullmatch(name) and name not in named:
                self._folder.delete(name)

    def _write(self, kind: str, data: bytes) -> str:
        """Write a file named after its content; one that is there whole already stays."""
        sealed = _HEAD + zlib.compress(data, 6)
        name = f"{kind}-{hashlib.sha256(sealed).hexdigest()[:32]}.bin"
        if self._folder.read(name) != sealed:
            self._folder.write(name, sealed)
        return name

    def _record(self, kind: type[Record], name: str) -> Record:
        data = self._data(name)
        try:
            return from_bytes(kind, zlib.decompress(data[len(_HEAD) :]))
        except _BROKEN as error:
            raise self._damaged(name, error) from error

    def _data(self, name: str) -> bytes:
        """A file that is what its name says."""
        data = self._folder.read(name) if _OURS.fullmatch(name) else None
        if data is None:
            raise self._damaged(name, ValueError("it is not there"))
        if not data.startswith(_HEAD) or hashlib.sha256(data).hexdigest()[:32] not in name:
            raise self._damaged(name, ValueError("its checksum is wrong"))
        return data

    def _damaged(self, name: str, error: BaseException) -> DataError:
        fix = "Restore the folder, or name another one and count all partitions again."
        return DataError(Fault(self.where, f"its file {name} is damaged ({gist(error)})", fix))


def _digest_of(plain: Json) -> str:
    return hashlib.sha256(json.dumps(plain, sort_keys=True).encode()).hexdigest()
