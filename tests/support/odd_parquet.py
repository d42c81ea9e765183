"""Parquet files as they are found: every type, encoding and layout that Spark reads, by several writers."""

from __future__ import annotations

import datetime as dt
import json
import shutil
from collections.abc import Callable
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["ODD", "Odd"]

ROWS = 40
nan, inf = float("nan"), float("inf")
UTC = dt.UTC


@dataclass(frozen=True)
class Odd:
    """How a table is written, how it is read, and why Spark has to read it: '' where tasks can."""

    write: Callable[[Path, SparkSession], object]
    reason: str = ""
    read: Callable[[SparkSession, str], DataFrame] = lambda spark, path: spark.read.parquet(path)
    settings: dict[str, str] = field(default_factory=dict)


def some(values: list[Any], holes: bool = True) -> list[Any]:
    """The values over and over, with a hole here and there."""
    return [None if holes and i % 7 == 3 else values[i % len(values)] for i in range(ROWS)]


def label() -> pa.Array:
    return pa.array([i % 4 == 0 for i in range(ROWS)]).cast(pa.int32())


def one(columns: dict[str, pa.Array], **options: Any) -> Callable[[Path, SparkSession], object]:
    """One file of these columns and a label."""
    return lambda path, spark: pq.write_table(pa.table({**columns, "label": label()}), path / "a.parquet", **options)


def several(*tables: dict[str, Any]) -> Callable[[Path, SparkSession], object]:
    def write(path: Path, spark: SparkSession) -> None:
        for number, columns in enumerate(tables):
            pq.write_table(pa.table({**columns, "label": label()}), path / f"{number}.parquet")

    return write


def by_spark(*columns: str, partition: tuple[str, ...] = (), **options: str) -> Callable[[Path, SparkSession], object]:
    def write(path: Path, spark: SparkSession) -> None:
        frame = spark.range(ROWS).selectExpr(*columns, "cast(id % 4 = 0 as int) as label")
        frame.write.mode("overwrite").partitionBy(*partition).options(**options).parquet(str(path))

    return write


def by_pandas(frame: pd.DataFrame, **options: Any) -> Callable[[Path, SparkSession], object]:
    return lambda path, spark: frame.assign(label=label().to_numpy()).to_parquet(path / "a.parquet", **options)


def folders(*names: str) -> Callable[[Path, SparkSession], object]:
    def write(path: Path, spark: SparkSession) -> None:
        for number, name in enumerate(names):
            (path / name).mkdir(parents=True)
            x = pa.array(some([number, 2.5]), pa.float64())
            pq.write_table(pa.table({"x": x, "label": label()}), path / name / "a.parquet")

    return write


def hidden(path: Path, spark: SparkSession) -> None:
    one({"x": DOUBLES})(path, spark)
    for name in ("_SUCCESS", "_old", ".b.parquet.crc", ".hidden.parquet"):
        (path / name).write_bytes(b"junk")
    (path / "_temporary").mkdir()
    shutil.copy(path / "a.parquet", path / "_temporary" / "b.parquet")


def without_rows(path: Path, spark: SparkSession) -> None:
    table = pa.table({"x": DOUBLES, "w": WORDS, "label": label()})
    pq.write_table(table, path / "a.parquet")
    pq.write_table(table.slice(0, 0), path / "b.parquet")
    with pq.ParquetWriter(path / "c.parquet", table.schema):
        pass  # no row group at all


def strange_names(path: Path, spark: SparkSession) -> None:
    for name in ("a b.parquet", "100%25.parquet", "größe 数.parquet", "k=v.parquet", "a#b+c.parquet"):
        pq.write_table(pa.table({"x": DOUBLES, "label": label()}), path / name)


def required(path: Path, spark: SparkSession) -> None:
    schema = pa.schema([pa.field("x", pa.float64(), False), pa.field("w", pa.string(), False), ("label", pa.int32())])
    table = pa.table([some([1.5, nan], False), some(["a", ""], False), label()], schema=schema)
    pq.write_table(table, path / "a.parquet")


def nested() -> dict[str, pa.Array]:
    return {
        "a": pa.array([{"b": i, "c": [i]} for i in range(ROWS)]),
        "a.b": pa.array(some([5.0, 6.0])),
        "list": pa.array([[i, None] for i in range(ROWS)]),
        "map": pa.array([[("k", i)] for i in range(ROWS)], pa.map_(pa.string(), pa.int64())),
        "bytes": pa.array(some([b"\xff", b"a"]), pa.binary()),
        "last": pa.array(some(["u", "v"])),
    }


