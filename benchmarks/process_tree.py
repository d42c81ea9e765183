"""CPU seconds and resident memory of this process and everything it started: Python, the JVM, Python workers."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

TICK = os.sysconf("SC_CLK_TCK")
PAGE = os.sysconf("SC_PAGE_SIZE")


def cpu_seconds() -> float:
    """User and system time of the tree, with children that have ended and were waited for."""
    return sum(sum(map(int, stat[11:15])) for _, stat in _tree()) / TICK


def resident() -> dict[str, int]:
    """Bytes in memory by kind of process: driver (this one), java, workers (other Python)."""
    sizes = {"driver": 0, "java": 0, "workers": 0}
    for pid, stat in _tree():
        name = Path(f"/proc/{pid}/comm").read_text().strip() if Path(f"/proc/{pid}/comm").exists() else ""
        kind = "driver" if pid == os.getpid() else "java" if name == "java" else "workers"
        sizes[kind] += int(stat[21]) * PAGE
    return sizes


@dataclass
class Spent:
    """What one phase took; ``peak`` in bytes by kind of process."""

    cpu: float = 0.0
    wall: float = 0.0
    peak: dict[str, int] = field(default_factory=dict)


@contextmanager
def measured(memory: bool = False) -> Iterator[Spent]:
    """CPU and wall time of the block, and on demand its peak memory, looked at every 0.3 s."""
    spent, done = Spent(), threading.Event()

    def watch() -> None:
        while not done.wait(0.3):
            for kind, size in resident().items():
                spent.peak[kind] = max(size, spent.peak.get(kind, 0))

    watcher = threading.Thread(target=watch, daemon=True)
    cpu, wall = cpu_seconds(), time.perf_counter()
    if memory:
        watcher.start()
    try:
        yield spent
    finally:
        done.set()
        if memory:
            watcher.join()
        spent.cpu, spent.wall = cpu_seconds() - cpu, time.perf_counter() - wall


def _tree() -> list[tuple[int, list[str]]]:
    """(pid, fields of /proc/pid/stat from the state on) of this process and its descendants."""
    stats: dict[int, list[str]] = {}
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            text = (entry / "stat").read_text()
        except OSError:
            continue  # ended meanwhile
        pid, fields = int(entry.name), text.rpartition(")")[2].split()
        stats[pid] = fields
        children.setdefault(int(fields[1]), []).append(pid)
    found, todo = [], [os.getpid()]
    while todo:
        pid = todo.pop()
        if pid in stats:
            found.append((pid, stats[pid]))
            todo += children.get(pid, [])
    return found
