from __future__ import annotations

import numpy as np
import pytest

from spark_pufs.core.baselines import sklearn_peers
from spark_pufs.core.baselines.sklearn_peers import Penalty, lasso_weights
from spark_pufs.core.counting.row_sample import LabelledRows


def test_lasso_of_one_column_by_hand_and_whether_it_converged(monkeypatch: pytest.MonkeyPatch) -> None:
    # x = -1, 1 and y = 0, 1: least squares has slope 1/2, the penalty takes alpha / mean(x^2) of it away
    shared = LabelledRows(np.array([[-1.0], [1.0]]), np.array([0, 1], np.uint8))
    found = lasso_weights(shared, Penalty(0.1))
    assert found.weight == pytest.approx([0.4])
    assert found.converged is True
    rng = np.random.default_rng(0)
    mixed = rng.normal(size=(30, 5)) + rng.normal(size=(30, 1))
    monkeypatch.setattr(sklearn_peers, "MOST_STEPS", 2)
    hasty = LabelledRows(mixed, (mixed.sum(axis=1) > 0).astype(np.uint8))
    assert lasso_weights(hasty, Penalty(1e-3)).converged is False
