from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy.stats import multivariate_normal
from sklearn.metrics import adjusted_rand_score

from spark_pufs.core.clusters.dense_em import Dense, dense_log_density
from spark_pufs.core.clusters.diagonal_em import (
    Columns,
    Components,
    draw_rows,
    draws_of,
    log_density,
    spread_rows,
)
from spark_pufs.core.clusters.mixture import (
    CHUNK,
    COVARIANCES,
    STARTS,
    Judge,
    Mixture,
    MixtureSample,
    MixtureSettings,
    _free_parameters,
    assign,
    choose_components,
    chunks,
    concentration,
    fit_mask,
    likelihood,
    log_likelihood,
    make_sample,
    score_chunk,
)
from spark_pufs.core.clusters.mixture_sample import FAR, SCALES, Frame


def two_clouds(rows: int = 400, noise: int = 2) -> tuple[np.ndarray, np.ndarray]:
    """Two far clouds in the first two columns, noise in the others; X and the cloud of each row."""
    rng = np.random.default_rng(5)
    cloud = np.arange(rows) % 4 == 0
    X = rng.normal(size=(rows, 2 + noise))
    X[:, :2] += 8 * cloud[:, None]
    return X, cloud


def everything(X: np.ndarray) -> np.ndarray:
    return np.ones(X.shape[1], np.bool_)


def test_log_density_is_the_gaussian_one() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(7, 3)).astype(np.float32)
    mean, variance = rng.normal(size=(1, 2, 3)), rng.uniform(0.5, 2, (1, 2, 3))
    log_weight = np.log([[0.3, 0.7]])
    used = np.array([[1, 0, 1]], np.float32)
    parts = Components(*(np.asarray(a, np.float32) for a in (log_weight, mean, variance)))
    got = log_density(table(X), used, parts)[0]
    cols = [0, 2]
    for k in range(2):
        quadratic = ((X[:, cols] - mean[0, k, cols]) ** 2 / variance[0, k, cols] + np.log(variance[0, k, cols])).sum(1)
        assert got[k] == pytest.approx(log_weight[0, k] - 0.5 * quadratic, abs=1e-4)


def test_masks_of_different_sizes_are_filled_up_with_columns_that_do_not_count() -> None:
    X, cloud = two_clouds(300, noise=6)
    sample, settings = make_sample(X, cloud), MixtureSettings()
    masks = np.array([[1, 0, 0, 0, 0, 0, 0, 0], [1, 1, 1, 1, 0, 1, 0, 0], [0, 0, 0, 0, 0, 0, 0, 0]], np.bool_)
    together = score_chunk(sample, masks, settings, 3)
    for number, mask in enumerate(masks):
        alone = score_chunk(sample, mask[None], settings, 3)
        assert [part[number].tolist() for part in together] == [part[0].tolist() for part in alone]


def test_dense_log_density_is_the_gaussian_one() -> None:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(6, 3)).astype(np.float32)
    root = rng.normal(size=(2, 3, 3))
    covariance = root @ root.swapaxes(1, 2) + np.eye(3)
    mixture = Dense(np.array([0.4, 0.6]), rng.normal(size=(2, 3)), covariance)
    got = dense_log_density(X, mixture)
    for k in range(2):
        gap = X - mixture.mean[k]
        quadratic = np.einsum("ni,ij,nj->n", gap, np.linalg.inv(covariance[k]), gap)
        expected = np.log(mixture.weight[k]) - 0.5 * (quadratic + np.linalg.slogdet(covariance[k])[1])
        assert got[k] == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize("covariance", COVARIANCES)
def test_finds_two_far_clouds(covariance: str) -> None:
    X, cloud = two_clouds()
    settings = MixtureSettings(components=2, covariance=covariance)
    sample = make_sample(X, cloud)
    fitted = fit_mask(sample, np.array([1, 1, 0, 0], np.bool_), settings, seed=3)
    assert adjusted_rand_score(cloud, assign(fitted, X)) > 0.99
    labelled, rows = score_chunk(sample, np.array([[1, 1, 0, 0]], np.bool_), settings, seed=3)
    assert sorted(rows[0]) == [100, 300]
    assert labelled[0].max() == 100


@pytest.mark.parametrize("covariance", COVARIANCES)
def test_counts_add_up_to_the_weights(covariance: str) -> None:
    X, cloud = two_clouds(120)
    weight = np.where(cloud, 1.0, 7.0)
    sample = make_sample(X, cloud, weight)
    masks = np.random.default_rng(0).random((5, 4)) < 0.5
    labelled, rows = score_chunk(sample, masks, MixtureSettings(covariance=covariance, components=4), seed=[1, 2])
    assert rows.sum(axis=1) == pytest.approx(np.full(5, weight.sum()))
    assert labelled.sum(axis=1) == pytest.approx(np.full(5, sample.total_labelled))
    assert (labelled <= rows).all()


