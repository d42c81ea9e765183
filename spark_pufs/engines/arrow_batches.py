"""From Arrow columns to raw batches: the one reading of values that both engines share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from spark_pufs.types import RawBatch, Text
from spark_pufs.values import number_text

__all__ = ["encode", "plain_text", "raw_batch"]


def raw_batch(numeric: pa.Array, width: int, text: Sequence[pa.Array], label: pa.Array) -> RawBatch:
    """``numeric`` holds width float64 values per row, row by row; ``text`` and ``label`` hold strings or doubles."""
    rows = len(label)
    values = np.asarray(numeric.to_numpy(zero_copy_only=False), np.float64).reshape(rows, width)
    nulls = np.zeros(width, np.int64)
    if numeric.null_count:
        absent = numeric.is_null().to_numpy(zero_copy_only=False).reshape(rows, width)
        nulls = absent.sum(axis=0)
    return RawBatch(values, nulls, [encode(column) for column in text], encode(label))


def plain_text(value: object) -> str:
    """A value as text in one way, whatever the engine: 3 and 3.0 are '3', True is 'true'.

    >>> [plain_text(v) for v in (3, 3.0, 0.1, 1e16, Decimal("2.50"), True, "x")]
    ['3', '3', '0.1', '10000000000000000', '2.5', 'true', 'x']
    """
    return number_text(value) if isinstance(value, bool | np.generic | float | Decimal) else str(value)


def encode(column: pa.Array, text: Callable[[Any], str] = plain_text) -> Text:
    """Dictionary-encode an array of plain values, each as ``text`` has it; null and NaN become -1.

    >>> encode(pa.DictionaryArray.from_arrays(pa.array([2, None, 2]), ["a", "b", "c"]))
    Text(codes=array([ 0, -1,  0], dtype=int32), values=['c'])
    """
    if pa.types.is_floating(column.type):
        column = pc.if_else(pc.is_nan(column), None, pc.add(column, 0.0))  # -0.0 and 0.0 are one value
    if pa.types.is_dictionary(column.type):
        return _compact(column, text)
    encoded = pc.dictionary_encode(column)
    return Text(_codes(encoded), [text(value) for value in encoded.dictionary.to_pylist()])


def _codes(encoded: pa.DictionaryArray) -> NDArray[np.int32]:
    codes: NDArray[np.int32] = encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int32)
    return codes


def _compact(column: pa.DictionaryArray, text: Callable[[Any], str]) -> Text:
    """A column that came encoded, without the values that no row has: its dictionary is of more rows than these."""
    if column.dictionary.null_count or column.indices.type == pa.uint64():
        return encode(column.dictionary_decode(), text)
    codes = _codes(column)
    used = np.flatnonzero(np.bincount(codes[codes >= 0], minlength=len(column.dictionary)))
    place = np.full(len(column.dictionary) + 1, -1, np.int32)
    place[used] = np.arange(len(used))
    values = [text(value) for value in column.dictionary.take(pa.array(used)).to_pylist()]
    if len(set(values)) < len(values):
        return encode(column.dictionary_decode(), text)
    return Text(place[codes], values)