DOUBLES = pa.array(some([1.5, nan, -0.0, 0.0, inf, -inf, 5e-324, 1.7e308, 0.1]), pa.float64())
FLOATS = pa.array(some([0.1, nan, -0.0, inf, 1e-45, 3.4e38]), pa.float32())
INTS = {
    f"int{bits}": pa.array(some([0, 1, -1, 2 ** (bits - 1) - 1, -(2 ** (bits - 1))]), f"int{bits}")
    for bits in (8, 16, 32, 64)
}
WORDS = pa.array(some(["", "a", "ä", "日本", "x" * 300, "null", "NaN"]), pa.string())
DAYS = pa.array(some([0, -1, 19_000, 2_932_896, 2_932_897, -141_428, -719_162, -719_163, 4_000_000]), pa.int32())
DATES = DAYS.cast(pa.date32())
MICROS = pa.array(some([0, -1, 1_700_000_000_123_457, -2_208_988_800_000_001, 253_402_300_799_999_999]), pa.int64())
MILLIS = pa.array(some([0, -1, 1_700_000_000_123, -2_208_988_800_001]), pa.int64())
RECENT = pa.array(some([0, -1, 1_700_000_000_123_457]), pa.int64()).cast(pa.timestamp("us"))
DECIMALS = {
    "small": pa.array(some([Decimal("1.10"), Decimal("-999.99"), Decimal("0.00")]), pa.decimal128(5, 2)),
    "mid": pa.array(some([Decimal("0.1"), Decimal("12345678901.234567"), Decimal("-0.3")]), pa.decimal128(18, 6)),
    "large": pa.array(some([Decimal("0.1"), Decimal(10) ** 27, Decimal("1234567.8901234567")]), pa.decimal128(38, 10)),
    "whole": pa.array(some([Decimal(7), Decimal(2) ** 60 + 1]), pa.decimal128(20, 0)),
}
MANY = pa.array([f"value {i % 37} {'y' * 50}" for i in range(ROWS)])
EVERY = (
    "cast(id as tinyint) as b", "cast(id * 3 as smallint) as h", "cast(id * 7 as int) as i", "id * 1000000007 as l",
    "cast(id as float) / 3 as f", "if(id % 5 = 0, null, id / 7D) as d", "id % 2 = 0 as flag",
    "cast(id as decimal(7,3)) / 8 as price", "cast(id as decimal(38,12)) / 7 as exact",
    "date_add(date'1890-01-01', cast(id * 1000 as int)) as day", "timestamp_micros(id * 86400000001) as at",
    "cast('2020-02-29 12:00:00.5' as timestamp_ntz) as there", "if(id % 3 = 0, null, concat('w', id % 4)) as w",
)  # fmt: skip
OLD = ("date_add(date'1500-01-01', cast(id as int)) as day",)