def awkward() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(0)
    heavy = rng.standard_cauchy((60, 3)) * 1e6
    return {
        "constant": np.full((30, 3), 0.1),
        "duplicates": np.repeat(rng.normal(size=(3, 3)), 20, axis=0),
        "one row": np.ones((1, 3)),
        "three rows": rng.normal(size=(3, 3)),
        "heavy tails": heavy,
        "one far row": np.vstack([np.zeros((50, 3)), [[1e9, 0, 1]]]),
        "large offset": 1e6 + rng.normal(size=(50, 3)),
        "copies of a column": np.repeat(rng.normal(size=(50, 1)), 3, axis=1),
    }


@pytest.mark.parametrize("covariance", COVARIANCES)
@pytest.mark.parametrize("kind", list(awkward()))
def test_awkward_data_never_gives_nan(kind: str, covariance: str) -> None:
    X = awkward()[kind]
    sample = make_sample(X, np.arange(len(X)) % 3 == 0)
    masks = np.array([[1, 1, 1], [1, 0, 0], [0, 0, 0]], np.bool_)
    settings = MixtureSettings(covariance=covariance)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        labelled, rows = score_chunk(sample, masks, settings, seed=0)
        fitted = fit_mask(sample, everything(X), settings, seed=0, starts=1)
    assert rows.sum(axis=1).tolist() == [len(X)] * 3
    assert np.isfinite(labelled).all()
    assert np.isfinite(fitted.mean).all()
    assert np.isfinite(log_likelihood(fitted, sample.X)).all()


def test_a_chunk_has_the_same_bits_alone_and_in_company() -> None:
    """A chunk may be computed anywhere, in any order."""
    X, cloud = two_clouds(300, noise=10)
    sample = make_sample(X, cloud)
    masks = np.random.default_rng(1).random((2 * CHUNK + 3, 12)) < 0.5
    masks[:, 0] = True
    whole = [score_chunk(sample, c, MixtureSettings(), 7) for c in chunks(masks)]
    backwards = [score_chunk(sample, c, MixtureSettings(), 7) for c in reversed(list(chunks(masks)))]
    for (a, b), (c, d) in zip(whole, reversed(backwards), strict=True):
        assert a.tobytes() == c.tobytes()
        assert b.tobytes() == d.tobytes()


def test_equal_masks_of_a_chunk_get_equal_counts() -> None:
    X, cloud = two_clouds(300, noise=6)
    masks = np.repeat(np.array([[1, 1, 0, 1, 0, 0, 1, 0]], np.bool_), 5, axis=0)
    _, rows = score_chunk(make_sample(X, cloud), masks, MixtureSettings(), 7)
    assert (rows == rows[0]).all()


def test_unused_columns_do_not_matter() -> None:
    """A mask's clusters do not depend on the columns it leaves out."""
    X, cloud = two_clouds(300, noise=6)
    other = X.copy()
    other[:, 4:] = np.random.default_rng(9).uniform(size=(300, 4)) * 100
    mask = np.array([[1, 1, 1, 0, 0, 0, 0, 0]], np.bool_)
    one, two = (score_chunk(make_sample(data, cloud), mask, MixtureSettings(), 1)[1] for data in (X, other))
    assert one.tolist() == two.tolist()


def test_units_of_the_table_do_not_matter() -> None:
    X, cloud = two_clouds(300)
    masks = np.array([[1, 1, 0, 1]], np.bool_)
    one = score_chunk(make_sample(X, cloud), masks, MixtureSettings(), 1)[1]
    two = score_chunk(make_sample(X * [1, 1000, 1e-3, 5] + 64, cloud), masks, MixtureSettings(), 1)[1]
    assert np.abs(one - two).sum() <= 6  # rows on the very edge may change sides


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("unit", [2.0**1019, 2.0**-1000])  # their ranges, their squares are no float64 any more
def test_columns_of_any_size_give_the_same_bits(scale: str, unit: float) -> None:
    X, cloud = two_clouds(300)
    X = np.clip(X, -15, 15)  # no row is farther out than 2**4
    other, plain = make_sample(X * unit, cloud, scale=scale), make_sample(X, cloud, scale=scale)
    assert other.Z.tobytes() == plain.Z.tobytes()
    assert other.frame.apply(X * unit).tobytes() == plain.X.tobytes()


