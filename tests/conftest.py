"""One Spark session for all tests, who runs beside whom, the shared data where present, reproducible property tests."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

from support.processes import Watch, slow

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROOT = Path(__file__).resolve().parents[1]

# The machine's speed is no property of the code; the same examples in every run.
settings.register_profile(
    "repo", max_examples=50, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("repo")

watch = Watch()
sys.addaudithook(watch)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """With workers side by side: one of them has the session, and what starts processes stays together by file.

    These take the longest and come first; all other tests go one by one to the worker that is free.
    """
    for item in items:
        if slow(item):
            item.add_marker(pytest.mark.xdist_group("spark" if item.get_closest_marker("spark") else item.path.stem))
    if os.environ.get("PYTEST_XDIST_WORKER"):
        items.sort(key=lambda item: (not item.get_closest_marker("spark"), not slow(item)))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    watch.test = None if slow(item) else item.nodeid
    result = yield
    watch.test = None
    return result


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """A small local session; tests that use it carry the mark ``spark``."""
    from pyspark.sql import SparkSession

    # Spark starts `python3` from PATH in its workers unless told; they must find this package too.
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    session = (
        SparkSession.builder.master("local[2,4]")
        .appName("spark_pufs tests")
        .config("spark.ui.enabled", "false")
        .config("spark.log.level", "ERROR")
        # tests are short: the quick compiler, and a collector without threads of its own
        .config("spark.driver.extraJavaOptions", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.python.unix.domain.socket.enabled", "true")
        .config("spark.sql.shuffle.partitions", "4")
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.sql.warehouse.dir", str(tmp_path_factory.mktemp("warehouse")))
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("ERROR")
    yield session
    session.stop()


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of public benchmark data that lies beside the repository."""
    folder = ROOT.parent / "shared" / "data"
    if not folder.is_dir():
        pytest.skip("the shared benchmark data are not here: expected ../shared/data beside the repository")
    return folder


@pytest.fixture
def volume(tmp_path: Path) -> Iterator[Path]:
    """A file system of its own of 256 kB."""
    place = tmp_path / "volume"
    place.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=256k", "none", str(place)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        pytest.skip("there is no mount command")
    if done.returncode:
        pytest.skip(f"a small file system cannot be mounted here: {done.stderr.strip()}")
    yield place
    subprocess.run(["umount", str(place)], check=True)
