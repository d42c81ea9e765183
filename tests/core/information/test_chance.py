"""What chance gives: against full enumeration, against dealt labels, and against resampling."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from spark_pufs.core.information.chance import (
    CAUTION,
    chance_of_class,
    class_beyond_chance,
    features_beyond_chance,
    two_level_deviation,
)
from spark_pufs.core.information.mutual_information import class_given_feature, mutual_information
from spark_pufs.types import Layout


def table(sizes: np.ndarray, positives: np.ndarray) -> np.ndarray:
    """Counts (2, 1, L) of levels with these rows and these positives among them."""
    return np.stack([sizes - positives, positives])[:, None]


def dealt(sizes: np.ndarray, n: int, draws: int, rng: np.random.Generator) -> tuple[np.ndarray, Layout]:
    """Counts (2, 1, draws * L): a feature per draw of ``n`` labels over the levels."""
    positives = rng.multivariate_hypergeometric(sizes, n, draws)
    return table(np.tile(sizes, draws), positives.ravel()), Layout((len(sizes),) * draws)


def test_the_mean_and_deviation_are_exact_by_enumeration() -> None:
    """All ways to deal 3 labels to 8 rows of levels 4, 3, 1."""
    x, sizes = np.array([0, 0, 0, 0, 1, 1, 1, 2]), np.array([4, 3, 1])
    values = []
    for rows in itertools.combinations(range(8), 3):
        a = np.bincount(x[list(rows)], minlength=3)
        values.append(mutual_information(np.stack([sizes - a, a])))
    chance = chance_of_class(table(sizes, np.array([2, 1, 0])), Layout((3,)))
    assert chance.mean[0] == pytest.approx(np.mean(values), rel=1e-12)
    assert chance.deviation[0] == pytest.approx(np.std(values), rel=0.15)  # covariances to second order, tiny counts


SIZES = {
    "two": [750, 750],
    "rare": [1450, 50],
    "five": [300] * 5,
    "thirty": [50] * 30,
    "pooled": [20] * 32 + [860],
    "mostly zero": [1425, 19, 19, 19, 18],
}


@pytest.mark.parametrize("n", [10, 40, 300, 1_200])
@pytest.mark.parametrize("name", SIZES)
def test_against_dealt_labels(name: str, n: int) -> None:
    """4,000 draws: a mean is known to about 2 %, a deviation to about 3 %; the deviation is an approximation to 8 %."""
    sizes = np.array(SIZES[name])
    counts, layout = dealt(sizes, n, 4_000, np.random.default_rng(n))
    values, _ = class_given_feature(counts, layout)
    chance = chance_of_class(counts[:, :, : len(sizes)], Layout((len(sizes),)))
    assert chance.mean[0] == pytest.approx(values.mean(), rel=0.06)
    assert chance.deviation[0] == pytest.approx(values.std(), rel=0.11)


@pytest.mark.parametrize("n", [40, 300])
def test_noise_is_on_one_scale_whatever_its_levels(n: int) -> None:
    """A column is as often above another of noise as below, and one in 44 is above the border of chance."""
    rng = np.random.default_rng(7)
    scores = {name: class_beyond_chance(*dealt(np.array(sizes), n, 2_000, rng))[0] for name, sizes in SIZES.items()}
    for own in scores.values():
        above = (own[:, None] > scores["five"]).mean() + (own[:, None] == scores["five"]).mean() / 2
        assert above == pytest.approx(0.5, abs=0.05)
        assert (own > 0).mean() < 0.06


def test_strata_add_up() -> None:
    rng = np.random.default_rng(3)
    layout = Layout((4,))
    counts = rng.integers(1, 40, (2, 3, 4))
    parts = [chance_of_class(counts[:, [z]], layout) for z in range(3)]
    rows = counts.sum(axis=(0, 2))
    both = chance_of_class(counts, layout)
    mean = sum(part.mean * size for part, size in zip(parts, rows, strict=True)) / rows.sum()
    square = sum((part.deviation * size) ** 2 for part, size in zip(parts, rows, strict=True)) / rows.sum() ** 2
    assert both.mean == pytest.approx(mean, rel=1e-12)
    assert both.deviation == pytest.approx(np.sqrt(square), rel=1e-12)


def test_series_and_sum_meet(monkeypatch: pytest.MonkeyPatch) -> None:
    counts = table(np.array([400, 300, 300]), np.array([60, 45, 45]))
    by_series = chance_of_class(counts, Layout((3,)))
    monkeypatch.setattr("spark_pufs.core.information.chance.MANY", 1e9)
    by_sum = chance_of_class(counts, Layout((3,)))
    assert by_series.mean == pytest.approx(by_sum.mean, rel=2e-3)
    assert by_series.deviation == pytest.approx(by_sum.deviation, rel=2e-2)


def test_either_class_may_be_the_rare_one() -> None:
    counts = table(np.array([40, 30, 30]), np.array([6, 2, 1]))
    for one, other in zip(
        class_beyond_chance(counts, Layout((3,))), class_beyond_chance(counts[::-1], Layout((3,))), strict=True
    ):
        assert one == pytest.approx(other, rel=1e-12)


def test_nothing_to_tell() -> None:
    """No row, one class alone, one level alone: chance gives 0 always, and the score is at the foot of the scale."""
    for counts in (
        np.zeros((2, 1, 2), int),
        table(np.array([5, 5]), np.array([0, 0])),
        table(np.array([9, 0]), np.array([3, 0])),
    ):
        chance = chance_of_class(counts, Layout((2,)))
        assert (chance.mean, chance.deviation) == (0.0, 0.0)
        score, error = class_beyond_chance(counts, Layout((2,)))
        assert score[0] < 0
        assert np.isfinite(error).all()


@pytest.mark.parametrize("share", [0.05, 0.3, 1.0])
def test_soft_labels_vary_less(share: float) -> None:
    """Posteriors of variance ``share`` q (1 - q), dealt to rows of 2 to 30 levels; 1,500 deals, 8 %."""
    rng = np.random.default_rng(11)
    q, spread = 0.2, 1 / share - 1
    w = rng.beta(q * spread, (1 - q) * spread, 1_200) if spread else (rng.random(1_200) < q).astype(float)
    own = w.var() / (w.mean() * (1 - w.mean()))
    for levels in (2, 5, 30):
        x = np.repeat(np.arange(levels), 1_200 // levels)
        sums = np.stack([np.bincount(x, rng.permutation(w), levels) for _ in range(1_500)])
        sizes = np.bincount(x).astype(float)
        counts, layout = table(np.tile(sizes, 1_500), sums.ravel()), Layout((levels,) * 1_500)
        values, _ = class_given_feature(counts, layout)
        chance = chance_of_class(counts[:, :, :levels], Layout((levels,)), variance_share=own)
        assert chance.mean[0] == pytest.approx(own * (levels - 1) / 2_400, rel=0.06)
        assert chance.mean[0] == pytest.approx(values.mean(), rel=0.08)
        assert chance.deviation[0] == pytest.approx(values.std(), rel=0.12)


INFORMATIVE = {
    "two": [[900, 500], [20, 60]],
    "five": [[300, 290, 280, 270, 250], [2, 6, 10, 17, 30]],
    "given": [[[300, 290], [310, 220]], [[5, 25], [3, 30]]],
}


@pytest.mark.parametrize("name", INFORMATIVE)
def test_standard_errors_against_the_bootstrap(name: str) -> None:
    """Where something is told the error is that of resampled rows, to 12 % over 2,000 draws."""
    rng = np.random.default_rng(12)
    counts = np.array(INFORMATIVE[name])
    counts = counts if counts.ndim == 3 else counts[:, None]
    layout = Layout((counts.shape[2],))
    draws = rng.multinomial(counts.sum(), counts.ravel() / counts.sum(), 2_000).reshape(-1, *counts.shape)
    again = np.array([class_beyond_chance(draw, layout)[0][0] for draw in draws])
    assert class_beyond_chance(counts, layout)[1][0] == pytest.approx(again.std(), rel=0.12)


@pytest.mark.parametrize("levels", [2, 5, 30])
def test_standard_errors_of_noise(levels: int) -> None:
    """Fresh rows of independent columns: the error is the spread of the score, to 25 %."""
    rng = np.random.default_rng(13)
    share = np.outer([0.95, 0.05], np.full(levels, 1 / levels))
    draws = rng.multinomial(3_000, share.ravel(), 1_500).reshape(-1, 2, levels)
    counts = draws.transpose(1, 0, 2).reshape(2, 1, -1)
    positives = draws[:, 1].sum(axis=1) == 150  # a layout has one number of positives
    counts = draws[positives].transpose(1, 0, 2).reshape(2, 1, -1)
    score, error = class_beyond_chance(counts, Layout((levels,) * int(positives.sum())))
    assert np.median(error) == pytest.approx(score.std(), rel=0.35)


def test_split_at_random_a_level_gains_nothing() -> None:
    """One level of an informative column cut in ten: the mean over 300 cuts falls, where plug-in information rises."""
    rng = np.random.default_rng(14)
    sizes, positives = np.array([500, 500, 500]), np.array([5, 15, 40])
    whole, plain = (
        class_beyond_chance(table(sizes, positives), Layout((3,))),
        class_given_feature(table(sizes, positives), Layout((3,))),
    )
    cut, cut_plain = [], []
    for _ in range(300):
        parts = rng.multinomial(500, np.full(10, 0.1))
        own = rng.multivariate_hypergeometric(parts, 40)
        counts = table(np.concatenate([sizes[:2], parts]), np.concatenate([positives[:2], own]))
        cut.append(class_beyond_chance(counts, Layout((12,)))[0][0])
        cut_plain.append(class_given_feature(counts, Layout((12,)))[0][0])
    assert np.mean(cut) < whole[0][0]
    assert np.mean(cut_plain) > plain[0][0]


def test_between_features_by_hand() -> None:
    """2 x 3 levels, 600 rows, one level of the second never seen: (2 - 1)(2 - 1) / 1200 is taken off."""
    counts = np.array([[100, 200, 0], [200, 100, 0]])
    value, _ = features_beyond_chance(counts, Layout((3,)))
    assert value[0] == pytest.approx(mutual_information(counts) - 1 / 1_200, rel=1e-12)


def test_the_border_by_hand() -> None:
    """Two levels of many rows: 2 N I is chi-square of one degree of freedom, whose 97.72 % point is 5.187."""
    rows = 200_000
    chance = chance_of_class(table(np.array([100_000, 100_000]), np.array([50_000, 50_000])), Layout((2,)))
    assert CAUTION == 2.0
    assert 2 * rows * chance.border()[0] == pytest.approx(5.187, abs=0.01)
    assert chance.deviation[0] == pytest.approx(two_level_deviation(rows), rel=1e-4)
    assert chance.deviates(chance.border()) == pytest.approx([2.0])
