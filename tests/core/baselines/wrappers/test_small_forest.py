"""The forest behind es-mcrfs: single trees by hand, whole forests beside scikit-learn's."""

from __future__ import annotations

import numpy as np
import pytest

from spark_pufs.core.baselines.wrappers import small_forest
from spark_pufs.core.baselines.wrappers.small_forest import forest_share


def planted(seed: int, rows: int = 400) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, 9))
    return X, X[:, 0] + X[:, 1] + rng.normal(size=rows) > 1.5


def test_a_tree_of_one_column_cuts_halfway_between_the_classes(monkeypatch: pytest.MonkeyPatch) -> None:
    everything = small_forest._Rows(np.arange(4), np.zeros(4, np.int64), np.ones(4, np.int64))
    monkeypatch.setattr(small_forest, "_bootstrap", lambda n, trees, rng: everything)
    X, y = np.array([[0.0], [1.0], [3.0], [9.0]]), np.array([False, False, True, True])
    found = forest_share(X, y, np.array([[1.99], [2.01]]), 1, np.random.default_rng(0))
    assert found.tolist() == [0.0, 1.0]


def test_equal_values_are_not_cut() -> None:
    X, y = np.zeros((40, 3)), np.arange(40) % 4 == 0
    found = forest_share(X, y, X[:2], 200, np.random.default_rng(0))
    assert found == pytest.approx([0.25, 0.25], abs=0.02)  # the share in a bootstrap sample, on average


def test_a_tree_without_sampling_learns_its_rows_by_heart(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = planted(3)
    rows = small_forest._Rows(np.arange(len(y)), np.zeros(len(y), np.int64), np.ones(len(y), np.int64))
    monkeypatch.setattr(small_forest, "_bootstrap", lambda n, trees, rng: rows)
    assert (forest_share(X, y, X, 1, np.random.default_rng(0)) == y).all()


def test_the_best_cut_is_that_of_brute_force() -> None:
    rng = np.random.default_rng(0)
    for _ in range(30):
        x, y = rng.integers(0, 12, 25).astype(float), rng.random(25) < 0.3
        if y.all() or not y.any() or len(set(x)) == 1:
            continue
        weight = rng.integers(1, 4, 25)
        rows = small_forest._Rows(np.arange(25), np.zeros(25, np.int64), weight)
        table = small_forest._Table(x[:, None], y)
        total = np.array([weight.sum()], float), np.array([weight[y].sum()], float)
        _, threshold = small_forest._best_splits(rows, table, *total, rng)
        assert gini(x, y, weight, threshold[0]) == pytest.approx(
            min(gini(x, y, weight, cut) for cut in sorted(set(x))[:-1])
        )


def gini(x: np.ndarray, y: np.ndarray, weight: np.ndarray, cut: float) -> float:
    """Weight times the Gini index, both sides of a cut."""
    total = 0.0
    for side in (x <= cut, x > cut):
        share = weight[side & y].sum() / weight[side].sum()
        total += weight[side].sum() * 2 * share * (1 - share)
    return total


def test_it_agrees_with_scikit_learn_as_well_as_scikit_learn_with_itself() -> None:
    from sklearn.ensemble import RandomForestClassifier

    X, y = planted(1)
    test, _ = planted(2, 200)
    theirs = [RandomForestClassifier(150, random_state=seed).fit(X, y).predict_proba(test)[:, 1] for seed in (0, 1)]
    ours = forest_share(X, y, test, 150, np.random.default_rng(0))
    among_them = np.corrcoef(theirs)[0, 1]
    assert np.corrcoef(ours, theirs[0])[0, 1] > among_them - 0.01
    assert ours.mean() == pytest.approx(theirs[0].mean(), abs=0.02)
