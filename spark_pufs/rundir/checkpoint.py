"""Work in progress, replaced atomically after each generation; another run's work is refused, not overwritten."""

from __future__ import annotations

import hashlib
import zipfile
from collections.abc import Mapping

from spark_pufs.core.search.saved_state import State, decode, encode
from spark_pufs.errors import ConfigError, DataError, Fault
from spark_pufs.masking.texts import gist
from spark_pufs.rundir.differences import differences
from spark_pufs.rundir.folder import RunFolder
from spark_pufs.types import Json

__all__ = ["CHECKPOINT", "FolderKeeper"]

CHECKPOINT = "checkpoint.npz"
_IDENTITY = "identity"
_HEAD, _DIGEST = b"spark-pufs checkpoint 1\n", hashlib.sha256().digest_size


class FolderKeeper:
    """Keeps the state in a run directory, with the identity of the run it belongs to."""

    def __init__(self, folder: RunFolder, identity: Mapping[str, Json], overwrite: bool | str = False) -> None:
        self._folder = folder
        self._overwrite = overwrite
        self._identity = dict(identity)
        self.where: str | None = folder.path

    def check(self) -> None:
        """Refuse a folder with another run's work, or with damaged work, unless it may be overwritten."""
        if not self._overwrite:
            self.load()

    def load(self) -> State | None:
        """The state of this run, or None before its first generation."""
        data = self._folder.read(CHECKPOINT)
        if data is None:
            return None
        try:
            state = decode(_opened(data))
            identity = state.pop(_IDENTITY)
            if not isinstance(identity, Mapping):
                raise ValueError("it names no run")
        except (ValueError, KeyError, OSError, EOFError, RecursionError, MemoryError, zipfile.BadZipFile) as error:
            fix = f"Delete {CHECKPOINT} to start again."
            raise DataError(Fault(f"Checkpoint in '{self.where}'", f"is damaged ({gist(error)})", fix)) from error
        found = differences(identity, self._identity)
        if found and self._overwrite:
            return None
        if found:
            fix = "Name another output.path, or delete the checkpoint to start again."
            other = f"belongs to another run: {'; '.join(found)}"
            raise ConfigError(Fault(f"Checkpoint in '{self.where}'", other, fix))
        return state

    def save(self, state: State) -> None:
        self._folder.write(CHECKPOINT, _sealed(encode({**state, _IDENTITY: self._identity})))

    def clear(self) -> None:
        """The run is finished: its results take the place of its state."""
        self._folder.delete(CHECKPOINT)


def _sealed(data: bytes) -> bytes:
    """Sums of the archive cover its contents, not its directory: one over all tells every change."""
    return _HEAD + hashlib.sha256(data).digest() + data


def _opened(sealed: bytes) -> bytes:
    digest, data = sealed[len(_HEAD) :][:_DIGEST], sealed[len(_HEAD) + _DIGEST :]
    if not sealed.startswith(_HEAD) or hashlib.sha256(data).digest() != digest:
        raise ValueError("its checksum is wrong")
    return data
