"""What the doctor finds, and what it says to do."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from collections.abc import Mapping
from pathlib import Path

import pytest

from spark_pufs.cli import run
from spark_pufs.errors import EnvironmentFault, Fault
from spark_pufs.jobs import doctor
from spark_pufs.jobs.doctor import BOUNDS, PYTHON, Finding, examine, report
from spark_pufs.spark.versions import SPARK, Place, within

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]

BLOCKED = """
import runpy, sys
class Block:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] == "scipy":
            raise ModuleNotFoundError(f"No module named {name!r}")
sys.meta_path.insert(0, Block())
sys.argv = ["spark-pufs", "methods"]
runpy.run_module("spark_pufs", run_name="__main__")
"""


def parted(requirement: str) -> tuple[str, str]:
    name, bounds = re.fullmatch(r"([a-z0-9-]+)(?:\[\w+\])?(.*)", requirement).groups()  # type: ignore[union-attr]
    return name, bounds


def test_bounds_are_those_of_the_package() -> None:
    assert dict(map(parted, PROJECT["dependencies"])) == BOUNDS
    assert dict(map(parted, PROJECT["optional-dependencies"]["spark"])) == {"pyspark": SPARK}
    assert PROJECT["requires-python"] == PYTHON


@pytest.mark.parametrize(
    ("version", "bounds", "inside"),
    [("2.0.0", ">=2.0,<3", True), ("1.26.4", ">=2.0,<3", False), ("3.0", ">=2.0,<3", False), ("17", ">=17", True),
     ("2.10", ">=2.9", True), ("4.1.0.dev3", ">=4.0,<5", True), ("2.0.0", ">=1.26,!=2.0.0,<3", False),
     ("2.0.1", ">=1.26,!=2.0.0,<3", True), ("unknown", ">=1", False)],
)  # fmt: skip
def test_versions_in_bounds(version: str, bounds: str, inside: bool) -> None:
    assert within(version, bounds) is inside


def have(monkeypatch: pytest.MonkeyPatch, versions: Mapping[str, str]) -> None:
    def version(name: str) -> str:
        if name not in versions:
            raise doctor.metadata.PackageNotFoundError(name)
        return versions[name]

    monkeypatch.setattr(doctor.metadata, "version", version)


def test_a_missing_and_a_wrong_package_are_named_with_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    least = {name: re.findall(r"[\d.]+", bounds)[0] for name, bounds in BOUNDS.items()}
    have(monkeypatch, {name: v for name, v in {**least, "pandas": "3.0.1"}.items() if name != "numpy"})
    faults = [str(finding.fault) for finding in examine(None) if finding.fault]
    assert faults == [
        "Package 'numpy': is not installed. Run: pip install \"numpy>=1.26,!=2.0.0,<3\"",
        "Package 'pandas': needs >=2.0,<3, found 3.0.1. Run: pip install \"pandas>=2.0,<3\"",
    ]


@pytest.mark.integration
def test_no_java_is_told_and_no_job_is_tried(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    monkeypatch.setattr(doctor, "open_session", lambda *given: pytest.fail("a session was asked for"))
    assert run(["doctor"]) == 4
    said = capsys.readouterr()
    assert "FIX Java          none" in said.out
    assert "Java: Spark needs version 17 or later, none was found. Install Java 17" in said.err


def test_under_spark_submit_java_runs_already_and_a_spark_that_is_too_old_is_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PYSPARK_GATEWAY_PORT", "1")
    monkeypatch.setattr(doctor, "java_version", lambda: pytest.fail("Java was looked for"))
    monkeypatch.setattr(doctor, "pyspark_version", lambda: "3.4.1")
    found = {finding.what: finding for finding in examine("local[2]")}
    assert found["Java"].fault is None
    assert str(found["pyspark"].fault) == "Package 'pyspark': needs >=3.5,<5, found 3.4.1. Use Spark 3.5 or 4."


@pytest.mark.integration
def test_a_worker_that_differs_fails_the_tiny_job(monkeypatch: pytest.MonkeyPatch) -> None:
    def differ(spark: object) -> list[Place]:
        raise EnvironmentFault(Fault("Workers' Python '/usr/bin/python3' on a", "numpy cannot be loaded", "Do it."))

    monkeypatch.setattr(doctor, "open_session", lambda *given: None)
    monkeypatch.setattr(doctor, "check_workers", differ)
    monkeypatch.setattr(doctor, "check_java", lambda: None)
    *_, last = examine("local[2]")
    assert (last.what, last.found) == ("tiny job", "failed")
    assert "numpy cannot be loaded" in str(last.fault)


def test_the_report_raises_once_with_all_faults() -> None:
    said: list[str] = []
    findings = [Finding("a", "1"), *(Finding(name, "none", Fault(name, "is not there", "Get it.")) for name in "bc")]
    with pytest.raises(EnvironmentFault, match="2 faults"):
        report(findings, said.append)
    assert said == ["ok  a             1", "FIX b             none", "FIX c             none"]
    report(findings[:1], said.append)
    assert said[-1] == "All is well."


@pytest.mark.integration
def test_a_package_that_does_not_load_ends_with_code_4_and_no_stack() -> None:
    done = subprocess.run([sys.executable, "-c", BLOCKED], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 4, done.stderr
    assert "does not load: No module named 'scipy" in done.stderr
    assert "Traceback" not in done.stderr
