"""The DAG in a real Airflow, in an environment of its own: a week with a late, a failed and a backfilled day."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from support.real_airflow import ALARMS, ASKED, BIN, ROOT, example_days, installed

pytestmark = [
    pytest.mark.integration,
    pytest.mark.skipif(not os.environ.get(ASKED), reason=f"installs Airflow from PyPI and takes minutes; {ASKED}=1"),
]

CONFIG = """
source: {path: x}
label: {column: label}
features: {keep: [row_id]}
select: {method: semi-mim, k: 2}
output: {path: x}
"""

# All runs in one process: Airflow takes longer to start than a small selection.
RUN_DAG = """
import json, os, sys
from datetime import datetime, timedelta, timezone
from pathlib import Path
from select_features_dag import dag

for step in json.loads(sys.argv[1]):
    for source, target in step["arrives"]:
        Path(target).parent.mkdir(parents=True, exist_ok=True)
        os.rename(source, target)
    day = datetime.fromisoformat(step["day"]).replace(tzinfo=timezone.utc)
    try:  # the run of a midnight is that of the day before
        run = dag.test(logical_date=day + timedelta(days=1), run_conf=step["conf"])
    except ValueError as error:
        print("ENDED " + json.dumps([{"refused": str(error)}, ""]), flush=True)
        continue
    tasks = {one.task_id: [one.state, one.try_number] for one in run.get_task_instances()}
    current = Path(step["conf"]["output"], "current.json")
    interval = json.loads(current.read_text())["interval"] if current.exists() else ""
    print("ENDED " + json.dumps([tasks, interval]), flush=True)
