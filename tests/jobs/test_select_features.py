"""The job as spark-submit starts it, in a process of its own."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from spark_pufs.jobs.demo import write_example

pytestmark = pytest.mark.integration

ROOT = Path(__file__).parents[2]
SUBMIT = Path(sys.executable).parent / "spark-submit"


def submit(*arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYSPARK_PYTHON": sys.executable, "PYTHONPATH": str(ROOT)}
    command = [str(SUBMIT), "--master", "local[2]", "--conf", "spark.ui.enabled=false", "jobs/select_features.py"]
    return subprocess.run(
        [*command, *arguments], cwd=ROOT, env=environment, capture_output=True, text=True, timeout=300, check=False
    )


@pytest.mark.skipif(not SUBMIT.exists(), reason=f"no spark-submit beside {Path(sys.executable).name}")
def test_spark_submit_writes_the_run_directory(tmp_path: Path) -> None:
    write_example(tmp_path / "table.parquet")
    settings = ["--set", f"source.path={tmp_path / 'table.parquet'}", "--set", f"output.path={tmp_path / 'run'}"]
    done = submit("--config", "conf/select_features.yaml", *settings)
    assert done.returncode == 0, done.stderr[-2000:]
    names = json.loads((tmp_path / "run" / "selection.json").read_text())["names"]
    assert sum(name.startswith("relevant") for name in names) >= 22
    bad = submit("--config", "conf/select_features.yaml", *settings, "--set", "select.k=0")
    assert bad.returncode == 2
    assert "Option 'k': must be a whole number of at least 1, auto or all, got 0." in bad.stdout  # joined with errors


def run_py(path: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "run.py", "demo", "--engine", "spark"],
        cwd=ROOT,
        env={"PATH": path, **environment},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_without_java_the_set_up_says_what_to_do_and_nothing_else(tmp_path: Path) -> None:
    # A PATH with neither java nor apt-get: nothing can be installed.
    done = run_py(str(tmp_path))
    assert done.returncode == 4
    assert done.stdout.startswith("Spark needs Java 17 or later; none was found.\nDebian, Ubuntu: sudo apt-get install")
    assert done.stderr == ""


def test_an_old_java_is_named(tmp_path: Path) -> None:
    java = tmp_path / "java"
    java.write_text("#!/bin/sh\necho 'openjdk version \"1.8.0_392\"' >&2\n")
    java.chmod(0o755)
    shutil.copy("/bin/sh", tmp_path / "sh")
    done = run_py(str(tmp_path))
    assert done.returncode == 4
    assert "found version 8." in done.stdout
