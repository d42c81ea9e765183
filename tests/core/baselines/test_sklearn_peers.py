from __future__ import annotations

import numpy as np
import pytest

from spark_pufs.core.baselines import sklearn_peers
from spark_pufs.core.baselines.sklearn_peers import lasso_weights


def test_lasso_of_one_column_by_hand_and_whether_it_converged(monkeypatch: pytest.MonkeyPatch) -> None:
    # x = -1, 1 and y = 0, 1: least squares has slope 1/2, the penalty takes alpha / mean(x^2) of it away
    shared = {"X": np.array([[-1.0], [1.0]]), "label": np.array([0, 1], np.uint8)}
    found = lasso_weights(shared, {"alpha": 0.1})
    assert found["weight"] == pytest.approx([0.4])
    assert found["converged"] is True
    rng = np.random.default_rng(0)
    mixed = rng.normal(size=(30, 5)) + rng.normal(size=(30, 1))
    monkeypatch.setattr(sklearn_peers, "MOST_STEPS", 2)
    hasty = {"X": mixed, "label": (mixed.sum(axis=1) > 0).astype(np.uint8)}
    assert lasso_weights(hasty, {"alpha": 1e-3})["converged"] is False
