"""How many positives: estimators on scores whose answer is known, and how the interval and the warning behave."""

from __future__ import annotations

import numpy as np
import pytest

from spark_pufs.core.evidence.prior import ESTIMATORS, Scores, estimate_prior


def apart(share: float, gap: float = 5.0, labelled: int = 300, unlabelled: int = 3_000, seed: int = 0) -> Scores:
    """Scores of positives around ``gap`` and of negatives around 0."""
    rng = np.random.default_rng(seed)
    positives = round(share * unlabelled)
    hidden = np.r_[rng.normal(gap, 1, positives), rng.normal(0, 1, unlabelled - positives)]
    return Scores.of(rng.normal(gap, 1, labelled), hidden)


@pytest.mark.parametrize("share", [0.05, 0.3, 0.7])
@pytest.mark.parametrize("name", ESTIMATORS)
def test_classes_apart_give_the_share(name: str, share: float) -> None:
    reach = 0.03 + 0.1 * share
    bound = {"tice": 2 * reach + 0.05}.get(name, reach)  # a bound from above
    assert -reach < ESTIMATORS[name](apart(share), 1.0) - share < bound


def test_tails_and_histogram_by_hand() -> None:
    scores = Scores.of(np.array([1.0, 3.0]), np.array([0.0, 1.0, 2.0, 4.0]))
    high, low = scores.tails()
    assert (high.tolist(), low.tolist()) == ([0.5, 1.0], [0.25, 0.75])
    first, second = scores.histogram()
    assert (first.sum(), second.sum()) == (2, 4)


def test_the_best_bin_is_the_ratio_of_tails_by_hand() -> None:
    """All labelled rows at 1, a quarter of the others too."""
    scores = Scores.of(np.ones(50), np.r_[np.ones(25), np.zeros(75)])
    assert ESTIMATORS["best-bin"](scores, 1.0) == 0.25
    assert ESTIMATORS["elkan-noto"](scores, 1.0) == pytest.approx((50 / (50 / 75) - 50) / 100)


@pytest.mark.parametrize("seed", range(5))
def test_the_interval_holds_the_truth(seed: int) -> None:
    found = estimate_prior(apart(0.2, gap=4, seed=seed), 300, 3_000, 3_300, 0.9, seed)
    assert found.low < 900 / 3_300 < found.high
    assert abs(found.prior - 900 / 3_300) < 0.03
    assert found.warnings == ()
    assert "0.27" in str(found)


def test_overlap_is_told_and_opens_the_interval_below() -> None:
    found = estimate_prior(apart(0.2, gap=1), 300, 3_000, 3_300, 0.7, 0)
    assert "disagree" in found.warnings[0]
    assert found.low == pytest.approx(300 / 3_300)
    assert found.low < 900 / 3_300 < found.high


def test_a_sample_of_the_unlabelled_rows_gives_the_share_of_the_table() -> None:
    """3,000 of 30,000 unlabelled rows were scored: positives are counted in the table."""
    found = estimate_prior(apart(0.2), 300, 30_000, 30_300, 0.9, 0)
    assert abs(found.prior - 6_300 / 30_300) < 0.03
