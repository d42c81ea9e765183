"""Selections as runs of MLflow; what needs the package itself runs on a real file store."""

from __future__ import annotations

import doctest
import json
import sys
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import spark_pufs
from spark_pufs.cli import run
from spark_pufs.errors import ConfigError, EnvironmentFault, PufsError
from spark_pufs.findings import Findings
from spark_pufs.findings.parts import (
    Choice,
    Clustering,
    SearchTrace,
    SizeCurve,
    SizePoint,
    StabilitySummary,
    Standing,
    Standings,
)
from spark_pufs.rundir import mlflow_logging
from spark_pufs.rundir.mlflow_logging import Tracking, metrics_of, parameters_of, tags_of

needs_mlflow = pytest.mark.skipif(
    find_spec("mlflow") is None, reason="mlflow is not installed: pip install 'spark-pufs[mlflow]'"
)
CONF = str(Path(__file__).parents[2] / "conf" / "select_features.yaml")


def small(**options: Any) -> spark_pufs.Selection:
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(300, 4)), columns=["a", "b", "c", "d"])
    table["label"] = np.where(table["a"] > 0.8, 1, 0)
    return spark_pufs.select(table, label="label", **{"method": "semi-mim", "k": 2, **options})


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The address of an empty file store."""
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    monkeypatch.setenv("MLFLOW_DISABLE_TELEMETRY", "true")
    return (tmp_path / "store").as_uri()


def runs(store: str, experiment: str = "spark_pufs") -> list[Any]:
    from mlflow import MlflowClient

    client = MlflowClient(tracking_uri=store)
    found = client.get_experiment_by_name(experiment)
    return [] if found is None else list(client.search_runs([found.experiment_id]))


def test_the_examples_of_the_module_hold() -> None:
    found = doctest.testmod(mlflow_logging)
    assert found.attempted == 1
    assert found.failed == 0


def test_a_long_parameter_is_cut_and_says_where_the_rest_is() -> None:
    value = parameters_of({"include": ["x" * 600]}, {})["include"]
    assert len(value) == 500
    assert value.startswith('["xxx')
    assert value.endswith("x ... (all of it: selection.json)")


def test_metrics_name_what_methods_resampling_and_held_out_labels_say() -> None:
    findings = Findings(
        clustering=Clustering((), 0.5, 4.0),
        search=SearchTrace({}, generations=7, unconverged=float("nan")),
        stability=StabilitySummary(20, 0.9, 0.8, 1.0, verdict="firm"),
        sizes=SizeCurve((SizePoint(1, 0.6, 0.1), SizePoint(4, 0.7, 0.1)), chosen=4),
        comparison=Standings((Standing("fscpu (clusters=20)", 0.75, 0.1, None, None, 1, 1, 1, None, ""),)),
        choice=Choice("semi-mim + mim"),
    )
    selection = replace(small(costs={"a": 3}, must=["a", "b"]), findings=findings)
    found = metrics_of(selection)
    values = {name: value for name, value, step in found if step == 0}
    rows = 300
    labelled = selection.facts["labelled_positive"]
    assert values.pop("seconds") == selection.run.seconds
    assert values == {
        "selected": 2, "cost": 4.0, "left_out": 0, "warnings": len(selection.warnings), "rows": rows,
        "labelled_positive": labelled, "labelled_negative": 0, "unlabelled": rows - labelled, "features": 4, "f": 0.5,
        "lift": 4.0, "stability": 0.9, "stability_low": 0.8, "stability_high": 1.0, "held_out_auc": 0.7,
        "held_out_auc.fscpu _clusters_20_": 0.75, "generations": 7,
    }  # fmt: skip
    assert [one for one in found if one[2]] == [("held_out_auc_by_size", 0.6, 1), ("held_out_auc_by_size", 0.7, 4)]
    tags = tags_of(selection)
    assert tags["spark_pufs.chosen_method"] == "semi-mim + mim"
    assert tags["spark_pufs.stability"] == "firm"


@needs_mlflow
def test_a_selection_becomes_one_run_however_often_it_is_logged(store: str) -> None:
    selection = small()
    first = selection.log_to_mlflow(tracking_uri=store)
    assert selection.log_to_mlflow(tracking_uri=store) == first
    assert small(k=1).log_to_mlflow(tracking_uri=store) != first
    assert len(runs(store)) == 2
    [logged] = [one for one in runs(store) if one.info.run_id == first]
    assert logged.info.status == "FINISHED"
    assert logged.info.run_name == "semi-mim, 2 of 4"
    assert logged.data.params["k"] == "2"
    assert logged.data.params["label.column"] == "label"
    assert logged.data.params["label.positive"] == "[1]"
    assert "budget" not in logged.data.params
    assert logged.data.metrics["selected"] == 2
    assert logged.data.metrics["rows"] == 300
    assert logged.data.tags["spark_pufs.fingerprint"] == selection.fingerprint
    assert logged.data.tags["spark_pufs.version"] == spark_pufs.__version__
    assert logged.data.tags["spark_pufs.method"] == "semi-mim"
    assert logged.data.tags["mlflow.note.content"].startswith("semi-mim: 2 of 4 features: a, ")


@needs_mlflow
def test_the_files_of_a_run_are_those_of_a_run_directory(store: str, tmp_path: Path) -> None:
    selection = small()
    selection.write(tmp_path / "run")
    selection.log_to_mlflow("mine", store)
    [logged] = runs(store, "mine")
    files = {path.name: path.read_bytes() for path in Path(logged.info.artifact_uri.removeprefix("file://")).iterdir()}
    assert set(files) == {"selection.json", "ranking.parquet", "report.html"}
    assert files == {name: (tmp_path / "run" / name).read_bytes() for name in files}


@needs_mlflow
def test_a_run_that_broke_off_is_marked_and_logged_anew(store: str, monkeypatch: pytest.MonkeyPatch) -> None:
    selection = small()

    def full(*arguments: object) -> None:
        raise OSError("no space left")

    with monkeypatch.context() as patch:
        patch.setattr(mlflow_logging, "_log_files", full)
        with pytest.raises(PufsError, match=r"MLflow at 'file://.*': no space left\. .*running again logs them"):
            selection.log_to_mlflow(tracking_uri=store)
    again = selection.log_to_mlflow(tracking_uri=store)
    assert {one.info.run_id == again: one.info.status for one in runs(store)} == {True: "FINISHED", False: "FAILED"}


@needs_mlflow
def test_faults_of_the_store_are_named_before_any_work(store: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from mlflow import MlflowClient

    with pytest.raises(ConfigError, match=r"MLflow at 'nonsense://\*\*\*@x': .*unsupported URI 'nonsense://\*\*\*@x'"):
        Tracking(tracking_uri="nonsense://me:secret@x").check()
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "0")
    with pytest.raises(
        PufsError, match=r"MLflow at 'http://\*\*\*@127\.0\.0\.1:9'"
    ) as away:  # the discard port: no one is there
        Tracking(tracking_uri="http://me:secret@127.0.0.1:9").check()
    assert "secret" not in str(away.value)
    assert away.value.exit_code == 1
    small().log_to_mlflow("gone", store)
    client = MlflowClient(tracking_uri=store)
    client.delete_experiment(client.get_experiment_by_name("gone").experiment_id)
    with pytest.raises(ConfigError, match=r"MLflow experiment 'gone': is deleted\. Restore it"):
        Tracking("gone", store).check()


def test_the_experiment_comes_from_the_environment_where_none_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MLFLOW_EXPERIMENT_NAME", "of the team")
    assert Tracking().name == "of the team"
    assert Tracking("mine").name == "mine"
    monkeypatch.delenv("MLFLOW_EXPERIMENT_NAME")
    assert Tracking().name == "spark_pufs"


def test_without_the_package_nothing_is_begun(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "mlflow", None)  # as if it were not installed
    with pytest.raises(EnvironmentFault, match=r'pip install "spark-pufs\[mlflow\]"'):
        small().log_to_mlflow()
    out = tmp_path / "out"
    settings = ["--set", f"output.path={out}", "--set", "output.mlflow={experiment: x}"]
    assert run(["select", "--config", CONF, *settings]) == 4
    assert 'Run: pip install "spark-pufs[mlflow]", or take output.mlflow out.' in capsys.readouterr().err
    assert not out.exists()


def test_mistyped_settings_and_comparisons_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["select", "--config", CONF, "--set", "output.mlflow={experimet: x}"]) == 2
    assert "Setting 'output.mlflow.experimet': is not known. Did you mean 'experiment'?" in capsys.readouterr().err
    conf = str(Path(CONF).with_name("compare_methods.yaml"))
    assert run(["compare", "--config", conf, "--set", "output.mlflow={}"]) == 2
    assert "only selections are logged: take output.mlflow out" in capsys.readouterr().err


@needs_mlflow
@pytest.mark.spark
def test_the_job_logs_once_and_makes_up_for_what_was_not_logged(
    spark: object, store: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = pd.DataFrame({"a": [0.0, 1.0] * 50, "b": [1.0, 2.0, 3.0, 4.0] * 25, "label": [0, 1] * 50})
    table.to_parquet(tmp_path / "table.parquet")
    select = ["select", "--config", CONF, "--set", f"source.path={tmp_path / 'table.parquet'}", "--set", "select.k=1"]
    select += ["--set", f"output.path={tmp_path / 'out'}", "--set", "source.options={password: hunter2}"]
    select += ["--set", "features.keep=[]"]
    assert run(select) == 0
    asked = [*select, "--set", f"output.mlflow={{experiment: jobs, tracking_uri: '{store}'}}"]
    assert run([*asked, "--dry-run"]) == 0
    assert runs(store, "jobs") == []
    capsys.readouterr()
    assert run(asked) == 0  # the folder was finished before: only the run is missing
    told = capsys.readouterr().out
    [logged] = runs(store, "jobs")
    assert told.startswith("Already done")
    assert f"MLflow: run {logged.info.run_id} in experiment 'jobs'" in told
    assert run(asked) == 0
    assert len(runs(store, "jobs")) == 1
    assert logged.data.params["source.path"] == str(tmp_path / "table.parquet")
    assert "hunter2" not in json.dumps(logged.to_dictionary())
    assert run([*asked, "--set", "select.k=2", "--set", "output.overwrite=true"]) == 0
    assert {one.data.metrics["selected"] for one in runs(store, "jobs")} == {1.0, 2.0}
