from __future__ import annotations

from itertools import product
from math import comb

import numpy as np
import pytest

from spark_pufs.core.clusters.cluster_check import cluster_check, split_labels
from spark_pufs.core.clusters.mixture import MixtureSettings, assign, fit_mask, make_sample
from spark_pufs.core.clusters.objective import recall_precision
from spark_pufs.core.synthetic.artificial import CONDITIONS, make_artificial
from spark_pufs.errors import ConfigError, DataError

RNG = np.random.default_rng


def exact_p(labelled: list[int], rows: list[int]) -> float:
    """P(f >= observed) by adding up every way to throw the labels into the clusters."""
    total = sum(labelled)
    f = recall_precision([labelled], [rows], total)[0]
    chance = 0.0
    for way in product(*(range(min(total, c) + 1) for c in rows)):
        if sum(way) == total and recall_precision([list(way)], [rows], total)[0] >= f - 1e-12:
            chance += np.prod([comb(c, w) for c, w in zip(rows, way, strict=True)]) / comb(sum(rows), total)
    return float(chance)


@pytest.mark.parametrize(
    ("labelled", "rows"), [([4, 2, 1], [9, 11, 20]), ([5, 0, 3], [12, 8, 30]), ([2, 2, 2], [10, 10, 10])]
)
def test_the_p_value_is_that_of_all_ways_to_throw_the_labels(labelled: list[int], rows: list[int]) -> None:
    p = exact_p(labelled, rows)
    found = cluster_check(labelled, rows, RNG(0), draws=20_000)
    assert found.p_value == pytest.approx(p, abs=4 * (p * (1 - p) / 20_000) ** 0.5 + 1e-4)


def test_effect_is_the_ll_score_of_the_positive_clusters() -> None:
    # Cluster 1 alone: recall .9, predicted share 1/9, LL = .81 * 9.
    found = cluster_check([45, 5, 0], [500, 1500, 2500], RNG(0))
    assert found.f == pytest.approx(45**2 / (50 * 500))
    assert found.effect == pytest.approx(0.9**2 / (500 / 4500))
    assert found.p_value == pytest.approx(1 / 2001)
    assert (found.labelled, found.rows, found.verdict) == (50, 4500, "holds")


def test_the_plus_one_rule_keeps_p_above_zero() -> None:
    assert cluster_check([50, 0], [50, 5000], RNG(0), draws=9).p_value == pytest.approx(0.1)


@pytest.mark.parametrize("total", [30, 200])
def test_false_alarms_on_shuffled_labels(total: int) -> None:
    rows = np.array([900, 700, 600, 500, 450, 400, 350, 300, 200, 100])
    rng = RNG(4)
    thrown = rng.multivariate_hypergeometric(rows, total, 1000)
    p = np.array([cluster_check(labels, rows, rng, draws=400).p_value for labels in thrown])
    assert 0.035 < (p < 0.05).mean() < 0.068
    # Every label share equal is the least that can happen: there p is 1, so only the low end can be uniform.
    assert 0.08 < (p < 0.1).mean() < 0.12


def test_after_a_search_over_many_masks_false_alarms_stay_rare() -> None:
    # The best of 200 unrelated clusterings of shuffled labels: the plain p-value is fooled, the corrected one is not.
    rng = RNG(5)
    rows = np.full(10, 450)
    plain, corrected = [], []
    for _ in range(40):
        thrown = rng.multivariate_hypergeometric(rows, 60, 200)
        best = thrown[np.argmax(recall_precision(thrown, np.broadcast_to(rows, thrown.shape), 60))]
        plain.append(cluster_check(best, rows, rng).p_value < 0.05)
        corrected.append(cluster_check(best, rows, rng, selected=True, tried=200).p_value < 0.05)
    assert np.mean(plain) > 0.95
    assert np.mean(corrected) <= 0.15


def test_held_labels_undo_the_search() -> None:
    labelled = RNG(0).permutation(1000) < 101
    search, held = split_labels(labelled, RNG(1), held=0.4)
    assert not (search & held).any()
    assert ((search | held) == labelled).all()
    assert held.sum() == 40


