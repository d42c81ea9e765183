"""A table cut into partitions, whatever holds it, and the order of their keys."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

from spark_pufs.engines.base import Engine
from spark_pufs.types import Column

__all__ = ["Partition", "PartitionedTable", "in_order", "last_of"]

_WHOLE = re.compile(r"-?\d{1,18}")


@dataclass(frozen=True)
class Partition:
    """Rows that are counted together. ``mark`` changes when they may have changed, such as with the names, sizes and
    times of files; empty: only the rows themselves tell.
    """

    key: str
    mark: str = ""


class PartitionedTable(Protocol):
    """Where new rows come from; ``engine_name``: of what reads them."""

    engine_name: str

    def columns(self) -> list[Column]:
        """Those of every partition, without the one that tells partitions apart."""

    def partitions(self) -> list[Partition]:
        """All that are there; no row is read to tell, unless nothing else can."""

    def engine(self, key: str) -> Engine:
        """The rows of one of them."""


def in_order(keys: Iterable[str]) -> list[str]:
    """Oldest first: whole numbers by their size, all else, such as days, by letters.

    >>> in_order(["10", "9"]), in_order(["2026-01-10", "2026-01-09"])
    (['9', '10'], ['2026-01-09', '2026-01-10'])
    """
    known = set(keys)
    if all(_WHOLE.fullmatch(key) for key in known):
        return sorted(known, key=lambda key: (int(key), key))
    return sorted(known)


def last_of(keys: Iterable[str], window: int | None) -> list[str]:
    """The newest ``window`` of them, oldest first.

    >>> last_of(["c", "a", "b"], 2), last_of(["c", "a", "b"], None)
    (['b', 'c'], ['a', 'b', 'c'])
    """
    ordered = in_order(keys)
    return ordered if window is None else ordered[-window:]
