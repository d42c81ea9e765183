from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import normalized_mutual_info_score

from spark_pufs.core.baselines.graph import laplacian_score, neighbour_graph
from spark_pufs.core.baselines.laplacian_scores import (
    cls,
    constrained_laplacian_score,
    normalised_information,
    sselect,
)
from support.planting import Planted

RNG = np.random.default_rng(0)


@given(st.lists(st.tuples(st.booleans(), st.booleans(), st.booleans()), min_size=1, max_size=30))
def test_normalised_information_as_scikit_learn(rows: list[tuple[bool, bool, bool]]) -> None:
    table = np.array(rows)
    expected = [normalized_mutual_info_score(table[:, 0], table[:, j]) for j in (1, 2)]
    constant = [len(set(table[:, 0])) == 1 == len(set(table[:, j])) for j in (1, 2)]
    # scikit-learn calls two constants a perfect match; as evidence they are none
    expected = [0.0 if same else value for same, value in zip(constant, expected, strict=True)]
    assert normalised_information(table[:, 1:], table[:, 0]) == pytest.approx(expected, abs=1e-9)


def test_sselect_is_the_laplacian_score_where_labels_do_not_count(planted: Planted) -> None:
    smooth = laplacian_score(planted.X, neighbour_graph(planted.X, 5))
    assert sselect(planted.X, planted.label, RNG, smoothness=1.0).scores == pytest.approx(-smooth)
    one_class = sselect(planted.X, planted.label, RNG, second_class="none").scores
    assert np.ptp(one_class + 0.1 * smooth) == pytest.approx(0, abs=1e-12)


def test_sselect_finds_what_was_planted(planted: Planted) -> None:
    assert set(np.argsort(-sselect(planted.X, planted.label, RNG).scores)[:2]) == {2, 5}


def test_cls_without_labels_is_twice_the_laplacian_score() -> None:
    X = np.random.default_rng(1).random((40, 4))
    S = neighbour_graph(X, 5)
    assert constrained_laplacian_score(X, np.zeros(40, np.int8), S) == pytest.approx(2 * laplacian_score(X, S))


def test_cls_by_brute_force() -> None:
    rng = np.random.default_rng(2)
    X, sign = rng.random((12, 3)), np.array([1, 1, -1, -1, -1] + [0] * 7, np.int8)
    S = neighbour_graph(X, 3)
    W, d = S.toarray(), S.toarray().sum(axis=1)
    mean = d @ X / d.sum()
    for r in range(3):
        f = X[:, r]
        top = sum((f[i] - f[j]) ** 2 * W[i, j] for i in range(12) for j in range(12))
        apart = sum((f[i] - f[j]) ** 2 * d[i] for i in range(12) for j in range(12) if sign[i] * sign[j] == -1)
        free = sum((f[i] - mean[r]) ** 2 * d[i] for i in range(12) if sign[i] == 0)
        assert constrained_laplacian_score(X, sign, S)[r] == pytest.approx(top / (apart + free))


def test_cls_finds_what_was_planted(planted: Planted) -> None:
    assert set(np.argsort(-cls(planted.X, planted.label, RNG).scores)[:2]) == {2, 5}
