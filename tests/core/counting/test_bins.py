"""Bins against hand-worked edges and pandas.cut."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spark_pufs.core.counting.bins import (
    MAX_LEVELS,
    categories_by_count,
    code_columns,
    code_numeric,
    code_text,
    equal_width_edges,
)
from spark_pufs.types import Bins, Text

finite = st.floats(allow_nan=False, allow_infinity=False)


@pytest.mark.parametrize(
    ("low", "high", "bins", "edges"),
    [
        (0.0, 10.0, 5, (2.0, 4.0, 6.0, 8.0)),
        (-1.0, 1.0, 2, (0.0,)),
        (-4.0, -2.0, 4, (-3.5, -3.0, -2.5)),
        (3.0, 3.0, 5, ()),
        (-1.6e308, 1.6e308, 4, (-0.8e308, 0.0, 0.8e308)),  # high - low overflows
    ],
)
def test_equal_width_edges_by_hand(low: float, high: float, bins: int, edges: tuple[float, ...]) -> None:
    assert equal_width_edges(low, high, bins) == pytest.approx(edges, rel=1e-15)


def test_no_more_edges_than_there_are_floats() -> None:
    high = np.nextafter(1.0, 2.0)
    assert equal_width_edges(1.0, high, 5) == (high,)


@given(st.tuples(finite, finite), st.integers(2, 254))
def test_edges_lie_within_the_range_and_rise(ends: tuple[float, float], bins: int) -> None:
    low, high = min(ends), max(ends)
    edges = np.array(equal_width_edges(low, high, bins))
    assert len(edges) < bins
    assert (np.diff(edges) > 0).all()
    assert ((low < edges) & (edges <= high)).all()


@given(st.lists(st.floats(allow_nan=False), min_size=1), st.integers(2, 9))
def test_codes_equal_pandas_cut(values: list[float], bins: int) -> None:
    x = np.array(values)
    shown = x[np.isfinite(x)] if np.isfinite(x).any() else np.zeros(1)
    edges = equal_width_edges(float(shown.min()), float(shown.max()), bins)
    codes = code_numeric(x, Bins("x", "numeric", edges=edges))
    # pandas.cut never closes its last interval at +inf, which belongs to the last bin
    cut = pd.cut(np.minimum(x, np.finfo(float).max), [-np.inf, *edges, np.inf], right=False, labels=False)
    np.testing.assert_array_equal(codes, cut)


def test_equal_width_of_evenly_spread_values_is_even() -> None:
    edges = equal_width_edges(0.0, 99.0, 5)
    codes = code_numeric(np.arange(100.0), Bins("x", "numeric", edges=edges))
    assert np.bincount(codes).tolist() == [20, 20, 20, 20, 20]


def test_missing_is_a_level_of_its_own_and_infinities_are_not() -> None:
    bins = Bins("x", "numeric", edges=(0.0, 1.0), missing=True)
    codes = code_numeric(np.array([np.nan, -np.inf, np.inf, 0.0, 1.0, -0.0]), bins)
    assert codes.tolist() == [3, 0, 2, 1, 2, 1]
    assert bins.levels == 4


def test_the_most_bins_fit_a_byte() -> None:
    edges = equal_width_edges(0.0, 1.0, MAX_LEVELS - 1)
    bins = Bins("x", "numeric", edges=edges, missing=True)
    assert bins.levels == MAX_LEVELS
    assert code_numeric(np.array([1.0, np.nan]), bins).tolist() == [MAX_LEVELS - 2, MAX_LEVELS - 1]


@pytest.mark.parametrize(
    ("counts", "most", "expected"),
    [
        ({"b": 2, "a": 2, "c": 9, "d": 1}, 2, (("c", "a"), True)),
        ({"b": 2, "a": 2, "c": 9}, 2, (("c", "a", "b"), False)),  # one left over is not pooled
        ({"b": 1, "a": 1, "c": 9, "d": 1}, 2, (("c",), True)),  # seen once
        ({"b": 1, "a": 1, "c": 1}, 1, ((), True)),
        ({"b": 1}, 5, (("b",), False)),
        ({}, 5, ((), False)),
    ],
)
def test_categories_by_count(counts: dict[str, int], most: int, expected: tuple[tuple[str, ...], bool]) -> None:
    assert categories_by_count(counts, most) == expected


@given(st.dictionaries(st.text("abc", max_size=3), st.integers(1, 5), max_size=12), st.integers(1, 6))
def test_no_pooled_value_is_commoner_than_a_kept_one(counts: dict[str, int], most: int) -> None:
    kept, pooled = categories_by_count(counts, most)
    rest = set(counts) - set(kept)
    assert pooled == bool(rest)
    common = [value for value in counts if counts[value] > 1]
    assert not rest or len(kept) == min(most, len(common))
    assert max((counts[v] for v in rest), default=0) <= min((counts[v] for v in kept), default=1)
    assert len(rest) != 1


@given(st.lists(st.sampled_from(["a", "b", "c", "zz", None]), min_size=1), st.randoms())
def test_text_codes_do_not_depend_on_the_dictionary(rows: list[str | None], random: object) -> None:
    bins = Bins("x", "text", categories=("b", "a"), pooled=True, missing=True)
    by_hand = {"b": 0, "a": 1, "c": 2, "zz": 2, None: 3}
    values = ["a", "b", "c", "zz"]
    random.shuffle(values)  # type: ignore[attr-defined]
    position = {value: i for i, value in enumerate(values)} | {None: -1}
    text = Text(np.array([position[row] for row in rows], np.int32), values)
    assert code_text(text, bins).tolist() == [by_hand[row] for row in rows]


@pytest.mark.parametrize("most", [4, 40])
@pytest.mark.parametrize("width", [1, 130])
def test_columns_at_once_are_coded_as_one_by_one(most: int, width: int) -> None:
    """Few and many edges, none, infinite edges, NaN with and without a level of its own; more columns than one part."""
    rng = np.random.default_rng(3)
    X = rng.choice([-np.inf, -1.0, -0.0, 0.0, 0.25, 0.5, 2.0, np.inf, np.nan], size=(60, width))
    bins = []
    for column in range(width):
        edges = np.unique(rng.choice([-np.inf, -1.0, 0.0, 0.5, *rng.random(most), np.inf], rng.integers(0, most + 1)))
        bins.append(Bins("x", "numeric", edges=tuple(edges.tolist()), missing=bool(column % 2)))
    expected = np.stack([code_numeric(X[:, i], one) for i, one in enumerate(bins)])
    np.testing.assert_array_equal(code_columns(X, bins), expected)
