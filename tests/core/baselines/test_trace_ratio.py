from __future__ import annotations

import numpy as np
import pytest
from sklearn.feature_selection import f_classif

from spark_pufs.core.baselines.trace_ratio import between_share, semifs
from support.planting import Planted

RNG = np.random.default_rng(0)


def test_share_of_hard_classes_is_that_of_an_anova() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.random((30, 4)), np.arange(30) % 3
    share = between_share(X, (y[:, None] == np.arange(3)).astype(float))
    assert (share / 2) / ((1 - share) / 27) == pytest.approx(f_classif(X, y)[0])


def test_constant_columns_share_nothing() -> None:
    assert between_share(np.ones((4, 1)), np.eye(4)[:, :2]).tolist() == [0.0]


def test_semifs_finds_what_was_planted(planted: Planted) -> None:
    scores = semifs(planted.X, planted.label, np.random.default_rng(0)).scores
    assert set(np.argsort(-scores)[:2]) == {2, 5}
    assert ((scores >= 0) & (scores <= 1)).all()


def test_semifs_with_negatives_and_without_unlabelled_rows(planted: Planted) -> None:
    label = np.where(planted.y, 1, 2).astype(np.uint8)
    scores = semifs(planted.X, label, np.random.default_rng(0)).scores
    F = f_classif(planted.X, planted.y)[0]
    assert (scores / ((1 - scores) / 238)) == pytest.approx(F)


def test_rows_count_by_how_sure_their_class_is_by_hand() -> None:
    # weights 1, 0.5, 1 at 0, 1, 2: mean 1; class means 1/3 (of 1.5 rows) and 2 (of 1)
    share = between_share(np.array([[0.0], [1.0], [2.0]]), np.array([[1.0, 0.0], [0.5, 0.0], [0.0, 1.0]]))
    assert share == pytest.approx([(1.5 * (2 / 3) ** 2 + 1) / 2])


def test_share_as_the_matrices_of_the_published_code() -> None:
    # S_t = X'(B - B 1 1'B / 1'B1)X, S_w = X'(B - F diag(1 / 1'F) F')X, score S_b / S_w (Liu, Nie, Wu & Chen 2013)
    rng = np.random.default_rng(5)
    X, F = rng.random((20, 3)), rng.random((20, 2)) / 2
    b = F.sum(axis=1)
    total = X.T @ (np.diag(b) - np.outer(b, b) / b.sum()) @ X
    within = X.T @ (np.diag(b) - F @ np.diag(1 / F.sum(axis=0)) @ F.T) @ X
    share = between_share(X, F)
    assert share / (1 - share) == pytest.approx(np.diag(total - within) / np.diag(within))


def test_rows_that_no_label_reaches_do_not_count_beside_two_labelled_classes() -> None:
    # two groups, one labelled of both classes, one far off without a label
    near = np.array([[0.0, 0.0], [0.1, 0.0], [0.0, 1.0], [0.1, 1.0]])
    label = np.array([1, 1, 2, 2], np.uint8)
    far = np.vstack([near + np.array([50.0, 0.0])] * 3)
    both = semifs(np.vstack([near, far]), np.concatenate([label, np.zeros(12, np.uint8)]), RNG, neighbours=2).scores
    assert both == pytest.approx(semifs(near, label, RNG, neighbours=2).scores, abs=1e-3)
    assert both == pytest.approx([0.0, 1.0], abs=1e-3)
