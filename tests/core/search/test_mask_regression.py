"""Effects of features on ranked scores, against the regression written out."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm, rankdata

from spark_pufs.core.search import mask_regression
from spark_pufs.core.search.mask_regression import Contrast, Effects, combine, information


def groups(features: int, sizes: tuple[int, ...]) -> list[tuple[np.ndarray, np.ndarray]]:
    rng = np.random.default_rng(1)
    masks = [rng.random((size, features)) < 0.4 for size in sizes]
    return [(one, one @ np.arange(features) + rng.normal(size=len(one))) for one in masks]


def written_out(told: list[tuple[np.ndarray, np.ndarray]]) -> tuple[np.ndarray, np.ndarray, int]:
    """X and y centred within each group, and the rows left after centring."""
    X = np.vstack([masks - masks.mean(axis=0) for masks, _ in told])
    scores = [norm.ppf((rankdata(values) - 0.5) / len(values)) for _, values in told]
    return X, np.concatenate([score - score.mean() for score in scores]), sum(len(one) - 1 for _, one in told)


@pytest.mark.parametrize("sizes", [(9, 12), (200, 300)])  # few masks per feature: a stronger ridge
def test_dense_evidence_is_a_ridge_regression(sizes: tuple[int, ...]) -> None:
    told = groups(5, sizes)
    sums = Contrast(5)
    for masks, values in told:
        sums.add(masks, values)
    X, y, rows = written_out(told)
    G = X.T @ X
    strength = max(0.03, 0.5 * 5 / rows) * np.diagonal(G).mean()
    P = np.linalg.inv(G + strength * np.eye(5))
    estimate = P @ X.T @ y
    noise = ((y - X @ estimate) ** 2).sum() / (rows - np.trace(P @ G))
    found = sums.evidence()
    assert found.estimate == pytest.approx(estimate)
    assert found.error == pytest.approx(np.sqrt(noise * np.diagonal(P @ G @ P)))


def test_beyond_the_limit_features_are_judged_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mask_regression, "DENSE_LIMIT", 4)
    told = groups(5, (9, 12))
    sums = Contrast(5)
    for masks, values in told:
        sums.add(masks, values)
    X, y, rows = written_out(told)
    g = (X**2).sum(axis=0)
    P = 1 / (g + max(0.03, 0.5 * 5 / rows) * g.mean())
    found = sums.evidence()
    assert found.estimate == pytest.approx(P * (X.T @ y))
    assert found.error == pytest.approx(np.sqrt((y @ y) / rows * P * g * P))


def test_sizes_are_weighed_by_what_they_tell() -> None:
    # spreads 1 and 4, errors 1/4 and 1 squared: weights sqrt(3/4) / (1/4) = 2 sqrt 3 and sqrt 3 / 1
    parts = [Effects(np.array([1.0, -1]), np.full(2, 0.5)), Effects(np.array([2.0, -2]), np.full(2, 1.0))]
    found = combine(parts, np.ones(2, bool))
    assert found.estimate == pytest.approx([1, -1])
    # errors (sqrt 3)^2 + (sqrt 3)^2 in units of 2 sqrt 3 + 2 sqrt 3
    assert found.error == pytest.approx(np.full(2, np.sqrt(6) / (4 * np.sqrt(3))))
    free = np.ones(2, bool)
    assert [information(part, free) for part in parts] == pytest.approx([1 / 0.25 - 1, 4 / 1 - 1])
