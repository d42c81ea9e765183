"""Files read in memory give the bits that Spark gives them, or are left to it."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import orc

from spark_pufs.core.counting.profile import ProfileKernel
from spark_pufs.engines.arrow_columns import NotAlike
from spark_pufs.engines.base import Engine
from spark_pufs.engines.memory import MemoryEngine
from spark_pufs.errors import DataError
from spark_pufs.jobs import small_tables
from spark_pufs.jobs.small_tables import read_small


@pytest.mark.spark
def test_rows_that_do_not_fit_the_others_are_told(spark: Any, tmp_path: Path) -> None:
    """They would have no label, and count as unlabelled, or be read as a column of their own."""
    import spark_pufs
    from spark_pufs.spark.io import plain_errors, read_table

    def read(name: str) -> object:
        with plain_errors("Source 'x'"):
            table = read_table(spark, str(tmp_path / name), None, name.rpartition(".")[2], {})
            return spark_pufs.select(table, label="label", method="semi-mim", k=1)

    files = {
        "short.csv": "a,label\n" + "1,1\n2,0\n" * 20 + "3\n",
        "long.csv": "a,label\n" + "1,1\n2,0\n" * 20 + "3,0,1\n",
        "broken.json": '{"a": 1, "label": 1}\n{"a": 2, "label": 0}\n{"a":\n' * 9,
        "list.json": '[\n{"a": 1, "label": 1},\n{"a": 2, "label": 0}\n]\n',
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
        with pytest.raises(DataError, match=r"^Source .*leave such rows out: source\.options\.mode=DROPM"):
            read(name)
    table = read_table(spark, str(tmp_path / "short.csv"), None, "csv", {"mode": "DROPMALFORMED"})
    assert spark_pufs.select(table, label="label", method="semi-mim", k=1).facts["rows"] == 40


nan, inf = float("nan"), float("inf")

# CSV text and the types that Spark gives its columns; None: left to Spark.
CSV: dict[str, tuple[str, str | None]] = {
    "whole numbers": ("a,b\n1,2\n-3,+4\n", "int int"),
    "leading zeros": ("a\n007\n010\n", "int"),
    "beyond int": ("a\n1\n2147483648\n", "bigint"),
    "edge of int": ("a\n-2147483648\n2147483647\n", "int"),
    "beyond bigint": ("a\n1\n9223372036854775808\n", None),
    "fractions": ("a,b\n0.1,.5\n-2.50,7.25\n", "double double"),
    "a long fraction": ("a\n0.1234567890123456789012345678901234567890123\n1\n", "double"),
    "ends with a point": ("a\n1.\n2.5\n", "double"),
    "wholes with zeros": ("a\n1.0\n2.0\n", None),
    "powers beside fractions": ("a\n1e5\n1E-7\n0.5\n1e+20\n", "double"),
    "powers alone": ("a\n1e5\n2e5\n", None),
    "fractions and huge wholes": ("a\n0.5\n92233720368547758080\n", "double"),
    "beyond all doubles": ("a\n1e999\n0.5\n", None),
    "whole and fraction": ("a\n1\n0.5\n", "double"),
    "negative zero": ("a,b\n-0,-0.0\n0,0.5\n", "int double"),
    "booleans": ("a\ntrue\nFalse\nTRUE\n", "boolean"),
    "booleans and numbers": ("a\ntrue\n1\n", None),
    "days": ("a\n2024-02-29\n1999-12-31\n", "date"),
    "a day that is none": ("a\n2023-02-29\n2024-01-01\n", None),
    "days and numbers": ("a\n2024-02-29\n12\n", None),
    "moments": ("a\n2024-02-29 12:30:00\n2024-02-29 12:31:00\n", "timestamp"),
    "moments in two ways": ("a\n2024-02-29T12:30:00.25\n2024-02-29 12:31:00\n", "timestamp"),
    "moments and a null": ("a,b\n2024-02-29 12:30:00,1\n,2\n", "timestamp int"),
    "a moment that never was": ("a\n2024-02-30 12:30:00\n", None),
    "moments and a day": ("a\n2024-02-29 12:30:00\n2024-02-29\n", None),
    "hours": ("a\n12:30\n13:40\n", None),
    "months": ("a\n2024-01\n2024-02\n", None),
    "text": ("a,b\nx,1\ny z,2\n", "string int"),
    "text that mixes": ("a\nx\n12\ntrue\n2024-01-01\n", "string"),
    "addresses": ("a\n10.0.0.1\n10.0.0.2\n", None),
    "NA": ("a\nNA\n1\n", "string"),
    "not a number": ("a\nNaN\n1.5\n", None),
    "infinite": ("a\nInf\n1.5\n", None),
    "a word of time": ("a\nT12:30\n", None),
    "nulls": ("a,b,c\n1,,x\n,,\n3,,y\n", "int string string"),
    "null booleans and days": ("a,b\ntrue,2024-01-01\n,\n", "boolean date"),
    "nothing at all": ("a,b\n", "string string"),
    "no last line end": ("a,b\n1,x\n2,y", "int string"),
    "Windows line ends": ("a,b\r\n1,x\r\n2,y\r\n", "int string"),
    "old Mac line ends": ("a,b\r1,x\r2,y\r", None),
    "empty lines": ("a,b\n1,x\n\n2,y\n\n", "int string"),
    "lines of blanks": ("a,b\n1,x\n  \n2,y\n", None),
    "blanks around numbers": ("a\n 1\n2 \n", None),
    "blanks around text": ("a\n x \ny\n", "string"),
    "quotes around values": ('a,b\n"1","x, y"\n"2","z"\n', "int string"),
    "quotes around names": ('"a","b"\n1,x\n', "int string"),
    "a comma in a name": ('"a,b",c\n1,x\n', None),
    "doubled quotes": ('a\n"x ""y"""\nz\n', None),
    "empty quotes": ('a,b\n"",x\n1,y\n', None),
    "quotes inside": ('a\nfive" pipe\nx\n', None),
    "an open quote": ('a\n"x\ny\n', None),
    "a line end in quotes": ('a,b\n"x\ny",1\nz,2\n', None),
    "backslashes": ("a\nx\\y\nz\n", None),
    "names that repeat": ("a,a\n1,2\n", None),
    "names that differ by case": ("a,A\n1,2\n", None),
    "an empty name": ("a,,c\n1,2,3\n", None),
    "a short row": ("a,b\n1,2\n3\n", None),
    "a long row": ("a,b\n1,2\n3,4,5\n", None),
    "a mark of order": ("\ufeffa,b\n1,2\n", None),
    "other letters": ("größe,数\n1,ä\n2,x\n", "int string"),
    "other digits": ("a\n\u0661\n\u0662\n", None),
    "a comment": ("a,b\n#1,x\n2,y\n", None),
    "one column with gaps": ("a\n1\n\n3\n", "int"),
    "a sign alone": ("a\n-\n1\n", None),
    "hexadecimal": ("a\n0x10\n0x11\n", None),
    "Java's doubles": ("a\n1d\n2f\n", None),
    "thousands": ('a\n"1,000"\n"2,000"\n', None),
}
JSON: dict[str, tuple[list[str], str | None]] = {
    "plain": (['{"b": 1, "a": "x"}', '{"a": "y", "b": 2}'], "string bigint"),
    "numbers of two kinds": (['{"a": 1}', '{"a": 0.5}', '{"a": 9007199254740993}'], "double"),
    "booleans": (['{"a": true}', '{"a": null}'], "boolean"),
    "absent": (['{"a": 1}', '{"b": "x"}', "{}"], "bigint string"),
    "nulls alone": (['{"a": null, "b": 1}'], "string bigint"),
    "empty text": (['{"a": "", "b": 1}', '{"a": "x", "b": 2}'], "string bigint"),
    "nothing but empty text": (['{"a": "", "b": 1}'], "string bigint"),
    "days are text": (['{"a": "2024-01-01"}'], "string"),
    "other letters": (['{"größe": 1, "A": "\\u00e4"}'], "string bigint"),
    "empty lines": (['{"a": 1}', "", '{"a": 2}'], "bigint"),
    "of several kinds": (['{"a": 1}', '{"a": "x"}'], None),
    "nested": (['{"a": {"b": 1}}'], None),
    "lists": (['{"a": [1, 2]}'], None),
    "names that repeat": (['{"a": 1, "a": 2}'], None),
    "beyond bigint": (['{"a": 9223372036854775808}'], None),
    "beyond all doubles": (['{"a": 1e999}'], None),
    "not a number": (['{"a": NaN}'], None),
    "broken": (['{"a": 1}', '{"a": '], None),
    "no objects": (["1", "2"], None),
}
MOMENT = dt.datetime(2024, 2, 28, 23, 59, 59, 250_001, tzinfo=dt.UTC)


