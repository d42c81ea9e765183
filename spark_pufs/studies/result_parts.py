"""Results as they come: one small file per wave, never half written, with the settings they belong to."""

from __future__ import annotations

import hashlib
import io
import json
import re
from collections.abc import Iterable, Mapping

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from spark_pufs.errors import ConfigError, DataError, Fault
from spark_pufs.masking.texts import gist
from spark_pufs.rundir.files import parquet
from spark_pufs.rundir.folder import RunFolder
from spark_pufs.studies.study import COLUMNS, ERROR, Row
from spark_pufs.types import Json

__all__ = ["KeptResults", "parquet"]

SETTINGS = "settings.json"
_PART = re.compile(r"part-(\d{5,})(?:-([0-9a-f]{16}))?\.parquet")  # number and checksum
UNIT = "unit"  # the key of the unit that gave a row
_TYPES = {str: pa.string(), int: pa.int64(), float: pa.float64()}
SCHEMA = pa.schema([(UNIT, pa.string()), *((name, _TYPES[kind]) for name, kind in COLUMNS.items())])


class KeptResults:
    """The folder ``parts`` of a run."""

    def __init__(self, folder: RunFolder) -> None:
        self._folder = folder
        self.rows = pd.DataFrame(columns=SCHEMA.names)
        self._parts = 0

    def open(self, settings: Mapping[str, Mapping[str, Json]], overwrite: bool) -> None:
        """Read what is there, if it was made with the same settings; ``settings`` by study."""
        asked = json.loads(json.dumps(settings))
        kept = ({} if overwrite else self._folder.read_json(SETTINGS)) or {}
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
        data = parquet(table)
        self._folder.write(_part(self._parts, data), data)
        self._parts += 1
        self._join([table])

    def done(self, retry: bool) -> set[tuple[str, str]]:
        """Study and key of the units that need not run again; those that failed do where they are to be retried."""
        rows = self.rows[self.rows["measure"] != ERROR] if retry else self.rows
        return set(zip(rows["study"], rows[UNIT], strict=True))

    def _read(self) -> None:
        parts = self._listed()
        self._join([self._table(name, digest) for _, digest, name in parts])
        self._parts = 1 + max((number for number, _, _ in parts), default=-1)

    def _listed(self) -> list[tuple[int, str, str]]:
        """Number, checksum and name of the parts that are there; one that was taken away does not hide the others."""
        found = ((_PART.fullmatch(name), name) for name in self._folder.names())
        return sorted((int(match[1]), match[2] or "", name) for match, name in found if match)

    def _table(self, name: str, digest: str) -> pa.Table:
        data = self._folder.read(name) or b""
        try:
            if digest and digest != _digest(data):
                raise ValueError("its checksum is wrong")
            return pq.read_table(io.BytesIO(data))
        except (OSError, ValueError) as error:
            where, why = f"Part '{name}' in '{self._folder.path}'", gist(error)
            raise DataError(Fault(where, f"is damaged ({why})", "Delete it: its units run again.")) from error

    def _join(self, tables: list[pa.Table]) -> None:
        """A unit that ran again replaces what it gave before."""
        for table in tables:
            new = table.to_pandas()
            again = pd.MultiIndex.from_frame(self.rows[["study", UNIT]]).isin(
                pd.MultiIndex.from_frame(new[["study", UNIT]])
            )
            self.rows = new if self.rows.empty else pd.concat([self.rows[~again], new], ignore_index=True)

    def _clear(self) -> None:
        for _, _, name in self._listed():
            self._folder.delete(name)


def _part(number: int, data: bytes) -> str:
    return f"part-{number:05d}-{_digest(data)}.parquet"


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:16]


def _differs(study: str, kept: Mapping[str, Json], asked: Mapping[str, Json]) -> Fault:
    names = [name for name in {**kept, **asked} if kept.get(name) != asked.get(name)]
    found = "; ".join(f"{name} was {kept.get(name)!r}, asked for is {asked.get(name)!r}" for name in names)
    fix = "Name another output.path, or set output.overwrite: true to begin anew."
    return Fault(f"Study '{study}'", f"the folder holds results of other settings ({found})", fix)
