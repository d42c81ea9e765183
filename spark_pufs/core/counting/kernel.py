"""What a pass over rows computes: a state that starts empty, takes batches, merges, and travels as bytes.

Integer sums, minima, maxima and set unions only, so that any partitioning gives the same state.
"""

from __future__ import annotations

from typing import Protocol, Self, TypeVar

__all__ = ["Batch", "Held", "Kernel", "State"]


class State(Protocol):
    """What some rows come to: a frozen dataclass of arrays and plain values (see ``core.records``)."""

    def merge(self, other: Self) -> Self:
        """What the rows of both come to."""


Batch = TypeVar("Batch", contravariant=True)
Held = TypeVar("Held", bound=State)


class Kernel(Protocol[Batch, Held]):
    """One pass: ``start`` gives an empty state, ``add`` takes a batch and may use the state's arrays again."""

    def start(self) -> Held: ...

    def add(self, state: Held, batch: Batch) -> Held: ...
