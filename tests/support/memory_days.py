"""A table of several days, with text, missing values and a column that nearly repeats another."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

__all__ = ["OPTIONS", "day", "days"]

OPTIONS: dict[str, Any] = {"label": "label", "method": "semi-jmi", "k": 3}


def day(number: int, rows: int = 400) -> pd.DataFrame:
    rng = np.random.default_rng(number)
    positive = rng.random(rows) < 0.3
    table = pd.DataFrame(rng.normal(size=(rows, 4)), columns=list("abcd"))
    table["a"] += 2 * positive
    table["b"] += positive
    table["near_a"] = table["a"] * 3 + 1e-9 * table["b"]
    table["word"] = rng.choice(["x", "y", "z"], rows, p=[0.5, 0.3, 0.2])
    table.loc[positive & (rng.random(rows) < 0.5), "word"] = "y"
    table.loc[rng.random(rows) < 0.1, "c"] = np.nan
    table["label"] = (positive & (rng.random(rows) < 0.4)).astype(int)
    return table.assign(day=f"2026-01-{number:02d}")


def days(first: int, last: int) -> pd.DataFrame:
    return pd.concat([day(number) for number in range(first, last + 1)], ignore_index=True)
