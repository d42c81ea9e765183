"""Tests on real platforms run where `python3 run.py platforms PART` has installed what they need."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parents[2] / ".platforms"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    given, lacks = os.environ.get("SPARK_PUFS_TEST_PLATFORM"), os.environ.get("SPARK_PUFS_TEST_PLATFORM_LACKS")
    for item in items:
        mark = item.get_closest_marker("platform")
        if mark is None:
            continue
        part = mark.args[0]
        if part != given:
            item.add_marker(
                pytest.mark.skip(reason=f"`python3 run.py platforms {part}` installs what it needs, runs it")
            )
        elif lacks:
            item.add_marker(pytest.mark.skip(reason=f"part '{part}' is not installed: {lacks}"))


@pytest.fixture(scope="session")
def installed() -> Path:
    """Where the part that is tested is installed."""
    return FOLDER / os.environ["SPARK_PUFS_TEST_PLATFORM"]
