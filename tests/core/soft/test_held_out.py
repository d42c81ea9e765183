"""AUC by soft labels by hand, differences of AUC against DeLong's variance, and what is told of a choice."""

from __future__ import annotations

import numpy as np
import pytest

from spark_pufs.core.evidence.label_rate import delong
from spark_pufs.core.soft.held_out import judged, soft_auc


def test_soft_auc_of_known_classes_is_the_auc() -> None:
    rng = np.random.default_rng(0)
    scores, positive = np.round(rng.normal(size=200), 1), rng.random(200) < 0.3
    assert soft_auc(scores, positive.astype(float)) == pytest.approx(delong(scores[positive], scores[~positive])[0])


def test_soft_auc_is_the_share_of_ordered_pairs() -> None:
    rng = np.random.default_rng(1)
    scores, soft = rng.normal(size=12), rng.random(12)
    above = (scores[:, None] > scores).astype(float) + 0.5 * (scores[:, None] == scores)
    weight = soft[:, None] * (1 - soft)
    assert soft_auc(scores, soft) == pytest.approx((weight * above).sum() / weight.sum())


def test_a_choice_of_all_loses_nothing() -> None:
    rng = np.random.default_rng(2)
    scores, labelled = rng.normal(size=100), np.arange(100) < 20
    found = judged(scores, scores, labelled, labelled.astype(float))
    auc, variance = delong(scores[labelled], scores[~labelled])
    assert (found.chosen, found.every) == (auc, auc)
    assert found.chosen_error == pytest.approx(np.sqrt(variance))
    assert (found.error, found.lost, found.most_lost) == (0.0, 0.0, 0.0)


def test_the_error_of_a_difference_is_that_of_redrawn_rows() -> None:
    rng = np.random.default_rng(3)
    labelled = np.arange(400) < 80

    def drawn() -> tuple[np.ndarray, np.ndarray]:
        signal = rng.normal(size=400) + labelled
        return signal + rng.normal(size=400), signal + 0.5 * rng.normal(size=400)

    found = [judged(*drawn(), labelled, labelled.astype(float)) for _ in range(200)]
    spread = np.std([one.every - one.chosen for one in found])
    assert np.mean([one.error for one in found]) == pytest.approx(spread, rel=0.15)
