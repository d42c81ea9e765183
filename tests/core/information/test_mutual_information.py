"""Information from counts: hand-worked tables, scikit-learn, scipy, and simulation for the standard errors."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2_contingency
from scipy.stats import entropy as scipy_entropy
from sklearn.metrics import mutual_info_score

from spark_pufs.core.information.mutual_information import (
    between_features,
    class_given_feature,
    class_of_features,
    conditional_mutual_information,
    entropy,
    mutual_information,
    squared_loss_information,
)
from spark_pufs.types import Layout

seeds = st.integers(0, 2**32 - 1)


def by_sklearn(table: np.ndarray) -> float:
    """I(X;Y) of a table of counts, from the rows it stands for."""
    x, y = np.repeat(np.indices(table.shape).reshape(2, -1), table.ravel(), axis=1)
    return float(mutual_info_score(x, y))


def given_z(tables: np.ndarray) -> float:
    """I(X;Y|Z) as the mean over z of I(X;Y) among its rows."""
    sizes = tables.sum(axis=(1, 2))
    parts = [size * by_sklearn(table) for size, table in zip(sizes, tables, strict=True) if size]
    return sum(parts) / sizes.sum()


def random_counts(seed: int, *shape: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return rng.integers(0, 12, shape) * rng.integers(0, 2, shape) + (np.indices(shape).sum(axis=0) == 0)


@pytest.mark.parametrize(
    ("table", "nats"),
    [
        ([[5, 0], [0, 5]], math.log(2)),
        ([[3, 3], [3, 3]], 0.0),
        ([[2, 4], [1, 2]], 0.0),  # independent, unequal margins
        # cells 1/2, 1/4, 0, 1/4; margins 3/4, 1/4 and 1/2, 1/2: 1/2 ln 4/3 + 1/4 ln 2/3 + 1/4 ln 2
        ([[2, 1], [0, 1]], 0.5 * math.log(4 / 3) + 0.25 * math.log(2 / 3) + 0.25 * math.log(2)),
        ([[7, 0], [0, 0]], 0.0),
        ([[0, 0], [0, 0]], 0.0),
    ],
)
def test_mutual_information_by_hand(table: list[list[int]], nats: float) -> None:
    assert mutual_information(np.array(table)) == pytest.approx(nats, abs=1e-15)


def test_exclusive_or_by_hand() -> None:
    """X and Y are independent, and equal or opposite once Z is known."""
    tables = np.array([[[5, 0], [0, 5]], [[0, 5], [5, 0]]])
    assert mutual_information(tables.sum(axis=0)) == 0.0
    assert conditional_mutual_information(tables) == pytest.approx(math.log(2), rel=1e-15)


def test_conditional_information_by_hand() -> None:
    """Three quarters of the rows know nothing, the others one bit."""
    tables = np.array([[[3, 3], [3, 3]], [[2, 0], [0, 2]], [[0, 0], [0, 0]]])
    assert conditional_mutual_information(tables) == pytest.approx(0.25 * math.log(2), rel=1e-15)


@given(seeds)
def test_against_sklearn(seed: int) -> None:
    tables = random_counts(seed, 4, 3, 5)
    assert mutual_information(tables[0]) == pytest.approx(by_sklearn(tables[0]), abs=1e-13)
    assert conditional_mutual_information(tables) == pytest.approx(given_z(tables), abs=1e-13)


@given(seeds)
def test_information_is_symmetric_and_bounded_by_entropy(seed: int) -> None:
    table = random_counts(seed, 4, 5)
    value = mutual_information(table)
    assert value == pytest.approx(mutual_information(table.T), abs=1e-13)
    assert 0 <= value <= min(entropy(table.sum(axis=0)), entropy(table.sum(axis=1))) + 1e-13


@given(seeds)
def test_entropy_against_scipy(seed: int) -> None:
    counts = random_counts(seed, 9)
    assert entropy(counts) == pytest.approx(scipy_entropy(counts), abs=1e-13)


@given(seeds)
def test_squared_loss_is_half_of_pearsons_statistic_over_rows(seed: int) -> None:
    table = random_counts(seed, 4, 3) + 1  # scipy wants no empty margin
    chi2 = chi2_contingency(table, correction=False).statistic
    assert squared_loss_information(table) == pytest.approx(chi2 / (2 * table.sum()), rel=1e-12, abs=1e-15)


def test_squared_loss_passes_over_empty_levels() -> None:
    table = np.array([[5, 0, 0], [0, 5, 0]])
    assert squared_loss_information(table) == 0.5


def test_all_features_at_once_against_one_by_one() -> None:
    rng = np.random.default_rng(6)
    levels, rows = (2, 5, 3), 400
    layout = Layout(levels)
    y, z = rng.integers(0, 2, rows), rng.integers(0, 4, rows)
    X = np.array([(y * rng.integers(0, 2, rows) + z) % top for top in levels])
    counts = np.zeros((2, 4, layout.total), np.int64)
    np.add.at(counts, (y, z, X + layout.offsets[:-1, None]), 1)
    given_one, _ = class_given_feature(counts, layout)
    alone, _ = class_of_features(counts.sum(axis=1), layout)
    between, _ = between_features(counts.sum(axis=0), layout)
    for i, x in enumerate(X):
        weighted = sum((z == v).mean() * mutual_info_score(x[z == v], y[z == v]) for v in range(4))
        assert given_one[i] == pytest.approx(weighted, rel=1e-12)
        assert alone[i] == pytest.approx(mutual_info_score(x, y), rel=1e-12)
        assert between[i] == pytest.approx(mutual_info_score(x, z), rel=1e-12)


@given(seeds)
def test_a_feature_has_the_same_bits_wherever_it_stands(seed: int) -> None:
    rng = np.random.default_rng(seed)
    levels = rng.integers(1, 7, 6)
    layout = Layout(tuple(levels.tolist()))
    codes = np.array([rng.integers(0, top, 90) for top in levels])
    y, z = rng.integers(0, 2, 90), rng.integers(0, 3, 90)
    counts = np.zeros((2, 3, layout.total), np.int64)
    np.add.at(counts, (y, z, codes + layout.offsets[:-1, None]), 1)
    order = rng.permutation(6)
    where = np.concatenate([np.arange(layout.total)[layout.span(i)] for i in order])
    moved = class_given_feature(counts[:, :, where], Layout(tuple(levels[order].tolist())))
    for before, after in zip(class_given_feature(counts, layout), moved, strict=True):
        assert after.tolist() == before[order].tolist()


def test_no_rows_no_information() -> None:
    layout = Layout((2, 3))
    value, error = class_of_features(np.zeros((2, 5), np.int64), layout)
    assert value.tolist() == error.tolist() == [0.0, 0.0]


@pytest.mark.parametrize(
    "shares",
    [
        [[0.4, 0.1], [0.1, 0.4]],
        [[0.30, 0.25, 0.15], [0.02, 0.08, 0.20]],
        [[0.9, 0.02], [0.03, 0.05]],
    ],
)
def test_standard_errors_against_simulation(shares: list[list[float]]) -> None:
    """The delta method is right to first order, so 8 % over 3,000 draws of 2,000 rows is as much as to ask."""
    rng = np.random.default_rng(9)
    table = np.array(shares)
    draws = rng.multinomial(2_000, table.ravel(), 3_000).reshape(-1, *table.shape)
    layout = Layout((table.shape[1],))
    estimates = np.array([class_of_features(draw, layout) for draw in draws])[:, :, 0]
    assert estimates[:, 1].mean() == pytest.approx(estimates[:, 0].std(), rel=0.08)


def test_standard_error_of_a_conditional_information_against_the_bootstrap() -> None:
    rng = np.random.default_rng(10)
    z = rng.integers(0, 3, 1_500)
    y = (rng.random(1_500) < 0.2 + 0.2 * z).astype(int)
    x = np.where(rng.random(1_500) < 0.4, y + z % 2, rng.integers(0, 3, 1_500))
    layout = Layout((3,))

    def estimate(rows: np.ndarray) -> tuple[float, float]:
        counts = np.zeros((2, 3, 3), np.int64)
        np.add.at(counts, (y[rows], z[rows], x[rows]), 1)
        value, error = class_given_feature(counts, layout)
        return value[0], error[0]

    draws = np.array([estimate(rng.integers(0, 1_500, 1_500))[0] for _ in range(800)])
    assert estimate(np.arange(1_500))[1] == pytest.approx(draws.std(), rel=0.15)
