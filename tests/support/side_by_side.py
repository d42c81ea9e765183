"""Which tests stay together where several processes share them (`pytest -n 2`).

The mark ``xdist_group`` does this in pytest-xdist, but has no effect with pytest 9.2
(https://github.com/pytest-dev/pytest-xdist/issues/1386). Here the groups go from a worker to the controller in a file.
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import pytest
from xdist.scheduler import LoadScopeScheduling

from support.durations import longest_first, recorded
from support.processes import slow

__all__ = ["ByGroup", "SideBySide"]


def group(item: pytest.Item, seconds: dict[str, float]) -> str | None:
    """One worker has the Spark session; short tests, and those that start processes, stay together by file, whose
    fixtures are then made once; long ones go anywhere."""
    if item.get_closest_marker("spark"):
        return "spark"
    if slow(item):
        return str(item.path)
    return None if item.nodeid in seconds else f"short tests of {item.path}"


class ByGroup(LoadScopeScheduling):
    """Hands out whole groups, and one by one the tests that are in none.

    With a group for every test the bookkeeping of the base class, quadratic in their number, would be noticed.
    """

    def __init__(self, config: pytest.Config, log: Any, groups: Path) -> None:
        super().__init__(config, log)
        self._file = groups
        self._groups: dict[str, str] = {}

    def schedule(self) -> None:
        self._groups = json.loads(self._file.read_text(encoding="utf-8"))  # written: every worker has collected
        super().schedule()

    def _split_scope(self, nodeid: str) -> str:
        return self._groups.get(nodeid, nodeid)


class SideBySide:
    """A plugin for the controller and the workers alike."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="test-groups-")
        self._file = Path(self._folder.name, "groups.json")

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        node.workerinput["groups"] = str(self._file)

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_make_scheduler(self, config: pytest.Config, log: Any) -> ByGroup:
        return ByGroup(config, log, self._file)

    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        """In a worker: what takes longest comes first."""
        if hasattr(config, "workerinput"):
            items[:] = longest_first(items, recorded())

    @pytest.hookimpl(tryfirst=True)  # before the controller is told that collection has ended
    def pytest_collection_finish(self, session: pytest.Session) -> None:
        told = getattr(session.config, "workerinput", {})
        if told.get("workerid") == "gw0":
            seconds = recorded()
            groups = {item.nodeid: name for item in session.items if (name := group(item, seconds))}
            Path(told["groups"]).write_text(json.dumps(groups), encoding="utf-8")

    def pytest_unconfigure(self) -> None:
        self._folder.cleanup()
