"""The DAG under a scheduler with its processor, triggerer and API server: days of a backfill, a late and a failed one.

The days are the last before today, so that the newest of them is a run that the scheduler makes by itself.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest

from support.real_airflow import ALARMS, ASKED, BIN, ROOT, example_days, installed

CONFIG = """
source: {path: x}
label: {column: label}
features: {keep: [row_id]}
select: {method: semi-mim, k: 2}
memory: {path: state, partition: day, window: 3}
output: {path: x}
"""
SERVICES = ("api-server", "scheduler", "dag-processor", "triggerer")
BINARIES = max(Path("/usr/lib/postgresql").glob("*/bin"), default=Path(shutil.which("initdb") or "/").parent)
PATIENCE = float(os.environ.get("SPARK_PUFS_TEST_PATIENCE", "1"))  # times as long, on a busy machine


pytestmark = [
    pytest.mark.integration,
    pytest.mark.skipif(not (BINARIES / "initdb").exists(), reason="no Postgres is installed"),
    pytest.mark.skipif(not os.environ.get(ASKED), reason=f"installs Airflow from PyPI and takes minutes; {ASKED}=1"),
]


@dataclass
class Deployment:
    """Airflow's processes, at work in ``folder``."""

    python: str
    variables: dict[str, str]
    folder: Path
    database: int  # the port of Postgres

    def cli(self, *arguments: str) -> str:
        done = subprocess.run(
            [self.python, "-m", "airflow", *arguments], cwd=self.folder, env=self.variables, check=False,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300 * PATIENCE,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout[-3000:]
        return done.stdout

    def query(self, sql: str) -> list[tuple[str, ...]]:
        command = [
            BINARIES / "psql",
            "-h",
            "127.0.0.1",
            "-p",
            str(self.database),
            "-U",
            "airflow",
            "postgres",
            "-Atc",
            sql,
        ]
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, timeout=60 * PATIENCE)
        return [tuple(line.split("|")) for line in done.stdout.splitlines()]

    def states(self, dag: str = "select_features") -> dict[str, str]:
        """How the run of each day stands; of several the last."""
        rows = self.query(
            f"select data_interval_start at time zone 'utc', state from dag_run where dag_id = '{dag}' order by id"
        )
        return {start[:10]: state for start, state in rows}

    def tasks(self, day: date) -> dict[str, str]:
        """The tasks of a day that did something."""
        rows = self.query(
            "select t.task_id, t.state from task_instance t "
            "join dag_run r on r.run_id = t.run_id and r.dag_id = t.dag_id "
            f"where r.dag_id = 'select_features' and date(r.data_interval_start at time zone 'utc') = '{day}'"
        )
        return {name: state for name, state in rows if state not in ("skipped", "")}

    def wait(self, what: str, done: Callable[[], bool], seconds: float = 400) -> None:
        until = time.monotonic() + seconds * PATIENCE
        while not done():
            assert time.monotonic() < until, f"{what}: waited in vain, see the logs in {self.folder}"
            time.sleep(2)


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


