"""What a user says of a memory of counts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from spark_pufs.errors import ConfigError, Fault
from spark_pufs.request import is_whole
from spark_pufs.types import column_name
from spark_pufs.values import Strange, path_text, plain, shown

__all__ = ["MemorySettings", "Refit"]

Refit = Literal["propose", "auto", "now"]


@dataclass(frozen=True)
class MemorySettings:
    """Where counts are kept, by which column the table is cut, and how many of the last partitions are looked at.

    ``window``: None is all of them. ``refit``: cut points that the values have left are reported ("propose"), made anew
    ("auto"), or made anew whatever was found ("now"). ``until``: the last partition of the window, for a day that is
    run again; None is the newest.
    """

    path: str
    partition: str
    window: int | None = None
    refit: Refit = "propose"
    until: str | None = None

    @classmethod
    def of(
        cls,
        memory: object,
        partition: object,
        window: object = None,
        refit: object = "propose",
        until: object = None,
    ) -> MemorySettings:
        """Settings as users type them, all faults told at once."""
        path, column, last, rule = path_text(memory), column_name(partition), plain(window), plain(refit)
        end = column_name(until)  # days and whole numbers as text
        faults = [
            Fault(f"Option '{name}'", f"must be {what}, got {shown(got)}", f"For example {example}.")
            for name, what, ok, got, example in (
                ("memory", "a folder", not isinstance(path, Strange) and bool(str(path).strip()), path, "state/flows"),
                ("partition", "the name of a column", isinstance(column, str) and bool(column), column, "day"),
                ("window", "a whole number of at least 1", last is None or is_whole(last, 1), last, "30"),
                ("refit", f"one of {', '.join(get_args(Refit))}", rule in get_args(Refit), rule, "propose"),
                ("until", "the key of a partition", end is None or isinstance(end, str), end, "2026-01-31"),
            )
            if not ok
        ]
        if faults:
            raise ConfigError(faults)
        return cls(str(path), str(column), last, rule, end)
