"""Choosing by one score per feature."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from spark_pufs.selectors.base import Limits

__all__ = ["by_score"]


def by_score(scores: NDArray[np.float64], limits: Limits) -> list[int]:
    """Features best first, within ``limits``; ties in column order."""
    chosen: list[int] = []
    while (free := limits.open(chosen)).any():
        chosen.append(int(np.argmax(np.where(free, scores, -np.inf))))  # argmax takes the first of equals
    return chosen
