"""The DAG in a real Airflow, in an environment of its own, with a real spark-submit on local[2]."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
import sys
import venv
from contextlib import closing
from pathlib import Path

import pytest

from spark_pufs.jobs.demo import write_example

ASKED = "SPARK_PUFS_TEST_AIRFLOW"
pytestmark = [
    pytest.mark.integration,
    pytest.mark.skipif(not os.environ.get(ASKED), reason=f"installs Airflow from PyPI and takes minutes; {ASKED}=1"),
]

ROOT = Path(__file__).parents[2]
BIN = Path(sys.executable).parent
PACKAGES = ["apache-airflow>=3.1,<4", "apache-airflow-providers-apache-spark>=5.3"]
INTERVAL = "2026-03-01T000000"

RUN_DAG = """
import json, sys
from datetime import datetime, timezone
from select_features_dag import dag

run = dag.test(logical_date=datetime(2026, 3, 1, tzinfo=timezone.utc), run_conf=json.loads(sys.argv[1]))
print("ENDED " + json.dumps({one.task_id: [one.state, one.try_number] for one in run.get_task_instances()}))
"""


@pytest.fixture(scope="module")
def airflow(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """A fresh environment with Airflow and a fresh database; the variables to run it with."""
    folder = tmp_path_factory.mktemp("airflow")
    venv.create(folder / "venv", with_pip=True)
    python = str(folder / "venv" / "bin" / "python")
    uv = shutil.which("uv", path=f"{BIN}{os.pathsep}{os.environ['PATH']}")
    install = [uv, "pip", "install", "--quiet", "--python", python] if uv else [python, "-m", "pip", "install", "-q"]
    subprocess.run([*install, *PACKAGES], check=True, timeout=900)
    kept = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "SPARK_HOME")}
    variables = {
        **kept,
        "PYTHON": python,
        "AIRFLOW_HOME": str(folder / "home"),
        "AIRFLOW__CORE__DAGS_FOLDER": str(ROOT / "jobs" / "airflow"),
        "AIRFLOW__CORE__LOAD_EXAMPLES": "false",
        "AIRFLOW_CONN_SPARK_DEFAULT": json.dumps({"conn_type": "spark", "host": "local[2]"}),
        "SPARK_PUFS_PYTHON": sys.executable,
        "PYTHONPATH": str(ROOT / "jobs" / "airflow"),
        "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}",  # where spark-submit is
    }
    subprocess.run([python, "-m", "airflow", "db", "migrate"], env=variables, check=True, timeout=300)
    return variables


def run_dag(variables: dict[str, str], conf: dict[str, object]) -> tuple[dict[str, list[object]], str]:
    """How each task ended and at which try, and the log."""
    command = [variables["PYTHON"], "-c", RUN_DAG, json.dumps(conf)]
    done = subprocess.run(
        command, cwd=ROOT, env=variables, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=900,
        check=False,
    )  # fmt: skip
    ended = [line.removeprefix("ENDED ") for line in done.stdout.splitlines() if line.startswith("ENDED ")]
    assert ended, done.stdout[-5000:]
    return json.loads(ended[0]), done.stdout


def link(variables: dict[str, str], name: str) -> str:
    """Where the button on a task leads, as Airflow keeps it."""
    with closing(sqlite3.connect(Path(variables["AIRFLOW_HOME"], "airflow.db"))) as database:
        found = database.execute("select value from xcom where task_id = ? and key = '_link_ReportLink'", [name])
        return str(json.loads(found.fetchone()[0]))


def test_the_dag_publishes_runs_again_without_harm_and_never_retries_a_bad_setting(
    airflow: dict[str, str], tmp_path: Path
) -> None:
    write_example(tmp_path / "table.parquet")
    quick = "label: {column: label}\nfeatures: {keep: [row_id]}\nselect: {k: 25}\n"
    quick += "compare: {methods: [semi-mim], folds: 2, repeats: 1, rows: 1000}\noutput: {path: x}\nsource: {path: x}\n"
    (tmp_path / "compare.yaml").write_text(quick)
    conf: dict[str, object] = {
        "source": str(tmp_path / "table.parquet"),
        "output": str(tmp_path / "out"),
        "compare_config": str(tmp_path / "compare.yaml"),
        "report_base": "https://reports.example/features",
    }
    ended, log = run_dag(airflow, conf)
    assert {name: state for name, (state, _) in ended.items()} == dict.fromkeys(
        ("validate", "select", "compare", "publish"), "success"
    ), log[-5000:]
    run = tmp_path / "out" / INTERVAL
    current = json.loads((tmp_path / "out" / "current.json").read_text())
    assert current["run"] == str(run)
    assert current["report"] == f"https://reports.example/features/{INTERVAL}/report.html"
    assert link(airflow, "select") == current["report"]
    assert (run / "report.html").exists()
    assert (run / "compare" / "comparison.md").exists()
    written = (run / "manifest.json").stat().st_mtime_ns

    ended, log = run_dag(airflow, conf)
    assert log.count("Already done") == 2  # select and compare
    assert (run / "manifest.json").stat().st_mtime_ns == written

    (tmp_path / "bad.yaml").write_text(quick.replace("k: 25", "k: 0").replace("compare:", "# compare:"))
    ended, log = run_dag(airflow, {**conf, "select_config": str(tmp_path / "bad.yaml")})
    assert ended["validate"] == ["failed", 1]
    assert ended["publish"][0] == "upstream_failed"
    assert "Option 'k': must be a whole number of at least 1" in log