@pytest.mark.parametrize(("number", "condition"), list(enumerate(CONDITIONS, 1)))
@pytest.mark.parametrize("selected", [False, True])
def test_tells_the_eight_conditions_from_the_two(number: int, condition: object, selected: bool) -> None:
    # One repeat; benchmarks/pu_scores_study.py --clusters does ten.
    data = make_artificial(CONDITIONS[number - 1], seed=40 + number)
    sample = make_sample(data.X, data.s)
    cluster = assign(fit_mask(sample, data.relevant, MixtureSettings(), [7, number]), data.X)
    labelled = np.bincount(cluster[data.s == 1], minlength=10)
    found = cluster_check(labelled, np.bincount(cluster, minlength=10), RNG(number), selected=selected)
    assert (found.verdict == "holds") == (number <= 8)


def test_an_effect_that_is_real_but_small_is_weak() -> None:
    found = cluster_check([220, 80], [500, 500], RNG(0))
    assert (round(found.effect, 2), found.verdict) == (1.08, "does not hold")
    assert "more than chance" in found.reason
    found = cluster_check([150, 50], [400, 600], RNG(0))
    assert (round(found.effect, 2), found.verdict) == (1.41, "weak")


def test_a_high_share_of_positives_needs_a_smaller_effect() -> None:
    counts = ([150, 50], [400, 600])
    assert cluster_check(*counts, RNG(0), prior=0.5).verdict == "holds"  # 1.41 of at most 2
    assert cluster_check(*counts, RNG(0), prior=0.05).verdict == "weak"


@pytest.mark.parametrize(
    ("labelled", "words"), [([0, 0], "Only 0"), ([3, 0], "Only 3"), ([2, 4], "With 6 labelled rows chance alone")]
)
def test_too_few_labels(labelled: list[int], words: str) -> None:
    found = cluster_check(labelled, [150, 850], RNG(0), selected=True)
    assert found.verdict == "too few labels to tell"
    assert words in found.reason
    assert found.verdict in str(found)


def test_one_cluster_cannot_gather_anything() -> None:
    found = cluster_check([40], [1000], RNG(0))
    assert (found.effect, found.p_value, found.verdict) == (1, 1, "does not hold")


def test_empty_clusters_change_nothing() -> None:
    a, b = cluster_check([30, 5, 0], [100, 900, 0], RNG(0)), cluster_check([30, 5], [100, 900], RNG(0))
    assert (a.effect, a.p_value) == (b.effect, b.p_value)


def test_tables_beyond_numpys_limit() -> None:
    found = cluster_check([400, 100], [10**9, 4 * 10**9], RNG(0))
    assert found.verdict == "holds"
    assert found.chance == pytest.approx(1, abs=0.05)


def test_same_generator_same_answer() -> None:
    assert cluster_check([9, 8], [100, 300], RNG(3)) == cluster_check([9, 8], [100, 300], RNG(3))


@pytest.mark.parametrize(
    ("labelled", "rows", "words"),
    [
        ([1, 2], [3], r"got shapes \(2,\) and \(1,\)"),
        ([1.5, 2], [3, 4], "counts must be whole"),
        ([5, 0], [3, 4], "more labelled rows than rows"),
        ([0, 0], [0, 0], "counts must be whole"),
        ([-1, 2], [3, 4], "counts must be whole"),
        ([], [], r"got shapes \(0,\) and \(0,\)"),
    ],
)
def test_wrong_counts_are_named(labelled: list[float], rows: list[float], words: str) -> None:
    with pytest.raises(DataError, match=words):
        cluster_check(labelled, rows, RNG(0))


@pytest.mark.parametrize("option", [{"alpha": 0.0}, {"draws": 0}, {"prior": 1.0}, {"tried": 0}])
def test_wrong_options_are_named(option: dict[str, float]) -> None:
    with pytest.raises(ConfigError, match="Cluster check: alpha"):
        cluster_check([5, 5], [50, 50], RNG(0), **option)  # type: ignore[arg-type]
