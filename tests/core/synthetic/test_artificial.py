"""The artificial data are what section 5.2.1 of the FSCPU paper says."""

from __future__ import annotations

import numpy as np
import pytest

from spark_pufs.core.synthetic.artificial import CONDITIONS, Condition, make_artificial

IDS = [f"{c.label_rate:.0%}-{c.negative_clusters}n-{c.positive_clusters}p" for c in CONDITIONS]


def test_the_ten_conditions_in_the_order_of_the_table() -> None:
    assert len(set(CONDITIONS)) == 10
    assert [c.label_rate for c in CONDITIONS] == [0.4] * 4 + [0.1] * 4 + [0.4, 0.1]
    clusters = [(c.negative_clusters, c.positive_clusters) for c in CONDITIONS]
    assert clusters == [(8, 1), (8, 2), (1, 1), (1, 2)] * 2 + [(0, 0)] * 2


@pytest.mark.parametrize("condition", CONDITIONS, ids=IDS)
def test_shape_scale_and_labels(condition: Condition) -> None:
    data = make_artificial(condition, seed=3)
    assert data.X.shape == (4500, 50)
    assert data.X.min(axis=0).tolist() == [0.0] * 50
    assert data.X.max(axis=0).tolist() == [1.0] * 50
    assert data.relevant.sum() == 25
    assert data.y.sum() == 500
    assert data.s.sum() == 500 * condition.label_rate
    assert (data.y[data.s == 1] == 1).all()
    assert data.names[0] == "relevant_01"
    assert data.names[-1] == "noise_25"


@pytest.mark.parametrize("condition", CONDITIONS[:9:4], ids=IDS[:9:4])
def test_five_noise_columns_follow_another_and_none_follows_the_class(condition: Condition) -> None:
    """A uniform(-10, 10) column and its copy + N(0, 1) correlate at sqrt(33.3 / 34.3) = 0.985."""
    data = make_artificial(condition, seed=4)
    noise = data.X[:, ~data.relevant]
    correlation = np.abs(np.corrcoef(noise[:, :20], noise[:, 20:], rowvar=False)[:20, 20:])
    assert correlation.max(axis=0) == pytest.approx(np.full(5, 0.985), abs=0.005)
    assert len(set(correlation.argmax(axis=0))) == 5
    assert np.sort(correlation, axis=0)[:-1].max() < 0.1
    difference = noise[data.y == 1].mean(axis=0) - noise[data.y == 0].mean(axis=0)
    # about 4 standard errors: 0.29 / sqrt(500)
    assert np.abs(difference).max() < 0.055


def test_clusters_have_one_variance_and_means_of_their_own() -> None:
    """One normal each: equal spread in both classes; eight normals: uniform(-5, 5) means add 8.3 to the 10."""
    one, eight = make_artificial(Condition(0.4, 1, 1), seed=5), make_artificial(Condition(0.4, 8, 1), seed=5)
    ratios = []
    for data in (one, eight):
        X = data.X[:, data.relevant]
        ratios.append(X[data.y == 0].var(axis=0) / X[data.y == 1].var(axis=0))
    assert ratios[0] == pytest.approx(np.ones(25), abs=0.3)  # sd of a ratio: 0.067
    assert ratios[1].mean() == pytest.approx(1 + 100 / 12 / 10 * 7 / 8, abs=0.15)


def test_means_lie_as_far_apart_as_their_variance_says() -> None:
    """Two uniform(-5, 5) means differ by 2 x 100 / 12 in the mean square, against 10 within; rows add 2 / 200."""
    squares = []
    for seed in range(100):
        data = make_artificial(Condition(0.4, 1, 1), seed, negatives=200, positives=200)
        a, b = (data.X[data.y == y][:, data.relevant] for y in (0, 1))
        squares.append((a.mean(axis=0) - b.mean(axis=0)) ** 2 / ((a.var(axis=0) + b.var(axis=0)) / 2))
    assert np.mean(squares) == pytest.approx(200 / 12 / 10 + 2 / 200, abs=0.09)  # 2 standard errors


@pytest.mark.parametrize("rate", [0.4, 0.1])
def test_without_clusters_the_positives_are_the_outermost(rate: float) -> None:
    """Relevant columns are N(0, 25) before scaling, so undo it by their own centre and spread."""
    data = make_artificial(Condition(rate, 0, 0), seed=6)
    X = data.X[:, data.relevant]
    norm = (((X - X.mean(axis=0)) / X.std(axis=0)) ** 2).sum(axis=1)
    outermost = set(np.argsort(-norm)[:500])
    # the sample's own mean and spread move a few rows across the border
    assert len(outermost & set(np.flatnonzero(data.y))) >= 480


def test_same_seed_same_data_other_seed_other_data() -> None:
    first, again, other = (make_artificial(CONDITIONS[1], seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first.X, again.X)
    np.testing.assert_array_equal(first.s, again.s)
    assert (first.X != other.X).any()


def test_rows_are_shuffled() -> None:
    data = make_artificial(CONDITIONS[0], seed=7)
    assert 150 < data.y[:2250].sum() < 350  # half of 500, sd 11