"""


@dataclass(frozen=True)
class Airflow:
    """An environment with Airflow and a database, and the folder to work in."""

    python: str
    variables: dict[str, str]
    folder: Path

    def run(self, steps: list[dict[str, Any]]) -> tuple[list[tuple[dict[str, Any], str]], str]:
        """For each step how its tasks ended and at which try, and the current interval after it; and the log."""
        done = subprocess.run(
            [self.python, "-c", RUN_DAG, json.dumps(steps)], cwd=self.folder, env=self.variables,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=900, check=False,
        )  # fmt: skip
        ended = [json.loads(line[6:]) for line in done.stdout.splitlines() if line.startswith("ENDED ")]
        assert len(ended) == len(steps), done.stdout[-5000:]
        return ended, done.stdout

    def query(self, sql: str) -> list[tuple[Any, ...]]:
        with closing(sqlite3.connect(Path(self.variables["AIRFLOW_HOME"], "airflow.db"))) as database:
            return database.execute(sql).fetchall()


@pytest.fixture(scope="module")
def airflow(tmp_path_factory: pytest.TempPathFactory) -> Airflow:
    folder = tmp_path_factory.mktemp("airflow")
    kept = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "SPARK_HOME")}
    (folder / "alarms.py").write_text(ALARMS.format(path=str(folder / "alarms.txt")))
    variables = {
        **kept,
        "AIRFLOW_HOME": str(folder / "home"),
        "AIRFLOW__CORE__DAGS_FOLDER": str(ROOT / "jobs" / "airflow"),
        "AIRFLOW__CORE__LOAD_EXAMPLES": "false",
        "AIRFLOW_CONN_SPARK_DEFAULT": json.dumps({"conn_type": "spark", "host": "local[2]"}),
        "SPARK_PUFS_PYTHON": sys.executable,
        "SPARK_PUFS_WAIT_HOURS": "0.001",
        "SPARK_PUFS_ALARM": "alarms.tell",
        "PYTHONPATH": os.pathsep.join(map(str, (ROOT / "jobs" / "airflow", folder, ROOT))),
        "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}",  # where spark-submit is
    }
    made = Airflow(installed(folder), variables, folder)
    subprocess.run([made.python, "-m", "airflow", "db", "migrate"], env=variables, check=True, timeout=300)
    return made


def states(tasks: dict[str, Any]) -> dict[str, str]:
    return {name: state for name, (state, _) in tasks.items() if state not in ("skipped", None)}


def test_five_days_with_a_late_a_failed_and_a_backfilled_one(airflow: Airflow) -> None:
    folder = airflow.folder
    lake, maker = folder / "lake", example_days()

    def written(day: date, unit: float = 1.0, without: tuple[str, ...] = ()) -> Path:
        table = maker.rows(day, unit).drop(columns=list(without))
        return Path(maker.write_day(lake / f"day={day}", table))

    days = [written(date(2026, 3, day), 1000.0 if day > 3 else 1.0) for day in range(1, 6)]
    written(date(2026, 2, 28))
    late, mended = folder / "late", folder / "mended"
    days[2].rename(late)
    days[4].rename(mended)
    written(date(2026, 3, 5), without=("label",))
    (folder / "select.yaml").write_text(CONFIG)
    (folder / "secret.txt").write_text("features.exclude=[port]\n")
    conf: dict[str, Any] = {
        "source": f"{lake}/day={{{{ ds }}}}",
        "output": str(folder / "out"),
        "select_config": str(folder / "select.yaml"),
        "settings_file": str(folder / "secret.txt"),
        "engine": "memory",
        "report_base": "https://reports.example/features",
    }

    def step(day: str, *arrives: tuple[Path, Path], **more: Any) -> dict[str, Any]:
        moved = [[str(source), str(target)] for source, target in arrives]
        return {"day": day, "conf": {**conf, **more}, "arrives": moved}

    steps = [step(f"2026-03-0{day}") for day in range(1, 6)]
    steps += [
        step("2026-03-03", (late, days[2])),
        step("2026-03-05", (days[4], folder / "bad"), (mended, days[4])),
        step("2026-02-28"),
        step("2026-03-05"),
        step("2026-03-05", engine="gpu"),
        step("2026-03-05", source="{{ conn.spark_default.host }}"),
        step("2026-03-05", report_base="https://me:hunter2@reports.example"),
    ]
    ended, log = airflow.run(steps)

    done = {"arrived": "success", "select": "success", "publish": "success", "verdict": "success"}
    lost = dict.fromkeys(("publish", "verdict", "changed", "compare", "unchanged", "earlier_day"), "upstream_failed")
    expected = [
        ({**done, "changed": "success"}, "2026-03-01T000000"),  # the first: there is something to train with
        ({**done, "unchanged": "success"}, "2026-03-02T000000"),
        ({"arrived": "failed", "select": "upstream_failed", **lost}, "2026-03-02T000000"),  # not there yet
        ({**done, "changed": "success"}, "2026-03-04T000000"),  # the unit of b is another
        ({"arrived": "success", "select": "failed", **lost}, "2026-03-04T000000"),
        ({**done, "earlier_day": "success"}, "2026-03-04T000000"),  # the late day has come
        ({**done, "unchanged": "success"}, "2026-03-05T000000"),
        ({**done, "earlier_day": "success"}, "2026-03-05T000000"),  # a backfill
        ({**done, "unchanged": "success"}, "2026-03-05T000000"),
    ]
    for (tasks, current), (wanted, interval) in zip(ended, expected, strict=False):
        assert (states(tasks), current) == (wanted, interval), log[-5000:]
    assert ended[4][0]["select"] == ["failed", 1]  # bad data are not tried again
    assert log.count("Already done") == 1  # the last day, run again
    assert "gpu" in ended[9][0]["refused"]
    assert ended[10][0]["arrived"] == ["failed", 1]
    assert "'conn' is undefined; ds, ds_nodash" in log
    assert ended[11][0]["select"] == ["failed", 1]
    assert airflow.query("select * from rendered_task_instance_fields where rendered_fields like '%hunter2%'") == []

    told = (folder / "alarms.txt").read_text().splitlines()
    assert [line.partition(":")[0] for line in told] == [
        f"select_features 2026-03-0{day}" for day in (3, 4, 5, 5, 5)
    ]  # late, changed, failed; and the parameters at the end
    assert "arrived failed" in told[0]
    assert "refit needed: " in told[1]
    assert told[1].endswith("https://reports.example/features/2026-03-04T000000/changes.html")
    assert "select failed: not retried" in told[2]

    events = airflow.query(
        "select a.name, e.partition_key from asset_event e join asset a on a.id = e.asset_id order by e.id"
    )
    keys = [key for name, key in events if name == "spark_pufs_selection"]
    assert keys == [f"2026-{day}" for day in ("03-01", "03-02", "03-04", "03-03", "03-05", "02-28", "03-05")]
    assert [name for name, _ in events].count("spark_pufs_features") == 2  # the first day, and the fourth
    links = {json.loads(value) for (value,) in airflow.query("select value from xcom where key = '_link_ChangesLink'")}
    pages = "https://reports.example/features"
    assert f"{pages}/2026-03-04T000000/changes.html" in links
    assert f"{pages}/2026-03-01T000000/changes.html" not in links  # there is none before it

    since = json.loads((folder / "out" / "2026-03-05T000000" / "selection.json").read_text())["details"]["since"]
    assert since["previous"] == "2026-03-04T000000"
    assert "exclude" not in log.split("Running command")[1].partition("Output:")[0]  # what the file says


def test_the_same_by_spark_submit_under_a_name_of_its_own(airflow: Airflow) -> None:
    folder = airflow.folder
    maker = example_days()
    maker.write_day(folder / "other" / "day=2026-03-01", maker.rows(date(2026, 3, 1)))
    (folder / "spark.yaml").write_text(CONFIG.replace("source: {path: x}", "source: {table: lake.flows}"))
    conf = {"source": str(folder / "other" / "day={{ ds }}"), "output": str(folder / "spark")}
    step = {"day": "2026-03-01", "conf": {**conf, "select_config": str(folder / "spark.yaml")}, "arrives": []}
    [(tasks, current)], log = airflow.run([step])
    assert states(tasks)["publish"] == "success", log[-5000:]
    assert current == "2026-03-01T000000"
    assert "--name spark-pufs-select-2026-03-01T000000" in log
    assert (folder / "spark" / current / "report.html").exists()
