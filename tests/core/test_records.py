"""Records become JSON or bytes and come back the same, without pickle."""

from __future__ import annotations

import io
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.typing import NDArray

from spark_pufs.core.records import from_bytes, like, read, to_bytes, written
from spark_pufs.types import Layout

dtypes = st.sampled_from([np.int64, np.uint64, np.float64, np.uint8, np.bool_])
arrays = dtypes.flatmap(lambda dtype: hnp.arrays(dtype, hnp.array_shapes(min_dims=1, max_dims=3, min_side=0)))


@dataclass(frozen=True)
class Part:
    values: NDArray[np.generic]
    name: str = ""


@dataclass(frozen=True)
class Whole:
    part: Part
    parts: tuple[Part, ...]
    counts: Mapping[str, int]
    shares: tuple[float, ...]
    kind: Literal["a", "b"] = "a"
    last: Part | None = None
    layout: Layout = field(default_factory=lambda: Layout((2, 3)))


@given(arrays, arrays, st.text(), st.dictionaries(st.text(), st.integers()))
def test_round_trip(one: np.ndarray, other: np.ndarray, name: str, counts: dict[str, int]) -> None:
    whole = Whole(Part(one, name), (Part(other), Part(one)), counts, (0.5, 1.0), "b")
    found = from_bytes(Whole, to_bytes(whole))
    for left, right in ((found.part, whole.part), *zip(found.parts, whole.parts, strict=True)):
        assert left.values.dtype == right.values.dtype
        np.testing.assert_array_equal(left.values, right.values)
    assert (found.part.name, found.counts, found.shares, found.kind, found.last) == (
        name,
        counts,
        (0.5, 1.0),
        "b",
        None,
    )
    assert found.layout == Layout((2, 3))
    assert found.layout.offsets.tolist() == [0, 2, 5]


@given(arrays, st.text())
def test_a_record_like_another(values: np.ndarray, name: str) -> None:
    found = like(Part(np.zeros(0)), to_bytes(Part(values, name)))
    assert (type(found), found.name) == (Part, name)
    np.testing.assert_array_equal(found.values, values)


def test_keys_that_look_like_the_mark_of_an_array_survive() -> None:
    counts = {"\0": 1, "\0\0a": 2, "array": 3}
    whole = Whole(Part(np.arange(2)), (), counts, ())
    assert from_bytes(Whole, to_bytes(whole)).counts == counts
    assert written(counts) == counts


def test_annotations_that_cannot_be_read_do_not_matter_to_arrays_and_plain_values() -> None:
    names: dict[str, object] = {"dataclass": dataclass}
    exec("@dataclass\nclass Odd:\n    values: 'Unknown'\n    name: 'str' = ''\n", names)
    odd: type = names["Odd"]  # type: ignore[assignment]
    found = from_bytes(odd, to_bytes(odd(np.arange(3), "n")))
    assert (found.values.tolist(), found.name) == ([0, 1, 2], "n")


def test_infinities_and_nan_survive() -> None:
    low = np.array([np.inf, -np.inf, np.nan, -0.0])
    assert from_bytes(Part, to_bytes(Part(low))).values.tobytes() == low.tobytes()


def test_equal_records_are_equal_bytes() -> None:
    first, second = (to_bytes(Part(np.arange(3), "n")) for _ in range(2))
    assert first == second


def test_objects_are_refused() -> None:
    with pytest.raises(ValueError, match="holds Python objects"):
        to_bytes(Part(np.array([object()])))


def test_a_file_that_would_run_code_is_refused() -> None:
    file = io.BytesIO()
    np.savez(
        file,
        **{
            "0": np.array([{"any": "object"}], dtype=object),
            "json": np.frombuffer(b'{"values": {"\\u0000": "0"}}', np.uint8),
        },
    )
    with pytest.raises(ValueError, match="allow_pickle"):
        from_bytes(Part, file.getvalue())


@pytest.mark.parametrize(
    ("value", "found"),
    [
        ([], "layout: expected a mapping, found []"),
        ({}, "layout: levels not found"),
        ({"levels": 3}, "layout.levels: expected tuple, found 3"),
        ({"levels": ["a"]}, "layout.levels: expected int, found 'a'"),
    ],
)
def test_what_is_not_as_annotated_is_named(value: object, found: str) -> None:
    with pytest.raises(ValueError, match="layout") as error:
        read(Layout, value, "layout")  # type: ignore[arg-type]
    assert str(error.value) == found


def test_plain_values_are_those_of_json() -> None:
    assert written(Layout((2, 3))) == {"levels": [2, 3]}
