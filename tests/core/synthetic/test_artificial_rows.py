"""Artificial rows drawn one by one have the distributions of section 5.2.1 of the FSCPU paper."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import kstest

from spark_pufs.core.synthetic.artificial import CONDITIONS, Condition
from spark_pufs.core.synthetic.artificial_rows import ArtificialRows
from spark_pufs.errors import ConfigError


def drawn(table: ArtificialRows, blocks: int = 20) -> tuple[np.ndarray, np.ndarray]:
    parts = [table.block(number) for number in range(blocks)]
    return np.vstack([X for X, _ in parts]), np.concatenate([positive for _, positive in parts])


@pytest.mark.parametrize("condition", CONDITIONS)
def test_the_share_of_positives(condition: Condition) -> None:
    X, positive = drawn(ArtificialRows(condition, seed=2))
    assert X.shape == (20 * 1024, 50)
    assert positive.mean() == pytest.approx(1 / 9, abs=0.009)  # 4 standard errors


def test_clusters_are_normal_around_their_centres() -> None:
    table = ArtificialRows(Condition(0.4, 1, 1), seed=3)
    X, positive = drawn(table)
    for rows, centre in ((X[~positive], table.centres[0]), (X[positive], table.centres[1])):
        standard = (rows[:, :25] - centre) / np.sqrt(10)
        assert kstest(standard.ravel()[::7], "norm").pvalue > 0.001
    assert np.abs(table.centres).max() <= 5


def test_every_cluster_is_used_alike() -> None:
    table = ArtificialRows(Condition(0.4, 8, 2), seed=4)
    X, positive = drawn(table)
    nearest = ((X[:, None, :25] - table.centres) ** 2).sum(axis=2).argmin(axis=1)
    negatives = np.bincount(nearest[~positive], minlength=10)[:8] / (~positive).sum()
    assert negatives == pytest.approx(np.full(8, 1 / 8), abs=0.015)
    assert np.bincount(nearest[positive], minlength=10)[8:] / positive.sum() == pytest.approx([0.5, 0.5], abs=0.05)


def test_without_clusters_the_positives_are_the_outermost() -> None:
    X, positive = drawn(ArtificialRows(Condition(0.1, 0, 0), seed=5))
    norm = (X[:, :25] ** 2).sum(axis=1)
    assert norm[positive].min() > norm[~positive].max()
    assert kstest(X[:, 0] / 5, "norm").pvalue > 0.001
    assert X[:, :25].var() == pytest.approx(25, abs=0.2)  # 4 standard errors


def test_noise_is_uniform_and_a_fifth_of_it_follows_another_column() -> None:
    table = ArtificialRows(Condition(0.4, 8, 1), seed=6, relevant=3, noise=10)
    X, positive = drawn(table)
    assert table.names == ["relevant_01", "relevant_02", "relevant_03", *(f"noise_{i:02d}" for i in range(1, 11))]
    noise = X[:, 3:]
    assert kstest(noise[:, 0], "uniform", args=(-10, 20)).pvalue > 0.001
    assert len(set(table.copied)) == 2
    assert (noise[:, 8:] - noise[:, table.copied]).std(axis=0) == pytest.approx([1, 1], abs=0.03)
    gap = noise[positive].mean(axis=0) - noise[~positive].mean(axis=0)
    assert np.abs(gap).max() < 0.6  # 4 standard errors: 5.8 / sqrt(2,275)


@pytest.mark.parametrize("given", [{"relevant": 0}, {"relevant": 10**19}, {"noise": -1}, {"noise": 100_001}])
def test_a_width_that_cannot_be_made(given: dict[str, int]) -> None:
    with pytest.raises(ConfigError, match=r"must be from \d to 100,000, got"):
        ArtificialRows(CONDITIONS[0], **given)


def test_any_width() -> None:
    table = ArtificialRows(CONDITIONS[8], relevant=1, noise=0)
    assert table.block(0)[0].shape == (1024, 1)
    wide = ArtificialRows(CONDITIONS[0], relevant=120, noise=3)
    assert wide.names[0] == "relevant_001"
    assert wide.names[-1] == "noise_003"


def test_seeds_and_blocks() -> None:
    first, again, other = (ArtificialRows(CONDITIONS[0], seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first.block(5)[0], again.block(5)[0])
    assert (first.block(5)[0] != other.block(5)[0]).all()
    assert (first.block(5)[0] != first.block(6)[0]).all()


def test_sizes_that_cannot_be_are_one_error() -> None:
    with pytest.raises(ConfigError) as error:
        ArtificialRows(CONDITIONS[0], relevant=0, noise=-1, positives=1.0)
    assert len(error.value.faults) == 3
    assert "Option 'positives': must be between 0 and 1, got 1.0" in str(error.value)
