from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

from spark_pufs.core.counting.row_sample import Wanted
from spark_pufs.core.evidence.label_rate import delong
from spark_pufs.core.pu.prfs import CellKernel, PositiveKernel, cell_auc, grids_of
from spark_pufs.engines.arrow_batches import raw_batch
from spark_pufs.types import RawBatch

STATES = {"0": 0, "1": 1, "-1": 2}


def batch(X: np.ndarray, s: np.ndarray) -> RawBatch:
    return raw_batch(pa.array(X.ravel()), X.shape[1], [], pa.array([str(v) for v in s]).dictionary_encode())


def table(seed: int, rows: int = 400) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    s = (rng.random(rows) < 0.1).astype(int)
    X = rng.normal(size=(rows, 4)) + s[:, None] * [1.0, -0.5, 0.0, 2.0]
    X[:, 2] = np.round(X[:, 2])
    return X, s


def aucs(X: np.ndarray, s: np.ndarray, most: int = 1000, parts: int = 1) -> tuple[np.ndarray, np.ndarray]:
    batches = [batch(X[part], s[part]) for part in np.array_split(np.arange(len(s)), parts)]
    columns = tuple(range(X.shape[1]))
    first = scan(PositiveKernel(Wanted(columns, STATES, 0), most), batches)
    kernel = CellKernel(columns, STATES, grids_of(first.rows))
    return kernel.aucs(scan(kernel, batches))


def scan(kernel: Any, batches: list[RawBatch]) -> Any:
    state = kernel.start()
    for part in batches:
        state = state.merge(kernel.add(kernel.start(), part))
    return state


def test_against_scikit_learn_and_delong() -> None:
    X, s = table(1)
    auc, error = aucs(X, s)
    for column in range(4):
        assert auc[column] == pytest.approx(roc_auc_score(s, X[:, column]), abs=1e-12)
        expected, variance = delong(X[s == 1, column], X[s == 0, column])
        assert auc[column] == pytest.approx(expected, abs=1e-12)
        assert error[column] ** 2 == pytest.approx(variance, rel=1e-9)


@given(st.lists(st.integers(-3, 3), min_size=1, max_size=12), st.lists(st.integers(-4, 4), min_size=1, max_size=12))
def test_every_pair_counted(high: list[int], low: list[int]) -> None:
    pairs = np.subtract.outer(high, low)
    expected = ((pairs > 0) + (pairs == 0) / 2).mean()
    X = np.array([*high, *low], float)[:, None]
    assert aucs(X, np.repeat([1, 0], [len(high), len(low)]))[0][0] == pytest.approx(expected, abs=1e-12)


def test_a_missing_value_ties_with_every_value() -> None:
    # Pairs: 2 against 1 wins, against 3 loses, against missing a half; missing against all three a half.
    auc, _ = cell_auc(np.array([0, 0, 1, 0, 0, 1]), np.array([0, 1, 0, 1, 0, 1]))
    assert auc == pytest.approx((1 + 0 + 0.5 + 3 * 0.5) / 6)


def test_infinities_rank_at_the_ends() -> None:
    X = np.array([[np.inf], [0.0], [-np.inf], [1.0], [np.nan]])
    assert aucs(X, np.array([1, 0, 0, 0, 0]))[0].tolist() == [(3 + 0.5) / 4]


def test_labelled_negatives_count_with_the_others() -> None:
    X, s = table(2)
    assert (aucs(X, np.where((s == 0) & (X[:, 0] < 0), -1, s))[0] == aucs(X, s)[0]).all()


@pytest.mark.parametrize("parts", [2, 7])
def test_partitions_change_no_bit(parts: int) -> None:
    X, s = table(3)
    for most in (1000, 5):
        whole, cut = aucs(X, s, most), aucs(X, s, most, parts)
        assert all((a == b).all() for a, b in zip(whole, cut, strict=True))


def test_a_coarse_grid_stays_near() -> None:
    X, s = table(4, rows=20_000)
    fine, coarse = aucs(X, s, 10_000), aucs(X, s, 200)
    assert coarse[0] == pytest.approx(fine[0], abs=1e-3)
    assert coarse[1] == pytest.approx(fine[1], rel=0.02)


def test_equal_columns_have_equal_bits() -> None:
    X, s = table(5)
    auc, error = aucs(X[:, [0, 1, 0]], s)
    assert (auc[0], error[0]) == (auc[2], error[2])


def test_one_labelled_row_and_all_missing() -> None:
    auc, error = aucs(np.array([[np.nan], [1.0], [2.0]]), np.array([1, 0, 0]))
    assert (auc.tolist(), error.tolist()) == ([0.5], [0.0])
