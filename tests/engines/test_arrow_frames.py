"""Tables that speak Arrow go in as pandas ones do."""

from __future__ import annotations

import pandas as pd
import pyarrow as pa
import pytest

import spark_pufs
from spark_pufs.engines.arrow_frames import frame_of, speaks_arrow
from spark_pufs.errors import DataError


class Stranger:
    """A table of a library that only has Arrow's interface, as Polars' has besides its own."""

    def __init__(self, table: pa.Table) -> None:
        self._table = table

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._table.__arrow_c_stream__(requested_schema)


FRAME = pd.DataFrame(
    {
        "a": [1.5, 2.5, None, 4.5] * 25,
        "n": pd.array([1, None, 3, 4] * 25, dtype="Int64"),
        "word": ["x", "y", None, "z"] * 25,
        "flag": pd.array([True, None, False, False] * 25, dtype="boolean"),
        "moment": pd.date_range("2026-01-01", periods=100, freq="h"),
        "day": pd.date_range("2026-01-01", periods=100, freq="D").date,
        "label": pd.array([1, None, None, None] * 25, dtype="Int64"),
    }
)


def test_the_answer_is_that_of_pandas() -> None:
    asked = {"label": "label", "method": "semi-jmi", "k": 3}
    wanted = spark_pufs.select(FRAME, **asked)
    table = pa.Table.from_pandas(FRAME, preserve_index=False)
    for given in (table, Stranger(table)):
        found = spark_pufs.select(given, **asked)
        assert (found.names, found.scores, found.dropped) == (wanted.names, wanted.scores, wanted.dropped)


@pytest.mark.parametrize(
    "kind",
    [
        pa.large_string(),
        *([pa.string_view()] if hasattr(pa, "string_view") else []),  # of pyarrow 16
        pa.dictionary(pa.int32(), pa.string()),
    ],
)
def test_text_is_text_however_it_is_stored(kind: pa.DataType) -> None:
    column = pa.chunked_array([["x", None], ["y"]]).cast(kind)
    assert frame_of(pa.table({"a": column}))["a"].tolist() == ["x", None, "y"]


def test_nulls_are_told_from_nan() -> None:
    frame = frame_of(pa.table({"a": [1.0, None, float("nan")]}))
    assert frame["a"].isna().tolist() == [False, True, False]


def test_apply_gives_the_same_kind_of_table() -> None:
    table = pa.Table.from_pandas(FRAME, preserve_index=False)
    found = spark_pufs.select(table, label="label", method="semi-mim", k=1)
    assert found.apply(table).column_names == [*found.names, "label"]
    with pytest.raises(DataError, match="got Stranger"):
        found.apply(Stranger(table))  # it has no columns to choose from


def test_what_cannot_be_read() -> None:
    class Lazy:
        def collect(self) -> None: ...

    with pytest.raises(DataError, match=r"or a table of Arrow, got Lazy\. Collect it first\."):
        spark_pufs.select(Lazy(), label="label")

    class Broken:
        def __arrow_c_stream__(self, requested_schema: object = None) -> object:
            raise ValueError("closed")

    assert speaks_arrow(Broken())
    with pytest.raises(DataError, match=r"Table: cannot be read as Arrow: .*closed.*\. Convert it to pandas first\."):
        spark_pufs.select(Broken(), label="label")