ODD: dict[str, Odd] = {
    "plain doubles": Odd(one({"x": DOUBLES}, use_dictionary=False)),
    "doubles in a dictionary": Odd(one({"x": DOUBLES, "y": DOUBLES})),
    "floats": Odd(one({"x": FLOATS})),
    "byte stream split": Odd(one({"x": DOUBLES, "y": FLOATS}, use_dictionary=False, use_byte_stream_split=["x", "y"])),
    "delta integers": Odd(one(INTS, use_dictionary=False, column_encoding=dict.fromkeys(INTS, "DELTA_BINARY_PACKED"))),
    "delta texts": Odd(one({"w": WORDS}, use_dictionary=False, column_encoding={"w": "DELTA_BYTE_ARRAY"})),
    "delta lengths": Odd(one({"w": WORDS}, use_dictionary=False, column_encoding={"w": "DELTA_LENGTH_BYTE_ARRAY"})),
    "plain texts": Odd(one({"w": WORDS}, use_dictionary=False)),
    "gzip": Odd(one({"x": DOUBLES, "w": WORDS}, compression="gzip")),
    "zstd": Odd(one({"x": DOUBLES, "w": WORDS}, compression="zstd")),
    "lz4": Odd(one({"x": DOUBLES, "w": WORDS}, compression="lz4")),
    "not compressed": Odd(one({"x": DOUBLES, "w": WORDS}, compression="none")),
    "pages of version 2": Odd(one({"x": DOUBLES, "w": WORDS}, data_page_version="2.0")),
    "page index": Odd(one({"x": DOUBLES, "w": WORDS}, write_page_index=True)),
    "page checksums": Odd(one({"x": DOUBLES, "w": WORDS}, write_page_checksum=True)),
    "tiny pages and groups": Odd(one({"x": DOUBLES, "w": WORDS}, row_group_size=3, data_page_size=8)),
    "format 1.0": Odd(one({"x": DOUBLES, "w": WORDS, **INTS}, version="1.0")),
    "no arrow schema": Odd(one({"x": DOUBLES, "day": DATES, "w": WORDS}, store_schema=False)),
    "whole numbers": Odd(one(INTS)),
    "unsigned": Odd(one({f"u{b}": pa.array(some([0, 1, 2**b - 1]), f"uint{b}") for b in (8, 16, 32)})),
    "unsigned 64": Odd(one({"u": pa.array(some([0, 2**53 + 1, 2**64 - 1]), pa.uint64())})),
    "booleans": Odd(one({"flag": pa.array(some([True, False]))})),
    "decimals": Odd(one(DECIMALS)),
    "decimals as integers": Odd(one({n: DECIMALS[n] for n in ("small", "mid")}, store_decimal_as_integer=True)),
    "dates": Odd(one({"day": DATES})),
    "microseconds": Odd(one({"at": MICROS.cast(pa.timestamp("us", "UTC"))})),
    "milliseconds": Odd(one({"at": MILLIS.cast(pa.timestamp("ms", "UTC"))})),
    "seconds": Odd(one({"at": pa.array(some([0, -1, 1_700_000_000]), pa.int64()).cast(pa.timestamp("s", "UTC"))})),
    "another zone": Odd(one({"at": MICROS.cast(pa.timestamp("us", "Europe/Berlin"))})),
    "no zone": Odd(one({"at": MICROS.cast(pa.timestamp("us")), "ms": MILLIS.cast(pa.timestamp("ms"))})),
    "no zone, read as with zone": Odd(
        one({"at": RECENT}),
        "column 'at' is INT64 Timestamp microseconds",
        lambda spark, path: spark.read.schema("at timestamp, label int").parquet(path),
    ),
    "int96": Odd(one({"at": RECENT.cast(pa.timestamp("us", "UTC"))}, use_deprecated_int96_timestamps=True)),
    "int96 by another zone": Odd(
        one({"at": RECENT.cast(pa.timestamp("us", "UTC"))}, use_deprecated_int96_timestamps=True),
        "int96TimestampConversion is true",
        settings={"spark.sql.parquet.int96TimestampConversion": "true"},
    ),
    "texts": Odd(one({"w": WORDS})),
    "large texts": Odd(one({"w": WORDS.cast(pa.large_string())})),
    "texts in a dictionary that overflows": Odd(one({"w": MANY}, dictionary_pagesize_limit=64, data_page_size=64)),
    "an arrow dictionary": Odd(
        one({"w": pa.DictionaryArray.from_arrays(pa.array(some([2, 0]), pa.int8()), ["a", "unused", "c"])})
    ),
    "durations": Odd(one({"t": pa.array(some([1, 5]), pa.duration("us"))}), "column 't' is INT64 (duration[us])"),
    "binary as text": Odd(
        one({"w": pa.array(some([b"a", b"b"]), pa.binary())}),
        "binaryAsString is true",
        settings={"spark.sql.parquet.binaryAsString": "true"},
    ),
    "nested beside flat": Odd(one(nested())),
    "required columns": Odd(required),
    "null type": Odd(one({"n": pa.nulls(ROWS), "x": DOUBLES}), "column 'n' is INT32 Null"),
    "brotli": Odd(one({"x": DOUBLES}, compression="brotli"), "file 'a.parquet' is compressed in a way of its own"),
    "files without rows": Odd(without_rows),
    "hidden files": Odd(hidden),
    "strange file names": Odd(strange_names),
    "a glob": Odd(
        several({"x": DOUBLES}, {"x": DOUBLES}), read=lambda spark, path: spark.read.parquet(f"{path}/*.parquet")
    ),
    "a missing column": Odd(several({"x": DOUBLES, "w": WORDS}, {"x": DOUBLES})),
    "merged schemas": Odd(
        several({"x": DOUBLES}, {"x": DOUBLES, "w": WORDS, "day": DATES}),
        read=lambda spark, path: spark.read.option("mergeSchema", True).parquet(path),
    ),
    "columns in another order": Odd(several({"x": DOUBLES, "w": WORDS}, {"w": WORDS, "x": DOUBLES})),
    "names in another case": Odd(several({"Xx": DOUBLES}, {"xX": DOUBLES})),
    "names in another case, told apart": Odd(
        several({"Xx": DOUBLES}, {"xX": DOUBLES}), settings={"spark.sql.caseSensitive": "true"}
    ),
    "wider in one file": Odd(several({"x": INTS["int32"]}, {"x": INTS["int64"]}), "column 'x' is INT"),
    "wider to Spark": Odd(
        one({"x": INTS["int32"]}),
        "column 'x' is INT32 (int32) in file 'a.parquet', bigint to Spark",
        lambda spark, path: spark.read.schema("x bigint, label int").parquet(path),
    ),
    "some columns, renamed": Odd(
        one({"x": DOUBLES, "w": WORDS, **INTS}),
        read=lambda spark, path: spark.read.parquet(path).select("label", "int8", "w").toDF("label", "a", "b"),
    ),
    "a filter": Odd(
        one({"x": DOUBLES}),
        "the DataFrame is more than files: Filter",
        lambda spark, path: spark.read.parquet(path).where("label = 1 or x > 0"),
    ),
    "a computed column": Odd(
        one({"x": DOUBLES}),
        "a column is computed",
        lambda spark, path: spark.read.parquet(path).selectExpr("x + 1 as x", "label"),
    ),
    "folders of numbers": Odd(folders("k=1", "k=2", "k=__HIVE_DEFAULT_PARTITION__")),
    "folders of days and texts": Odd(folders("day=2024-02-29/w=a b", "day=2024-03-01/w=c%3Ad", "day=1999-01-01/w=ä")),
    "folders of fractions and moments": Odd(
        folders("f=1.5/at=2024-01-01 10%3A00%3A00", "f=2/at=2024-01-02 00%3A00%3A01")
    ),
    "folders of huge numbers": Odd(folders("n=12345678901234567890123", "n=7")),
    "by Spark": Odd(by_spark(*EVERY)),
    "by Spark, legacy format": Odd(by_spark(*EVERY), settings={"spark.sql.parquet.writeLegacyFormat": "true"}),
    "by Spark, INT96": Odd(
        by_spark("timestamp_micros(id * 86400000001) as at"),
        settings={"spark.sql.parquet.outputTimestampType": "INT96"},
    ),
    "by Spark, milliseconds": Odd(
        by_spark("timestamp_micros(id * 86400000001) as at"),
        settings={"spark.sql.parquet.outputTimestampType": "TIMESTAMP_MILLIS"},
    ),
    "by Spark, old calendar": Odd(
        by_spark(*OLD),
        "may hold days of the old calendar in column 'day'",
        settings={"spark.sql.parquet.datetimeRebaseModeInWrite": "LEGACY"},
    ),
    "by Spark, old calendar in INT96": Odd(
        by_spark("timestamp'1500-01-01' as at"),
        "may hold days of the old calendar in column 'at'",
        settings={
            "spark.sql.parquet.outputTimestampType": "INT96",
            "spark.sql.parquet.int96RebaseModeInWrite": "LEGACY",
        },
    ),
    "by Spark in folders": Odd(by_spark("id / 3D as x", "id % 3 as k", partition=("k",))),
    "by Spark, zstd": Odd(by_spark(*EVERY, compression="zstd")),
    "old days that the file does not speak of": Odd(
        one({"day": DATES}),
        "may hold days of the old calendar in column 'day'",
        settings={"spark.sql.parquet.datetimeRebaseModeInRead": "LEGACY"},
    ),
    "by pandas": Odd(
        by_pandas(
            pd.DataFrame(
                {
                    "whole": pd.array(some([1, 2]), dtype="Int64"),
                    "kind": pd.Categorical(some(["a", "b"]), categories=["a", "b", "never"]),
                    "w": pd.array(some(["x", ""]), dtype="string"),
                    "at": pd.date_range("2024-01-01", periods=ROWS, freq="h", tz="UTC"),
                    "flag": pd.array(some([True, False]), dtype="boolean"),
                    "x": np.linspace(0, 1, ROWS),
                },
                index=pd.Index(range(5, ROWS + 5), name="number"),
            ),
            coerce_timestamps="us",
        )
    ),
}
if hasattr(pa, "json_"):  # of pyarrow 19
    texts = pa.array(some([json.dumps({"a": 1}), "[]"]), pa.json_())
    ODD["JSON texts"] = Odd(one({"w": texts}), "column 'w' is BYTE_ARRAY JSON")
