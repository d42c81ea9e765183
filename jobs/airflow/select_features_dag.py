"""validate -> select -> compare -> publish, daily, for Airflow 3 with its Spark provider; docs/airflow.md says how.

A retry is safe: a finished step finds its manifest and does nothing, an unfinished one goes on or starts over, and
files are replaced whole. Exit codes 2 and 3 (configuration, data) fail at once: the same input fails the same way.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from airflow.providers.apache.spark.operators.spark_submit import SparkSubmitOperator
from airflow.sdk import DAG, BaseOperatorLink, ObjectStoragePath, Param, task
from airflow.sdk.exceptions import AirflowException, AirflowFailException

HOME = os.environ.get("SPARK_PUFS_HOME", str(Path(__file__).resolve().parents[2]))  # where jobs/ and conf/ are
NEVER_RETRIED = (2, 3)

PARAMS = {
    "source": Param("runs/demo/table.parquet", type="string", description="The table to read."),
    "output": Param("runs/airflow", type="string", description="A folder; each data interval has its own inside."),
    "select_config": Param(f"{HOME}/conf/select_features.yaml", type="string"),
    "compare_config": Param(f"{HOME}/conf/compare_methods.yaml", type="string"),
    "replace": Param(False, type="boolean", description="Replace what another table or request left there."),
    "report_base": Param("", type="string", description="Web address of the output folder, for links to reports."),
}
INTERVAL = "{{ (dag_run.data_interval_start or dag_run.run_after).strftime('%Y-%m-%dT%H%M%S') }}"
RUN = "{{ params.output.rstrip('/') }}/" + INTERVAL
REPORT = "{{ (params.report_base or params.output).rstrip('/') }}/" + INTERVAL


def exit_code(message: str) -> int | None:
    """The code that our job ended with, from what the Spark hook says; a driver pod's own code comes first."""
    found = re.search(r"Error code is: (\d+)\.(?: Kubernetes spark exit code is: (\d+))?", message)
    return int(found.group(2) or found.group(1)) if found else None


class ReportLink(BaseOperatorLink):
    """A button on the task that opens what it wrote."""

    name = "Report"

    def get_link(self, operator: Any, *, ti_key: Any) -> str:
        return str(operator.report)


