"""Jobs that are killed, or find the disk full, and are then run again.

Each try is a fork of this process. An audit hook counts what the job opens for writing, renames, removes and makes in
its own folder, and strikes before the n-th of these; n grows until the job gets through. Or the job is killed at a
random moment.
"""

from __future__ import annotations

import errno
import os
import random
import shutil
import signal
import sys
import time
import traceback
import warnings
from collections.abc import Callable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from spark_pufs.errors import PufsError
from spark_pufs.rundir.folder import RunFolder

__all__ = ["BROKEN", "DONE", "REFUSED", "Job", "Tally", "forked", "left_over", "strike_at_random", "strike_everywhere"]

CHANGES = {"os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.link", "os.truncate"}
WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC
DONE, REFUSED, BROKEN = 0, 7, 9


@dataclass(frozen=True)
class Job:
    """``table`` writes the source, ``begin`` makes what was there before, ``run`` does the work, ``answer`` reads what
    came of it; ``folders`` are those that it writes to."""

    name: str
    table: Callable[[Path], object]
    begin: Callable[[Path], object]
    run: Callable[[Path], object]
    answer: Callable[[Path], Any]
    folders: tuple[str, ...] = ("out",)


@dataclass
class Tally:
    """What was tried and found: strikes, answers that differ, files of the user that changed, files left over."""

    strikes: int = 0
    different: int = 0
    lost: int = 0
    left: int = 0
    raw: int = 0

    def __add__(self, other: Tally) -> Tally:
        return Tally(*(getattr(self, one.name) + getattr(other, one.name) for one in fields(Tally)))

    @property
    def clean(self) -> bool:
        return not (self.different or self.lost or self.left or self.raw)


def strike_everywhere(job: Job, folder: Path, full: bool = False, most: int = 10**6, every: int = 1) -> Tally:
    """Strike before every operation, or every so manyth; ``full``: the disk is full there, else it is a SIGKILL."""
    found, usual = Tally(), undisturbed(job, folder / "usual")
    for n in range(1, most + 1, every):
        place = begun(job, folder / "struck")
        ended = forked(lambda own=place: job.run(own), place, n, full)  # type: ignore[misc]
        if ended == DONE:
            break
        again(job, place, usual, ended, found)
    return found


def strike_at_random(job: Job, folder: Path, kills: int, rng: random.Random) -> Tally:
    """Kill so many times at a moment drawn from those that the job takes; what had finished before does not count."""
    found, usual = Tally(), undisturbed(job, folder / "usual")
    place = begun(job, folder / "struck")
    began = time.monotonic()
    forked(lambda: job.run(place), place, 0, False)
    takes = time.monotonic() - began
    while found.strikes < kills:
        place = begun(job, folder / "struck")
        ended = forked(lambda own=place: job.run(own), place, 0, False, rng.uniform(0, takes))  # type: ignore[misc]
        if ended != DONE:
            again(job, place, usual, ended, found)
    return found


def again(job: Job, place: Path, usual: Any, ended: int, found: Tally) -> None:
    """Run what was struck once more, and add to the tally what came of it."""
    found.strikes += 1
    found.raw += ended == BROKEN
    found.lost += (place / "mine.txt").read_text() != "mine"
    ended = forked(lambda: job.run(place), place, 0, False)
    found.raw += ended != DONE
    found.different += ended == DONE and job.answer(place / "out") != usual
    found.left += any(left_over(place / name) for name in job.folders)


def undisturbed(job: Job, place: Path) -> Any:
    begun(job, place)
    ended = forked(lambda: job.run(place), place, 0, False)
    assert ended == DONE, f"{job.name} undisturbed ends with {ended}"
    return job.answer(place / "out")


def begun(job: Job, place: Path) -> Path:
    """What was there before the job, made once and then copied back to the same place."""
    whole = place.with_name(f"{place.name}.begun")
    shutil.rmtree(place, ignore_errors=True)
    if whole.exists():
        return Path(shutil.copytree(whole, place))
    place.mkdir(parents=True)
    (place / "mine.txt").write_text("mine")
    job.table(place)
    assert forked(lambda: job.begin(place), place, 0, False) == DONE
    shutil.copytree(place, whole)
    return place


def left_over(out: Path) -> list[str]:
    if not out.is_dir():
        return []
    return [name for name in os.listdir(out) if name.endswith(".partial") or name in (".lock", "config.pending.yaml")]


def forked(work: Callable[[], object], folder: Path, strike: int, full: bool, seconds: float | None = None) -> int:
    """How the work ended in a process of its own: its exit code, or minus the signal that killed it.

    Killed after so many ``seconds``, if given.
    """
    child = os.fork()
    if not child:
        os._exit(_worked(work, folder, strike, full))
    if seconds is not None:
        time.sleep(seconds)
        os.kill(child, signal.SIGKILL)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def _worked(work: Callable[[], object], folder: Path, strike: int, full: bool) -> int:
    try:
        told, quiet = os.dup(2), os.open(os.devnull, os.O_WRONLY)
        os.dup2(quiet, 1)
        os.dup2(quiet, 2)
        warnings.simplefilter("ignore")
        if strike:
            _tell_of_removals()
            sys.addaudithook(Seam(folder, strike, full))
        work()
        return DONE
    except PufsError:
        return REFUSED
    except BaseException:
        os.write(told, traceback.format_exc().encode())
        return BROKEN


def _tell_of_removals() -> None:
    """Arrow removes files without a word to audit hooks; for the rest of this process a word is said for it."""
    silent = RunFolder._delete

    def told(self: RunFolder, name: str) -> None:
        sys.audit("os.remove", self.at(name), -1)
        silent(self, name)

    RunFolder._delete = told  # type: ignore[method-assign]


class Seam:
    """An audit hook that strikes before the n-th change of files below a folder."""

    def __init__(self, folder: Path, strike: int, full: bool) -> None:
        self._folder, self._left, self._full = str(folder), strike, full

    def __call__(self, event: str, arguments: tuple[Any, ...]) -> None:
        if not self._changes(event, arguments):
            return
        self._left -= 1
        if self._left:
            return
        if not self._full:
            os.kill(os.getpid(), signal.SIGKILL)
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def _changes(self, event: str, arguments: tuple[Any, ...]) -> bool:
        if event not in CHANGES and not (event == "open" and isinstance(arguments[2], int) and arguments[2] & WRITES):
            return False
        if self._full and event != "open":  # a full disk takes renames and removals
            return False
        return isinstance(arguments[0], str | os.PathLike) and os.fspath(arguments[0]).startswith(self._folder)
