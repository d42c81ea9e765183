"""Tables with Arrow's stream interface, such as those of Polars, DuckDB and pyarrow, as DataFrames of pandas."""

from __future__ import annotations

import pandas as pd
import pyarrow as pa

from spark_pufs.errors import DataError, Fault
from spark_pufs.masking.texts import gist

__all__ = ["frame_of", "speaks_arrow"]

# Types of pandas that tell null from NaN and keep whole numbers whole.
_NULLABLE = {
    pa.int8(): pd.Int8Dtype(),
    pa.int16(): pd.Int16Dtype(),
    pa.int32(): pd.Int32Dtype(),
    pa.int64(): pd.Int64Dtype(),
    pa.uint8(): pd.UInt8Dtype(),
    pa.uint16(): pd.UInt16Dtype(),
    pa.uint32(): pd.UInt32Dtype(),
    pa.uint64(): pd.UInt64Dtype(),
    pa.float32(): pd.Float32Dtype(),
    pa.float64(): pd.Float64Dtype(),
    pa.bool_(): pd.BooleanDtype(),
}


def speaks_arrow(table: object) -> bool:
    """Whether a table gives its columns as a stream of Arrow."""
    return hasattr(table, "__arrow_c_stream__")


def frame_of(table: object) -> pd.DataFrame:
    """The rows as a DataFrame of pandas, nulls as nulls and categories as text.

    >>> frame_of(pa.table({"a": [1, None], "b": ["x", "y"]})).dtypes.astype(str).to_dict()
    {'a': 'Int64', 'b': 'object'}
    """
    try:
        arrow = pa.table(table)
        plain = pa.table([_plain(column) for column in arrow.columns], names=arrow.column_names)
        frame: pd.DataFrame = plain.to_pandas(types_mapper=_NULLABLE.get)
    except (pa.ArrowException, TypeError, ValueError, NotImplementedError) as error:
        fix = "Convert it to pandas first."
        raise DataError(Fault("Table", f"cannot be read as Arrow: {gist(error)}", fix)) from error
    return frame


def _plain(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Text as text, however it is stored."""
    if pa.types.is_dictionary(column.type):
        kind = _text_or(column.type.value_type)
        return pa.chunked_array([_decoded(chunk, kind) for chunk in column.chunks], kind)
    return column.cast(_text_or(column.type))


def _decoded(chunk: pa.DictionaryArray, kind: pa.DataType) -> pa.Array:
    return pa.DictionaryArray.from_arrays(chunk.indices, chunk.dictionary.cast(kind)).cast(kind)


def _text_or(kind: pa.DataType) -> pa.DataType:
    return pa.string() if str(kind) in ("string", "string_view", "large_string") else kind
