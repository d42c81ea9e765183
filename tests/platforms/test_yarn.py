"""Our jobs on a real YARN of several hosts, as docs/clusters.md says: in client and cluster mode, and when hosts go."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from platforms.hadoop import Hadoop
from platforms.network import network
from spark_pufs.cli import run
from spark_pufs.jobs.demo import write_example
from spark_pufs.run import provenance
from spark_pufs.rundir.checkpoint import CHECKPOINT
from support.packed import ROOT, SHIPPED, Shipment, pack_environment, pack_zip
from support.quick_java import QUICK

pytestmark = [pytest.mark.platform("yarn"), pytest.mark.integration]

SEARCH = {"method": "fscpu", "generation_size": 1024, "generations": 4, "sample_mb": 1}
LATE = 540.0  # seconds, for a machine that is busy with other things
TWO_EXECUTORS = {
    "spark.executor.instances": "2",
    "spark.scheduler.minRegisteredResourcesRatio": "1.0",
    "spark.scheduler.maxRegisteredResourcesWaitingTime": "300s",
}
LOST_SOON = {
    "spark.network.timeout": "20s",
    "spark.network.timeoutInterval": "5s",
    "spark.executor.heartbeatInterval": "2s",
    "spark.yarn.max.executor.failures": "20",
}
SMALL = {
    "spark.ui.enabled": "false",
    "spark.driver.memory": "600m",
    "spark.executor.memory": "600m",
    "spark.executor.extraJavaOptions": QUICK,
    "spark.yarn.am.memory": "400m",
}


@dataclass(frozen=True)
class Edge:
    """Where users submit from: the first host, with pip's Spark and HADOOP_CONF_DIR."""

    hadoop: Hadoop

    def submit(self, log: Path, shipped: Shipment, *arguments: str, **conf: str) -> subprocess.Popen[bytes]:
        import pyspark

        home = Path(pyspark.__file__).parent
        settings = {**SMALL, "spark.yarn.jars": f"local:{home}/jars/*", **conf}
        pairs = [part for name, value in settings.items() for part in ("--conf", f"{name}={value}")]
        own = {"HADOOP_CONF_DIR": str(self.hadoop.conf), "SPARK_HOME": str(home), "PYSPARK_PYTHON": shipped.python}
        if "cluster" not in arguments:
            own["PYSPARK_DRIVER_PYTHON"] = shipped.driver
        env = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PYSPARK_PYTHON")}
        command = [str(home / "bin" / "spark-submit"), "--master", "yarn", *pairs, *shipped.arguments, *arguments]
        return self.hadoop.network.start("edge", log, *command, cwd=log.parent, env={**env, **own})


@pytest.fixture(scope="module")
def edge(installed: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Edge]:
    with network("edge", "node1", "node2") as hosts:
        hadoop = Hadoop(hosts, tmp_path_factory.mktemp("hadoop"), installed / "jars")
        hadoop.start()
        yield Edge(hadoop)


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("table") / "table.parquet"
    write_example(path)
    return path


@pytest.fixture(scope="module")
def far_table(edge: Edge, table: Path) -> str:
    """The same file in HDFS."""
    edge.hadoop.hdfs("-mkdir", "-p", "/data")
    edge.hadoop.hdfs("-put", str(table), "/data/table.parquet")
    return "hdfs:///data/table.parquet"


@pytest.fixture(scope="module")
def local_answer(table: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, object]:
    out = tmp_path_factory.mktemp("local") / "run"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(provenance, "__version__", SHIPPED)
        assert run(["select", *asked(str(table), out), "--engine", "memory"]) == 0
    return answer(out)


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Shipment:
    return pack_zip(tmp_path_factory.mktemp("package"))


@pytest.fixture(scope="module")
def packed(tmp_path_factory: pytest.TempPathFactory) -> Shipment:
    return pack_environment(tmp_path_factory.mktemp("packed"))


def asked(table: str, out: Path, config: str | None = None) -> list[str]:
    values = {"source.path": table, "output.path": str(out)} | {f"select.{name}": v for name, v in SEARCH.items()}
    overrides = [part for name, value in values.items() for part in ("--set", f"{name}={json.dumps(value)}")]
    return ["--config", config or str(ROOT / "conf" / "select_features.yaml"), *overrides]