class SelectionOperator(SparkSubmitOperator):
    """One of our jobs by spark-submit; what retrying cannot fix is not retried."""

    template_fields = (*SparkSubmitOperator.template_fields, "report")
    operator_extra_links = (ReportLink(),)

    def __init__(self, report: str = "", **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.report = report

    def render_template_fields(self, context: Any, jinja_env: Any = None) -> None:
        """Refuse credentials before Airflow keeps what was rendered: it stands in its database and pages, on the
        command line of spark-submit and in the log."""
        super().render_template_fields(context, jinja_env)
        if any(holds_login(address_in(word)) for word in (*(self.application_args or ()), self.report)):
            raise AirflowFailException("an address holds credentials; they belong in an Airflow connection")

    def execute(self, context: Any) -> None:
        try:
            super().execute(context)
        except AirflowException as error:
            if exit_code(str(error)) in NEVER_RETRIED:
                raise AirflowFailException(f"not retried: {error}") from error
            raise


def holds_login(address: str) -> bool:
    """Whether an address says who logs in, or asks for something with a signature; a container@account does not."""
    if address.lower().startswith("jdbc:"):
        return any(mark in address for mark in "@?;")
    scheme, there, rest = address.partition("://")
    host = rest.partition("/")[0]
    container = scheme.startswith(("abfs", "wasb")) and host.count("@") == 1 and ":" not in host
    return bool(there) and (("@" in host and not container) or any(mark in rest for mark in "?#;"))


def address_in(word: str) -> str:
    """The address in an argument, which may be the value of a setting."""
    name, _, value = word.partition("=")
    return value if value and "://" not in name else word


def job(name: str, script: str, config: str, out: str, report: str, *more: str) -> SelectionOperator:
    """A step that runs ``script`` on the table of this interval."""
    values = {"source.path": "{{ params.source }}", "output.path": out, "output.overwrite": "{{ params.replace }}"}
    overrides = [part for key, value in values.items() for part in ("--set", f"{key}={value}")]
    # The workers' Python: spark-submit takes `python3` from the PATH unless told.
    python = os.environ.get("SPARK_PUFS_PYTHON")
    return SelectionOperator(
        task_id=name,
        application=f"{HOME}/jobs/{script}",
        application_args=["--config", config, *overrides, *more],
        env_vars={"PYSPARK_PYTHON": python} if python else None,
        py_files=os.environ.get("SPARK_PUFS_PY_FILES"),
        report=report,
    )


@task
def publish(run: str, report: str) -> dict[str, str]:
    """Check the run's files against its manifest, then point ``current.json`` to it: one small file, replaced whole."""
    if holds_login(run) or holds_login(report):
        raise AirflowFailException("the output address holds credentials; they belong in an Airflow connection")
    folder = ObjectStoragePath(run) if "://" in run else Path(run).absolute()
    manifest = manifest_of(folder, run)
    for name, digest in manifest["files"].items():
        place = inside(folder, name)
        if not place.exists() or hashlib.sha256(place.read_bytes()).hexdigest() != digest:
            raise AirflowFailException(f"{run}/{name} is not the file that its manifest names; select again")
    current = {"run": run, "report": report, "fingerprint": manifest["fingerprint"], "method": manifest["method"]}
    replace_text(folder.parent / "current.json", json.dumps(current, indent=2))
    return current


def manifest_of(folder: Any, run: str) -> dict[str, Any]:
    """What a run says of itself, with the digest of each file by name."""
    try:
        found = json.loads((folder / "manifest.json").read_text())
        digests = {str(name): str(facts["sha256"]) for name, facts in found["files"].items()}
        return {"fingerprint": found["fingerprint"], "method": found["method"], "files": digests}
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise AirflowFailException(f"{run}/manifest.json is not a run's manifest ({error!r}); select again") from error


def inside(folder: Any, name: str) -> Any:
    """The file of a folder; a name that leads out of it, itself or by a link, is refused."""
    place = folder / name
    plain = re.fullmatch(r"(?!\.{1,2}$)[^/\\\x00-\x1f]+", name) is not None
    linked = plain and isinstance(place, Path) and not place.resolve().is_relative_to(folder.resolve())
    if not plain or linked:
        raise AirflowFailException(f"{folder}/manifest.json names {name!r}, which leads out of the run directory")
    return place


def replace_text(place: Any, text: str) -> None:
    """An object store replaces whole; a local file is written beside the old one first."""
    if isinstance(place, Path):
        partial = place.with_name(f".{place.name}.partial")
        partial.write_text(text)
        partial.replace(place)
    else:
        place.write_text(text)


with DAG(
    dag_id="select_features",
    description=__doc__.splitlines()[0],
    schedule="@daily",
    start_date=datetime(2026, 1, 1, tzinfo=UTC),
    catchup=False,
    max_active_runs=1,
    params=PARAMS,
    default_args={"retries": 2, "retry_delay": timedelta(minutes=5), "retry_exponential_backoff": True},
    render_template_as_native_obj=False,
) as dag:
    validate = job("validate", "select_features.py", "{{ params.select_config }}", RUN, "", "--dry-run")
    select = job("select", "select_features.py", "{{ params.select_config }}", RUN, f"{REPORT}/report.html")
    comparison, table = f"{RUN}/compare", f"{REPORT}/compare/comparison.md"
    compare = job("compare", "compare_methods.py", "{{ params.compare_config }}", comparison, table)
    validate >> select >> compare >> publish(RUN, f"{REPORT}/report.html")
