"""The last step of the DAG trusts no name in a manifest. Airflow is stood in for; tests/integration has it."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pandas as pd
import pytest

import spark_pufs

DAG = Path(__file__).parents[2] / "jobs" / "airflow" / "select_features_dag.py"


class Fail(Exception):
    """AirflowFailException: not retried."""


class Anything:
    """Takes any arguments and stands for an operator, a parameter or a DAG."""

    template_fields = ()

    def __init__(self, *_: Any, **__: Any) -> None:
        pass

    def __enter__(self) -> Anything:
        return self

    def __exit__(self, *_: Any) -> None:
        pass

    def __rshift__(self, other: Any) -> Any:
        return other


class Task:
    """What @task gives: within the DAG a call makes a node; ``function`` is the step itself."""

    def __init__(self, function: Any) -> None:
        self.function = function

    def __call__(self, *_: Any) -> Anything:
        return Anything()


class Submit(Anything):
    """SparkSubmitOperator, which renders nothing here."""

    def __init__(self, application_args: Any = None, **_: Any) -> None:
        self.application_args = application_args

    def render_template_fields(self, context: Any, jinja_env: Any = None) -> None:
        pass


@pytest.fixture
def publish(dag: Any) -> Any:
    return dag.publish.function


@pytest.fixture
def dag(monkeypatch: pytest.MonkeyPatch) -> Any:
    def module(name: str, **members: Any) -> None:
        made = ModuleType(name)
        vars(made).update(members)
        monkeypatch.setitem(sys.modules, name, made)

    for name in ("airflow", "airflow.providers", "airflow.providers.apache", "airflow.providers.apache.spark"):
        module(name)
    module("airflow.providers.apache.spark.operators")
    module("airflow.providers.apache.spark.operators.spark_submit", SparkSubmitOperator=Submit)
    module(
        "airflow.sdk", DAG=Anything, BaseOperatorLink=Anything, ObjectStoragePath=Anything, Param=Anything, task=Task
    )
    module("airflow.sdk.exceptions", AirflowException=Exception, AirflowFailException=Fail)
    spec = importlib.util.spec_from_file_location("select_features_dag_tested", DAG)
    assert spec is not None
    assert spec.loader is not None
    dag = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(dag)
    return dag


@pytest.fixture
def run(tmp_path: Path) -> Path:
    X = np.random.default_rng(0).normal(size=(200, 3))
    table = pd.DataFrame(X, columns=list("abc")).assign(label=np.where(X[:, 0] > 0.8, 1, 0))
    spark_pufs.select(table, label="label", method="semi-mim", k=1).write(tmp_path / "out" / "run")
    return tmp_path / "out" / "run"


def renamed(run: Path, name: str) -> None:
    """The manifest says ``name`` where it said report.md."""
    manifest = json.loads((run / "manifest.json").read_text())
    manifest["files"][name] = manifest["files"].pop("report.md")
    (run / "manifest.json").write_text(json.dumps(manifest))


def test_a_whole_run_is_published(publish: Any, run: Path) -> None:
    current = publish(str(run), "https://reports/x")
    assert json.loads((run.parent / "current.json").read_text()) == current
    assert (current["run"], current["method"]) == (str(run), "semi-mim")
    assert sorted(path.name for path in run.parent.iterdir()) == ["current.json", "run"]


@pytest.mark.parametrize("name", ["../secret.md", "/etc/passwd", "..", "a/b", "a\\b", "x\x00"])
def test_names_that_lead_out_are_refused(publish: Any, run: Path, name: str) -> None:
    (run.parent / "secret.md").write_bytes((run / "report.md").read_bytes())
    renamed(run, name)
    with pytest.raises(Fail, match="leads out of the run directory"):
        publish(str(run), "")
    assert not (run.parent / "current.json").exists()


def test_links_that_lead_out_are_refused(publish: Any, run: Path) -> None:
    (run / "report.md").rename(run.parent / "elsewhere.md")
    (run / "report.md").symlink_to(run.parent / "elsewhere.md")
    with pytest.raises(Fail, match=r"names 'report\.md', which leads out"):
        publish(str(run), "")


@pytest.mark.parametrize("text", ["", "{", "[]", '{"files": []}', '{"files": {"a": 1}}', "\x00"])
def test_a_damaged_manifest_is_named_and_not_retried(publish: Any, run: Path, text: str) -> None:
    (run / "manifest.json").write_text(text)
    with pytest.raises(Fail, match=r"manifest\.json is not a run's manifest .*select again"):
        publish(str(run), "")


def test_changed_files_and_credentials_are_refused(publish: Any, run: Path) -> None:
    (run / "report.md").write_text("other")
    with pytest.raises(Fail, match=r"report\.md is not the file that its manifest names; select again"):
        publish(str(run), "")
    (run / "report.md").unlink()
    with pytest.raises(Fail, match=r"report\.md is not the file that its manifest names; select again"):
        publish(str(run), "")
    with pytest.raises(Fail, match="holds credentials"):
        publish("s3://key:secret@bucket/run", "")


@pytest.mark.parametrize(
    ("words", "report"),
    [
        (["--set", "source.path=s3a://AKIA:hunter2@bucket/t"], ""),
        (["--config", "https://hunter2@host/c.yaml"], ""),
        (["--set", "source.path=https://host/t?sig=hunter2"], ""),
        (["--set", "source.path=jdbc:oracle:thin:me/hunter2@//host/db"], ""),
        (["--set", "output.path=abfs://me:hunter2@account/x"], ""),
        ([], "https://me:hunter2@host/report.html"),
    ],
)
def test_credentials_are_refused_before_what_was_rendered_is_kept(dag: Any, words: list[str], report: str) -> None:
    step = dag.SelectionOperator(report=report, application_args=words)
    with pytest.raises(Fail, match="an address holds credentials") as caught:
        step.render_template_fields({})
    assert "hunter2" not in str(caught.value)


def test_plain_addresses_are_rendered(dag: Any) -> None:
    words = [
        "--config",
        "conf/select.yaml",
        "--set",
        "source.path=abfs://table@account.dfs/t",
        "--set",
        "output.path=r",
    ]
    dag.SelectionOperator(report="https://host/report.html", application_args=words).render_template_fields({})
