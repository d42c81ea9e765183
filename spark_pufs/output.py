"""The run directory: files replaced one by one, the manifest last. A folder without a manifest is not finished."""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import fs

from spark_pufs.errors import ConfigError, Fault, PufsError
from spark_pufs.report import to_html, to_markdown
from spark_pufs.selection import Selection

__all__ = ["RunFolder", "files_of", "parquet", "write_selection"]

MANIFEST = "manifest.json"


class RunFolder:
    """A local folder or any address that Arrow can write to (s3://, gs://, hdfs://, file://)."""

    def __init__(self, path: str | Path) -> None:
        self.path = str(path)
        try:
            if "://" in self.path:
                self._fs, self._base = fs.FileSystem.from_uri(self.path)
            else:
                self._fs, self._base = fs.LocalFileSystem(), str(Path(path).absolute())
        except (ValueError, OSError) as error:
            raise ConfigError(Fault(f"Output '{self.path}'", f"cannot be used: {error}", _FIX)) from error

    def open(self) -> None:
        """Make the folder and try that it can be written, before any work is done."""
        self.write(".probe", b"")
        self.delete(".probe")

    def finished(self) -> dict[str, Any] | None:
        """The manifest, if a run has finished here."""
        data = self.read(MANIFEST)
        return None if data is None else json.loads(data)

    def check(self, fingerprint: str, overwrite: bool) -> bool:
        """Whether this very run has finished here already; another run's results are not replaced unasked."""
        manifest = self.finished()
        if manifest is None or overwrite:
            return False
        if manifest["fingerprint"] == fingerprint:
            return True
        found = "holds the results of another table, request or version"
        raise ConfigError(Fault(f"Output '{self.path}'", found, "Set output.overwrite: true, or name another path."))

    def read(self, name: str) -> bytes | None:
        """One file, or None where there is none."""
        if self._fs.get_file_info(self._at(name)).type != fs.FileType.File:
            return None
        with self._fs.open_input_stream(self._at(name)) as file:
            data: bytes = file.read()
        return data

    def delete(self, name: str) -> None:
        """Take one file away, if it is there."""
        if self._fs.get_file_info(self._at(name)).type == fs.FileType.File:
            self._fs.delete_file(self._at(name))

    def write(self, name: str, data: bytes) -> None:
        """Replace one file; a reader sees the old one or the new one, never half of it."""
        try:
            self._fs.create_dir(self._base, recursive=True)
            with self._fs.open_output_stream(self._at(f".{name}.partial")) as file:
                file.write(data)
            self._fs.move(self._at(f".{name}.partial"), self._at(name))
        except OSError as error:
            raise PufsError(Fault(f"Output '{self.path}'", f"cannot be written: {error}", _FIX)) from error

    def write_all(self, files: Mapping[str, bytes], facts: Mapping[str, Any]) -> None:
        """Take the old manifest away, write the files, then a manifest that names them."""
        self.delete(MANIFEST)
        for name, data in files.items():
            self.write(name, data)
        listed = {name: {"bytes": len(d), "sha256": hashlib.sha256(d).hexdigest()} for name, d in files.items()}
        self.write(MANIFEST, json.dumps({**facts, "files": listed}, indent=2).encode())

    def _at(self, name: str) -> str:
        return f"{self._base}/{name}"


def write_selection(
    selection: Selection, path: str | Path, overwrite: bool = False, more: Mapping[str, bytes] | None = None
) -> None:
    """All files of a selection; nothing happens where the same selection already lies."""
    folder = RunFolder(path)
    if folder.check(selection.fingerprint, overwrite):
        return
    facts = {"fingerprint": selection.fingerprint, "method": selection.method, "versions": dict(selection.versions)}
    folder.write_all({**files_of(selection), **(more or {})}, facts)


def files_of(selection: Selection) -> dict[str, bytes]:
    """The answer in every form it is kept in: for programs, for tables, for readers."""
    return {
        "selection.json": selection.to_json().encode(),
        "ranking.parquet": parquet(selection.table()),
        "report.html": to_html(selection).encode(),
        "report.md": to_markdown(selection).encode(),
    }


def parquet(table: pd.DataFrame | pa.Table) -> bytes:
    """A table as the bytes of a Parquet file."""
    file = io.BytesIO()
    pq.write_table(
        pa.Table.from_pandas(table, preserve_index=False) if isinstance(table, pd.DataFrame) else table, file
    )
    return file.getvalue()


_FIX = "Check that the place exists, has room and may be written."
