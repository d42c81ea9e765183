"""What the DAG does with run directories; it trusts no name in a manifest. The DAG itself is in tests/integration."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import spark_pufs
from support.configurations import load_config

MODULE = Path(__file__).parents[2] / "jobs" / "airflow" / "run_files.py"
spec = importlib.util.spec_from_file_location("run_files", MODULE)
assert spec is not None
assert spec.loader is not None
run_files: Any = importlib.util.module_from_spec(spec)
sys.modules["run_files"] = run_files  # where dataclasses look for it
spec.loader.exec_module(run_files)
NotWhole = run_files.NotWhole


def publish(run: Path, pages: str = "") -> Any:
    return run_files.publish_run(run, str(run), pages)


def written(run: Path, seed: int = 0) -> Path:
    X = np.random.default_rng(seed).normal(size=(200, 3))
    table = pd.DataFrame(X, columns=list("abc")).assign(label=np.where(X[:, 0] > 0.8, 1, 0))
    spark_pufs.select(table, label="label", method="semi-mim", k=1).write(run)
    return run


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return written(tmp_path / "out" / "2026-03-02T000000")


def renamed(run: Path, name: str) -> None:
    """The manifest says ``name`` where it said report.md."""
    manifest = json.loads((run / "manifest.json").read_text())
    manifest["files"][name] = manifest["files"].pop("report.md")
    (run / "manifest.json").write_text(json.dumps(manifest))


def test_a_whole_run_is_published(run: Path) -> None:
    published = publish(run, "https://reports/x")
    assert json.loads((run.parent / "current.json").read_text()) == published.as_dict()
    assert (published.run, published.method, published.features) == (str(run), "semi-mim", ("a",))
    assert (published.report, published.changes) == ("https://reports/x/report.html", "")
    assert (published.verdict, published.alarm, published.current) == ("first run", False, True)
    assert sorted(path.name for path in run.parent.iterdir()) == ["2026-03-02T000000", "current.json"]


def test_current_moves_to_later_intervals_alone(run: Path) -> None:
    before, after = (written(run.parent / f"2026-03-0{day}T000000", day) for day in (1, 3))
    assert [publish(one).current for one in (run, before, run, after, run)] == [True, False, True, True, False]
    assert json.loads((run.parent / "current.json").read_text())["run"] == str(after)


def test_current_of_an_earlier_version_is_understood(run: Path) -> None:
    (run.parent / "current.json").write_text(json.dumps({"run": f"{run.parent}/2026-03-05T000000"}))
    assert publish(run).current is False
    (run.parent / "current.json").write_text("{")
    with pytest.raises(NotWhole, match=r"current\.json is damaged"):
        publish(run)


@pytest.mark.parametrize("name", ["../secret.md", "/etc/passwd", "..", "a/b", "a\\b", "x\x00"])
def test_names_that_lead_out_are_refused(run: Path, name: str) -> None:
    (run.parent / "secret.md").write_bytes((run / "report.md").read_bytes())
    renamed(run, name)
    with pytest.raises(NotWhole, match="leads out of the run directory"):
        publish(run)
    assert not (run.parent / "current.json").exists()


def test_links_that_lead_out_are_refused(run: Path) -> None:
    (run / "report.md").rename(run.parent / "elsewhere.md")
    (run / "report.md").symlink_to(run.parent / "elsewhere.md")
    with pytest.raises(NotWhole, match=r"names 'report\.md', which leads out"):
        publish(run)


@pytest.mark.parametrize("text", ["", "{", "[]", '{"files": []}', '{"files": {"a": 1}}', "\x00"])
def test_a_damaged_manifest_is_named(run: Path, text: str) -> None:
    (run / "manifest.json").write_text(text)
    with pytest.raises(NotWhole, match=r"manifest\.json is not a run's manifest .*select again"):
        publish(run)


def test_changed_files_are_refused(run: Path) -> None:
    (run / "report.md").write_text("other")
    with pytest.raises(NotWhole, match=r"report\.md is not the file that its manifest names; select again"):
        publish(run)
    (run / "report.md").unlink()
    with pytest.raises(NotWhole, match=r"report\.md is not the file that its manifest names; select again"):
        publish(run)


def test_addresses_with_credentials_are_known() -> None:
    held = ["s3a://AKIA:hunter2@bucket/t", "https://hunter2@host/c.yaml", "https://host/t?sig=hunter2"]
    held += ["jdbc:oracle:thin:me/hunter2@//host/db", "abfs://me:hunter2@account/x", "abfss://a@b:c@account/x"]
    free = ["s3://bucket/run", "abfss://container@account/x", "data/day=2026-03-01", "https://host/report.html", ""]
    assert [run_files.holds_login(one) for one in held + free] == [True] * len(held) + [False] * len(free)


def test_exit_codes_are_read_from_what_the_spark_hook_says() -> None:
    said = "Cannot execute: spark-submit. Error code is: 1. Kubernetes spark exit code is: 3"
    assert run_files.exit_code(said) == 3
    assert run_files.exit_code("Cannot execute: spark-submit. Error code is: 2.") == 2
    assert run_files.exit_code("driver lost") is None


def test_settings_of_an_interval_take_the_place_of_those_of_the_file(tmp_path: Path) -> None:
    text = "source: {table: lake.flows}\nlabel: {column: label}\noutput: {path: x}\n"
    (tmp_path / "flows.yaml").write_text(text)

    def configured(**settings: str) -> Any:
        named = {name.replace("_", ".", 1): value for name, value in settings.items()}
        _, config, *words = run_files.arguments(str(tmp_path / "flows.yaml"), named, "")
        return load_config(config, words[1::2])

    path = configured(source_path="day=2026-03-01", source_table="", output_overwrite="changed", output_path="2026")
    assert (path.source.path.given, path.source.table) == ("day=2026-03-01", None)
    assert (path.output.overwrite, configured(output_overwrite="true").output.overwrite) == ("changed", True)
    assert configured(source_path="", source_table="").source.table == "lake.flows"
    assert configured(source_table="lake.flows_20260301").source.table == "lake.flows_20260301"
    secret = run_files.arguments("flows.yaml", {}, "secret.txt")
    assert secret == ["--config", "flows.yaml", "--set-file", "secret.txt"]
