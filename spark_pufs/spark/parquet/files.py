"""Parquet files read by the tasks themselves: no row goes through the JVM. Or why they are not."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from spark_pufs.engines.parquet.columns import MOMENTS, FileColumn, constant, fits
from spark_pufs.engines.parquet.footers import Footer, Unfit, read_footers
from spark_pufs.engines.parquet.reading import ColumnPlace, FilesReader, assign, parts_of
from spark_pufs.spark import scan
from spark_pufs.spark.own_session import is_connect
from spark_pufs.spark.parquet.bare_scan import BareScan, bare_scan, check_settings, files_of_path, local_path

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["ParquetFiles"]

TASKS_PER_SLOT = 2
TASK_BYTES = 64 * 2**20  # stored bytes that a task reads at most, where row groups allow
MOST_PROBES = 64
_REBASE = {
    "dates": "spark.sql.parquet.datetimeRebaseModeInRead",
    "INT96": "spark.sql.parquet.int96RebaseModeInRead",
}


@dataclass(frozen=True)
class ParquetFiles:
    """The files behind ``frame``, if it is nothing else; all methods raise ``Unfit`` where Spark has to read.

    ``types``: of the frame's columns. ``from_path``: the frame was read from a path, with nothing done to it since.
    """

    frame: DataFrame
    types: Sequence[tuple[str, str]]
    from_path: bool = False

    def reader(self, numeric: Sequence[int], text: Sequence[int], rows: int) -> FilesReader:
        """What reads these columns of the frame, the label last, ``rows`` rows at a time."""
        wanted = [*numeric, *text]
        parts = [
            part for footer in self._footers for part in parts_of(footer, self._places(footer, wanted), self._here)
        ]
        size = sum(size for size, _ in parts)
        tasks = max(TASKS_PER_SLOT * scan.slots(self.frame.sparkSession), -(-size // TASK_BYTES))
        return FilesReader(assign(parts, tasks), len(numeric), rows)

    def holding(self, position: int) -> list[tuple[str, bool]]:
        """The files, and whether a column of the frame is in them or in the name of their folder."""
        name, exact = self._scan.names[position], self._exact_names
        keyed = name in self._scan.keys
        return [(one.path, keyed or _found(one, name, exact) is not None) for one in self._footers]

    def units(self, reader: FilesReader) -> DataFrame:
        """A row per task: its number."""
        count = len(reader.tasks)
        return self.frame.sparkSession.range(0, count, 1, count)

    @property
    def _here(self) -> bool:
        return scan.one_machine(self.frame.sparkSession)

    @cached_property
    def _scan(self) -> BareScan:
        spark = self.frame.sparkSession
        check_settings(spark, self.frame)
        if self.from_path and is_connect(spark):
            return files_of_path(self.frame, [name for name, _ in self.types])
        return bare_scan(self.frame)

    @cached_property
    def _footers(self) -> list[Footer]:
        footers = read_footers([local_path(file) for file in self._scan.files])
        if not self._here:
            _probe(self.frame, [(footer.path, footer.size) for footer in footers])
        return footers

    @cached_property
    def _exact_names(self) -> bool:
        return str(self.frame.sparkSession.conf.get("spark.sql.caseSensitive", "false")).lower() == "true"

    def _places(self, footer: Footer, wanted: Sequence[int]) -> tuple[ColumnPlace, ...]:
        values = dict(zip(self._scan.keys, self._folder_values(footer), strict=True))
        return tuple(self._place(footer, values, position) for position in wanted)

    def _folder_values(self, footer: Footer) -> tuple[Any, ...]:
        if not self._scan.keys:
            return ()
        found = self._scan.values.get(os.path.dirname(footer.path))
        if found is None:
            raise Unfit(f"the folder of file '{footer.name}' tells no values")
        return found

    def _place(self, footer: Footer, values: dict[str, Any], position: int) -> ColumnPlace:
        name, type_ = self._scan.names[position], self.types[position][1]
        column = None if name in values else _found(footer, name, self._exact_names)
        if column is None:
            if constant(type_, None) is None:
                raise Unfit(f"column '{name}' is a {type_}")
            return ColumnPlace(type_, None, values.get(name))
        if not fits(type_, column):
            raise Unfit(f"column '{name}' is {column.type} ({column.arrow}) in file '{footer.name}', {type_} to Spark")
        if type_ in MOMENTS and not self._todays_calendar(footer, "INT96" if column.physical == "INT96" else "dates"):
            raise Unfit(f"file '{footer.name}' may hold days of the old calendar in column '{name}'")
        if not all(group.known[column.leaf] for group in footer.groups):
            raise Unfit(f"file '{footer.name}' is compressed in a way of its own")
        return ColumnPlace(type_, column.leaf)

    def _todays_calendar(self, footer: Footer, what: str) -> bool:
        said = footer.calendars[what]
        return str(self.frame.sparkSession.conf.get(_REBASE[what])).upper() == "CORRECTED" if said is None else said


def _found(footer: Footer, name: str, exact: bool) -> FileColumn | None:
    """The file's column of that name, None where it has none."""
    alike = footer.columns.alike(name, exact)
    if not alike:
        return None
    column = footer.columns.named[alike[0]]
    if len(alike) > 1 or column is None:
        raise Unfit(f"column '{name}' is nested or comes twice in file '{footer.name}'")
    return column


def _probe(frame: DataFrame, files: list[tuple[str, int]]) -> None:
    """Raise ``Unfit`` unless tasks on all machines see the driver's files."""
    spark = frame.sparkSession

    def look(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for _ in batches:
            absent = [path for path, size in files if not os.path.exists(path) or os.path.getsize(path) != size]
            yield pa.RecordBatch.from_arrays([pa.array(absent[:1], pa.string())], ["absent"])

    count = min(MOST_PROBES, 2 * scan.slots(spark))
    if spark.range(0, count, 1, count).mapInArrow(look, "absent string").head(1):
        raise Unfit("workers do not see the files that the driver sees")
