"""Our job on a real two-worker cluster: shipped as a zip, robbed of a worker, with a Python that lacks packages."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import venv
from collections.abc import Iterator
from pathlib import Path

import pytest
from standalone import BIN, Cluster, cluster, environment, said, submit_command, wait_for

from spark_pufs.checkpoint import CHECKPOINT
from spark_pufs.demo import write_example
from spark_pufs.version import __version__

pytestmark = [
    pytest.mark.integration,
    pytest.mark.skipif(not (BIN / "spark-class").exists(), reason="pyspark's scripts are not beside this Python"),
]

ROOT = Path(__file__).parents[2]
SHIPPED = f"{__version__}+shipped"
SEARCH = {"method": "fscpu", "generation": "1024", "generations": "4", "sample_mb": "1"}


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("table") / "table.parquet"
    write_example(path)
    return path


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The package as --py-files takes it; its version tells it from an installed one."""
    folder = tmp_path_factory.mktemp("package")
    shutil.copytree(ROOT / "spark_pufs", folder / "spark_pufs", ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "spark_pufs" / "version.py").write_text(f'__version__ = "{SHIPPED}"\n')
    return Path(shutil.make_archive(str(folder / "shipped"), "zip", folder, "spark_pufs"))


@pytest.fixture(scope="module")
def two_workers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with cluster(tmp_path_factory.mktemp("cluster"), 2) as started:
        yield started


def start(
    master: str, package: Path, table: Path, out: Path, python: str, **conf: str
) -> tuple[subprocess.Popen[bytes], Path]:
    values = {"source.path": str(table), "output.path": str(out), **{f"select.{n}": v for n, v in SEARCH.items()}}
    overrides = [part for name, value in values.items() for part in ("--set", f"{name}={value}")]
    job = [str(ROOT / "jobs" / "select_features.py"), "--config", str(ROOT / "conf" / "select_features.yaml")]
    command = submit_command(master, "--py-files", str(package), *job, *overrides, **conf)
    log = out.parent / f"{out.name}.log"
    own = environment(PYSPARK_PYTHON=python, PYSPARK_DRIVER_PYTHON=sys.executable)
    with log.open("wb") as file:
        return subprocess.Popen(command, cwd=out.parent, env=own, stdout=file, stderr=file), log


def ended(process: subprocess.Popen[bytes]) -> int:
    try:
        return process.wait(timeout=300)
    finally:
        process.kill()
        process.wait()


def answer(out: Path) -> dict[str, object]:
    told: dict[str, object] = json.loads((out / "selection.json").read_text())
    del told["run"]  # seconds
    return told


def test_workers_without_numpy_are_named_and_nothing_is_done(
    two_workers: Cluster, package: Path, table: Path, tmp_path: Path
) -> None:
    venv.create(tmp_path / "bare")
    bare = str(tmp_path / "bare" / "bin" / "python")
    process, log = start(two_workers.master, package, table, tmp_path / "run", bare)
    assert ended(process) == 4, log.read_text()[-3000:]
    text = log.read_text()
    assert f"error: Workers' Python '{bare}' on " in text
    assert "numpy cannot be loaded (ModuleNotFoundError: No module named 'numpy')" in text
    assert "Set PYSPARK_PYTHON to a Python that has the driver's version and packages" in text
    assert "spark_pufs cannot" not in text  # the zip came through
    assert list((tmp_path / "run").iterdir()) == []


def test_a_search_that_loses_a_worker_gives_the_bits_of_a_local_one(
    two_workers: Cluster, package: Path, table: Path, tmp_path: Path
) -> None:
    local, log = start("local[2]", package, table, tmp_path / "local", sys.executable)
    assert ended(local) == 0, log.read_text()[-3000:]
    both = {"spark.speculation": "true", "spark.cores.max": "2", "spark.scheduler.minRegisteredResourcesRatio": "1.0"}
    far, log = start(two_workers.master, package, table, tmp_path / "far", sys.executable, **both)
    try:
        wait_for(lambda: (tmp_path / "far" / CHECKPOINT).exists(), "a generation", log, [far])
        tasks = said(log, "Starting task")
        wait_for(lambda: said(log, "Starting task") >= tasks + 2, "the next one's tasks", log, [far])
        two_workers.kill(0)
    finally:
        code = ended(far)
    assert code == 0, log.read_text()[-3000:]
    assert said(log, "failed because while it was being computed, its executor exited")
    assert answer(tmp_path / "far") == answer(tmp_path / "local")
    assert json.loads((tmp_path / "far" / "manifest.json").read_text())["versions"]["spark_pufs"] == SHIPPED
