"""The one way a file of this machine is written: beside its place, to the disk, then moved there in one step.

Whatever fails before the move, what was there before stays whole.
"""

from __future__ import annotations

import errno
import os
import stat
from contextlib import suppress
from pathlib import Path

__all__ = ["move", "partial", "stage", "write_file"]


def partial(name: str) -> str:
    """What a file is called until it is whole."""
    return f".{name}.partial"


def write_file(path: Path, data: bytes) -> None:
    """Replace one file whole; a link is followed, and anything but a plain file is refused with an OSError."""
    place = path.resolve()
    if place.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(place))
    if place.exists() and not place.is_file():
        raise OSError("is a pipe or a device, not a file")
    staged = place.with_name(partial(place.name))
    stage(staged, data, place)
    move(staged, place)


def stage(staged: Path, data: bytes, place: Path) -> None:
    """The whole of ``data`` on the disk, with the rights of the file at ``place``; on failure nothing is left."""
    with suppress(FileNotFoundError):
        staged.unlink()  # what a killed run left; a FIFO of that name would never open
    try:
        descriptor = os.open(staged, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        with suppress(FileNotFoundError):
            staged.chmod(stat.S_IMODE(place.stat().st_mode))
    except BaseException:
        with suppress(OSError):
            staged.unlink()
        raise


def move(staged: Path, place: Path) -> None:
    """Show what was staged; the folder's own record of it goes to the disk too."""
    os.replace(staged, place)
    with suppress(OSError):  # not every file system lets a folder be opened
        folder = os.open(place.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