def test_a_row_beyond_all_others_is_far_away_and_finite() -> None:
    frame = make_sample([[-1.0], [1.0]], [1, 0]).frame
    assert frame.apply(np.array([[1.7e308], [-1.7e308], [0.5]])).tolist() == [
        [np.float32(FAR)],
        [-np.float32(FAR)],
        [0.5],
    ]


def test_weights_stand_for_repeated_rows() -> None:
    sample = make_sample([[0.0], [4.0]], [1, 0], [3, 1])
    repeated = make_sample([[0.0], [0.0], [0.0], [4.0]], [1, 1, 1, 0])
    assert sample.frame.center == repeated.frame.center
    assert sample.frame.scale == repeated.frame.scale


def test_only_heavy_tails_are_bent() -> None:
    rng = np.random.default_rng(3)
    X = np.stack([rng.normal(size=2000), rng.uniform(size=2000), rng.lognormal(sigma=2, size=2000)], axis=1)
    sample = make_sample(X, X[:, 0] > 1)
    assert sample.frame.bend.tolist() == [0, 0, 3]
    assert np.abs(sample.X[:, 2]).max() < 0.5 * np.abs(make_sample(X, X[:, 0] > 1, bend=0).X[:, 2]).max()
    assert (np.argsort(sample.X[:, 2], kind="stable") == np.argsort(X[:, 2], kind="stable")).mean() > 0.99


def test_batches_follow_the_weights() -> None:
    weight = np.array([1.0, 1.0, 2.0, 4.0])
    drawn = draw_rows(weight, steps=100, batch=4, rng=np.random.default_rng(0))
    assert drawn.shape == (100, 4)
    assert np.bincount(drawn.ravel()) == pytest.approx(400 * weight / 8, abs=1)


def test_equal_weights_give_batches_without_repetition() -> None:
    drawn = draw_rows(np.ones(100), steps=7, batch=40, rng=np.random.default_rng(0))
    assert all(len(set(batch)) == 40 for batch in drawn.tolist())


def test_the_last_word_is_the_fit_that_its_judge_puts_highest() -> None:
    X, cloud = two_clouds(noise=6)
    sample, settings = make_sample(X, cloud), MixtureSettings(components=3)
    single = [fit_mask(sample, everything(X), settings, [4], judge, starts=1) for judge in (likelihood, concentration)]
    assert np.array_equal(single[0].mean, single[1].mean)  # one start leaves no choice
    for judge in (likelihood, concentration):
        seen: list[Mixture] = []

        def recorded(own: MixtureSample, fit: Mixture, judge: Judge = judge, seen: list[Mixture] = seen) -> float:
            seen.append(fit)
            return judge(own, fit)

        chosen = fit_mask(sample, everything(X), settings, [4], recorded)
        assert len(seen) == STARTS
        assert judge(sample, chosen) == max(judge(sample, fit) for fit in seen)


def test_concentration_is_f_of_the_clusters() -> None:
    X, cloud = two_clouds()
    weight = np.where(cloud, 1.0, 3.0)
    sample = make_sample(X, cloud, weight)
    fitted = fit_mask(sample, everything(X), MixtureSettings(components=4), 1)
    cluster = assign(fitted, X)
    labelled, rows = (np.bincount(cluster[flag], weight[flag], 4) for flag in (cloud, np.ones(len(X), np.bool_)))
    subsets = [np.array([i >> k & 1 for k in range(4)], np.bool_) for i in range(1, 16)]
    best = max(labelled[s].sum() ** 2 / (cloud.sum() * rows[s].sum()) for s in subsets if rows[s].sum())
    assert concentration(sample, fitted) == pytest.approx(best)


def test_scaled_by_range_columns_keep_the_widths_they_have_in_0_to_1() -> None:
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.uniform(-5, 5, 1000), rng.normal(0, 7, 1000), np.full(1000, 3.0)])
    seen = make_sample(X, X[:, 0] > 4, scale="range").X
    unit = (X[:, :2] - X[:, :2].min(axis=0)) / np.ptp(X[:, :2], axis=0)
    assert np.ptp(seen[:, 0]) == pytest.approx(np.ptp(seen[:, 1]), rel=1e-5)
    assert seen[:, :2].std(axis=0) / unit.std(axis=0) == pytest.approx(np.full(2, np.ptp(seen[:, 0])), rel=1e-5)
    assert (seen.astype(np.float64).var(axis=0)).sum() == pytest.approx(3, rel=1e-5)
    assert (seen[:, 2] == 0).all()


