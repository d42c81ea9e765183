"""A folder of plain files, each replaced whole; the manifest says that it is finished and what belongs to it."""

from __future__ import annotations

import copy
import hashlib
import json
import logging
import os
import re
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from datetime import datetime
from pathlib import Path
from typing import Any, Literal

from pyarrow import fs

from spark_pufs.errors import ConfigError, DataError, Fault, PufsError
from spark_pufs.masking.addresses import address_shown
from spark_pufs.masking.texts import gist
from spark_pufs.rundir.atomic import move, partial, stage
from spark_pufs.rundir.differences import differences
from spark_pufs.rundir.local_place import in_the_way, nearest
from spark_pufs.rundir.stores import FIX, Store, address_for_arrow, trouble
from spark_pufs.types import Json
from spark_pufs.values import Strange, path_text

__all__ = ["MANIFEST", "MARK", "RunFolder"]

MANIFEST = "manifest.json"
MARK = ".spark-pufs"  # says that the folder is a run directory
_MARK_TEXT = b"A run directory of spark_pufs: files in it are replaced by the next run.\n"
_OURS = ("checkpoint.npz", "config.pending.yaml", "parts", ".lock")  # of runs stopped before folders were marked
_NOBODYS = (".DS_Store", ".directory", ".gitignore", ".gitkeep", ".keep")  # in folders that hold nothing
_HARMLESS = {*_OURS, *_NOBODYS, *map(partial, (MARK, *_OURS))}
_PASSING = (".lock-bid-", ".probe-", "..probe-")  # of runs that are beginning in this moment
log = logging.getLogger("spark_pufs")

_PLAIN = re.compile(r"(?!\.{1,2}$)[^/\\\x00-\x1f]{1,200}")


