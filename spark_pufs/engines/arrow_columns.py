"""Arrow columns as Spark reads them: its names of their types, and the values that its casts give, bit for bit.

A type or value that Spark might read otherwise is ``NotAlike``: whoever meets it leaves the table to Spark.
"""

from __future__ import annotations

import datetime as dt

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from spark_pufs.types import Kind

__all__ = ["NotAlike", "as_doubles", "as_words", "check_values", "kind_of", "spark_type"]

NAMES = {
    pa.int8(): "tinyint",
    pa.int16(): "smallint",
    pa.int32(): "int",
    pa.int64(): "bigint",
    pa.uint8(): "smallint",
    pa.uint16(): "int",
    pa.uint32(): "bigint",
    pa.uint64(): "decimal(20,0)",
    pa.float32(): "float",
    pa.float64(): "double",
    pa.bool_(): "boolean",
    pa.string(): "string",
    pa.large_string(): "string",
    pa.date32(): "date",
}
# Before it, files hold days of two calendars and instants of zones without whole minutes; Spark goes by the writer.
OLDEST = dt.date(1900, 1, 2)
OLDEST_DAY = (OLDEST - dt.date(1970, 1, 1)).days


class NotAlike(Exception):
    """Why a table is not read here: Spark might read something else."""


def spark_type(type_: pa.DataType) -> str:
    """Spark's name of the type that it gives such a column.

    >>> spark_type(pa.uint16()), spark_type(pa.decimal128(12, 3)), spark_type(pa.timestamp("us", "UTC"))
    ('int', 'decimal(12,3)', 'timestamp')
    """
    if pa.types.is_dictionary(type_):
        return spark_type(type_.value_type)
    if pa.types.is_decimal128(type_):
        return f"decimal({type_.precision},{type_.scale})"
    if pa.types.is_timestamp(type_) and type_.unit in ("ms", "us"):
        return "timestamp_ntz" if type_.tz is None else "timestamp"
    if type_ not in NAMES:
        raise NotAlike(f"type {type_}")
    return NAMES[type_]


def kind_of(type_: pa.DataType) -> Kind:
    """What a column of a type that Spark has is to a selector."""
    return "text" if spark_type(type_) == "string" else "numeric"


def check_values(column: pa.Array) -> None:
    """Values that Spark and Arrow may take for different ones."""
    if _is_text(column.type):
        try:
            column.validate(full=True)
        except pa.ArrowInvalid as error:
            raise NotAlike("text that is not UTF-8") from error
    if pa.types.is_date32(column.type) or pa.types.is_timestamp(column.type):
        days = column.cast(pa.int32() if pa.types.is_date32(column.type) else pa.int64())
        oldest = pc.min(days).as_py()
        if oldest is not None and oldest < OLDEST_DAY * _per_day(column.type):
            raise NotAlike(f"a day before {OLDEST}")


def as_doubles(column: pa.Array) -> NDArray[np.float64]:
    """float64 (n,), null as NaN: booleans 0 and 1, dates in days, timestamps in seconds."""
    type_ = column.type
    if pa.types.is_decimal(type_):
        # Arrow divides by a power of ten; Spark, like Python, gives the nearest double.
        return np.array([np.nan if value is None else float(value) for value in column.to_pylist()], np.float64)
    if pa.types.is_timestamp(type_):
        micros = column.cast(pa.timestamp("us", type_.tz)).cast(pa.int64())
        return _floats(micros) / 1e6
    if pa.types.is_date32(type_):
        column = column.cast(pa.int32())
    return _floats(column)


def as_words(column: pa.Array) -> pa.Array:
    """The values as strings or, of fractions and timestamps, as doubles, which become text in ``raw_batch``."""
    type_ = column.type
    if _is_text(type_):
        return column.cast(pa.string())
    if (
        pa.types.is_floating(type_)
        or pa.types.is_decimal(type_)
        or pa.types.is_timestamp(type_)
        or type_ == pa.uint64()
    ):
        return pa.array(as_doubles(column), mask=column.is_null().to_numpy(zero_copy_only=False))
    return column.cast(pa.string())


def _floats(column: pa.Array) -> NDArray[np.float64]:
    numbers = column.cast(pa.float64(), safe=False)
    return np.asarray(numbers.to_numpy(zero_copy_only=False), np.float64)


def _per_day(type_: pa.DataType) -> int:
    return 1 if pa.types.is_date32(type_) else 86_400 * (1_000 if type_.unit == "ms" else 1_000_000)


def _is_text(type_: pa.DataType) -> bool:
    return spark_type(type_) == "string"
