"""Masks judged by the AUC of boosted trees on held-out rows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from spark_pufs.core.counting.row_sample import LabelledRows
from spark_pufs.core.evidence.held_out_auc import JudgedMasks, auc_of_masks, held_out


@given(st.integers(2, 40), st.integers(2, 200), st.integers(0, 99))
def test_a_quarter_of_each_kind_is_held_out_and_each_kind_is_on_both_sides(ones: int, others: int, seed: int) -> None:
    labelled = np.random.default_rng(seed).permutation(np.arange(ones + others) < ones)
    test = held_out(labelled, np.random.default_rng(seed))
    assert test[labelled].sum() == max(1, round(ones / 4))
    assert test[~labelled].sum() == max(1, round(others / 4))
    assert labelled[~test].any()
    assert not labelled[~test].all()


def test_a_mask_that_tells_scores_high_and_one_that_does_not_scores_a_half() -> None:
    rng = np.random.default_rng(1)
    label = (rng.random(600) < 0.3).astype(np.uint8)
    X = np.column_stack([label + 0.1 * rng.random(600), rng.random(600)])
    unit = JudgedMasks(np.array([[1, 0], [0, 1], [0, 0]], bool), (4, 0), "lightgbm")
    found = auc_of_masks(LabelledRows(X, label), unit).auc
    assert found[0] == 1.0
    assert abs(found[1] - 0.5) < 0.25  # 4 standard errors with 45 and 105 rows
    assert found[2] == 0.5
    np.testing.assert_array_equal(auc_of_masks(LabelledRows(X, label), unit).auc, found)


def test_labelled_negatives_are_not_labelled_positives() -> None:
    rng = np.random.default_rng(2)
    label = rng.choice([0, 1, 2], 300).astype(np.uint8)
    unit = JudgedMasks(np.ones((1, 1), bool), (0, 0), "hist-gradient-boosting")
    X = (label == 1).astype(float)[:, None]
    assert auc_of_masks(LabelledRows(X, label), unit).auc.tolist() == [1.0]


def test_fewer_trees_are_asked_for_by_the_unit() -> None:
    rng = np.random.default_rng(3)
    X, label = rng.random((200, 2)), (rng.random(200) < 0.4).astype(np.uint8)
    unit = JudgedMasks(np.ones((1, 2), bool), (0, 0), "lightgbm")
    few, many, default = (
        auc_of_masks(LabelledRows(X, label), one).auc[0]
        for one in (replace(unit, trees=1), replace(unit, trees=100), unit)
    )
    assert many == default
    assert few != many