class RunFolder:
    """A local folder or any address that Arrow can write to (s3://, s3a://, gs://, abfss://, hdfs://, file://).

    ``path`` is what users are shown: an address without its secrets.
    """

    def __init__(self, path: str | Path) -> None:
        text = path_text(path)
        self._given = "" if isinstance(text, Strange) else text
        self.path = address_shown(self._given)
        self.fence: Callable[[], AbstractContextManager[None]] = nullcontext  # around every change; the lock sets it
        if not self._given.strip():
            shown = str(path) if isinstance(path, str) else f"{text!r}"
            raise ConfigError(Fault(f"Output '{shown}'", "is not a path", "Name a folder, for example runs/first."))
        try:
            place = address_for_arrow(self._given)
            if "://" in place:
                files, self._base = fs.FileSystem.from_uri(place)
            else:
                place = str(Path(place).expanduser())
                self._given = self._given if ":" in self._given else place
                files, self._base = fs.LocalFileSystem(), str(Path(place).absolute())
        except OSError as error:
            raise trouble(error, f"Output '{self.path}'", "cannot be used") from error
        except (ValueError, RuntimeError) as error:  # ConfigError is one; RuntimeError: ~ of an unknown user
            if isinstance(error, PufsError):
                raise
            raise ConfigError(Fault(f"Output '{self.path}'", f"cannot be used: {gist(error)}", FIX)) from error
        self._store = Store(files)

    @property
    def local(self) -> Path | None:
        """The folder of this machine, or None where it is elsewhere."""
        return Path(self._base) if self._store.local else None

    def inner(self, name: str) -> RunFolder:
        """A folder in this one."""
        folder = copy.copy(self)
        folder._base, folder._given = self.at(name), self.address(name)
        folder.path = address_shown(folder._given)
        return folder

    def outer(self) -> tuple[RunFolder, str]:
        """The folder that this one lies in, and its name there."""
        folder = copy.copy(self)
        folder._base, _, name = self._base.rstrip("/").rpartition("/")
        folder._given = self._given.rstrip("/").rpartition("/")[0] or "."
        folder.path = address_shown(folder._given)
        return folder, name

    def check_place(self) -> None:
        """Refuse a place where no folder can be made or written.

        On this machine nothing is written to find out; a store is asked to take a file, to put another in its place, to
        show it and to let it go, which leaves nothing.
        """
        if self.local is None:
            self._try_store()
            return
        wrong, there = in_the_way(self.local, self.path), nearest(self.local)
        if wrong is not None:
            raise wrong
        if there is not None and not os.access(there, os.W_OK | os.X_OK):
            raise PufsError(Fault(f"Output '{self.path}'", f"'{there}' may not be written", FIX))

    def _try_store(self) -> None:
        name = f".probe-{uuid.uuid4().hex}"
        try:
            new = self._store.kind(self._base) == fs.FileType.NotFound
            self._store.make(self._base)
            for data in (b"1", b"2"):
                self._store.put(self.at(partial(name)), data)
                self._store.move(self.at(partial(name)), self.at(name))
            seen = self._store.read(self.at(name))
            self._store.delete_folder(self._base) if new else self._store.delete(self.at(name))
        except OSError as error:
            raise self._unwritten(error) from error
        if seen != b"2":
            raise PufsError(Fault(f"Output '{self.path}'", "shows an old file after it was replaced", FIX))

    def check_ours(self) -> None:
        """Refuse a folder that holds anything and is no run directory: its files are the user's."""
        there = self._listed()
        foreign = sorted(name for name in there - _HARMLESS if not name.startswith(_PASSING))
        if foreign and MARK not in there and not self._has_manifest():
            shown = ", ".join(foreign[:3]) + (f" and {len(foreign) - 3} more" if len(foreign) > 3 else "")
            found = f"holds {shown}, and is not a run directory"
            raise ConfigError(Fault(f"Output '{self.path}'", found, "Name a folder that is empty or not there yet."))

    def mark(self) -> None:
        """Make the folder ours, and take away what killed runs left half-written in it."""
        if MARK not in (there := self._listed()):
            self.write(MARK, _MARK_TEXT)
        for name in there:
            if name.startswith(".") and name.endswith(".partial"):
                self._delete(name)
                self._delete_table(name)

    def unmark(self) -> None:
        """Leave an empty folder as empty as it was."""
        if self._listed() == {MARK}:
            self.delete(MARK)

    def _has_manifest(self) -> bool:
        """Whether a run of ours has finished here, marked or not."""
        with suppress(PufsError):
            manifest = self.read_json(MANIFEST) or {}
            return isinstance(manifest.get("files"), dict) and bool({"fingerprint", "job"} & manifest.keys())
        return False

    def _listed(self) -> set[str]:
        try:
            listed = self._store.listed(self._base)
        except OSError as error:
            raise self._unwritten(error) from error
        return {info.base_name for info in listed}

    def finished(self) -> dict[str, Any] | None:
        """The manifest, if a run has finished here."""
        manifest = self.read_json(MANIFEST)
        if manifest is not None and not isinstance(manifest.get("files"), dict):
            raise self._damaged(MANIFEST, "it lists no files")
        return manifest

    def check(
        self,
        fingerprint: str,
        overwrite: bool | Literal["changed"],
        tables: Sequence[str] = (),
        request: Mapping[str, Json] | None = None,
    ) -> bool:
        """Whether this very run has finished here already; another run's results are not replaced unasked.

        ``overwrite``: True does even this very run again, "changed" replaces the results of others alone.

        Where a file is no longer the one that the manifest names, or one of the ``tables`` asked for is not there, the
        run is not done: it can be done again. ``request``: what is asked for, to say what differs.
        """
        manifest = None if overwrite is True else self.finished()
        if manifest is None:
            return False
        if manifest.get("fingerprint") != fingerprint:
            if overwrite:
                return False
            found = "holds the results of another table, request or version"
            fix = f"{self._other(request)}Set `overwrite=True`, or name another path."
            raise ConfigError(Fault(f"Output '{self.path}'", found, fix))
        changed = self.changed(manifest) + [name for name in tables if not self._has_table(name, manifest)]
        if changed:
            log.warning("%s: not as its manifest says (%s); made again", self.path, ", ".join(changed))
        return not changed

    def _other(self, request: Mapping[str, Json] | None) -> str:
        """What was asked for here and is not asked for now, where that can be told."""
        with suppress(PufsError):
            there = (self.read_json("selection.json") or {}).get("request")
            if request is not None and isinstance(there, dict):
                found = differences(there, json.loads(json.dumps(request)))
                return f"What differs: {'; '.join(found[:3])}{'; ...' if len(found) > 3 else ''}. " if found else ""
        return ""

    def changed(self, manifest: Mapping[str, Any]) -> list[str]:
        """Files that are gone or are not those that the manifest names."""
        digests = {
            name: facts.get("sha256") if isinstance(facts, dict) else None for name, facts in manifest["files"].items()
        }
        return [name for name, digest in digests.items() if _sha256(self.read(name)) != digest]

    def read(self, name: str) -> bytes | None:
        """One file, or None where there is none."""
        place = self.at(name)
        try:
            return self._store.read(place) if self._store.kind(place) == fs.FileType.File else None
        except OSError as error:
            raise trouble(error, f"File '{name}' in '{self.path}'", "cannot be read") from error

    def read_json(self, name: str) -> dict[str, Any] | None:
        """One file of ours that holds a JSON object, or None where there is none."""
        data = self.read(name)
        if data is None:
            return None
        try:
            values = json.loads(data)
        except (ValueError, RecursionError) as error:
            raise self._damaged(name, gist(error)) from error
        if not isinstance(values, dict):
            raise self._damaged(name, f"expected an object, found {type(values).__name__}")
        return values

    def names(self) -> list[str]:
        """The files in it, by name."""
        listed = self._store.listed(self._base)
        return sorted(info.base_name for info in listed if info.type == fs.FileType.File)

    def holding(self, name: str) -> list[str]:
        """Folders in it, at any depth, that hold a file of this name, relative to it; ``.`` is the folder itself."""
        try:
            listed = self._store.listed(self._base, recursive=True)
        except OSError as error:
            raise trouble(error, f"Directory '{self.path}'", "cannot be read") from error
        places = [info.path for info in listed if info.type == fs.FileType.File and info.base_name == name]
        base = self._base.rstrip("/")
        return sorted(place.removeprefix(base).strip("/").removesuffix(name).rstrip("/") or "." for place in places)

    def below(self, name: str) -> RunFolder:
        """A folder at any depth in this one, as ``holding`` names it."""
        folder = self
        for part in () if name == "." else name.split("/"):
            folder = folder.inner(part)
        return folder

    def written(self, name: str) -> datetime | None:
        """When a file was written; None if it is not there."""
        found: datetime | None = self._store.info(self.at(name)).mtime
        return found

    def age(self, name: str) -> float:
        """Seconds since a file was written; none if it is not there."""
        written = self.written(name)
        return 0.0 if written is None else time.time() - written.timestamp()

    def delete(self, name: str) -> None:
        """Take one file away, if it is there."""
        with self.fence():
            self._delete(name)

    def _delete(self, name: str) -> None:
        try:
            self._store.delete(self.at(name))
        except OSError as error:
            raise self._unwritten(error) from error

    def write(self, name: str, data: bytes) -> None:
        """Replace one file; a reader sees the old one or the new one, never half of it."""
        self._stage(name, data)
        with self.fence():
            self._show(name)

    def put(self, name: str, data: bytes) -> None:
        """Write a file that nobody reads for what is in it: it is there at once, whole or not."""
        try:
            self._store.put(self.at(name), data)
        except OSError as error:
            raise self._unwritten(error) from error

    def write_all(
        self, files: Mapping[str, bytes], facts: Mapping[str, Json], tables: Mapping[str, int] | None = None
    ) -> None:
        """Write the files beside the old ones; once all are there take the old manifest away, show them, and last a
        manifest that names them. ``tables``, their rows by name, lie at ``staged_table`` already."""
        counted = {name: {"rows": rows} for name, rows in (tables or {}).items()}
        listed = {name: {"bytes": len(data), "sha256": _sha256(data)} for name, data in files.items()}
        manifest = json.dumps({**facts, "files": listed, "tables": counted}, indent=2).encode()
        every = {**files, MANIFEST: manifest}
        try:
            for name, data in every.items():
                self._stage(name, data)
        except BaseException:
            for name in every:
                self._drop(name)
            raise
        with self.fence():
            self._delete(MANIFEST)
            for name in counted:
                self._show_table(name)
            for name in every:
                self._show(name)

    def staged_table(self, name: str) -> str:
        """Where to write a table of many files before ``write_all`` shows it; what an earlier run left is gone."""
        self.make()
        self._delete_table(partial(name))
        return self.staged_at(name)

    def staged_at(self, name: str) -> str:
        return self.address(partial(name))

    def stage_table(self, name: str, data: bytes) -> None:
        """Write a table of one Parquet file there."""
        self.staged_table(name)
        try:
            self._store.make(self.at(partial(name)))
            self._store.put(f"{self.at(partial(name))}/part-0.parquet", data)
        except OSError as error:
            raise self._unwritten(error) from error

    def staged_rows(self, name: str) -> int:
        """Rows of the Parquet table that lies at ``staged_table``."""
        try:
            return self._store.rows(self.at(partial(name)))
        except OSError as error:
            raise self._unwritten(error) from error

    def make(self) -> None:
        """Make the folder, if it is not there."""
        try:
            self._store.make(self._base)
        except OSError as error:
            raise self._unwritten(error) from error

    def address(self, name: str) -> str:
        """The place of a file as users wrote it, for those who write by other means than ours."""
        self.at(name)
        return f"{self._given.rstrip('/')}/{name}"

    def at(self, name: str) -> str:
        """The place of a file; a name that leads out of the folder, itself or by a link, is refused."""
        if not _PLAIN.fullmatch(name):
            raise self._leads_out(name, "is not the name of a file in it")
        if self.local is not None and (self.local / name).is_symlink():
            target = (self.local / name).resolve()
            if not target.is_relative_to(self.local.resolve()):
                raise self._leads_out(name, f"is a link to '{target}', outside")
        return f"{self._base}/{name}"

    def _stage(self, name: str, data: bytes) -> None:
        self.at(name)
        self.make()
        place = self.at(partial(name))
        try:
            if self.local is not None:
                stage(Path(place), data, self.local / name)
                return
            self._store.put(place, data)
        except OSError as error:
            self._drop(name)
            raise self._unwritten(error) from error

    def _show(self, name: str) -> None:
        staged, place = self.at(partial(name)), self.at(name)
        try:
            if self.local is not None:
                move(Path(staged), Path(place))
            else:
                self._store.move(staged, place)
        except OSError as error:
            raise self._unwritten(error) from error

    def _show_table(self, name: str) -> None:
        self._delete_table(name)
        try:
            self._store.move_folder(self.at(partial(name)), self.at(name))
        except OSError as error:
            raise self._unwritten(error) from error

    def _has_table(self, name: str, manifest: Mapping[str, Any]) -> bool:
        there = self._store.kind(self.at(name)) == fs.FileType.Directory
        return there and name in (manifest.get("tables") or {})

    def _delete_table(self, name: str) -> None:
        try:
            self._store.delete_folder(self.at(name))
        except OSError as error:
            raise self._unwritten(error) from error

    def _drop(self, name: str) -> None:
        with suppress(OSError, PufsError):
            self._delete(partial(name))

    def _unwritten(self, error: OSError) -> PufsError:
        where = f"Output '{self.path}'"
        if self.local is not None:
            told = PufsError(Fault(where, f"cannot be written: {gist(error)}", FIX))
            return in_the_way(self.local, self.path) or told
        return trouble(error, where, "cannot be written")

    def _damaged(self, name: str, why: str) -> DataError:
        fix = "Set `overwrite=True` to replace what is there, or name another path."
        return DataError(Fault(f"File '{name}' in '{self.path}'", f"is damaged ({why})", fix))

    def _leads_out(self, name: str, why: str) -> ConfigError:
        fix = "A run directory holds plain files only: correct the name, or remove the link."
        return ConfigError(Fault(f"Run directory '{self.path}'", f"'{name}' {why}", fix))


def _sha256(data: bytes | None) -> str:
    return "" if data is None else hashlib.sha256(data).hexdigest()
