"""Pages that lie anywhere: written whole, over nothing or over an earlier page of ours."""

from __future__ import annotations

import os
from pathlib import Path

from spark_pufs.errors import ConfigError, Fault
from spark_pufs.masking.texts import gist
from spark_pufs.report.render import MARKS
from spark_pufs.rundir.atomic import write_file

__all__ = ["write_page"]

_HEAD = 1000  # bytes that say whose page it is


def write_page(path: str | Path, text: str, what: str = "Page") -> None:
    """Write one page; a file that holds anything and is no page of ours is the user's and stays."""
    place = Path(os.path.expanduser(path))
    try:
        if place.is_file() and not _is_ours(place):
            found = "is there already, and is no page of spark_pufs"
            raise ConfigError(Fault(f"{what} '{path}'", found, "Name another file, or take this one away."))
        write_file(place, text.encode())
    except ConfigError:
        raise
    except (OSError, ValueError) as error:  # ValueError: NUL in the path
        fix = "Name a file in a folder that is there and may be written."
        why = getattr(error, "strerror", None) or gist(error)
        raise ConfigError(Fault(f"{what} '{path}'", f"cannot be written: {why}", fix)) from error


def _is_ours(place: Path) -> bool:
    with place.open("rb") as file:
        head = file.read(_HEAD)
    return not head or any(mark.encode() in head for mark in MARKS)