def columns(**parts: tuple[Any, list[Any]]) -> pa.Table:
    return pa.table({name: pa.array(values, type_) for name, (type_, values) in parts.items()})


TABLES: dict[str, tuple[pa.Table, str | None]] = {
    "whole numbers": (
        columns(
            a=(pa.int8(), [1, None]), b=(pa.int16(), [-3, 4]), c=(pa.int32(), [7, 8]), d=(pa.int64(), [2**53 + 1, None])
        ),
        "tinyint smallint int bigint",
    ),
    "without sign": (
        columns(
            a=(pa.uint8(), [255, 0]),
            b=(pa.uint16(), [65535, None]),
            c=(pa.uint32(), [2**32 - 1, 0]),
            d=(pa.uint64(), [2**64 - 1, 5]),
        ),
        "smallint int bigint decimal(20,0)",
    ),
    "fractions": (
        columns(a=(pa.float32(), [0.1, None, nan]), b=(pa.float64(), [0.1, inf, None])),
        "float double",
    ),
    "booleans and text": (
        columns(a=(pa.bool_(), [True, None, False]), b=(pa.string(), ["x", "", None]), c=(pa.large_string(), "ä日x")),
        "boolean string string",
    ),
    "categories": (
        pa.table({"a": pa.array(["x", None, "y"]).dictionary_encode(), "b": [1, 2, 3]}),
        "string bigint",
    ),
    "decimals": (
        columns(
            a=(pa.decimal128(12, 3), [Decimal("0.125"), None, Decimal("123456789.001")]),
            b=(pa.decimal128(38, 20), [Decimal("0.12345678901234567890"), Decimal("3e17"), Decimal("-0.1")]),
        ),
        "decimal(12,3) decimal(38,20)",
    ),
    "days and moments": (
        columns(
            a=(pa.date32(), [dt.date(1969, 12, 31), None]),
            b=(pa.timestamp("us", "UTC"), [MOMENT, None]),
            c=(pa.timestamp("ms", "UTC"), [MOMENT.replace(microsecond=250_000), None]),
            d=(pa.timestamp("us"), [MOMENT.replace(tzinfo=None), None]),
            e=(pa.timestamp("us", "Europe/Berlin"), [MOMENT, None]),
        ),
        "date timestamp timestamp timestamp_ntz timestamp",
    ),
    "nulls alone": (columns(a=(pa.float64(), [None, None]), b=(pa.string(), [None, None])), "double string"),
    "no rows": (columns(a=(pa.float64(), []), b=(pa.string(), [])), "double string"),
    "odd names": (columns(**{"id.resp_p": (pa.int32(), [1, 2]), "back`tick": (pa.string(), ["x", "y"])}), "int string"),
    "long ago": (columns(a=(pa.date32(), [dt.date(1500, 1, 1)])), None),
    "names that differ by case": (columns(a=(pa.int32(), [1]), A=(pa.int32(), [2])), None),
    "lists": (columns(a=(pa.list_(pa.int32()), [[1]]), b=(pa.int32(), [1])), None),
    "bytes": (columns(a=(pa.binary(), [b"x"]), b=(pa.int32(), [1])), None),
    "nanoseconds": (columns(a=(pa.timestamp("ns"), [MOMENT.replace(tzinfo=None)])), None),
    "time of day": (columns(a=(pa.time64("us"), [dt.time(1, 2)])), None),
}
ORC = ("whole numbers", "fractions", "booleans and text", "decimals", "nulls alone", "no rows")


