"""One run at a time in a run directory: the second one stops and says who is at work there.

The holder writes ``.lock``: host, process, when. A process of this machine that is gone, killed or not, holds nothing:
it is known by its number and the moment it started, so a number given to another process does not mislead. Of a process
elsewhere only its sign of life tells, once a minute; ten minutes without one and it counts as gone. A holder that was
only asleep and wakes up finds another's token, and its changes are refused from then on.

Taking the lock is exclusive where the folder is on a local file system. Arrow knows no exclusive creation on s3://,
gs:// or hdfs://: there two runs that begin within the same moment may both go on, and the last to write stays.
"""

from __future__ import annotations

import json
import logging
import os
import socket
import subprocess
import threading
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from functools import lru_cache, partial
from pathlib import Path

from spark_pufs.errors import Busy, Fault, PufsError
from spark_pufs.rundir.folder import RunFolder

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

__all__ = ["LOCK", "Holder", "held"]

LOCK = ".lock"
BEAT = 60.0  # seconds between signs of life
GONE = 600.0  # seconds without one, after which a process elsewhere counts as gone
log = logging.getLogger("spark_pufs")


@dataclass(frozen=True)
class Holder:
    """Who holds a folder; ``started`` tells the process from an earlier one of the same number."""

    host: str = "unknown"
    machine: str = ""
    pid: int = 0
    started: str = ""
    since: str = "an unknown time"
    token: str = ""

    @classmethod
    def here(cls) -> Holder:
        pid = os.getpid()
        now = f"{datetime.now(UTC):%Y-%m-%d %H:%M:%S} UTC"
        return cls(socket.gethostname(), _machine(), pid, _started(pid), now, uuid.uuid4().hex)

    def gone(self, age: float) -> bool:
        """Whether the process has ended; ``age`` is the time since its last sign of life."""
        if self.machine == _machine():
            return not self.started or _started(self.pid) != self.started
        return abs(age) > GONE  # a clock so far ahead gives no sign of life that could be believed


@contextmanager
def held(folder: RunFolder) -> Iterator[None]:
    """Hold a folder while the block runs, however it ends; Busy if another run holds it."""
    own, done = Holder.here(), threading.Event()
    beat = threading.Thread(target=_beat, args=(folder, own, done), daemon=True)
    try:
        _take(folder, own)
        folder.fence = partial(_fenced, folder, own)
        beat.start()
        yield
    finally:
        done.set()
        if beat.ident is not None:
            beat.join()
        with suppress(PufsError, OSError):  # what went wrong before is what users should hear
            if _holder(folder) == own:
                folder.delete(LOCK)
                folder.fence = nullcontext
                folder.unmark()
        folder.fence = nullcontext


@contextmanager
def _fenced(folder: RunFolder, own: Holder) -> Iterator[None]:
    """A change of the folder, refused where another run has taken it over: its lock is looked at first.

    On a local file system nobody can take over between the look and the change.
    """
    with _alone(folder):
        other = _holder(folder)
        if other != own:
            raise PufsError(_lost(folder, other))
        yield


def _lost(folder: RunFolder, other: Holder | None) -> Fault:
    who = "its lock was deleted" if other is None else f"process {other.pid} on {other.host} has taken it over"
    found = f"{who} while this run gave no sign of life; nothing more was written"
    return Fault(
        f"Run directory '{folder.path}'", found, "The results there are the other run's; run again if need be."
    )


def _take(folder: RunFolder, own: Holder) -> None:
    folder.check_ours()
    folder.make()
    with _alone(folder):
        other = _holder(folder)
        if other is not None and not other.gone(folder.age(LOCK)):
            raise Busy(_in_use(folder, other))
        if other is not None:
            log.warning("%s: taken over from process %d on %s, which is gone", folder.path, other.pid, other.host)
        folder.write(LOCK, json.dumps(asdict(own)).encode())
        folder.mark()


@contextmanager
def _alone(folder: RunFolder) -> Iterator[None]:
    """No other process of this machine looks at the lock meanwhile; of remote folders nothing is promised."""
    if folder.local is None or fcntl is None:
        yield
        return
    door = os.open(folder.local, os.O_RDONLY)
    try:
        with suppress(OSError):  # a network file system may know no such locks
            fcntl.flock(door, fcntl.LOCK_EX)
        yield
    finally:
        os.close(door)


def _holder(folder: RunFolder) -> Holder | None:
    data = folder.read(LOCK)
    if data is None:
        return None
    try:
        values = json.loads(data)
        texts = {name: str(values[name]) for name in ("host", "machine", "started", "since", "token")}
        return Holder(pid=int(values["pid"]), **texts)
    except (ValueError, TypeError, KeyError):
        return Holder()


def _beat(folder: RunFolder, own: Holder, done: threading.Event) -> None:
    while not done.wait(BEAT):
        with suppress(PufsError, OSError):  # a full disk is for the run itself to tell
            if _holder(folder) != own:
                log.warning("%s: another run has taken this folder over", folder.path)
                return
            folder.write(LOCK, json.dumps(asdict(own)).encode())


def _in_use(folder: RunFolder, other: Holder) -> Fault:
    who = f"process {other.pid} on {other.host}" if other.pid else "a process that left no readable name"
    fix = "Wait until it has ended and run the same command again, or name another path."
    if other.machine != _machine():
        fix += (
            f" If it is gone: after {GONE / 60:.0f} minutes without a sign of life it is passed over; or delete {LOCK}."
        )
    return Fault(f"Run directory '{folder.path}'", f"is in use by {who} since {other.since}", fix)


@lru_cache(maxsize=1)
def _machine() -> str:
    """What process numbers belong to: this boot of this host, and within it the container."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        return f"{socket.gethostname()} {boot} {os.readlink('/proc/self/ns/pid')}"
    except OSError:
        return socket.gethostname()


def _started(pid: int) -> str:
    """When a process started, or nothing if there is none; a zombie process counts as gone."""
    if not Path("/proc/self/stat").exists():
        said = subprocess.run(["ps", "-o", "lstart=", "-p", str(pid)], capture_output=True, text=True, check=False)
        return said.stdout.strip()
    try:
        # The name of the program stands in brackets and may hold anything: state is what follows the last of them.
        state, *rest = Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()
    except (OSError, ValueError):
        return ""
    return "" if state in "ZX" else rest[18]  # field 22 of proc(5)
