from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

from spark_pufs.core.evidence.stability import GOOD, POOR, _verdict, kuncheva, nogueira, stability, wilson
from spark_pufs.errors import DataError


def equal_sets(runs: int, features: int, k: int, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return np.array([rng.permutation(features) < k for _ in range(runs)])


def test_worked_by_hand() -> None:
    # d = 4, sizes 2, p = (1, 2/3, 1/3, 0): mean p(1-p) = 1/9, unbiased 1/9 * 3/2 = 1/6, chance 1/4: 1 - 2/3.
    # Pairs: {1,2} and {1,2} agree fully (1); {1,2} and {1,3} share one of an expected one (0), twice: mean 1/3.
    masks = [[1, 1, 0, 0], [1, 1, 0, 0], [1, 0, 1, 0]]
    assert nogueira(masks)[0] == pytest.approx(1 / 3)
    assert kuncheva(masks) == pytest.approx(1 / 3)


def test_error_by_the_published_formula_written_out() -> None:
    Z = np.random.default_rng(5).random((7, 9)) < 0.4
    M, d = Z.shape
    p, k = Z.mean(axis=0), Z.sum(axis=1)
    kbar = k.mean()
    phi = 1 - (M / (M - 1) * (p * (1 - p))).mean() / (kbar / d * (1 - kbar / d))
    each = []
    for i in range(M):
        bracket = sum(Z[i, f] * p[f] for f in range(d)) / d - k[i] * kbar / d**2
        bracket += phi / 2 * (2 * k[i] * kbar / d**2 - k[i] / d - kbar / d + 1)
        each.append(bracket / (kbar / d * (1 - kbar / d)))
    variance = 4 / M**2 * sum((x - np.mean(each)) ** 2 for x in each)
    assert nogueira(Z) == pytest.approx((phi, np.sqrt(variance)))


@given(st.integers(2, 8), st.integers(2, 12), st.integers(0, 10**6))
def test_equal_sizes_give_kunchevas_index(runs: int, features: int, seed: int) -> None:
    Z = equal_sets(runs, features, 1 + seed % (features - 1), seed)
    assert nogueira(Z)[0] == pytest.approx(kuncheva(Z), abs=1e-9)


@given(st.integers(2, 6), st.integers(2, 9), st.integers(0, 10**6))
def test_kuncheva_is_the_mean_over_pairs_of_sets(runs: int, features: int, seed: int) -> None:
    k = 1 + seed % (features - 1)
    sets = [set(np.flatnonzero(row).tolist()) for row in equal_sets(runs, features, k, seed)]
    pairs = [(len(a & b) * features - k * k) / (k * (features - k)) for a, b in combinations(sets, 2)]
    assert kuncheva(equal_sets(runs, features, k, seed)) == pytest.approx(np.mean(pairs))


@pytest.mark.parametrize("runs", [2, 10])
def test_identical_sets_are_perfectly_stable(runs: int) -> None:
    found = stability([[1, 0, 1, 0, 0]] * runs)
    assert (found.index, found.error, found.low, found.high, found.kuncheva) == pytest.approx((1, 0, 1, 1, 1))
    assert not found.depends_on_draw
    assert "most draws" in str(found)


def test_random_sets_are_about_zero() -> None:
    values = [nogueira(np.random.default_rng(seed).random((20, 60)) < 0.3)[0] for seed in range(100)]
    assert abs(np.mean(values)) < 4 * np.std(values) / 10
    assert stability(np.random.default_rng(1).random((20, 60)) < 0.3).depends_on_draw


def test_two_opposite_sets_reach_the_minimum() -> None:
    # -1 / (runs - 1), the lower end of the index
    assert nogueira([[1, 1, 0, 0], [0, 0, 1, 1]])[0] == pytest.approx(-1)


def test_the_interval_covers_the_index_of_many_runs() -> None:
    # Each run draws features on their own: the index in the limit of many runs has a closed form.
    p = np.array([0.95] * 5 + [0.5] * 5 + [0.05] * 30)
    share = p.mean()
    limit = 1 - (p * (1 - p)).mean() / (share * (1 - share))
    rng = np.random.default_rng(11)
    found = [stability(rng.random((60, len(p))) < p) for _ in range(400)]
    covered = np.mean([f.low <= limit <= f.high for f in found])
    assert 0.90 < covered <= 0.98
    assert np.std([f.index for f in found]) == pytest.approx(np.mean([f.error for f in found]), rel=0.15)


def test_frequencies_and_their_intervals() -> None:
    found = stability([[1, 0, 1]] * 9 + [[0, 0, 1]])
    assert found.frequency.tolist() == [0.9, 0.0, 1.0]
    assert found.frequency_low.round(3).tolist() == [0.596, 0.0, 0.722]  # Wilson, published for 9 of 10
    assert found.frequency_high.round(3).tolist() == [0.982, 0.278, 1.0]
    assert found.kuncheva is None


def test_wilson_solves_its_defining_equation() -> None:
    low, high = wilson(0.3, 40, 0.9)
    z = norm.ppf(0.95)
    for end in (float(low), float(high)):
        assert (0.3 - end) ** 2 == pytest.approx(z**2 * end * (1 - end) / 40)
    assert [float(x) for x in wilson(0.3, np.inf)] == [0.3, 0.3]


@pytest.mark.parametrize(("masks", "words"), [(np.zeros((3, 4)), "nothing"), (np.ones((3, 4)), "everything")])
def test_nothing_to_choose_is_named(masks: np.ndarray, words: str) -> None:
    found = stability(masks)
    assert np.isnan(found.index)
    assert found.depends_on_draw is (words == "nothing")  # no draw changes that everything is selected
    assert words in found.verdict.replace("anything", "nothing")


@pytest.mark.parametrize("masks", [[[1, 0]], [1, 0], np.zeros((3, 0))])
def test_one_run_is_not_enough(masks: object) -> None:
    with pytest.raises(DataError, match=r"Stability: expected the masks of two or more runs as \(R, D\)"):
        stability(masks)  # type: ignore[arg-type]


def test_kuncheva_refuses_different_sizes() -> None:
    with pytest.raises(DataError, match="got 1 to 2"):
        kuncheva([[1, 1, 0], [1, 0, 0]])


def test_the_verdict_at_its_borders() -> None:
    some = np.array([0.5])
    assert _verdict(GOOD, POOR, some) == "the same features come out of most draws"
    assert _verdict(GOOD - 0.01, POOR, some) == "most features come out again, some depend on the draw"
    assert _verdict(GOOD, POOR - 0.01, some) == "the answer depends on the draw"
