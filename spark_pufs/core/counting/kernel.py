"""What a pass over rows computes: a state that starts empty, takes batches, merges, and travels as bytes.

Integer sums, minima, maxima and set unions only, so that any partitioning gives the same state.
"""

from __future__ import annotations

import io
import json
from typing import Any, Protocol, TypeVar

import numpy as np

__all__ = ["Kernel", "State", "decode", "encode"]

State = dict[str, Any]  # arrays, and plain values that JSON holds
Batch = TypeVar("Batch", contravariant=True)

_JSON = "json:"


class Kernel(Protocol[Batch]):
    """One pass: ``start`` gives an empty state, ``add`` takes a batch, ``merge`` joins two states."""

    def start(self) -> State: ...

    def add(self, state: State, batch: Batch) -> State: ...

    def merge(self, left: State, right: State) -> State: ...


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