def table(X: np.ndarray) -> np.ndarray:
    """[X, X*X] of one mask (1, 2d, n)."""
    return np.vstack([X.T, X.T**2])[None].astype(np.float32)


def test_starting_rows_reach_small_groups_beside_a_flood() -> None:
    """Three groups of 2 % beside 94 % alike: drawn by weight alone, ten rows would miss one nearly always."""
    group = np.repeat(np.arange(4), [1880, 40, 40, 40])
    X = np.zeros((2000, 5))
    X[:, :3] = 10 * (group[:, None] == np.array([1, 2, 3]))
    Z = np.hstack([table(X)[0].T, group[:, None]]).astype(np.float32)  # the group travels along, in no mask
    columns = Columns.of(np.array([[1, 1, 1, 0, 0], [1, 1, 0, 1, 1]], np.bool_))
    for seed in range(20):
        draws = draws_of(Z, np.ones(2000), MixtureSettings(), np.random.default_rng(seed))
        start = spread_rows(columns.take(draws.candidates), columns.used, draws.points)
        assert start.shape == (10, 2)
        assert set(draws.candidates[-1, start[:, 0]]) == {0, 1, 2, 3}
        assert {1, 2} < set(draws.candidates[-1, start[:, 1]])  # the third does not stand out on the second mask


def test_spread_rows_follow_squared_distance() -> None:
    """From 0, rows at 1 and 3 are next with odds 1 : 9; a copy of 0 never is."""
    X = np.array([[0.0], [0.0], [1.0], [3.0]])
    ones = np.ones((1, 1), np.float32)
    points = np.random.default_rng(0).random((4000, 2))
    drawn = np.array([spread_rows(table(X), ones, own)[:, 0] for own in points])
    second = drawn[drawn[:, 0] < 2, 1]
    assert set(second) == {2, 3}
    assert (second == 3).mean() == pytest.approx(0.9, abs=0.03)


def test_spread_rows_of_equal_rows() -> None:
    rows = spread_rows(np.zeros((2, 4, 3), np.float32), np.ones((2, 2), np.float32), np.linspace(0, 0.99, 5))
    assert ((rows >= 0) & (rows < 3)).all()


def test_bic_finds_the_number_of_clouds() -> None:
    rng = np.random.default_rng(2)
    X = rng.normal(size=(900, 2)) + 12 * rng.integers(0, 3, 900)[:, None]
    best, bic = choose_components(make_sample(X, X[:, 0] > 10), everything(X), MixtureSettings(), 1, (1, 2, 3, 6))
    assert best == 3
    assert bic.shape == (4,)


def test_faults_are_named() -> None:
    with pytest.raises(ValueError, match=r"columns \[1\]"):
        make_sample([[0.0, np.nan]], [1])
    with pytest.raises(ValueError, match="weight"):
        make_sample([[0.0], [1.0]], [1, 0], [1, 0])
    with pytest.raises(ValueError, match="do not fit"):
        make_sample([[0.0]], [1, 0])
    with pytest.raises(ValueError, match="covariance"):
        MixtureSettings(covariance="round")
    sample = make_sample([[0.0], [1.0]], [1, 0])
    with pytest.raises(ValueError, match="chunk"):
        score_chunk(sample, np.ones((CHUNK + 1, 1), np.bool_), MixtureSettings(), 0)
    assert isinstance(sample, MixtureSample)


def test_log_likelihood_is_that_of_the_mixture() -> None:
    frame = Frame(np.ones(2), np.zeros(2), np.ones(2), np.zeros(2), np.zeros(2), np.ones(2))
    weight, mean, variance = np.array([0.3, 0.7]), np.array([[0.0, 1], [2, -1]]), np.array([[1.0, 2], [0.5, 1]])
    X = np.random.default_rng(0).normal(size=(20, 2)).astype(np.float32)
    parts = [w * multivariate_normal(m, np.diag(v)).pdf(X) for w, m, v in zip(weight, mean, variance, strict=True)]
    found = log_likelihood(Mixture(np.arange(2), frame, weight, mean, variance), X)
    assert found == pytest.approx(np.log(np.sum(parts, axis=0)), abs=1e-5)


@pytest.mark.parametrize(("covariance", "spread"), [("full", 2 * 6), ("tied", 6), ("diag", 2 * 3), ("spherical", 2)])
def test_free_parameters_by_hand(covariance: str, spread: int) -> None:
    assert _free_parameters(2, 3, covariance) == 1 + 2 * 3 + spread
