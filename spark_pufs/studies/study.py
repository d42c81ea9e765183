"""What a study is: units of work that run anywhere, long-form results, and tables that stand beside the published ones.

A study is a frozen dataclass of plain settings: it travels to the workers, and its settings are read from YAML.
``studies.reproduce`` runs its units. A study that reads public data has a field ``data: str | None = None``, which is
filled in with the folder that the configuration names; where none is named the study is left out, as it is where its
method ``absent()``, if it has one, gives a reason. Settings that a YAML
section must not mistype are checked with ``__pydantic_config__: ClassVar[dict[str, str]] = {"extra": "forbid"}``.
"""

from __future__ import annotations

import dataclasses
import json
import math
import zlib
from collections.abc import Mapping
from typing import Any, Protocol, TypeAlias, TypeVar

import pandas as pd

from spark_pufs.types import Json

__all__ = ["COLUMNS", "ERROR", "Row", "Study", "Unit", "chooses", "fixed_settings", "key_of", "long_form", "seed_of"]

Unit: TypeAlias = Mapping[str, Any]  # text and numbers; all fields together are the unit's name
Row: TypeAlias = dict[str, Any]
T = TypeVar("T")

# ``at`` is a place on an axis (a generation, a number of rows), NaN where there is none.
COLUMNS: Mapping[str, type] = {
    "study": str,
    "dataset": str,
    "condition": str,
    "method": str,
    "repeat": int,
    "measure": str,
    "at": float,
    "value": float,
    "seconds": float,
    "message": str,
}
ERROR = "error"  # the measure of a unit that failed; ``message`` says why
_CHOOSES = "chooses units"


class Study(Protocol):
    """One published experiment, or several that share their units."""

    @property
    def name(self) -> str: ...

    def units(self) -> list[Unit]:
        """In the order of work: repeats outermost, so that a stopped run has whole ones; long units first in each."""

    def run(self, unit: Unit) -> list[Row]:
        """Results of one unit, in a worker; any of COLUMNS but ``study``. Randomness from ``seed_of`` alone."""

    def tables(self, results: pd.DataFrame) -> dict[str, str]:
        """Markdown or SVG by file name; ``results`` are the study's own rows and may lack units that failed or wait."""

    def pictures(self, results: pd.DataFrame) -> dict[str, bytes]:
        """PNG by file name; called only where matplotlib is there."""


def chooses(default: T) -> T:
    """The default of a setting that only says which units there are: it may change between runs into one folder."""
    given: T = dataclasses.field(default=default, metadata={_CHOOSES: True})
    return given


def fixed_settings(study: Study) -> dict[str, Json]:
    """The settings that decide what a unit gives; where the public data lie is none."""
    fields = [field for field in dataclasses.fields(study) if _CHOOSES not in field.metadata]  # type: ignore[arg-type]
    return {field.name: getattr(study, field.name) for field in fields if field.name != "data"}


def key_of(unit: Unit) -> str:
    """The name of a unit.

    >>> key_of({"repeat": 0, "method": "mim"})
    '{"method": "mim", "repeat": 0}'
    """
    return json.dumps(dict(unit), sort_keys=True)


def seed_of(seed: int, *words: str | int) -> int:
    """A seed for one use: the study's seed and what it is for, such as ``seed_of(self.seed, "rows", repeat)``.

    >>> seed_of(0, "rows", 1) == seed_of(0, "rows", 1) != seed_of(0, "rows", 2)
    True
    """
    return zlib.crc32(json.dumps([seed, *words]).encode()) % 2**31  # what every library takes


def long_form(study: str, given: Row, seconds: float) -> Row:
    """A row with all of COLUMNS as plain values; ``seconds`` of the whole unit where the row tells none."""
    row = {"study": study, "seconds": seconds, **given}
    unknown = set(row) - set(COLUMNS)
    if unknown:
        raise ValueError(f"not columns of the results: {', '.join(sorted(unknown))}")
    empty = {str: "", int: 0, float: math.nan}
    return {name: kind(row.get(name, empty[kind])) for name, kind in COLUMNS.items()}