@pytest.fixture(scope="module")
def deployment(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deployment]:
    folder = tmp_path_factory.mktemp("deployment")
    shutil.copytree(ROOT / "jobs", folder / "jobs")
    (folder / "conf").mkdir()
    (folder / "conf" / "select_features.yaml").write_text(CONFIG)
    (folder / "dags").mkdir()
    for name in ("select_features_dag.py", "run_files.py"):
        shutil.copy(ROOT / "jobs" / "airflow" / name, folder / "dags")
    page = (ROOT / "docs" / "airflow.md").read_text()
    followers = re.search(r"```text\n(from datetime import datetime\n.*?)```", page, re.DOTALL)
    assert followers is not None
    (folder / "dags" / "followers.py").write_text(followers.group(1))
    (folder / "alarms.py").write_text(ALARMS.format(path=str(folder / "alarms.txt")))
    port, database = free_port(), free_port()
    kept = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "SPARK_HOME")}
    variables = {
        **kept,
        "AIRFLOW_HOME": str(folder / "home"),
        "AIRFLOW__CORE__DAGS_FOLDER": str(folder / "dags"),
        "AIRFLOW__CORE__LOAD_EXAMPLES": "false",
        "AIRFLOW__CORE__EXECUTOR": "LocalExecutor",
        "AIRFLOW__CORE__PARALLELISM": "2",
        "AIRFLOW__DATABASE__SQL_ALCHEMY_CONN": f"postgresql+psycopg2://airflow@127.0.0.1:{database}/postgres",
        "AIRFLOW__DATABASE__SQL_ALCHEMY_CONN_ASYNC": f"postgresql+asyncpg://airflow@127.0.0.1:{database}/postgres",
        "AIRFLOW__CORE__DAGS_ARE_PAUSED_AT_CREATION": "false",
        "AIRFLOW__CORE__DAGBAG_IMPORT_TIMEOUT": "300",
        "AIRFLOW__DAG_PROCESSOR__DAG_FILE_PROCESSOR_TIMEOUT": "300",
        "AIRFLOW__CORE__EXECUTION_API_SERVER_URL": f"http://127.0.0.1:{port}/execution/",
        "AIRFLOW__API__PORT": str(port),
        "AIRFLOW__API__HOST": "127.0.0.1",
        "AIRFLOW__API__WORKERS": "1",
        "AIRFLOW__API_AUTH__JWT_SECRET": "a secret of this test alone, long enough to sign",
        "AIRFLOW__WORKERS__EXECUTION_API_TIMEOUT": "120",
        "AIRFLOW__SCHEDULER__TASK_INSTANCE_HEARTBEAT_TIMEOUT": "1800",
        "AIRFLOW__LOGGING__WORKER_LOG_SERVER_PORT": str(free_port()),
        "AIRFLOW__LOGGING__TRIGGER_LOG_SERVER_PORT": str(free_port()),
        "AIRFLOW_CONN_SPARK_DEFAULT": json.dumps({"conn_type": "spark", "host": "local[2]"}),
        "SPARK_PUFS_HOME": str(folder),
        "SPARK_PUFS_PYTHON": sys.executable,
        "SPARK_PUFS_WAIT_HOURS": str(0.2 * PATIENCE),
        "SPARK_PUFS_ALARM": "alarms.tell",
        "PYTHONPATH": os.pathsep.join(map(str, (folder, ROOT))),
        "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}",  # where spark-submit is
    }
    made = Deployment(installed(folder), variables, folder, database)
    postgres = _postgres(Path(tempfile.mkdtemp()), database)
    made.wait("the database", lambda: _answers(database))
    made.cli("db", "migrate")
    services = [_service(made, SERVICES[0])]
    try:
        made.wait("the API server", lambda: _answers(port))
        services += [_service(made, name) for name in SERVICES[1:]]
        yield made
    finally:
        for one in [*services, postgres]:
            _ended(one)


def _postgres(place: Path, port: int) -> subprocess.Popen[bytes]:
    """A database of its own; one that several processes of Airflow write to cannot be SQLite. Never run by root."""
    other = ["runuser", "-u", "postgres", "--"] if os.geteuid() == 0 else []
    if other:
        shutil.chown(place, "postgres")
    rows = place / "rows"
    subprocess.run(
        [*other, BINARIES / "initdb", "-D", rows, "-U", "airflow", "--auth", "trust", "--no-sync"],
        check=True, stdout=subprocess.DEVNULL, cwd=place, timeout=300 * PATIENCE,
    )  # fmt: skip
    settings = [f"port={port}", f"unix_socket_directories={place}", "listen_addresses=127.0.0.1", "fsync=off"]
    options = [word for one in settings for word in ("-c", one)]
    command = [*other, BINARIES / "postgres", "-D", rows, *options]
    return subprocess.Popen(command, cwd=place, stderr=subprocess.DEVNULL, start_new_session=True)


