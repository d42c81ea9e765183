"""Numbers that stand for missing, found from the outermost values alone."""

from __future__ import annotations

import numpy as np
import pytest

from spark_pufs.core.counting.profile import ProfileKernel
from spark_pufs.core.counting.sentinels import sentinels
from spark_pufs.types import RawBatch, Text


def told(x: np.ndarray, parts: int = 1) -> list[str]:
    kernel = ProfileKernel(1, 0)
    state = kernel.start()
    for rows in np.array_split(x, parts):
        batch = RawBatch(rows[:, None], np.zeros(1, np.int64), [], Text(np.zeros(len(rows), np.int32), ["0"]))
        state = kernel.add(kernel.start(), batch).merge(state)
    return [found for _, found in sentinels(["x"], kernel.read(state))]


@pytest.mark.parametrize("value", [-999.0, 9999.0, 999999.0, -99.0, 1e30, -2147483648.0])
@pytest.mark.parametrize("parts", [1, 7])
def test_noticed(value: float, parts: int) -> None:
    x = np.random.default_rng(1).normal(20, 5, 500)
    x[::10] = value
    assert told(x, parts) == [f"50 rows hold {value:g}, far outside the rest: a code for missing? Set it to null."]


def test_at_both_ends() -> None:
    x = np.random.default_rng(2).uniform(0, 100, 500)
    x[:3], x[3:7] = -9999, 99999
    assert [line.split(",")[0] for line in told(x)] == ["3 rows hold -9999", "4 rows hold 99999"]


@pytest.mark.parametrize(
    "x",
    [
        np.random.default_rng(3).normal(size=500),
        np.random.default_rng(4).lognormal(0, 2, 500),
        np.random.default_rng(5).integers(0, 2, 500).astype(float),
        np.append(np.random.default_rng(6).normal(size=500), 99.0),  # one outlier is no code
        np.random.default_rng(7).integers(0, 100, 500).astype(float),  # 99 is the end of a range
        np.full(20, -999.0),
        np.array([np.nan, np.inf, -np.inf, 1.0, 2.0]),
        np.zeros(0),
        np.repeat([0.0, 999.0], 10),
    ],
    ids=["normal", "heavy tail", "two values", "one outlier", "range", "constant", "odd", "empty", "a code alone"],
)
def test_left_alone(x: np.ndarray) -> None:
    assert told(x) == []
