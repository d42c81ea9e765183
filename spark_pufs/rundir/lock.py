"""One run at a time in a run directory: the second one stops and says who is at work there.

The holder writes ``.lock``: host, process, when. A process of this machine that is gone, killed or not, holds nothing:
it is known by its number and the moment it started, so a number given to another process does not mislead. Of a process
elsewhere only its sign of life tells, once a minute; ten minutes without one and it counts as gone. A holder that was
only asleep and wakes up finds another's token, and its changes are refused from then on.

Taking the lock is exclusive. On a local file system that is flock's doing. Arrow knows no conditional writes on s3://,
gs://, abfss:// or hdfs://, but all of them list a file as soon as it is written, and that is enough: who wants the lock
writes a bid of its own first, then lists all bids, and only then looks at the lock. Of two that bid at the same moment
at least one sees the other, and the one with the smaller token stays: Lamport's bakery, with tokens for numbers.
"""

from __future__ import annotations

import json
import logging
import os
import socket
import subprocess
import threading
import time
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

LOCK, BID = ".lock", ".lock-bid-"
GLANCE, STALE = 0.2, 180.0  # seconds between looks at bids, and how much older than ours one may be
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
    with _alone(folder) if folder.local is not None else _elected(folder, own):
        other = _free(folder)
        if other is not None:
            log.warning("%s: taken over from process %d on %s, which is gone", folder.path, other.pid, other.host)
        folder.write(LOCK, json.dumps(asdict(own)).encode())
    folder.mark()


def _free(folder: RunFolder) -> Holder | None:
    """Whose lock is there, if that process is gone; Busy if it is not."""
    other = _holder(folder)
    if other is not None and not other.gone(folder.age(LOCK)):
        raise Busy(_in_use(folder, other))
    return other


@contextmanager
def _elected(folder: RunFolder, own: Holder) -> Iterator[None]:
    """The only one of those who bid for the lock, until it is written; Busy where another one is to have it."""
    bid = f"{BID}{own.token}"
    folder.put(bid, b"")
    try:
        while others := _bids(folder, bid):
            _free(folder)
            if min(others) < bid:
                raise Busy(_contested(folder))
            time.sleep(GLANCE)  # the others see our bid and leave
        yield
    finally:
        folder.delete(bid)


def _bids(folder: RunFolder, own: str) -> list[str]:
    """Bids of others that may be there; one lives for seconds, and what a killed run left of it counts no more.

    Ages are told by the store's clock alone.
    """
    since = folder.written(own)
    others = {name: folder.written(name) for name in folder.names() if name.startswith(BID) and name != own}
    return [
        name
        for name, written in others.items()
        if since is not None and written is not None and (since - written).total_seconds() < STALE
    ]


def _contested(folder: RunFolder) -> Fault:
    fix = "Wait until it has ended and run the same command again, or name another path."
    return Fault(f"Run directory '{folder.path}'", "another run began in it at the same moment", fix)


@contextmanager
def _alone(folder: RunFolder) -> Iterator[None]:
    """No other process of this machine looks at the lock meanwhile; elsewhere there is no such door."""
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