def _answers(port: int) -> bool:
    with socket.socket() as one:
        return one.connect_ex(("127.0.0.1", port)) == 0


def _ended(one: subprocess.Popen[bytes]) -> None:
    os.killpg(one.pid, signal.SIGTERM)
    try:
        one.wait(60)
    except subprocess.TimeoutExpired:
        os.killpg(one.pid, signal.SIGKILL)


def _service(made: Deployment, name: str) -> subprocess.Popen[bytes]:
    log = (made.folder / f"{name}.log").open("wb")
    command = [made.python, "-m", "airflow", name]
    return subprocess.Popen(
        command, cwd=made.folder, env=made.variables, stdout=log, stderr=subprocess.STDOUT, start_new_session=True
    )


def test_days_under_a_scheduler(deployment: Deployment) -> None:
    """A backfill of four days, of which one fails and is mended; yesterday comes late and in another unit."""
    folder, maker = deployment.folder, example_days()
    yesterday = datetime.now(UTC).date() - timedelta(days=1)
    days = [yesterday - timedelta(days=ago) for ago in (4, 3, 2, 1)]

    def write(day: date, unit: float = 1.0, without: tuple[str, ...] = ()) -> None:
        maker.write_day(folder / "data" / f"day={day}", maker.rows(day, unit).drop(columns=list(without)))

    for day in days:
        write(day, without=("label",) if day == days[2] else ())
    backfill = ("backfill", "create", "--dag-id", "select_features", "--dag-run-conf", '{"engine": "memory"}')

    deployment.wait("the DAGs are read", lambda: len(deployment.query("select dag_id from dag")) == 3)
    deployment.wait("yesterday is due", lambda: str(yesterday) in deployment.states())
    deployment.cli(*backfill, "--from-date", str(days[0]), "--to-date", str(days[3]), "--max-active-runs", "1")
    ended = ("success", "failed")
    deployment.wait(
        "four days", lambda: [deployment.states().get(str(day)) in ended for day in days] == [True] * 4, 900
    )
    assert [deployment.states()[str(day)] for day in days] == ["success", "success", "failed", "success"]
    assert deployment.tasks(days[2])["select"] == "failed"
    assert deployment.states()[str(yesterday)] == "running"  # and waits for its partition

    write(days[2])
    again = ("--from-date", str(days[2]), "--to-date", str(days[2]), "--reprocess-behavior", "failed")
    deployment.cli(*backfill, *again)
    deployment.wait("the mended day", lambda: deployment.states()[str(days[2])] == "success", 600)
    assert deployment.tasks(days[2])["earlier_day"] == "success"

    write(yesterday, unit=1000.0)
    deployment.wait("yesterday", lambda: deployment.states()[str(yesterday)] in ended, 900)
    assert deployment.tasks(yesterday) == dict.fromkeys(
        ("arrived", "select", "publish", "verdict", "changed"), "success"
    )
    current = json.loads((folder / "runs" / "airflow" / "current.json").read_text())
    assert current["interval"] == f"{yesterday}T000000"
    answer = json.loads((folder / "runs" / "airflow" / current["interval"] / "selection.json").read_text())
    kept = answer["details"]["memory"]
    assert (kept["rows_read"], kept["rows"], kept["last"]) == (3000, 9000, str(yesterday))
    assert answer["run"]["engine"] == "spark"  # of a memory that was counted without it

    told = (folder / "alarms.txt").read_text().splitlines()
    assert [line.split(":")[0] for line in told] == [f"select_features {day}" for day in (days[2], yesterday)]
    assert "select failed" in told[0]

    def trained() -> int:
        return len(deployment.query("select id from dag_run where dag_id = 'train' and state = 'success'"))

    deployment.wait("training follows the first day and the change", lambda: trained() == 2)
    scored = "select partition_key from dag_run where dag_id = 'score' and state = 'success'"
    every = {str(day) for day in (*days, yesterday)}
    deployment.wait("every day is scored", lambda: {key for (key,) in deployment.query(scored)} == every)