def csv_file(path: Path, text: str) -> Path:
    file = path / "table.csv"
    file.write_bytes(text.encode())
    return file


def check_read(path: Path, format_: str, types: str | None, **options: Any) -> MemoryEngine | None:
    """The engine over a file that is read in memory, its types being ``types``; None where it is left to Spark."""
    if types is None:
        with pytest.raises(NotAlike):
            MemoryEngine(read_small(str(path), format_, options, limited=True))
        return None
    engine = MemoryEngine(read_small(str(path), format_, options, limited=True))
    assert " ".join(column.type for column in engine.columns()) == types
    return engine


def bits(engine: Engine) -> list[Any]:
    """Names, types and a fingerprint of every value as a number, where it is one, and as a word."""
    known = engine.columns()
    numeric = [column.name for column in known if column.kind == "numeric"]
    words = [column.name for column in known]
    kernel = ProfileKernel(len(numeric), len(words))
    found = kernel.read(engine.source(numeric, words, words[0]).scan(kernel, "profile"))
    return [known, found.rows, found.fingerprint, found.nulls.tolist(), found.nans.tolist(), found.text_counts]


def check_same_as_spark(engine: MemoryEngine | None, session: Any, path: Path, format_: str) -> None:
    from spark_pufs.spark.engine import SparkEngine
    from spark_pufs.spark.io import read_table

    if engine is not None:
        assert bits(engine) == bits(SparkEngine(read_table(session, str(path), None, format_, {})))


