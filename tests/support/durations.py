"""How long tests took when they were last recorded: the longest begin first, and `--quick` leaves the slow ones out.

`pytest -n 2 --record-durations`, on a machine that does nothing else, writes the record anew.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable
from pathlib import Path

import pytest

from support.processes import slow

__all__ = ["Durations", "longest_first", "recorded"]

FILE = Path(__file__).parents[1] / "durations.json"
SECONDS = 0.2  # from here on a test is recorded, and is none of the quick ones


def recorded() -> dict[str, float]:
    """Seconds by the name of the test; tests that are not in it are short, or new."""
    found: dict[str, float] = json.loads(FILE.read_text(encoding="utf-8"))
    return found


def longest_first(items: Iterable[pytest.Item], seconds: dict[str, float]) -> list[pytest.Item]:
    """All that need the session, then files that start processes, then long tests, then files of short ones; the
    longest of each kind first, files of short tests by their number."""
    items = list(items)
    files: dict[Path, float] = defaultdict(float)
    short: Counter[Path] = Counter(item.path for item in items if item.nodeid not in seconds)
    for item in items:
        files[item.path] += seconds.get(item.nodeid, 0.0)

    def place(item: pytest.Item) -> tuple[int, float, str]:
        if item.get_closest_marker("spark"):
            return 0, 0.0, ""
        if slow(item):
            return 1, -files[item.path], str(item.path)
        if item.nodeid in seconds:
            return 2, -seconds[item.nodeid], ""
        return 3, -short[item.path], str(item.path)

    return sorted(items, key=place)


class Durations:
    """A plugin: leaves out what is slow where `--quick` is given, and writes the record where that is asked for."""

    def __init__(self) -> None:
        self._taken: dict[str, float] = defaultdict(float)

    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        if not config.getoption("--quick"):
            return
        seconds = recorded()
        left = [item for item in items if slow(item) or item.nodeid in seconds]
        config.hook.pytest_deselected(items=left)
        items[:] = [item for item in items if not (slow(item) or item.nodeid in seconds)]

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._taken[report.nodeid] += report.duration

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if session.config.getoption("--record-durations") and not hasattr(session.config, "workerinput"):
            found = {name: round(taken, 1) for name, taken in sorted(self._taken.items()) if taken >= SECONDS}
            FILE.write_text(json.dumps(found, indent=0) + "\n", encoding="utf-8")
