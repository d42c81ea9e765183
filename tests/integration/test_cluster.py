"""Our jobs on a real two-worker cluster: shipped in two ways, robbed of a worker, with a Python that lacks packages."""

from __future__ import annotations

import json
import re
import subprocess
import venv
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import pandas as pd
import pytest

import spark_pufs
from spark_pufs.cli import run
from spark_pufs.jobs.demo import write_example
from spark_pufs.run import provenance
from spark_pufs.rundir.checkpoint import CHECKPOINT
from support.packed import ROOT, SHIPPED, Shipment, pack_environment, pack_zip
from support.standalone import BIN, Cluster, cluster, environment, said, submit_command, wait_for

pytestmark = [
    pytest.mark.integration,
    pytest.mark.skipif(not (BIN / "spark-class").exists(), reason="pyspark's scripts are not beside this Python"),
]

SEVERAL_JOBS = ROOT / "tests" / "support" / "several_jobs.py"
SEARCH = {"method": "fscpu", "generation_size": 1024, "generations": 4, "sample_mb": 1}
TRIALS = {"methods": ["semi-mim", "k-best"], "folds": 2, "repeats": 1, "rows": 1000}
BOTH = {"spark.cores.max": "2", "spark.scheduler.minRegisteredResourcesRatio": "1.0"}
# Rows in other parts than by default, and a second copy of every task that others were faster than.
UNEVEN = {
    "spark.sql.files.maxPartitionBytes": "200k",
    "spark.sql.files.openCostInBytes": "0",
    "spark.sql.adaptive.enabled": "true",
    "spark.sql.adaptive.coalescePartitions.minPartitionSize": "1b",
    "spark.sql.shuffle.partitions": "7",
    "spark.speculation": "true",
    "spark.speculation.interval": "10ms",
    "spark.speculation.multiplier": "1.01",
    "spark.speculation.quantile": "0.1",
    "spark.speculation.minTaskRuntime": "1ms",
}


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("table") / "table.parquet"
    write_example(path)
    return path


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Shipment:
    return pack_zip(tmp_path_factory.mktemp("package"))


@pytest.fixture(scope="module")
def packed(tmp_path_factory: pytest.TempPathFactory) -> Shipment:
    return pack_environment(tmp_path_factory.mktemp("packed"))


@pytest.fixture(scope="module")
def two_workers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with cluster(tmp_path_factory.mktemp("cluster"), 2) as started:
        yield started


@pytest.fixture(scope="module")
def local_answer(table: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, object]:
    """The search in this process, with the version of the package that is shipped."""
    out = tmp_path_factory.mktemp("local") / "run"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(provenance, "__version__", SHIPPED)
        assert run(["select", *search_arguments(table, out), "--engine", "memory"]) == 0
    return answer(out)


@dataclass(frozen=True)
class PackedJobs:
    """Three jobs of one application: what was printed and logged during the first two, and what the others wrote."""

    doctor: str
    select: str
    searched: Path
    compared: Path


@pytest.fixture(scope="module")
def packed_jobs(
    two_workers: Cluster, packed: Shipment, table: Path, tmp_path_factory: pytest.TempPathFactory
) -> PackedJobs:
    """In one application, since a driver and its executors take longer to start than jobs take to run."""
    folder = tmp_path_factory.mktemp("jobs")
    searched, compared, log = folder / "search", folder / "comparison", folder / "jobs.log"
    pd.read_parquet(table).to_parquet(folder / "parts.parquet", index=False, row_group_size=300)
    trials = {f"compare.{name}": value for name, value in TRIALS.items()}
    jobs = {
        "doctor.py": [],
        "select_features.py": search_arguments(folder / "parts.parquet", searched),
        "compare_methods.py": configured("compare_methods.yaml", table, compared, trials),
    }
    commands = json.dumps([[str(ROOT / "jobs" / name), *arguments] for name, arguments in jobs.items()])
    process = start(two_workers.master, packed, log, SEVERAL_JOBS, commands, **BOTH, **UNEVEN)
    assert ended(process) == 0, log.read_text()[-3000:]
    text = log.read_text()
    codes = dict(re.findall(r"^ENDED .*/(\w+\.py) with (\w+)$", text, re.MULTILINE))
    assert codes == dict.fromkeys(jobs, "0"), text[-3000:]
    doctor, select, *_ = re.split(r"^ENDED .*$", text, flags=re.MULTILINE)
    return PackedJobs(doctor, select, searched, compared)


def start(
    master: str, shipped: Shipment, log: Path, script: Path, *arguments: str, **conf: str
) -> subprocess.Popen[bytes]:
    command = submit_command(master, *shipped.arguments, str(script), *arguments, **conf)
    own = environment(PYSPARK_PYTHON=shipped.python, PYSPARK_DRIVER_PYTHON=shipped.driver)
    with log.open("wb") as file:
        return subprocess.Popen(command, cwd=log.parent, env=own, stdout=file, stderr=file)


