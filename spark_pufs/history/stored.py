"""Selections as runs have left them."""

from __future__ import annotations

import json
from pathlib import Path

from spark_pufs.errors import ConfigError, Fault, PufsError
from spark_pufs.masking.texts import gist
from spark_pufs.rundir.folder import RunFolder
from spark_pufs.selection import Selection

__all__ = ["SELECTION", "read_selection"]

SELECTION = "selection.json"


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
        return Selection.from_dict(json.loads(data))
    except (ValueError, KeyError, TypeError) as error:
        fix = "It was made by another version: make the run again with this one."
        raise ConfigError(
            Fault(f"File '{SELECTION}' in '{folder.path}'", f"cannot be understood: {gist(error)}", fix)
        ) from error
