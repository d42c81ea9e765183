"""Students find what was planted; forward searches against brute force."""

from __future__ import annotations

import numpy as np

from spark_pufs.core.information.mutual_information import mutual_information
from spark_pufs.core.soft.encoding import Encoding, fine_bins, fine_codes
from spark_pufs.core.soft.students import core_report, forward_joint, mean_rank, ranked
from spark_pufs.core.soft.views import VIEWS, forward_additive, view_weights, wide_report
from spark_pufs.types import Layout


def test_the_first_feature_has_the_most_information() -> None:
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 3, (5, 400)).astype(np.uint8)
    soft = (codes[3] == 1) * 0.8 + 0.1
    by_hand = [
        mutual_information(np.array([[soft[row == v].sum(), (1 - soft)[row == v].sum()] for v in range(3)]))
        for row in codes
    ]
    order, alone = forward_joint(codes, Layout((3,) * 5), soft, 1)
    assert order == [int(np.argmax(by_hand))] == [int(np.argmax(alone))]


def test_a_copy_adds_nothing_to_the_additive_model() -> None:
    rng = np.random.default_rng(1)
    a, b, noise = rng.integers(0, 4, (3, 600)).astype(np.uint8)
    codes = np.vstack([a, a, b, noise])
    target = 1.0 * a + 0.5 * b
    assert forward_additive(codes, Layout((4,) * 4), target, 2) == [0, 2]


def test_planted_columns_come_first_and_shuffled_ones_have_no_strength() -> None:
    rng = np.random.default_rng(2)
    X = rng.normal(size=(800, 8))
    target = 2 * X[:, 1] + np.abs(X[:, 4]) * 2 + 0.1 * rng.normal(size=800)
    bins = fine_bins(list("abcdefgh"), X, [])
    codes = fine_codes(X, bins)
    labelled = target > np.quantile(target, 0.95)
    soft = 1 / (1 + np.exp(-target))
    encoding = Encoding.of(codes, bins)
    wide = wide_report(codes, labelled, target, soft, encoding, 2, 40, 0)
    assert wide.scores.shape == (len(VIEWS), 8)
    for found in (core_report(codes, labelled, target, soft, encoding, 2, 0), wide):
        assert set(np.argsort(-mean_rank(found.scores))[:2]) == {1, 4}
        assert found.strength.mean(axis=0)[[0, 2, 3, 5, 6, 7]].max() < 0.2


def test_an_order_becomes_falling_scores() -> None:
    assert ranked([2, 0], 4).tolist() == [3.0, 0.0, 4.0, 0.0]


def test_views_are_worth_what_the_member_of_their_kind_is() -> None:
    assert view_weights(("trees", "linear", "trees"), np.array([0.2, 0.3, 0.1, 0.4])).tolist() == [0.4, 0.2, 0.4]
