"""How a selection was made: where, in which passes over the rows, how long it took. It differs from run to run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from spark_pufs.core.records import read, written
from spark_pufs.types import Json

__all__ = ["Pass", "Reading", "RunFacts"]


@dataclass(frozen=True)
class Pass:
    """One pass over rows: what it was for, how long it took, how many rows it saw and their values' size in memory.

    ``bytes``: 8 for a number, 4 for a text of a column, 1 for a code of a packed row; no matter how they are stored.
    Selections that were saved before they were counted have 0.
    """

    what: str
    seconds: float
    rows: int = 0
    bytes: int = 0


@dataclass(frozen=True)
class Reading:
    """Who read the rows and why, where an engine has several ways; ``rows``: where counts stand for them."""

    reader: str | None = None
    reader_reason: str | None = None
    rows: str | None = None


@dataclass(frozen=True)
class RunFacts:
    """The engine, how it read the rows, the seconds, and the passes one after the other.

    >>> RunFacts("spark", 1.5, (Pass("profile", 0.7, 9, 72),), Reading(reader="arrow")).as_dict()["passes"]
    [{'what': 'profile', 'seconds': 0.7, 'rows': 9, 'bytes': 72}]
    """

    engine: str
    seconds: float
    passes: tuple[Pass, ...] = ()
    reading: Reading = field(default_factory=Reading)

    def as_dict(self) -> dict[str, Json]:
        """Plain values for JSON, in one mapping."""
        reading = {name: value for name, value in vars(self.reading).items() if value is not None}
        return {"engine": self.engine, **reading, "seconds": self.seconds, "passes": written(self.passes)}

    @classmethod
    def from_dict(cls, values: Mapping[str, Json]) -> RunFacts:
        """What ``as_dict`` gave; ``ValueError`` where it cannot be understood."""
        return read(cls, {**values, "reading": values}, "run")
