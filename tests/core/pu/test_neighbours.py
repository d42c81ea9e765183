from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.neighbors import NearestNeighbors

from spark_pufs.core.pu import neighbours
from spark_pufs.core.pu.neighbours import (
    RowBlock,
    Searched,
    blocks_of,
    median_reach,
    mutual_graph,
    nearest,
    nearest_block,
    squared_distances,
)


def cloud(rows: int = 300, features: int = 6, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(rows, features))


def by_all_pairs(X: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    square = ((X[:, None] - X) ** 2).sum(axis=2)
    np.fill_diagonal(square, np.inf)
    index = np.argsort(square, axis=1, kind="stable")[:, : min(k, len(X) - 1)]
    return index, np.take_along_axis(square, index, 1)


@pytest.mark.parametrize("shift", [0.0, 0.1, 1e4])
@pytest.mark.parametrize("k", [1, 5, 30])
def test_among_many_equals_the_first_rows(k: int, shift: float) -> None:
    """Flags: hundreds of rows at the same distance."""
    X = np.random.default_rng(1).integers(0, 2, (300, 4)) + shift
    assert all((a == b).all() for a, b in zip(nearest(X, 0, 300, k), by_all_pairs(X, k), strict=True))


@given(st.integers(1, 12), st.integers(0, 2**32))
def test_copies_of_a_few_rows(k: int, seed: int) -> None:
    """Copies that lie among a row's nearest and copies that do not."""
    rng = np.random.default_rng(seed)
    X = cloud(6, 3)[np.sort(rng.integers(0, 6, 80))[rng.permutation(80)]]
    assert all((a == b).all() for a, b in zip(nearest(X, 0, 80, k), by_all_pairs(X, k), strict=True))


def test_against_scikit_learn() -> None:
    X = cloud()
    index, square = nearest(X, 0, len(X), 7)
    distance, peer = NearestNeighbors(n_neighbors=8).fit(X).kneighbors(X)
    assert (index == peer[:, 1:]).all()
    assert np.sqrt(square) == pytest.approx(distance[:, 1:], rel=1e-12)


def test_far_from_the_origin_nothing_cancels() -> None:
    X = cloud(100, 3) + 1e4
    exact = ((X[:, None] - X) ** 2).sum(axis=2)
    np.fill_diagonal(exact, np.inf)
    assert (nearest(X, 0, 100, 5)[1] == np.sort(exact, axis=1)[:, :5]).all()


@given(st.integers(1, 40), st.integers(2, 90))
def test_blocks_and_chunks_change_nothing(k: int, rows: int) -> None:
    X = np.round(cloud(rows, 2), 1)  # with ties
    whole = nearest(X, 0, rows, k)
    assert whole[0].shape == (rows, min(k, rows - 1))
    units = [RowBlock(0, rows // 2), RowBlock(rows // 2, rows)]
    parts = [nearest_block(Searched(X, k), unit) for unit in units]
    assert (np.concatenate([part.square for part in parts]) == whole[1]).all()
    assert (np.concatenate([part.index for part in parts]) == whole[0]).all()
    assert all((a == b).all() for a, b in zip(whole, by_all_pairs(X, k), strict=True))


def test_small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    X = cloud(50)
    whole = nearest(X, 0, 50, 4)
    monkeypatch.setattr(neighbours, "CHUNK_BYTES", 8 * 50 * 3)
    assert all((a == b).all() for a, b in zip(nearest(X, 0, 50, 4), whole, strict=True))


@pytest.mark.parametrize("rows", [1, 256, 257, 100_001])
def test_blocks_cover_all_rows_once(rows: int) -> None:
    blocks = blocks_of(rows)
    assert [b.first for b in blocks] == [0, *(b.last for b in blocks[:-1])]
    assert blocks[-1].last == rows
    assert len(blocks) <= neighbours.UNITS


def test_a_mutual_graph_by_hand() -> None:
    # On a line at 0, 1, 3: the nearest of 0 is 1, of 1 is 0, of 3 is 1. Only the first two choose each other.
    X = np.array([[0.0], [1.0], [3.0]])
    graph = mutual_graph(*nearest(X, 0, 3, 1), theta=2.0).toarray()
    expected = np.zeros((3, 3))
    expected[0, 1] = expected[1, 0] = np.exp(-1 / 4)
    assert graph == pytest.approx(expected)


def test_a_mutual_graph_against_all_pairs() -> None:
    X = cloud(60, 3)
    square = squared_distances(X, X)
    near = np.argsort(square, axis=1)[:, 1:6]
    chosen = np.zeros((60, 60), bool)
    chosen[np.arange(60)[:, None], near] = True
    expected = np.where(chosen & chosen.T, np.exp(-square / 1.5**2), 0.0)
    graph = mutual_graph(*nearest(X, 0, 60, 5), theta=1.5)
    assert graph.toarray() == pytest.approx(expected)
    assert (graph != graph.T).nnz == 0


def test_similarities_that_vanish_are_no_edges() -> None:
    X = cloud(30)
    assert mutual_graph(*nearest(X, 0, 30, 3), theta=1e-3).nnz == 0


def test_the_width_of_similarities() -> None:
    assert median_reach(np.array([[0.0, 1.0], [1.0, 4.0], [1.0, 9.0]])) == 2.0
    assert median_reach(np.array([[0.0], [0.0], [4.0]])) == 2.0  # most rows have copies
    assert median_reach(np.zeros((3, 1))) == 1.0
