"""Tables that fit into memory, read from local files with the types and values that Spark gives them.

Whatever Spark might read otherwise is ``NotAlike``: types, calendars, folders with partitions, options of its readers.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from spark_pufs.engines.arrow_columns import NotAlike, spark_type
from spark_pufs.errors import DataError, Fault
from spark_pufs.jobs.csv_tables import read_csv
from spark_pufs.jobs.json_tables import read_json
from spark_pufs.masking.texts import gist

__all__ = ["MEMORY_MB", "check_there", "read_small"]

MEMORY_MB = 256  # of a table's values, 8 bytes each, up to which `engine: auto` works in memory
TEXT_MB = 64  # the same of a CSV or JSON file: as numbers it is of about that size
_SPARK_ROWS = b"org.apache.spark.sql.parquet.row.metadata"
_NAMES = {"byte": "tinyint", "short": "smallint", "integer": "int", "long": "bigint"}
_NOT_A_PLAIN_PATH = set("*?[]{}\\:%~")


def read_small(path: str, format_: str, options: Mapping[str, object], limited: bool) -> pa.Table:
    """The table, or NotAlike; ``limited``: also where it is larger than a small table may be."""
    if format_ not in _READERS:
        raise NotAlike(f"format {format_}")
    files = _files(path)
    bytes_ = sum(file.stat().st_size for file in files)
    if limited and bytes_ > (TEXT_MB if format_ in ("csv", "json") else MEMORY_MB) * 2**20:
        raise NotAlike(f"{bytes_ / 2**20:,.0f} MB of files")
    try:
        return _READERS[format_](files, options, MEMORY_MB * 2**20 if limited else None)
    except (pa.ArrowException, OSError, ValueError) as error:
        raise NotAlike(f"a file that does not open: {gist(error)}") from error


def check_there(path: str) -> None:
    """Refuse what is not there on this machine, and pipes, which nobody might ever write to; what else a path may mean
    is not looked into."""
    place = _plain_path(path)
    if place is None:
        return
    if not os.path.exists(place):
        raise DataError(Fault(f"Source '{path}'", "does not exist", "Check source.path or source.table."))
    inside = list(os.scandir(place)) if place.is_dir() else [place]
    pipes = [one.name for one in inside if os.path.exists(one) and not one.is_file() and not one.is_dir()]
    if pipes:
        raise DataError(Fault(f"Source '{path}'", f"'{pipes[0]}' is a pipe or a device", "Write it to a file first."))


def _plain_path(path: str) -> Path | None:
    """The place on this machine that a path names without globs, schemes and the like."""
    place = Path(path.removeprefix("file://") if path.startswith("file:///") else path)
    return None if _NOT_A_PLAIN_PATH & set(str(place)) or "\0" in path else place


def _files(path: str) -> list[Path]:
    """The data files of a local path; those that Spark passes over are left out."""
    place = _plain_path(path)
    if place is None:
        raise NotAlike("a path that is more than a file or a folder of this machine")
    check_there(path)
    inside = sorted(place.iterdir()) if place.is_dir() else [place]
    files = [file for file in inside if not file.name.startswith(("_", "."))]
    if not files or not all(file.is_file() for file in files) or any("metadata" in file.name for file in inside):
        raise NotAlike("a folder that does not hold data files alone")
    return files


def _read_parquet(files: list[Path], options: Mapping[str, object], most: int | None) -> pa.Table:
    if options:
        raise NotAlike("options of the reader")
    opened = [pq.ParquetFile(file, coerce_int96_timestamp_unit="us") for file in files]
    _check_size(sum(one.metadata.num_rows for one in opened), len(opened[0].schema_arrow), most)
    return _joined([_with_instants(one, one.read(use_threads=False)) for one in opened])


def _with_instants(file: pq.ParquetFile, table: pa.Table) -> pa.Table:
    """INT96 are instants, which Arrow tells without a zone; and the types must be those that a Spark wrote down."""
    for place, field in enumerate(table.schema):
        if pa.types.is_timestamp(field.type) and file.schema.column(place).physical_type == "INT96":
            instants = table.column(place).cast(pa.timestamp("us", "UTC"))
            table = table.set_column(place, field.name, instants)
    rows = (file.metadata.metadata or {}).get(_SPARK_ROWS)
    if rows is not None and _written(json.loads(rows)) != [(f.name, spark_type(f.type)) for f in table.schema]:
        raise NotAlike("types of Spark that Parquet does not have")
    return table.replace_schema_metadata(None)


def _written(rows: Mapping[str, list[dict[str, object]]]) -> list[tuple[str, str] | None]:
    """Names and types that Spark wrote into a file; None where it has more to say of a column."""
    return [
        None
        if field.get("metadata") or not isinstance(field["type"], str)
        else (str(field["name"]), _simple(field["type"]))
        for field in rows["fields"]
    ]


def _simple(type_: str) -> str:
    return _NAMES.get(type_, type_)


def _read_orc(files: list[Path], options: Mapping[str, object], most: int | None) -> pa.Table:
    from pyarrow import orc

    if options:
        raise NotAlike("options of the reader")
    opened = [orc.ORCFile(file) for file in files]
    _check_size(sum(one.nrows for one in opened), len(opened[0].schema), most)
    if any(pa.types.is_timestamp(type_) for type_ in opened[0].schema.types):
        raise NotAlike("timestamps in ORC, which hang on a zone")
    if not all(re.fullmatch(r"[\w.]+", name) for name in opened[0].schema.names):
        raise NotAlike("names in ORC that Spark would have quoted")
    return _joined([one.read().replace_schema_metadata(None) for one in opened])


def _read_arrow(files: list[Path], options: Mapping[str, object], most: int | None) -> pa.Table:
    """Feather and files of Arrow's own, which Spark does not read."""
    from pyarrow import feather

    if options:
        raise NotAlike("options of the reader")
    table = _joined([feather.read_table(file).replace_schema_metadata(None) for file in files])
    micros = [_micros(field) for field in table.schema]
    return table.cast(pa.schema(micros), safe=False)


def _micros(field: pa.Field) -> pa.Field:
    """No engine tells nanoseconds apart."""
    nanos = pa.types.is_timestamp(field.type) and field.type.unit == "ns"
    return field.with_type(pa.timestamp("us", field.type.tz)) if nanos else field


def _joined(parts: list[pa.Table]) -> pa.Table:
    if any(not part.schema.equals(parts[0].schema) for part in parts):
        raise NotAlike("files with different columns")
    return pa.concat_tables(parts)


def _check_size(rows: int, columns: int, most: int | None) -> None:
    if most is not None and 8 * rows * columns > most:
        raise NotAlike(f"{8 * rows * columns / 2**20:,.0f} MB of values")


_READERS: dict[str, Callable[[list[Path], Mapping[str, object], int | None], pa.Table]] = {
    "parquet": _read_parquet,
    "orc": _read_orc,
    "csv": read_csv,
    "json": read_json,
    "arrow": _read_arrow,
}
