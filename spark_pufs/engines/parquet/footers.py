"""What the footer of a Parquet file tells: columns, row groups, and which calendar its writer used."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from spark_pufs.engines.parquet.columns import FileColumn
from spark_pufs.masking.texts import gist

__all__ = ["FileColumns", "Footer", "RowGroup", "Unfit", "open_file", "read_footers"]

_THREADS = 8
# Compression that both readers know, and encodings of text that pyarrow can leave as they are.
_CODECS = {"UNCOMPRESSED", "SNAPPY", "GZIP", "ZSTD", "LZ4", "LZ4_RAW"}
_DICTIONARY = {"PLAIN", "RLE", "BIT_PACKED", "PLAIN_DICTIONARY", "RLE_DICTIONARY"}
_VERSION = b"org.apache.spark.version"
_MARKS = {"dates": (b"org.apache.spark.legacyDateTime", (3, 0)), "INT96": (b"org.apache.spark.legacyINT96", (3, 1))}


class Unfit(Exception):
    """Why files are left to Spark's reader: pyarrow might give other values, or none."""


@dataclass(frozen=True)
class FileColumns:
    """The columns of a file by name; None where one is nested, or its name comes twice."""

    named: dict[str, FileColumn | None]

    @cached_property
    def _folded(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for name in self.named:
            found.setdefault(name.lower(), []).append(name)
        return found

    def alike(self, name: str, exact: bool) -> list[str]:
        """Names of columns that are ``name``, in upper or lower case where that is not ``exact``."""
        return [name][: name in self.named] if exact else self._folded.get(name.lower(), [])


@dataclass(frozen=True)
class RowGroup:
    """Rows that are stored together: of each leaf column its bytes, whether it may be left in its dictionary, and
    whether its compression is known."""

    rows: int
    bytes: tuple[int, ...]
    encoded: tuple[bool, ...]
    known: tuple[bool, ...]


@dataclass(frozen=True)
class Footer:
    """One file; ``calendars`` says of dates and of INT96 whether old days are stored as they are counted today.

    None where the file does not say: then a setting of Spark decides.
    """

    path: str
    size: int
    modified: int  # nanoseconds
    columns: FileColumns
    groups: tuple[RowGroup, ...]
    calendars: dict[str, bool | None]

    @property
    def name(self) -> str:
        return Path(self.path).name


def open_file(path: str, dictionaries: list[str] | None = None) -> pq.ParquetFile:
    """The file as every reader here opens it; ``dictionaries`` names text columns to leave encoded.

    Pages are held to their checksums where they have any: the checksum files that Hadoop lays beside are not looked at.
    """
    return pq.ParquetFile(
        path, coerce_int96_timestamp_unit="us", read_dictionary=dictionaries, page_checksum_verification=True
    )


def read_footers(paths: list[str]) -> list[Footer]:
    """The footers of files of this machine, in order; raises ``Unfit`` at the first that cannot be read."""
    with ThreadPoolExecutor(_THREADS) as pool:
        return list(pool.map(_footer, paths))


def _footer(path: str) -> Footer:
    try:
        stat = os.stat(path)
        with open_file(path) as file:
            metadata, columns = file.metadata, _columns(file)
            groups = tuple(_group(metadata.row_group(i)) for i in range(metadata.num_row_groups))
            return Footer(path, stat.st_size, stat.st_mtime_ns, columns, groups, _calendars(metadata.metadata or {}))
    except (OSError, pa.ArrowException, ValueError) as error:
        raise Unfit(f"file '{Path(path).name}' cannot be read by pyarrow: {gist(error)}") from error


def _group(group: Any) -> RowGroup:
    chunks = [group.column(i) for i in range(group.num_columns)]
    return RowGroup(
        group.num_rows,
        tuple(chunk.total_compressed_size for chunk in chunks),
        tuple(set(chunk.encodings) <= _DICTIONARY for chunk in chunks),
        tuple(chunk.compression in _CODECS for chunk in chunks),
    )


def _columns(file: pq.ParquetFile) -> FileColumns:
    leaves = [file.schema.column(i) for i in range(len(file.schema))]
    told = tuple((leaf.path, leaf.physical_type, leaf.logical_type.to_json()) for leaf in leaves)
    schema = file.schema_arrow
    widths = tuple(map(_leaves, schema.types))
    if sum(widths) != len(leaves):
        raise ValueError("its columns cannot be told apart")
    return _known(told, tuple(schema.names), tuple(map(str, schema.types)), widths)


@lru_cache(maxsize=64)  # the files of a table mostly have one schema
def _known(
    told: tuple[tuple[str, str, str], ...], names: tuple[str, ...], types: tuple[str, ...], widths: tuple[int, ...]
) -> FileColumns:
    found: dict[str, FileColumn | None] = {}
    place = 0
    for name, type_, width in zip(names, types, widths, strict=True):
        path, physical, logical = told[place] if width else ("", "", "")
        flat = name not in found and width == 1 and path == name
        found[name] = FileColumn(place, physical, logical, type_) if flat else None
        place += width
    return FileColumns(found)


def _leaves(kind: pa.DataType) -> int:
    """Leaf columns of a field: its place in the file is not its place in the schema."""
    if pa.types.is_dictionary(kind) or not kind.num_fields:
        return 1
    return sum(_leaves(kind.field(i).type) for i in range(kind.num_fields))


def _calendars(marks: dict[bytes, bytes]) -> dict[str, bool | None]:
    """As Spark decides: files of its old versions, and those that say so, count old days by the Julian calendar."""
    version = marks.get(_VERSION)
    if version is None:
        return dict.fromkeys(_MARKS)
    try:
        number = tuple(int(part) for part in version.decode().split(".")[:2])
    except ValueError:
        return dict.fromkeys(_MARKS, False)
    return {what: number >= least and mark not in marks for what, (mark, least) in _MARKS.items()}
