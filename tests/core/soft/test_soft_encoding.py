"""Fine bins, normal scores and groups of levels."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spark_pufs.core.records import from_bytes, to_bytes
from spark_pufs.core.soft.encoding import Encoding, fine_bins, fine_codes, grouped
from spark_pufs.types import Bins


def codes_of(*columns: list[float]) -> np.ndarray:
    X = np.array(columns, float).T
    return fine_codes(X, fine_bins([str(i) for i in range(X.shape[1])], X, []))


@given(st.lists(st.integers(-50, 50), min_size=2, max_size=200))
def test_a_monotone_transform_changes_no_code(values: list[int]) -> None:
    assert np.array_equal(codes_of([float(v) for v in values]), codes_of([float(v) ** 3 + 7 for v in values]))


def test_one_extreme_value_changes_no_other_code() -> None:
    values = list(map(float, range(200)))
    assert np.array_equal(codes_of(values), codes_of([*values[:-1], 1e30]))


def test_a_value_that_fills_many_bins_is_one_and_the_next_opens_another() -> None:
    bins = fine_bins(["x"], np.array([0.0] * 95 + [1, 2, 3, 4, 5])[:, None], [], bins=4)[0]
    assert bins.edges[0] == 1.0


def test_missing_values_have_a_level_of_their_own() -> None:
    assert codes_of([1.0, 2.0, np.nan, np.nan])[0].tolist()[2:] == [2, 2]


def test_normal_scores_are_symmetric() -> None:
    X = np.arange(64.0)[:, None]
    bins = fine_bins(["x"], X, [], bins=4)
    encoding = Encoding.of(fine_codes(X, bins), bins)
    assert encoding.score == pytest.approx(-encoding.score[::-1])
    assert encoding.coarse.levels == (4,)


def test_a_copy_of_a_feature_is_encoded_as_the_feature() -> None:
    X = np.column_stack([np.arange(40.0), np.arange(40) % 3])
    bins = (*fine_bins(["x"], X[:, :1], [], bins=5), Bins("t", "text", categories=("a", "b", "c")))
    encoding = Encoding.of(fine_codes(X, bins), bins)
    copied = encoding.of_features(np.array([0, 1, 1, 0]))
    assert copied.layout.levels == (5, 3, 3, 5)
    assert copied.score[-5:].tolist() == encoding.score[:5].tolist()
    assert copied.group[-5:].tolist() == (encoding.group[:5] + encoding.coarse.total + 3).tolist()


def test_groups_hold_about_equally_many_rows() -> None:
    assert grouped(np.array([10] * 8), 4).tolist() == [0, 0, 1, 1, 2, 2, 3, 3]


def test_a_state_brings_it_back() -> None:
    X = np.arange(40.0)[:, None]
    bins = fine_bins(["x"], X, [])
    encoding = Encoding.of(fine_codes(X, bins), bins)
    again = from_bytes(Encoding, to_bytes(encoding))
    assert again.layout == encoding.layout
    assert np.array_equal(again.group, encoding.group)
