from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import pytest

from support.quick_spark import SETTINGS, show_workers_the_packages


@pytest.fixture(scope="session")
def session(request: pytest.FixtureRequest) -> Iterator[Any]:
    """The shared session, or one of Spark Connect in a process that has no other (test_on_connect.py starts it)."""
    if "SPARK_PUFS_TEST_CONNECT" not in os.environ:
        yield request.getfixturevalue("spark")
        return
    from pyspark.sql import SparkSession

    show_workers_the_packages()
    builder = SparkSession.builder.remote("local[2]")
    for name, value in SETTINGS.items():
        builder = builder.config(name, value)
    remote = builder.getOrCreate()
    assert type(remote).__module__.startswith("pyspark.sql.connect")
    yield remote
    remote.stop()
