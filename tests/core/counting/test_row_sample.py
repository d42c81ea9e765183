from __future__ import annotations

from dataclasses import asdict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spark_pufs.core.counting.row_sample import (
    ALL,
    FirstSampleKernel,
    HashCellKernel,
    HeavyKernel,
    RowSample,
    SampleKernel,
    Wanted,
    heavy_hashes,
    read_sample,
)
from spark_pufs.types import RawBatch, Text

STATES = {"1": 1, "0": 0}
NONE = np.zeros(0, np.uint64)


def batch(X: np.ndarray, labelled: np.ndarray) -> RawBatch:
    return RawBatch(X, np.zeros(X.shape[1], np.int64), [], Text(np.where(labelled, 0, -1).astype(np.int32), ["1"]))


def wanted(columns: int, seed: int = 1) -> Wanted:
    return Wanted(tuple(range(columns)), STATES, seed)


def draw(kernel: SampleKernel, X: np.ndarray, labelled: np.ndarray, parts: int) -> RowSample:
    state = kernel.start()
    for piece in np.array_split(np.arange(len(X)), parts):
        state = state.merge(kernel.add(kernel.start(), batch(X[piece], labelled[piece])))
    return read_sample(kernel, state, int(labelled.sum()), int((~labelled).sum()))


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 1000), parts=st.integers(1, 9))
def test_sample_does_not_depend_on_order_or_partitioning(seed: int, parts: int) -> None:
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 4, (200, 3)).astype(float)  # many equal rows
    labelled = rng.random(200) < 0.1
    kernel = SampleKernel(wanted(3), ALL // 3, NONE)
    order = rng.permutation(200)
    first, second = draw(kernel, X, labelled, 1), draw(kernel, X[order], labelled[order], parts)
    for name in ("X", "labelled", "weight"):
        np.testing.assert_array_equal(getattr(first, name), getattr(second, name))


def test_whole_table_keeps_every_row_once_with_its_multiplicity() -> None:
    X = np.array([[1.0], [1.0], [2.0], [1.0]])
    labelled = np.array([False, False, False, True])
    sample = draw(SampleKernel(wanted(1), ALL, NONE), X, labelled, 2)
    found = sorted(zip(sample.X[:, 0], sample.labelled.tolist(), sample.weight, strict=True))
    assert found == [(1.0, False, 2.0), (1.0, True, 1.0), (2.0, False, 1.0)]


def test_labelled_rows_are_all_kept_and_weights_sum_to_the_table() -> None:
    rng = np.random.default_rng(0)
    X, labelled = rng.normal(size=(20_000, 2)), rng.random(20_000) < 0.01
    sample = draw(SampleKernel(wanted(2), ALL // 10, NONE), X, labelled, 3)
    assert sample.weight[sample.labelled].sum() == labelled.sum()
    assert sample.weight.sum() == pytest.approx(20_000)
    # 10 % of 19,800 rows, binomial: within five standard deviations
    assert abs((~sample.labelled).sum() - 1980) < 5 * np.sqrt(1980 * 0.9)


def test_a_row_that_makes_up_half_the_table_is_kept_whatever_its_hash() -> None:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(4000, 2))
    X[::2] = 7.0
    labelled = np.zeros(4000, bool)
    for seed in range(20):
        own = wanted(2, seed)
        cells = HashCellKernel(own).add(HashCellKernel(own).start(), batch(X, labelled)).counts
        exact = HeavyKernel(own, np.flatnonzero(cells >= 400))
        heavy = heavy_hashes(exact.add(exact.start(), batch(X, labelled)), 400)
        sample = draw(SampleKernel(own, ALL // 10, heavy), X, labelled, 2)
        assert sample.weight[(sample.X == 7.0).all(axis=1)].tolist() == [2000.0]
        assert sample.weight.sum() == pytest.approx(4000)


def test_another_seed_draws_other_rows() -> None:
    rng = np.random.default_rng(2)
    X, labelled = rng.normal(size=(1000, 2)), np.zeros(1000, bool)
    first, second = (draw(SampleKernel(wanted(2, seed), ALL // 10, NONE), X, labelled, 1) for seed in (1, 2))
    assert not np.array_equal(first.X, second.X)


def test_labelled_rows_that_would_overfill_the_sample_are_drawn_too() -> None:
    X = np.random.default_rng(5).normal(size=(20_000, 2))
    labelled = np.arange(20_000) % 2 == 0
    sample = draw(SampleKernel(wanted(2), ALL // 20, NONE, ALL // 10), X, labelled, 3)
    assert abs(sample.labelled.sum() - 1000) < 5 * np.sqrt(1000 * 0.9)
    assert sample.weight[sample.labelled].sum() == pytest.approx(10_000)
    assert sample.weight.sum() == pytest.approx(20_000)


def test_one_pass_gives_the_sample_and_the_cells() -> None:
    rng = np.random.default_rng(6)
    X, labelled = rng.integers(0, 9, (500, 2)).astype(float), rng.random(500) < 0.1
    own = wanted(2, 1)
    sample, heavy = SampleKernel(own, ALL // 3, NONE), HashCellKernel(own)
    both = FirstSampleKernel(sample)
    halves = [batch(X[part], labelled[part]) for part in (slice(0, 200), slice(200, 500))]
    first, second = (both.add(both.start(), half) for half in halves)
    found, whole = first.merge(second), batch(X, labelled)
    np.testing.assert_array_equal(found.cells.counts, heavy.add(heavy.start(), whole).counts)
    np.testing.assert_equal(asdict(found.sample), asdict(sample.add(sample.start(), whole)))
