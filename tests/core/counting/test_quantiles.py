"""Order statistics by radix counting against sorting, and equal-frequency bins against pandas.qcut."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spark_pufs.core.counting.bins import code_numeric
from spark_pufs.core.counting.quantiles import PASSES, RadixKernel, edges_from_prefixes, narrow, wanted_ranks
from spark_pufs.types import Bins, RawBatch, Text


def radix_edges(X: np.ndarray, bins: int, parts: int = 1) -> np.ndarray:
    """Edges (D, bins - 1) of X (n, D), the rows cut into ``parts`` batches that are merged."""
    ranks = wanted_ranks((~np.isnan(X)).sum(axis=0), bins)
    prefixes = np.zeros(ranks.shape, np.uint64)
    for known in range(PASSES):
        kernel = RadixKernel(prefixes, known)
        state = kernel.start()
        for rows in np.array_split(X, parts):
            label = Text(np.zeros(len(rows), np.int32), ["0"])
            batch = RawBatch(rows, np.zeros(X.shape[1], np.int64), [], label)
            state = state.merge(kernel.add(kernel.start(), batch))
        prefixes, ranks = narrow(kernel, state, ranks)
    return edges_from_prefixes(prefixes)


def sorted_edges(x: np.ndarray, bins: int) -> np.ndarray:
    present = np.sort(x[~np.isnan(x)])
    return present[len(present) * np.arange(1, bins) // bins]


def codes(x: np.ndarray, edges: np.ndarray) -> np.ndarray:
    return code_numeric(x, Bins("x", "numeric", edges=tuple(np.unique(edges)), missing=True))


rng = np.random.default_rng(20)
COLUMNS = {
    "random": rng.normal(size=997),
    "heavily tied": rng.choice([0.0, 0.0, 0.0, 0.0, 1.0, 2.0], 997),
    "two values": rng.choice([3.25, -1.0], 997),
    "negative": -rng.exponential(size=997),
    "huge": rng.normal(size=997) * 1e305,
    "tiny": rng.normal(size=997) * 1e-290,
    "many orders": rng.choice([-1, 1], 997) * 10.0 ** rng.uniform(-200, 200, 997),
    "whole": rng.integers(-(10**6), 10**6, 997).astype(float),
    "infinities": np.where(rng.random(997) < 0.3, rng.choice([np.inf, -np.inf], 997), rng.normal(size=997)),
    "mostly infinite": np.where(rng.random(997) < 0.9, np.inf, 0.5),
    "missing": np.where(rng.random(997) < 0.4, np.nan, rng.normal(size=997)),
    "zeros of both signs": np.where(rng.random(997) < 0.5, 0.0, -0.0) + np.where(np.arange(997) < 99, 1, 0),
}


def test_ranks_by_hand() -> None:
    assert wanted_ranks(np.array([10, 7, 0]), 4).tolist() == [[2, 5, 7], [1, 3, 5], [0, 0, 0]]


@pytest.mark.parametrize("bins", [2, 5, 17])
@pytest.mark.parametrize("name", COLUMNS)
def test_edges_are_the_order_statistics(name: str, bins: int) -> None:
    x = COLUMNS[name]
    found, expected = radix_edges(x[:, None], bins)[0], sorted_edges(x, bins)
    np.testing.assert_allclose(found, expected, rtol=1e-8, atol=0)
    assert (found <= expected).all()


@pytest.mark.parametrize("name", COLUMNS)
def test_codes_are_those_of_exact_quantiles(name: str) -> None:
    x = COLUMNS[name]
    np.testing.assert_array_equal(codes(x, radix_edges(x[:, None], 5)[0]), codes(x, sorted_edges(x, 5)))


@pytest.mark.parametrize("bins", [2, 5, 10])
def test_codes_equal_pandas_qcut(bins: int) -> None:
    """Where the bins divide the rows and no values are tied, conventions agree."""
    x = rng.permutation(np.geomspace(1e-3, 1e5, 1000)) - 10
    expected = pd.qcut(x, bins, labels=False)
    found = codes(x, radix_edges(x[:, None], bins)[0])
    np.testing.assert_array_equal(found, expected)
    assert np.bincount(found).tolist() == [1000 // bins] * bins


@given(
    st.lists(st.floats(allow_nan=True, allow_subnormal=False), min_size=1, max_size=60),
    st.integers(2, 8),
    st.integers(1, 5),
)
def test_any_values_in_any_batches(values: list[float], bins: int, parts: int) -> None:
    x = np.array(values)
    found = radix_edges(x[:, None], bins, parts)[0]
    if np.isnan(x).all():
        assert np.isnan(found).all()
    else:
        np.testing.assert_allclose(found, sorted_edges(x, bins), rtol=1e-8, atol=0)


def test_columns_do_not_disturb_each_other() -> None:
    X = np.column_stack(list(COLUMNS.values()))
    together = radix_edges(X, 5)
    alone = [radix_edges(X[:, [i]], 5)[0] for i in range(X.shape[1])]
    np.testing.assert_array_equal(together, alone)
