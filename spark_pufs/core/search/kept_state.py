"""The parts of a search's state that was kept: of the type and size that they were written with, or a ValueError."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["state_array", "whole_number"]


def state_array(state: Mapping[str, Any], name: str, kind: Any, shape: tuple[int, ...] | None = None) -> NDArray[Any]:
    """An array of finite values; ``shape`` where it is known.

    >>> state_array({"theta": np.zeros(2)}, "theta", np.float64, (2,)).tolist()
    [0.0, 0.0]
    """
    array = state.get(name)
    if not isinstance(array, np.ndarray) or array.dtype != kind or array.ndim == 0:
        raise ValueError(f"'{name}' is not an array of {np.dtype(kind).name}")
    if shape is not None and array.shape != shape:
        raise ValueError(f"'{name}' has shape {array.shape}, not {shape}")
    if not np.isfinite(array).all():
        raise ValueError(f"'{name}' holds values that are not finite")
    return array


def whole_number(state: Mapping[str, Any], name: str) -> int:
    """A whole number from 0 on.

    >>> whole_number({"generation": 3}, "generation")
    3
    """
    value = state.get(name)
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise ValueError(f"'{name}' is not a whole number")
    return value
