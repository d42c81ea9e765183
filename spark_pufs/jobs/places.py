"""Where a table is read and where results go must be two places: writing over a table would lose it."""

from __future__ import annotations

import os
import re
from contextlib import suppress
from fnmatch import fnmatchcase
from pathlib import PurePosixPath
from urllib.parse import SplitResult, unquote, urlsplit

from spark_pufs.errors import ConfigError, Fault
from spark_pufs.masking.addresses import Address

__all__ = ["check_apart"]

_GLOB = "*?[{"
_CALLED = {"source": "table", "memory": "memory"}


def check_apart(source: Address | None, output: Address, what: str = "Output", of: str = "source") -> None:
    """Refuse an output that is the source, lies in it or holds it; links, ``..`` and file:// are seen through."""
    if source is None or not output.given.strip():
        return
    (its_store, table), (our_store, run) = _place(source.given), _place(output.given)
    how = _relation(run, table) if its_store == our_store else ""
    if how:
        found = f"{how} the {of} '{source}', which would be lost"
        raise ConfigError(Fault(f"{what} '{output}'", found, f"Name a folder apart from the {_CALLED[of]}."))


def _relation(run: PurePosixPath, table: PurePosixPath) -> str:
    if any(_fits(place, table) for place in (run, *run.parents)):
        return "is" if _fits(run, table) else "lies in"
    return "holds" if _fixed(table).is_relative_to(run) else ""


def _place(address: str) -> tuple[str, PurePosixPath]:
    """The store, and the place in it with links and .. followed; s3, s3a and s3n are one store."""
    parts = _split(address) if "://" in address or address.startswith("file:") else None
    if parts is None or parts.scheme.lower() == "file":
        path = os.path.expanduser(address if parts is None else unquote(parts.path))
        with suppress(ValueError):  # a NUL in it: those who open it will say so
            path = os.path.realpath(path)  # not Path.resolve, which raises at links that lead to themselves
        return "", PurePosixPath(path)
    scheme = re.sub("^s3[an]$", "s3", parts.scheme.lower())
    host = parts.netloc.rpartition("@")[2].lower()
    return f"{scheme}://{host}", PurePosixPath("/", *(part for part in parts.path.split("/") if part not in ("", ".")))


def _split(address: str) -> SplitResult | None:
    try:
        return urlsplit(address)
    except ValueError:  # such as an open bracket; Spark will say what is wrong with it
        return None


def _fits(place: PurePosixPath, table: PurePosixPath) -> bool:
    """Whether a place is the table, or one of the places that it stands for where it is a glob."""
    if len(place.parts) != len(table.parts):
        return False
    pairs = zip(place.parts, table.parts, strict=True)
    return all(one == wanted or "{" in wanted or fnmatchcase(one, wanted) for one, wanted in pairs)


def _fixed(table: PurePosixPath) -> PurePosixPath:
    """The path up to its first glob."""
    end = next((i for i, part in enumerate(table.parts) if any(mark in part for mark in _GLOB)), None)
    return PurePosixPath(*table.parts[:end])