def answer(out: Path) -> dict[str, object]:
    told: dict[str, object] = json.loads((out / "selection.json").read_text())
    del told["run"]
    return told


def wait_for(there: Callable[[], bool], process: subprocess.Popen[bytes], log: Path) -> None:
    end = time.monotonic() + LATE
    while not there():
        late = time.monotonic() > end or process.poll() is not None
        assert not late, log.read_text()[-3000:]
        time.sleep(0.2)


def test_the_doctor_in_client_mode_asks_both_nodes(edge: Edge, package: Shipment, tmp_path: Path) -> None:
    log = tmp_path / "doctor.log"
    done = edge.submit(log, package, str(ROOT / "jobs" / "doctor.py"), **TWO_EXECUTORS)
    assert done.wait(LATE) == 0, log.read_text()[-3000:]
    said = log.read_text()
    assert re.search(r"^ok  Java +runs already: spark-submit has started it$", said, re.MULTILINE)
    assert re.search(rf"^ok  tiny job +ran on 2 hosts with {re.escape(sys.executable)}$", said, re.MULTILINE)


def test_a_packed_search_in_cluster_mode_gives_the_bits_of_a_local_one(
    edge: Edge, packed: Shipment, far_table: str, local_answer: dict[str, object], tmp_path: Path
) -> None:
    log, out, python = tmp_path / "far.log", tmp_path / "far", packed.python
    own = {"spark.yarn.appMasterEnv.PYSPARK_PYTHON": python, "spark.executorEnv.PYSPARK_PYTHON": python}
    files = ("--deploy-mode", "cluster", "--files", str(ROOT / "conf" / "select_features.yaml"))
    script = (str(ROOT / "jobs" / "select_features.py"), *asked(far_table, out, "select_features.yaml"))
    done = edge.submit(log, packed, *files, *script, **own, **{"spark.yarn.appMasterEnv.SPARK_PUFS_LOG": "json"})
    code = done.wait(LATE)
    said = edge.hadoop.containers("node1") + edge.hadoop.containers("node2")
    assert code == 0, log.read_text()[-3000:] + said[-3000:]
    assert answer(out) == local_answer
    versions = json.loads((out / "manifest.json").read_text())["versions"]
    assert (versions["spark_pufs"], "pyspark" in versions) == (SHIPPED, True)
    assert '"event": "generation", "method": "fscpu", "generation": 1' in said


def test_a_node_that_is_cut_off_in_the_middle_of_a_search_changes_nothing(
    edge: Edge, package: Shipment, far_table: str, local_answer: dict[str, object], tmp_path: Path
) -> None:
    log, out = tmp_path / "far.log", tmp_path / "far"
    script = (str(ROOT / "jobs" / "select_features.py"), *asked(far_table, out))
    search = edge.submit(log, package, *script, **TWO_EXECUTORS, **LOST_SOON)
    wait_for((out / CHECKPOINT).exists, search, log)
    edge.hadoop.network.cut("node2")
    assert search.wait(LATE) == 0, log.read_text()[-3000:]
    assert re.search(r"Lost executor \d+ on node2", log.read_text())
    assert answer(out) == local_answer


def test_a_search_whose_driver_is_killed_goes_on_where_it_was(
    edge: Edge, package: Shipment, far_table: str, local_answer: dict[str, object], tmp_path: Path
) -> None:
    out = tmp_path / "far"
    script = (str(ROOT / "jobs" / "select_features.py"), *asked(far_table, out))
    first = edge.submit(tmp_path / "first.log", package, *script)
    wait_for((out / CHECKPOINT).exists, first, tmp_path / "first.log")
    os.killpg(first.pid, 9)
    first.wait()
    assert not (out / "selection.json").exists()
    second = edge.submit(tmp_path / "second.log", package, *script)
    assert second.wait(LATE) == 0, (tmp_path / "second.log").read_text()[-3000:]
    assert answer(out) == local_answer
