from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from spark_pufs.core.baselines.correlation import correlations, feature_clusters, mrmr_ufs, rrpc
from spark_pufs.core.baselines.graph import laplacian_score, neighbour_graph
from support.planting import Planted, first

RNG = np.random.default_rng(0)


def test_correlations_as_numpy() -> None:
    X = np.random.default_rng(1).random((20, 4))
    assert correlations(X, X) == pytest.approx(np.corrcoef(X.T))
    X[:, 2] = 0.3
    assert correlations(X, X)[2].tolist() == [0, 0, 0, 0]


def test_rrpc_by_brute_force(planted: Planted) -> None:
    X, s = planted.X, planted.label == 1
    chosen: list[int] = []
    for _ in range(8):
        value = [
            abs(np.corrcoef(X[:, j], s)[0, 1])
            - (np.mean([abs(np.corrcoef(X[:, j], X[:, i])[0, 1]) for i in chosen]) if chosen else 0)
            if j not in chosen
            else -np.inf
            for j in range(8)
        ]
        chosen.append(int(np.argmax(value)))
    found = rrpc(X, planted.label, RNG, free=first(8, 8))
    assert found.order == tuple(chosen)
    assert chosen[0] in (2, 5)


def test_rrpc_takes_a_copy_last_of_the_relevant() -> None:
    rng = np.random.default_rng(4)
    y = rng.random(2000) < 0.5
    a, b = rng.random(2000) + y, rng.random(2000) + y  # one says what the other says, but for its own noise
    found = rrpc(np.column_stack([a, a, b]), y.astype(np.uint8), RNG, free=first(3, 3))
    assert found.order in ((0, 2, 1), (2, 0, 1))


def test_rrpc_uses_labelled_rows_only_where_both_classes_are_labelled(planted: Planted) -> None:
    label = np.where(planted.label == 1, 1, np.where(np.arange(240) % 4 == 0, 2, 0)).astype(np.uint8)
    known = label != 0
    expected = [abs(np.corrcoef(planted.X[known, j], label[known] == 1)[0, 1]) for j in range(8)]
    found = rrpc(planted.X, label, RNG, free=first(1, 8))
    assert found.scores == pytest.approx(expected, abs=1e-8)


def test_rrpc_with_signs_passes_over_a_negative_correlation() -> None:
    y = np.arange(400) % 2
    noise = np.random.default_rng(5).random((400, 2))
    X = np.column_stack([-y, y + 0.1 * noise[:, 0], noise[:, 1]]).astype(np.float64)
    label = (2 - y).astype(np.uint8)  # positive where y is 1, negative where it is 0
    assert rrpc(X, label, RNG, free=first(1, 3)).order == (0,)
    assert rrpc(X, label, RNG, free=first(1, 3), correlation="signed").order == (1,)


def grouped() -> NDArray[np.float64]:
    """Three sources, each seen four times with a little noise."""
    rng = np.random.default_rng(6)
    source = rng.random((300, 3))
    return np.repeat(source, 4, axis=1) + 0.05 * rng.random((300, 12))


def test_feature_clusters_are_the_sources() -> None:
    cluster = feature_clusters(grouped(), 3, 3, seed=0)
    assert [len(set(cluster[i : i + 4])) for i in (0, 4, 8)] == [1, 1, 1]
    assert len(set(cluster)) == 3


def test_one_neighbour_is_another_feature_and_pairs_are_clusters() -> None:
    source = np.random.default_rng(7).random((300, 3))
    pairs = np.repeat(source, 2, axis=1) + 0.05 * np.random.default_rng(8).random((300, 6))
    cluster = feature_clusters(pairs, 3, 1, seed=0)
    assert (cluster[::2] == cluster[1::2]).all()
    assert len(set(cluster)) == 3


def test_mrmr_ufs_relevance_is_one_less_half_the_laplacian_score() -> None:
    X = grouped()
    scores = mrmr_ufs(X, np.zeros(300, np.uint8), np.random.default_rng(0), select=3, neighbours=3).scores
    expected = 1 - laplacian_score(X, neighbour_graph(X, 3)) / 2
    assert scores % 1 == pytest.approx(expected, abs=1e-8)
    assert ((expected > 0) & (expected < 1)).all()


def test_mrmr_ufs_takes_one_of_each_source() -> None:
    scores = mrmr_ufs(grouped(), np.zeros(300, np.uint8), np.random.default_rng(0), select=3, neighbours=3).scores
    assert {int(i) // 4 for i in np.argsort(-scores)[:3]} == {0, 1, 2}
    assert (scores > 1).sum() == 3


def test_as_many_clusters_as_features() -> None:
    assert feature_clusters(grouped(), 12, 3, seed=0).tolist() == list(range(12))
