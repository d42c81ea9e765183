from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from spark_pufs.core.baselines import classes
from spark_pufs.core.baselines.classes import plausible_negatives


@pytest.mark.parametrize("chunk", [1, 8 * 7 * 3, 2**25])
def test_plausible_negatives_by_all_distances_at_once(chunk: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(classes, "CHUNK_BYTES", chunk)
    X = np.random.default_rng(0).random((40, 3))
    label = (np.arange(40) % 6 == 1).astype(np.uint8)  # 7 positives
    square = cdist(X[label == 0], X[label == 1], "sqeuclidean")
    similarity = np.exp(-square / square.mean()).mean(axis=1)
    expected = np.flatnonzero(label == 0)[np.argsort(similarity)[:7]]
    assert plausible_negatives(X, label).tolist() == sorted(expected.tolist())


def test_distances_are_taken_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(classes, "CHUNK_BYTES", 8 * 10 * 4)
    X = np.random.default_rng(0).random((50, 2))
    parts = list(classes._squared_distances(X[:40], X[40:]))
    assert {len(part) for part in parts} == {4}
    assert np.concatenate(parts) == pytest.approx(cdist(X[:40], X[40:], "sqeuclidean"))
