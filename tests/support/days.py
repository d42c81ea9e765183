"""Selections of one table on several days."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import pandas as pd

import spark_pufs
from spark_pufs import Selection

__all__ = ["SHIFTED", "selection"]

SHIFTED = 3  # the day on which a column has another unit


@lru_cache
def selection(day: int) -> Selection:
    rng = np.random.default_rng(day)
    positive = rng.random(2000) < 0.2
    table = pd.DataFrame(rng.normal(size=(2000, 4)), columns=["<b>a</b>", "b", "c", "d"])
    table["<b>a</b>"] += 2 * positive
    table["b"] += 1.5 * positive
    if day >= SHIFTED:
        table["b"] *= 1000
    return spark_pufs.select(
        table.assign(label=(positive & (rng.random(2000) < 0.3)).astype(int)), label="label", method="semi-mim", k=2
    )
