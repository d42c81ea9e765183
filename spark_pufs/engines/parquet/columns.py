"""Columns of Parquet files: which of them hold what Spark reads as a given type, and their values.

Only pairs of types are listed of which it is known that both readers give the same bits. All else is for Spark.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from spark_pufs.engines.arrow_batches import encode
from spark_pufs.types import Text

__all__ = ["FRACTIONS", "MOMENTS", "FileColumn", "constant", "fits", "numbers", "texts"]

MOMENTS = ("date", "timestamp", "timestamp_ntz")
FRACTIONS = ("float", "double", "timestamp", "timestamp_ntz", "decimal")  # as text they are identified by their doubles
_EXACT_DIGITS = 15  # of a decimal whose unscaled value a double holds exactly
_ONES = 10.0 ** np.arange(23)  # powers of ten that a double holds exactly
_UNITS = {"s": 1_000_000, "ms": 1_000, "us": 1}
_MICROS = 1e6


@dataclass(frozen=True)
class FileColumn:
    """A flat column of one file: its place among the leaves, its Parquet type, the Arrow type it is read as."""

    leaf: int
    physical: str
    logical: str  # JSON, as pyarrow tells it
    arrow: str

    @property
    def type(self) -> str:
        """The Parquet type in short: 'INT64 Timestamp microseconds UTC'."""
        told = json.loads(self.logical)
        kind = "" if told["Type"] in ("None", "Undefined") else f" {told['Type']}"
        if kind == " Int":
            kind += f" {told['bitWidth']}{'' if told['isSigned'] else ' unsigned'}"
        elif kind == " Decimal":
            kind += f"({told['precision']},{told['scale']})"
        elif kind == " Timestamp":
            kind += f" {told['timeUnit']}{' UTC' if told['isAdjustedToUTC'] else ''}"
        return self.physical + kind


# Parquet and Arrow types behind a type of Spark. An annotation that Spark reads as another type is not listed.
_SAME: dict[str, set[tuple[str, str]]] = {
    "boolean": {("BOOLEAN", "bool")},
    "tinyint": {("INT32 Int 8", "int8")},
    "smallint": {("INT32 Int 16", "int16"), ("INT32 Int 8 unsigned", "uint8")},
    "int": {("INT32", "int32"), ("INT32 Int 32", "int32"), ("INT32 Int 16 unsigned", "uint16")},
    "bigint": {("INT64", "int64"), ("INT64 Int 64", "int64"), ("INT32 Int 32 unsigned", "uint32")},
    "float": {("FLOAT", "float")},
    "double": {("DOUBLE", "double")},
    "date": {("INT32 Date", "date32[day]")},
    "string": {("BYTE_ARRAY String", "string"), ("BYTE_ARRAY String", "large_string")},
    "decimal(20,0)": {("INT64 Int 64 unsigned", "uint64")},
}
_TEXT = re.compile(r"dictionary<values=(large_)?string, indices=int\d+, ordered=[01]>")
_DECIMAL = re.compile(r"decimal\((\d+),(\d+)\)")


def fits(type_: str, column: FileColumn) -> bool:
    """Whether pyarrow reads from the column what Spark reads as ``type_``."""
    found = column.type
    if (found, column.arrow) in _SAME.get(type_, ()):
        return True
    if type_ == "string":
        return found == "BYTE_ARRAY String" and bool(_TEXT.fullmatch(column.arrow))
    if type_ == "timestamp":
        whole = found in ("INT64 Timestamp milliseconds UTC", "INT64 Timestamp microseconds UTC")
        return found == "INT96" or (whole and _in_micros(column.arrow))
    if type_ == "timestamp_ntz":
        whole = found in ("INT64 Timestamp milliseconds", "INT64 Timestamp microseconds")
        return whole and _in_micros(column.arrow)
    if known := _DECIMAL.fullmatch(type_):
        precision, scale = known.groups()
        same = found.endswith(f" Decimal({precision},{scale})")
        return same and column.arrow == f"decimal128({precision}, {scale})"
    return False


def _in_micros(arrow: str) -> bool:
    return arrow.startswith(("timestamp[s", "timestamp[ms", "timestamp[us"))


def numbers(column: pa.Array) -> tuple[NDArray[np.float64], int]:
    """Values (n,) as Spark casts them to double, NaN where null, and how many are null."""
    if pa.types.is_decimal(column.type):
        return _decimals(column), column.null_count
    if pa.types.is_timestamp(column.type):
        whole = pc.multiply_checked(column.cast(pa.int64()), _UNITS[column.type.unit])
        return _doubles(whole) / _MICROS, column.null_count
    if pa.types.is_date32(column.type):
        column = column.cast(pa.int32())
    return _doubles(column), column.null_count


def _doubles(column: pa.Array) -> NDArray[np.float64]:
    if column.type != pa.float64():
        column = column.cast(pa.float64(), safe=False)  # rounded to nearest, as in Java
    values: NDArray[np.float64] = column.to_numpy(zero_copy_only=False)
    return values


def _decimals(column: pa.Array) -> NDArray[np.float64]:
    """Each decimal's nearest double. Arrow's own cast is off by a bit now and then."""
    kind = column.type
    if kind.precision > _EXACT_DIGITS or not 0 <= kind.scale < len(_ONES):
        encoded = pc.dictionary_encode(column)
        known = np.array([float(value) for value in encoded.dictionary.to_pylist()] + [np.nan])
        values: NDArray[np.float64] = known[encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False)]
        return values
    low = np.frombuffer(column.buffers()[1], np.int64)[2 * column.offset : 2 * (column.offset + len(column)) : 2]
    exact: NDArray[np.float64] = low.astype(np.float64) / _ONES[kind.scale]
    if column.null_count:
        exact[column.is_null().to_numpy(zero_copy_only=False)] = np.nan
    return exact


def texts(column: pa.Array) -> Text:
    """The column as Spark casts it to string; fractions and timestamps by their doubles."""
    kind = column.type
    if pa.types.is_decimal(kind) or pa.types.is_timestamp(kind) or pa.types.is_floating(kind) or kind == pa.uint64():
        return encode(pa.array(numbers(column)[0]))
    if pa.types.is_date32(kind):
        return encode(column.cast(pa.int32()), day)
    return encode(column)


def day(number: int) -> str:
    """A date as Spark writes it.

    >>> day(0), day(2932897), day(-719529)
    ('1970-01-01', '+10000-01-01', '-0001-12-31')
    """
    year, rest = str(np.datetime64(number, "D")).rsplit("-", 2)[0], str(np.datetime64(number, "D"))[-6:]
    sign = "-" if year.startswith("-") else "+" if int(year) > 9999 else ""
    return f"{sign}{abs(int(year)):04d}{rest}"


# Values of the columns that Spark reads from the names of folders, in the form that its plans hold them in.
_CONSTANTS: dict[str, tuple[pa.DataType, Callable[[Any], Any]]] = {
    "boolean": (pa.bool_(), bool),
    "tinyint": (pa.int8(), int),
    "smallint": (pa.int16(), int),
    "int": (pa.int32(), int),
    "bigint": (pa.int64(), int),
    "float": (pa.float32(), float),
    "double": (pa.float64(), float),
    "date": (pa.date32(), int),
    "timestamp": (pa.timestamp("us", "UTC"), int),
    "timestamp_ntz": (pa.timestamp("us"), int),
    "string": (pa.string(), str),
}


def constant(type_: str, value: Any) -> pa.Array | None:
    """One value of Spark's ``type_`` as an array, None being null; nothing where the type is not known."""
    if known := _DECIMAL.fullmatch(type_):
        return pa.array([None if value is None else Decimal(str(value))], pa.decimal128(*map(int, known.groups())))
    if type_ not in _CONSTANTS:
        return None
    kind, made = _CONSTANTS[type_]
    return pa.array([None if value is None else made(value)], kind)
