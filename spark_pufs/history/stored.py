"""Selections as runs have left them."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from datetime import UTC
from pathlib import Path

from spark_pufs.errors import ConfigError, Fault, PufsError
from spark_pufs.masking.texts import gist
from spark_pufs.rundir.folder import MANIFEST, RunFolder
from spark_pufs.selection import Selection

__all__ = ["SELECTION", "StoredRun", "day_of", "finished_runs", "read_selection"]

SELECTION = "selection.json"
# A day, and a time where one follows, as schedulers name folders: 2026-01-31, date=2026-01-31, 2026-01-31T060000.
_DAY = re.compile(r"(?<!\d)(\d{4}-\d\d-\d\d)(?:[T_ ](\d\d)[:-]?(\d\d)[:-]?(\d\d)?)?(?!\d)")


@dataclass(frozen=True)
class StoredRun:
    """A finished selection: its day, its name below the directory that was looked through, and its folder."""

    day: str
    name: str
    folder: RunFolder


def read_selection(path: str | Path | RunFolder) -> Selection:
    """The selection of a finished run directory, checked against its manifest."""
    folder = path if isinstance(path, RunFolder) else RunFolder(path)
    manifest = folder.finished()
    data = folder.read(SELECTION) if manifest is not None else None
    if manifest is None or data is None:
        where, fix = f"Run directory '{folder.path}'", "Name the output.path of a finished run of spark-pufs select."
        raise ConfigError(Fault(where, "holds no finished selection", fix))
    if SELECTION in folder.changed({"files": {SELECTION: manifest["files"].get(SELECTION)}}):
        fix = "Run the same command again: it makes the files anew."
        raise PufsError(Fault(f"File '{SELECTION}' in '{folder.path}'", "is not the one its manifest names", fix))
    try:
        return _checked(Selection.from_dict(json.loads(data)))
    except (ValueError, LookupError, TypeError, AttributeError, ArithmeticError) as error:
        fix = "It was made by another version: make the run again with this one."
        raise ConfigError(
            Fault(f"File '{SELECTION}' in '{folder.path}'", f"cannot be understood: {gist(error)}", fix)
        ) from error


_COUNTS = ("rows", "labelled_positive", "labelled_negative", "unlabelled", "features")


def _checked(selection: Selection) -> Selection:
    """The selection, whose fields are those of a table: a file may be sealed and still be wrong."""
    mappings = (selection.facts, selection.dropped, selection.versions)
    if not all(isinstance(one, dict) for one in mappings) or not isinstance(selection.method, str):
        raise ValueError("a field has another type")
    rows, labelled, *others = (selection.facts[name] for name in _COUNTS)
    if not all(isinstance(one, int) for one in (rows, labelled, *others)) or not 0 < labelled <= rows:
        raise ValueError("its counts are not those of a table")
    texts = [*(one.name for one in selection.features), *selection.warnings, *map(str, selection.versions.values())]
    if not all(isinstance(one, str) for one in texts):
        raise ValueError("a name is not text")
    for one in selection.features:
        float(one.score), float(one.standard_error), float(one.cost), int(one.rank)
    return selection


def finished_runs(root: RunFolder) -> list[StoredRun]:
    """Every finished selection below ``root``, in the order of the days in their names, or else of their finishing."""
    runs = [(name, root.below(name)) for name in root.holding(MANIFEST)]
    runs = [(name, folder) for name, folder in runs if SELECTION in folder.names()]
    days = {name: day_of(name) for name, _ in runs}
    if not all(days.values()):
        days = {name: _finished(folder) for name, folder in runs}
    found = [StoredRun(days[name] or "", name, folder) for name, folder in runs]
    return sorted(found, key=lambda one: (one.day, one.name))


def day_of(name: str) -> str | None:
    """The last day that a name holds, with its time if one is given.

    >>> day_of("flows/date=2026-01-31"), day_of("2026-01-31T060000"), day_of("first")
    ('2026-01-31', '2026-01-31 06:00:00', None)
    """
    found = list(_DAY.finditer(name))
    if not found:
        return None
    day, *clock = found[-1].groups()
    return f"{day} {':'.join(part or '00' for part in clock)}" if clock[0] else str(day)


def _finished(folder: RunFolder) -> str:
    written = folder.written(MANIFEST)
    return "" if written is None else written.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S")
