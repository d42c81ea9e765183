"""JSON lines of plain values: columns get the types that Spark infers, sorted by name as it does, or are left to it."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path

import pyarrow as pa

from spark_pufs.engines.arrow_columns import NotAlike

__all__ = ["read_json"]

LONG = 2**63


def read_json(files: list[Path], options: Mapping[str, object], most: int | None) -> pa.Table:
    """All lines of all files as one table."""
    if options:
        raise NotAlike("options of the reader")
    rows = [_row(line) for file in files for line in _lines(file)]
    names = sorted({name for row in rows for name in row})
    return pa.table({name: _column(name, [row.get(name) for row in rows]) for name in names})


def _lines(file: Path) -> list[str]:
    text = file.read_bytes().decode()
    if text.startswith("\ufeff") or "\r" in text.replace("\r\n", "\n"):
        raise NotAlike("marks of other systems")
    return [line for line in text.split("\n") if line.strip()]


def _row(line: str) -> dict[str, object]:
    row = json.loads(line, object_pairs_hook=_once, parse_constant=_constant)
    if not isinstance(row, dict):
        raise NotAlike("lines that are no objects")
    return row


def _once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    if len({name for name, _ in pairs}) < len(pairs):
        raise NotAlike("names that repeat")
    return dict(pairs)


def _constant(word: str) -> object:
    raise NotAlike(f"the number {word}")


def _column(name: str, values: list[object]) -> pa.Array:
    kinds = {type(value) for value in values} - {type(None)}
    types = {
        frozenset(): pa.string(),
        frozenset({bool}): pa.bool_(),
        frozenset({str}): pa.string(),
        frozenset({int}): pa.int64(),
        frozenset({float}): pa.float64(),
        frozenset({int, float}): pa.float64(),
    }
    type_ = types.get(frozenset(kinds))
    if type_ is None:
        raise NotAlike(f"column '{name}' with values of several kinds")
    if any(isinstance(value, int) and not -LONG <= value < LONG for value in values):
        raise NotAlike(f"column '{name}' with a number that is no bigint")
    if type_ == pa.float64():
        numbers = [float(value) if isinstance(value, int | float) else None for value in values]
        if not all(value is None or math.isfinite(value) for value in numbers):
            raise NotAlike(f"column '{name}' with a number beyond all doubles")
        return pa.array(numbers, type_)
    return pa.array(values, type_)
