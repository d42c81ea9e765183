"""CSV files whose reading leaves nothing to interpret: columns get the types that Spark infers, or are left to it.

Spark tries whole numbers, decimals, doubles, dates, timestamps and booleans, in that order, on every value. Here a
column gets a type only where all its values are of one plain form, and is text only where a value begins with a letter
and is no word that a number, a date or a boolean may be written as.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from io import BytesIO
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv

from spark_pufs.engines.arrow_columns import NotAlike

__all__ = ["read_csv"]

WHOLE = r"^[+-]?[0-9]+$"
NUMBER = r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$"
BOOLEAN = r"^(?i)(true|false)$"
DAY = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$"
MOMENT = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}[ T][0-9]{2}:[0-9]{2}:[0-9]{2}([.][0-9]{1,6})?$"
LETTER = "^[A-Za-z_]"
NO_PLAIN_WORD = r"^(?i)(true|false|nan|inf|infinity|epoch|now|today|tomorrow|yesterday|t[0-9].*)$"
SEPARATORS = (",", ";", "\t", "|")
INT = 2**31


def read_csv(files: list[Path], options: Mapping[str, object], most: int | None) -> pa.Table:
    """All files as one table; types are inferred from all rows."""
    separator = _separator(options)
    parts = [_words(file, separator) for file in files]
    if any(part.column_names != parts[0].column_names for part in parts):
        raise NotAlike("files with different headers")
    words = pa.concat_tables(parts)
    return pa.table({name: _typed(name, words.column(name)) for name in words.column_names})


def _separator(options: Mapping[str, object]) -> str:
    """The separator, where no option asks for more than that, a header and inferred types."""
    given = {name.lower(): value for name, value in options.items()}
    separator = given.pop("delimiter", given.pop("sep", ","))
    asked = [str(given.pop(name, True)).lower() for name in ("header", "inferschema")]
    if given or asked != ["true", "true"] or separator not in SEPARATORS:
        raise NotAlike("options of the reader")
    return str(separator)


def _words(file: Path, separator: str) -> pa.Table:
    """Every value as text, an empty one as null."""
    data = _plain(file.read_bytes(), separator)
    header = data.split(b"\n", 1)[0].decode().rstrip("\r").split(separator)
    names = [name[1:-1] if name.startswith('"') else name for name in header]
    if len(set(names)) < len(names) or not all(names) or any('"' in name for name in names):
        raise NotAlike("a header with names that are empty or repeat")
    return csv.read_csv(
        BytesIO(data),
        csv.ReadOptions(use_threads=False),
        csv.ParseOptions(delimiter=separator, double_quote=False, newlines_in_values=False),
        csv.ConvertOptions(
            column_types=dict.fromkeys(names, pa.string()),
            null_values=[""],
            strings_can_be_null=True,
            quoted_strings_can_be_null=True,
        ),
    )


def _plain(data: bytes, separator: str) -> bytes:
    """The bytes, unless they hold what readers of CSV disagree on."""
    data.decode()  # a ValueError where it is not UTF-8
    alone = data.replace(b"\r\n", b"\n")
    if data.startswith(b"\xef\xbb\xbf") or any(mark in alone for mark in (b"\r", b"\0", b"\\", b'""')):
        raise NotAlike("escapes, doubled quotes or marks of other systems")
    if re.search(rb"^[ \t]+$", alone, re.MULTILINE) or not alone.strip() or alone.startswith(b"\n"):
        raise NotAlike("empty lines")
    if b'"' in alone and not _quoted_whole(alone, re.escape(separator.encode())):
        raise NotAlike("quotes inside values")
    return data


def _quoted_whole(data: bytes, separator: bytes) -> bool:
    """Whether quotes stand around whole values alone, and every value ends on its line."""
    value = rb'(?:"[^"\n]*"|[^"\n' + separator + rb"]*)"
    line = re.compile(rb"%s(?:%s%s)*" % (value, separator, value))
    return all(line.fullmatch(one) for one in data.split(b"\n") if b'"' in one)


def _typed(name: str, words: pa.ChunkedArray) -> pa.ChunkedArray:
    if words.null_count == len(words):
        return words
    if _all(words, WHOLE):
        return _whole(name, words)
    if _all(words, NUMBER):
        return _fraction(name, words)
    if _all(words, BOOLEAN):
        return pc.equal(pc.utf8_lower(words), "true")
    if _all(words, DAY):
        return _cast(name, words, pa.date32())
    if _all(words, MOMENT):
        return _moments(name, words)
    letters = pc.and_(
        pc.match_substring_regex(words, LETTER), pc.invert(pc.match_substring_regex(words, NO_PLAIN_WORD))
    )
    if not pc.any(letters).as_py():
        raise NotAlike(f"column '{name}', whose type is not plain")
    return words


def _whole(name: str, words: pa.ChunkedArray) -> pa.ChunkedArray:
    numbers = _cast(name, _unsigned(words), pa.int64())
    ends = pc.min_max(numbers).as_py()
    return numbers.cast(pa.int32()) if ends["min"] >= -INT and ends["max"] < INT else numbers


def _fraction(name: str, words: pa.ChunkedArray) -> pa.ChunkedArray:
    """Doubles; a column of numbers such as 1e5 alone would be decimals to Spark."""
    if not pc.any(pc.match_substring_regex(words, r"\.[0-9]*[1-9]")).as_py():
        raise NotAlike(f"column '{name}', whose type is not plain")
    numbers = _cast(name, _unsigned(words), pa.float64())
    if not pc.all(pc.is_finite(numbers)).as_py():
        raise NotAlike(f"column '{name}' with a number beyond all doubles")
    return numbers


def _moments(name: str, words: pa.ChunkedArray) -> pa.ChunkedArray:
    """Instants: Spark reads a clock in the zone of the machine. An hour that comes twice or never is left to it."""
    try:
        return pc.assume_timezone(_cast(name, words, pa.timestamp("us")), _zone()).cast(pa.timestamp("us", "UTC"))
    except pa.ArrowInvalid as error:
        raise NotAlike(f"column '{name}' with a time that its zone does not have once") from error


def _zone() -> str:
    """The zone of this machine by name."""
    named = os.environ.get("TZ") or os.path.realpath("/etc/localtime").partition("zoneinfo/")[2]
    if not re.fullmatch(r"[A-Za-z_]+(/[A-Za-z0-9_+-]+)*", named):
        raise NotAlike("times, on a machine whose zone has no name")
    return named


def _unsigned(words: pa.ChunkedArray) -> pa.ChunkedArray:
    return pc.replace_substring_regex(words, r"^\+", "")


def _cast(name: str, words: pa.ChunkedArray, type_: pa.DataType) -> pa.ChunkedArray:
    try:
        return words.cast(type_)
    except pa.ArrowInvalid as error:
        raise NotAlike(f"column '{name}' with a value that is no {type_}") from error


def _all(words: pa.ChunkedArray, pattern: str) -> bool:
    return bool(pc.all(pc.match_substring_regex(words, pattern)).as_py())
