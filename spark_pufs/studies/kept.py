"""Results as they come: one small file per wave, never half written, with the settings they belong to."""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Mapping
from itertools import count
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from spark_pufs.errors import ConfigError, Fault
from spark_pufs.output import RunFolder, parquet
from spark_pufs.studies.base import COLUMNS, ERROR, Row

__all__ = ["KeptResults", "parquet"]

SETTINGS = "settings.json"
UNIT = "unit"  # the key of the unit that gave a row
_TYPES = {str: pa.string(), int: pa.int64(), float: pa.float64()}
SCHEMA = pa.schema([(UNIT, pa.string()), *((name, _TYPES[kind]) for name, kind in COLUMNS.items())])


class KeptResults:
    """The folder ``parts`` of a run."""

    def __init__(self, path: str) -> None:
        self._folder = RunFolder(f"{path.rstrip('/')}/parts")
        self.rows = pd.DataFrame(columns=SCHEMA.names)
        self._parts = 0

    def open(self, settings: Mapping[str, Mapping[str, Any]], overwrite: bool) -> None:
        """Read what is there, if it was made with the same settings; ``settings`` by study."""
        asked = json.loads(json.dumps(settings))
        kept = {} if overwrite else json.loads(self._folder.read(SETTINGS) or b"{}")
        faults = [
            _differs(name, kept[name], asked[name]) for name in asked if name in kept and kept[name] != asked[name]
        ]
        if faults:
            raise ConfigError(faults)
        if overwrite:
            self._clear()
        self._folder.write(SETTINGS, json.dumps(kept | asked, indent=2).encode())
        self._read()

    def add(self, rows: Iterable[Row]) -> None:
        """Keep the rows of one wave; each names its unit."""
        table = pa.Table.from_pylist(list(rows), SCHEMA)
        self._folder.write(_part(self._parts), parquet(table))
        self._parts += 1
        self._join([table])

    def done(self, retry: bool) -> set[tuple[str, str]]:
        """Study and key of the units that need not run again; those that failed do where they are to be retried."""
        rows = self.rows[self.rows["measure"] != ERROR] if retry else self.rows
        return set(zip(rows["study"], rows[UNIT], strict=True))

    def _read(self) -> None:
        tables = []
        for number in count():
            data = self._folder.read(_part(number))
            if data is None:
                break
            tables.append(pq.read_table(io.BytesIO(data)))
        self._parts = len(tables)
        self._join(tables)

    def _join(self, tables: list[pa.Table]) -> None:
        """A unit that ran again replaces what it gave before."""
        for table in tables:
            new = table.to_pandas()
            again = pd.MultiIndex.from_frame(self.rows[["study", UNIT]]).isin(
                pd.MultiIndex.from_frame(new[["study", UNIT]])
            )
            self.rows = new if self.rows.empty else pd.concat([self.rows[~again], new], ignore_index=True)

    def _clear(self) -> None:
        """From the last part to the first, so that no gap hides parts if this is cut short."""
        last = next(number for number in count() if self._folder.read(_part(number)) is None)
        for number in reversed(range(last)):
            self._folder.delete(_part(number))


def _part(number: int) -> str:
    return f"part-{number:05d}.parquet"


def _differs(study: str, kept: Mapping[str, Any], asked: Mapping[str, Any]) -> Fault:
    names = [name for name in {**kept, **asked} if kept.get(name) != asked.get(name)]
    found = "; ".join(f"{name} was {kept.get(name)!r}, asked for is {asked.get(name)!r}" for name in names)
    fix = "Name another output.path, or set output.overwrite: true to begin anew."
    return Fault(f"Study '{study}'", f"the folder holds results of other settings ({found})", fix)