@pytest.mark.parametrize("name", CSV)
def test_csv(name: str, tmp_path: Path) -> None:
    text, types = CSV[name]
    check_read(csv_file(tmp_path, text), "csv", types)


@pytest.mark.spark
def test_csv_as_spark(spark: Any, tmp_path: Path) -> None:
    for number, (text, types) in enumerate(CSV.values()):
        folder = tmp_path / str(number)
        folder.mkdir()
        file = csv_file(folder, text)
        check_same_as_spark(check_read(file, "csv", types), spark, file, "csv")


@pytest.mark.parametrize("name", JSON)
def test_json(name: str, tmp_path: Path) -> None:
    lines, types = JSON[name]
    (tmp_path / "table.json").write_text("\n".join(lines), encoding="utf-8")
    check_read(tmp_path / "table.json", "json", types)


@pytest.mark.spark
def test_json_as_spark(spark: Any, tmp_path: Path) -> None:
    for number, (lines, types) in enumerate(JSON.values()):
        file = tmp_path / f"{number}.json"
        file.write_text("\n".join(lines), encoding="utf-8")
        check_same_as_spark(check_read(file, "json", types), spark, file, "json")


@pytest.mark.parametrize("name", TABLES)
def test_parquet(name: str, tmp_path: Path) -> None:
    table, types = TABLES[name]
    pq.write_table(table, tmp_path / "table.parquet")
    check_read(tmp_path / "table.parquet", "parquet", types)


@pytest.mark.spark
def test_parquet_as_spark(spark: Any, tmp_path: Path) -> None:
    for number, (table, types) in enumerate(TABLES.values()):
        file = tmp_path / f"{number}.parquet"
        pq.write_table(table, file)
        check_same_as_spark(check_read(file, "parquet", types), spark, file, "parquet")


@pytest.mark.spark
def test_what_spark_wrote(spark: Any, tmp_path: Path) -> None:
    made = (
        "tinyint(id % 3) as t, cast(id as decimal(10,2)) / 7 as d, date'2020-02-29' + int(id) as day, "
        "timestamp'2021-03-04 05:06:07.123456' + make_interval(0,0,0,0,0,0,id) as moment, "
        "if(id % 4 = 0, null, concat('w', id % 5)) as word, id / 3 as third, id % 2 = 0 as flag"
    )
    frame = spark.range(50).selectExpr("id", *_split(made))
    for format_ in ("parquet", "orc", "json"):
        path = tmp_path / format_
        source = frame.drop("moment") if format_ == "orc" else frame
        source.repartition(3).write.format(format_).save(str(path))
        engine = MemoryEngine(read_small(str(path), format_, {}, limited=True))
        check_same_as_spark(engine, spark, path, format_)
    # An interval is stored as a plain number: the file's footer alone tells.
    spark.sql("select interval '3' month as a, 1 as b").write.parquet(str(tmp_path / "interval"))
    check_read(tmp_path / "interval", "parquet", None)


