from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from planting import Planted
from sklearn.feature_selection import f_classif

from spark_pufs.core.baselines.graph import neighbour_graph
from spark_pufs.core.baselines.trace_ratio import between_share, propagate, semifs


def test_share_of_hard_classes_is_that_of_an_anova() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.random((30, 4)), np.arange(30) % 3
    share = between_share(X, (y[:, None] == np.arange(3)).astype(float))
    assert (share / 2) / ((1 - share) / 27) == pytest.approx(f_classif(X, y)[0])


def test_constant_columns_share_nothing() -> None:
    assert between_share(np.ones((4, 1)), np.eye(4)[:, :2]).tolist() == [0.0]


def test_propagation_by_hand() -> None:
    # row 1 hangs on labelled row 0 alone and gives up with probability 1/4; row 2 hangs on row 1 alone
    S = sp.csr_array(np.array([[0.0, 1, 0], [1, 0, 1], [0, 1, 0]]))
    F = propagate(S, np.array([[True], [False], [False]]), reach=0.75)
    # f1 = 3/8 (1 + f2), f2 = 3/4 f1
    f1 = 0.375 / (1 - 0.375 * 0.75)
    assert pytest.approx(np.array([[1, 0], [f1, 1 - f1], [0.75 * f1, 1 - 0.75 * f1]])) == F


def test_propagation_is_the_inverse_it_stands_for() -> None:
    rng = np.random.default_rng(1)
    S = neighbour_graph(rng.random((25, 3)), 4)
    labelled = np.zeros((25, 2), bool)
    labelled[:3, 0] = labelled[3:7, 1] = True
    known = labelled.any(axis=1)
    A, P = np.diag(np.where(known, 0.0, 0.9)), S.toarray() / S.toarray().sum(axis=1)[:, None]
    Y = np.column_stack([labelled, ~known]).astype(float)
    expected = np.linalg.solve(np.eye(25) - A @ P, (np.eye(25) - A) @ Y)
    assert propagate(S, labelled, 0.9) == pytest.approx(expected, abs=1e-8)


def test_semifs_finds_what_was_planted(planted: Planted) -> None:
    scores = semifs(planted.X, planted.label, np.random.default_rng(0)).scores
    assert set(np.argsort(-scores)[:2]) == {2, 5}
    assert ((scores >= 0) & (scores <= 1)).all()


def test_semifs_with_negatives_and_without_unlabelled_rows(planted: Planted) -> None:
    label = np.where(planted.y, 1, 2).astype(np.uint8)
    scores = semifs(planted.X, label, np.random.default_rng(0)).scores
    F = f_classif(planted.X, planted.y)[0]
    assert (scores / ((1 - scores) / 238)) == pytest.approx(F)


def test_between_share_of_less_than_one_member_by_hand() -> None:
    # members 0.1 and 0.3 of the rows at 0 and 1: their mean lies 0.25 from the middle; 0.4 x 0.25^2 / 0.5
    share = between_share(np.array([[0.0], [1.0]]), np.array([[0.1], [0.3]]))
    assert share == pytest.approx([0.05])