def configured(name: str, table: Path, out: Path, more: Mapping[str, object]) -> list[str]:
    values = {"source.path": str(table), "output.path": str(out), **more}
    overrides = [part for name, value in values.items() for part in ("--set", f"{name}={json.dumps(value)}")]
    return ["--config", str(ROOT / "conf" / name), *overrides]


def search_arguments(table: Path, out: Path) -> list[str]:
    more = {f"select.{name}": value for name, value in SEARCH.items()}
    return configured("select_features.yaml", table, out, more)


def start_search(
    master: str, shipped: Shipment, table: Path, out: Path, **conf: str
) -> tuple[subprocess.Popen[bytes], Path]:
    log, script = out.with_suffix(".log"), ROOT / "jobs" / "select_features.py"
    return start(master, shipped, log, script, *search_arguments(table, out), **conf), log


def ended(process: subprocess.Popen[bytes]) -> int:
    try:
        return process.wait(timeout=600)
    finally:
        process.kill()
        process.wait()


def answer(out: Path) -> dict[str, object]:
    told: dict[str, object] = json.loads((out / "selection.json").read_text())
    del told["run"]  # seconds
    return told


def test_workers_without_numpy_are_named_and_nothing_is_done(
    two_workers: Cluster, package: Shipment, table: Path, tmp_path: Path
) -> None:
    venv.create(tmp_path / "bare")
    bare = str(tmp_path / "bare" / "bin" / "python")
    process, log = start_search(two_workers.master, replace(package, python=bare), table, tmp_path / "run")
    assert ended(process) == 4, log.read_text()[-3000:]
    text = log.read_text()
    assert f"error: Workers' Python '{bare}' on " in text
    assert "numpy cannot be loaded (ModuleNotFoundError: No module named 'numpy')" in text
    assert "Set PYSPARK_PYTHON to a Python that has the driver's version and packages" in text
    assert "spark_pufs cannot" not in text  # the zip came through
    assert list((tmp_path / "run").iterdir()) == []


def test_in_a_packed_environment_the_workers_run_its_python(two_workers: Cluster, packed_jobs: PackedJobs) -> None:
    text = packed_jobs.doctor
    assert re.search(rf"^ok  spark_pufs +{re.escape(SHIPPED)}$", text, re.MULTILINE)
    [told] = re.findall(r"^ok  tiny job +ran on 1 host with (.*)$", text, re.MULTILINE)
    places = [Path(program) for program in told.split(", ")]
    # the folder of an executor: work0/app-.../0, and in it what the archive holds
    folder = re.compile(rf"{re.escape(str(two_workers.folder))}/work\d/app-[\d-]+/\d+/(\./)?environment/bin/python")
    assert [str(place) for place in places if not folder.fullmatch(str(place))] == []


def test_a_packed_search_in_other_parts_and_with_copies_of_tasks_gives_the_bits_of_a_local_one(
    packed_jobs: PackedJobs, local_answer: dict[str, object]
) -> None:
    parts = [int(count) for count in re.findall(r"Submitting (\d+) missing tasks", packed_jobs.select)]
    assert max(parts) > 2
    assert "as speculatable because it ran more than" in packed_jobs.select
    assert answer(packed_jobs.searched) == local_answer


def test_a_packed_comparison_gives_the_scores_of_one_in_this_process(packed_jobs: PackedJobs, table: Path) -> None:
    here = spark_pufs.compare(pd.read_parquet(table), label="label", keep=["row_id"], k=25, **TRIALS)
    told = json.loads((packed_jobs.compared / "comparison.json").read_text())
    untimed = [[{**row, "seconds": 0} for row in found["rows"]] for found in (told, here.as_dict())]
    assert untimed[0] == untimed[1]
    assert len(untimed[0]) == 3  # two methods and all features


def test_a_search_that_loses_a_worker_gives_the_bits_of_a_local_one(
    two_workers: Cluster, package: Shipment, table: Path, local_answer: dict[str, object], tmp_path: Path
) -> None:
    speculating = {**BOTH, "spark.speculation": "true"}
    far, log = start_search(two_workers.master, package, table, tmp_path / "far", **speculating)
    try:
        wait_for(lambda: (tmp_path / "far" / CHECKPOINT).exists(), "a generation", log, [far])
        tasks = said(log, "Starting task")
        wait_for(lambda: said(log, "Starting task") >= tasks + 2, "the next one's tasks", log, [far])
        two_workers.kill(0)
    finally:
        code = ended(far)
    assert code == 0, log.read_text()[-3000:]
    assert said(log, "failed because while it was being computed, its executor exited")
    assert answer(tmp_path / "far") == local_answer
    assert json.loads((tmp_path / "far" / "manifest.json").read_text())["versions"]["spark_pufs"] == SHIPPED