def _split(text: str) -> list[str]:
    """Expressions apart at commas outside brackets."""
    parts, depth, last = [], 0, 0
    for place, letter in enumerate(text):
        depth += {"(": 1, ")": -1}.get(letter, 0)
        if letter == "," and not depth:
            parts.append(text[last:place])
            last = place + 1
    return [*parts, text[last:]]


@pytest.mark.parametrize("name", ORC)
def test_orc(name: str, tmp_path: Path) -> None:
    orc.write_table(TABLES[name][0], tmp_path / "table.orc")
    check_read(tmp_path / "table.orc", "orc", TABLES[name][1])


def test_names_in_orc_that_spark_would_have_quoted(tmp_path: Path) -> None:
    orc.write_table(TABLES["odd names"][0], tmp_path / "table.orc")
    check_read(tmp_path / "table.orc", "orc", None)


@pytest.mark.spark
def test_orc_as_spark(spark: Any, tmp_path: Path) -> None:
    for name in ORC:
        table, types = TABLES[name]
        file = tmp_path / f"{name}.orc"
        orc.write_table(table, file)
        check_same_as_spark(check_read(file, "orc", types), spark, file, "orc")


def _hive(path: Path) -> None:
    for day in ("2024-01-01", "2024-01-02"):
        (path / f"day={day}").mkdir()
        pq.write_table(pa.table({"a": [1]}), path / f"day={day}" / "part.parquet")


def _unlike(path: Path) -> None:
    pq.write_table(pa.table({"a": [1]}), path / "1.parquet")
    pq.write_table(pa.table({"a": ["x"]}), path / "2.parquet")


def _broken(path: Path) -> None:
    (path / "1.parquet").write_bytes(b"no Parquet")


@pytest.mark.parametrize(
    "make", [_hive, _unlike, _broken, lambda path: None], ids=["hive", "unlike", "broken", "empty"]
)
def test_folders_that_are_left_to_spark(make: Callable[[Path], None], tmp_path: Path) -> None:
    make(tmp_path)
    check_read(tmp_path, "parquet", None)


def test_files_that_spark_passes_over_are_passed_over(tmp_path: Path) -> None:
    pq.write_table(pa.table({"a": [1]}), tmp_path / "1.parquet")
    for name in ("_SUCCESS", ".1.parquet.crc"):
        (tmp_path / name).write_text("")
    engine = check_read(tmp_path, "parquet", "bigint")
    assert engine is not None
    assert bits(engine)[1] == 1


def test_options_and_formats_that_are_left_to_spark(tmp_path: Path) -> None:
    file = csv_file(tmp_path, "a;b\n1;x\n")
    check_read(file, "csv", "int string", sep=";")
    check_read(file, "csv", None, sep=";", nullValue="x")
    check_read(file, "csv", None, header="false")
    check_read(file, "avro", None)
    pq.write_table(pa.table({"a": [1]}), tmp_path / "t.parquet")
    check_read(tmp_path / "t.parquet", "parquet", None, mergeSchema="true")


def test_a_missing_file_is_said_as_spark_would_be_made_to_say_it(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"does not exist\. Check source\.path or source\.table\."):
        read_small(str(tmp_path / "none.parquet"), "parquet", {}, limited=True)


def test_a_large_table_is_left_to_spark_unless_memory_was_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pq.write_table(pa.table({"a": [0.0] * 200_000}), tmp_path / "t.parquet")
    monkeypatch.setattr(small_tables, "MEMORY_MB", 1)
    with pytest.raises(NotAlike, match="2 MB of values"):
        read_small(str(tmp_path / "t.parquet"), "parquet", {}, limited=True)
    assert read_small(str(tmp_path / "t.parquet"), "parquet", {}, limited=False).num_rows == 200_000


def test_a_footer_of_spark_with_a_type_that_parquet_does_not_have(tmp_path: Path) -> None:
    field = {"name": "a", "type": "interval month", "nullable": True, "metadata": {}}
    footer = {"org.apache.spark.sql.parquet.row.metadata": json.dumps({"type": "struct", "fields": [field]})}
    pq.write_table(columns(a=(pa.int32(), [3])).replace_schema_metadata(footer), tmp_path / "t.parquet")
    check_read(tmp_path / "t.parquet", "parquet", None)
