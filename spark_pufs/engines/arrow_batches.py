"""From Arrow columns to raw batches: the one reading of values that both engines share."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from spark_pufs.types import RawBatch, Text
from spark_pufs.values import number_text

__all__ = ["plain_text", "raw_batch"]


def raw_batch(numeric: pa.Array, width: int, text: Sequence[pa.Array], label: pa.Array) -> RawBatch:
    """``numeric`` holds width float64 values per row, row by row; ``text`` and ``label`` hold strings or doubles."""
    rows = len(label)
    values = np.asarray(numeric.to_numpy(zero_copy_only=False), np.float64).reshape(rows, width)
    nulls = np.zeros(width, np.int64)
    if numeric.null_count:
        absent = numeric.is_null().to_numpy(zero_copy_only=False).reshape(rows, width)
        nulls = absent.sum(axis=0)
    return RawBatch(values, nulls, [_encode(column) for column in text], _encode(label))


def plain_text(value: object) -> str:
    """A value as text in one way, whatever the engine: 3 and 3.0 are '3', True is 'true'.

    >>> [plain_text(v) for v in (3, 3.0, 0.1, 1e16, Decimal("2.50"), True, "x")]
    ['3', '3', '0.1', '10000000000000000', '2.5', 'true', 'x']
    """
    return number_text(value) if isinstance(value, bool | np.generic | float | Decimal) else str(value)


def _encode(column: pa.Array) -> Text:
    """Dictionary-encode a string or double array; null and NaN become -1."""
    if pa.types.is_floating(column.type):
        column = pc.if_else(pc.is_nan(column), None, pc.add(column, 0.0))  # -0.0 and 0.0 are one value
    encoded = pc.dictionary_encode(column)
    codes = encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int32)
    return Text(codes, [plain_text(value) for value in encoded.dictionary.to_pylist()])
