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

from support.durations import Durations
from support.processes import Watch, slow
from support.quick_java import QUICK
from support.quick_spark import SETTINGS, show_workers_the_packages
from support.side_by_side import SideBySide

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROOT = Path(__file__).resolve().parents[1]

# The machine's speed is no property of the code; the same examples in every run.
settings.register_profile(
    "repo", max_examples=50, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("repo")

# Every Spark that a test starts lives for seconds: the quick compiler, a collector without threads of its own.
os.environ.setdefault("SPARK_SUBMIT_OPTS", QUICK)

watch = Watch()
sys.addaudithook(watch)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--quick", action="store_true", help="leave out what starts Java or a process, and what is slow")
    parser.addoption("--record-durations", action="store_true", help="write tests/durations.json anew")


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(SideBySide())
    config.pluginmanager.register(Durations())


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    watch.test = None if slow(item) else item.nodeid
    result = yield
    watch.test = None
    return result


@pytest.fixture(autouse=True)
def no_secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process remembers the secrets of its configurations; one test does not know those of another."""
    from spark_pufs.masking import hidden

    monkeypatch.setattr(hidden, "_known", {})


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """A small local session; tests that use it carry the mark ``spark``."""
    from pyspark.sql import SparkSession

    show_workers_the_packages()
    builder = SparkSession.builder.master("local[2,4]").appName("spark_pufs tests")
    for name, value in {**SETTINGS, "spark.sql.warehouse.dir": str(tmp_path_factory.mktemp("warehouse"))}.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
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
