"""Bins of equal frequency: against pandas.qcut, with ties, and with values that a sample missed."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spark_pufs.core.counting.bins import code_numeric
from spark_pufs.core.counting.equal_frequency import equal_frequency_edges, separating_edges
from spark_pufs.types import Bins

values = st.lists(st.floats(-1e9, 1e9, allow_subnormal=False), min_size=1, max_size=60)


def codes(x: np.ndarray, edges: tuple[float, ...]) -> np.ndarray:
    return code_numeric(x, Bins("x", "numeric", edges=edges))


def binned(x: np.ndarray, bins: int) -> np.ndarray:
    return codes(x, equal_frequency_edges(x, np.ones(len(x)), bins))


@pytest.mark.parametrize("bins", [2, 5, 10])
def test_codes_equal_pandas_qcut(bins: int) -> None:
    """Where the bins divide the rows and no values are tied, conventions agree."""
    x = np.random.default_rng(1).permutation(np.geomspace(1e-3, 1e5, 1000)) - 10
    np.testing.assert_array_equal(binned(x, bins), pd.qcut(x, bins, labels=False))


@pytest.mark.parametrize(
    ("x", "sizes"),
    [
        ([0] * 95 + [1, 2, 3, 4, 5], [95, 1, 1, 2, 1]),  # four bins are left for five values
        ([9] * 95 + [1, 2, 3, 4, 5], [5, 95]),  # the few below share a bin
        ([-2, -1] + [0] * 90 + [1, 2, 3, 4, 5, 6, 7, 8], [2, 90, 3, 3, 2]),
        ([1, 1, 1, 2, 2, 2], [3, 3]),
        ([7], [1]),
        ([1, 2, 3], [1, 1, 1]),
        (list(range(7)), [1, 2, 1, 2, 1]),
    ],
)
def test_ties_by_hand(x: list[float], sizes: list[int]) -> None:
    assert np.bincount(binned(np.array(x, float), 5)).tolist() == sizes


@given(values, st.integers(2, 9))
def test_every_bin_has_rows_and_the_first_value_of_its_bin_is_the_edge(found: list[float], bins: int) -> None:
    x = np.array(found)
    edges = equal_frequency_edges(x, np.ones(len(x)), bins)
    sizes = np.bincount(codes(x, edges), minlength=len(edges) + 1)
    assert (sizes > 0).all()
    assert len(edges) < bins
    assert set(edges) <= set(found)
    if len(set(found)) <= bins:
        assert len(edges) == len(set(found)) - 1


@given(values, st.integers(2, 9))
def test_a_monotone_transform_changes_no_code(found: list[float], bins: int) -> None:
    x = np.array(found)
    rank = np.unique(x, return_inverse=True)[1]
    for moved in (rank.astype(float), rank**3 * 1e-7 - 5, np.exp2(rank)):
        np.testing.assert_array_equal(binned(moved, bins), binned(x, bins))


@given(values, st.integers(2, 9), st.floats(1e10, 1e300))
def test_how_far_out_the_largest_lies_changes_nothing(found: list[float], bins: int, far: float) -> None:
    x = np.array(found)
    out = np.where(x == x.max(), far, x)
    np.testing.assert_array_equal(binned(out, bins), binned(x, bins))


@given(values, st.integers(2, 9))
def test_weights_stand_for_rows_and_missing_values_for_none(found: list[float], bins: int) -> None:
    distinct, count = np.unique(found, return_counts=True)
    padded, weight = np.append(distinct, np.nan), np.append(count.astype(float), 9.0)
    assert equal_frequency_edges(padded, weight, bins) == equal_frequency_edges(
        np.array(found), np.ones(len(found)), bins
    )


@pytest.mark.parametrize(
    ("value", "levels"),
    [(0.0, [0, 1, 1, 1]), (9.0, [0, 0, 0, 1]), (3.0, [0, 1, 2, 2])],
)
def test_a_sample_of_one_value_still_separates_it(value: float, levels: list[int]) -> None:
    edges = separating_edges(value, 0.0, 3.0, 9.0)
    assert codes(np.array([0.0, 3.0, 5.0, 9.0]), edges).tolist() == levels
