"""States travel as bytes and come back the same, without pickle."""

from __future__ import annotations

import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from spark_pufs.core.search.saved_state import decode, encode

dtypes = st.sampled_from([np.int64, np.uint64, np.float64, np.uint8, np.bool_])
arrays = dtypes.flatmap(lambda dtype: hnp.arrays(dtype, hnp.array_shapes(min_dims=1, max_dims=3, min_side=0)))
plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)


@given(arrays, plain)
def test_round_trip(array: np.ndarray, value: object) -> None:
    state = decode(encode({"counts": array, "value": value}))
    assert set(state) == {"counts", "value"}
    assert state["counts"].dtype == array.dtype
    np.testing.assert_array_equal(state["counts"], array)
    assert state["value"] == value


def test_infinities_and_nan_survive() -> None:
    low = np.array([np.inf, -np.inf, np.nan, -0.0])
    assert decode(encode({"low": low}))["low"].tobytes() == low.tobytes()


def test_equal_states_are_equal_bytes() -> None:
    first = encode({"n": np.arange(3), "labels": {"1": 2, "0": 5}})
    assert first == encode({"n": np.arange(3), "labels": {"1": 2, "0": 5}})


def test_objects_are_refused() -> None:
    with pytest.raises(ValueError, match=r"[Pp]ickle|object"):
        encode({"counts": np.array([object()])})


def test_a_file_that_would_run_code_is_refused() -> None:
    file = io.BytesIO()
    np.savez(file, counts=np.array([{"any": "object"}], dtype=object))
    with pytest.raises(ValueError, match="allow_pickle"):
        decode(file.getvalue())
