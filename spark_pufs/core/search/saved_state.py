"""The parts of a search's state that was kept: of the type and size that they were written with, or a ValueError."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

__all__ = ["State", "decode", "encode", "state_array", "whole_number"]

State = dict[str, object]  # arrays, and plain values that JSON holds

_JSON = "json:"
Value = TypeVar("Value", bound=np.generic)


def state_array(
    state: Mapping[str, object], name: str, kind: type[Value], shape: tuple[int, ...] | None = None
) -> NDArray[Value]:
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


def whole_number(state: object, name: str) -> int:
    """A whole number from 0 on; what was kept instead of a mapping has none.

    >>> whole_number({"generation": 3}, "generation")
    3
    """
    value = state.get(name) if isinstance(state, Mapping) else None
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise ValueError(f"'{name}' is not a whole number")
    return value


def encode(state: State) -> bytes:
    """A state as bytes, without pickle.

    >>> state = decode(encode({"n": np.arange(3), "names": {"a": 1, "b": None}}))
    >>> state["n"].tolist(), state["names"]
    ([0, 1, 2], {'a': 1, 'b': None})
    """
    parts: dict[str, Any] = {}
    for name, value in state.items():
        if isinstance(value, np.ndarray):
            if value.dtype.hasobject:  # numpy would pickle it
                raise ValueError(f"'{name}' holds Python objects")
            parts[name] = value
        else:
            parts[_JSON + name] = np.frombuffer(json.dumps(value).encode(), np.uint8)
    file = io.BytesIO()
    np.savez(file, **parts)
    return file.getvalue()


def decode(data: bytes) -> State:
    """The state behind ``encode``."""
    with np.load(io.BytesIO(data), allow_pickle=False) as parts:
        return {
            name.removeprefix(_JSON): json.loads(array.tobytes()) if name.startswith(_JSON) else array
            for name, array in parts.items()
        }
