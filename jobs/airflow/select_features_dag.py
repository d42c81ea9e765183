"""arrived -> select -> publish -> verdict, a partition a day, for Airflow 3.3 and on; docs/airflow.md says how.

Every interval has a run directory of its own, so that days may be run in any order and again: a finished one is left as
it is, one of other rows is replaced, an unfinished one goes on, and current.json only moves to later days. Exit codes 2
and 3 (configuration, data) fail at once: the same input fails the same way.
"""

from __future__ import annotations

import logging
import os
from datetime import UTC, datetime, timedelta
from importlib import import_module
from pathlib import Path
from typing import Any

from airflow.providers.apache.spark.operators.spark_submit import SparkSubmitOperator
from airflow.providers.standard.hooks.subprocess import SubprocessHook
from airflow.providers.standard.operators.empty import EmptyOperator
from airflow.sdk import DAG, Asset, BaseOperatorLink, CronDataIntervalTimetable, ObjectStoragePath, Param, task
from airflow.sdk.definitions.deadline import AsyncCallback, DeadlineAlert, DeadlineReference
from airflow.sdk.exceptions import AirflowException, AirflowFailException, AirflowSkipException
from jinja2 import StrictUndefined, TemplateError, pass_context
from run_files import CHANGES, FIRST, NotWhole, arguments, exit_code, holds_login, publish_run

# Of the deployment; what differs from run to run is a parameter.
HOME = os.environ.get("SPARK_PUFS_HOME", str(Path(__file__).resolve().parents[2]))  # where jobs/ and conf/ are
PYTHON = os.environ.get("SPARK_PUFS_PYTHON", "")  # of driver and workers: spark-submit takes `python3` from the PATH
POOL = os.environ.get("SPARK_PUFS_POOL", "default_pool")
HOURS = float(os.environ.get("SPARK_PUFS_HOURS", "6"))  # that a selection may take
WAIT = timedelta(hours=float(os.environ.get("SPARK_PUFS_WAIT_HOURS", "20")))  # that a partition may be late
ALARM = os.environ.get("SPARK_PUFS_ALARM", "")  # module.function, called with a text and Airflow's context
LATE = os.environ.get("SPARK_PUFS_LATE", "")  # module.function, async, for the triggerer: the day is not done in time
DUE = timedelta(hours=float(os.environ.get("SPARK_PUFS_DUE_HOURS", "8")))

NEVER_RETRIED = (2, 3)
KEY = "%Y-%m-%d"  # of a partition; with hours where the schedule is hourly
SELECTION = Asset("spark_pufs_selection")  # every interval that was published, with its partition key
FEATURES = Asset("spark_pufs_features")  # the features to train with have changed

PARAMS = {
    "source": Param(
        "data/day={{ ds }}",
        type=["null", "string"],
        minLength=1,
        description="The partition of an interval: {{ ds }} is the day it starts. Empty: as the configuration says.",
    ),
    "table": Param(None, type=["null", "string"], minLength=1, description="A table of the catalog instead of source."),
    "wait_for": Param(
        "_SUCCESS",
        type=["null", "string"],
        minLength=1,
        description="A file below source that says that the partition is whole. Empty: do not wait.",
    ),
    "output": Param(
        "runs/airflow", type="string", minLength=1, description="A folder; each interval has its own inside."
    ),
    "select_config": Param(f"{HOME}/conf/select_features.yaml", type="string", pattern=r"\.ya?ml$"),
    "compare_config": Param(
        None,
        type=["null", "string"],
        pattern=r"\.ya?ml$",
        description="Compare methods when the answer has changed. Empty: do not.",
    ),
    "settings_file": Param(
        None,
        type=["null", "string"],
        minLength=1,
        description="A file of the worker with secret settings, a line each; they do not stand on the command line.",
    ),
    "engine": Param("spark", enum=["spark", "memory"], description="spark-submit, or a process without Java."),
    "replace": Param(
        "changed",
        enum=["changed", "never", "always"],
        description="What is in the interval's folder: replaced if it is of other rows or settings, never, always.",
    ),
    "report_base": Param("", type="string", description="Web address of the output folder, for links to reports."),
}
INTERVAL = "{{ interval_start().strftime('%Y-%m-%dT%H%M%S') }}"
RUN = "{{ filled(params.output).rstrip('/') }}/" + INTERVAL
PAGES = "{{ (filled(params.report_base) or filled(params.output)).rstrip('/') }}/" + INTERVAL
SOURCE = "{{ '' if params.table else filled(params.source) }}"

log = logging.getLogger(__name__)


@pass_context
def interval_start(context: Any) -> Any:
    """Of a run without a data interval, which somebody has started by hand, the moment it was started."""
    return context.get("data_interval_start") or context["dag_run"].run_after


@pass_context
def filled(context: Any, text: str | None) -> str:
    """A parameter with the days of its interval filled in: Airflow renders fields of tasks, not what a parameter holds.

    Nothing else is to be had in it: whoever may start a run must not read variables and connections. Credentials are
    refused before Airflow keeps what was rendered: it stands in its database, on command lines and in the log.
    """
    start = interval_start(context)
    end = context.get("data_interval_end") or start
    days = {"ds": f"{start:%Y-%m-%d}", "ds_nodash": f"{start:%Y%m%d}"}
    try:
        template = context.environment.overlay(undefined=StrictUndefined).from_string(text or "")
        address = str(template.render(days, data_interval_start=start, data_interval_end=end))
    except TemplateError as error:
        known = "ds, ds_nodash, data_interval_start and data_interval_end are known"
        raise AirflowFailException(f"a parameter cannot be filled in: {error}; {known}") from error
    if holds_login(address):
        raise AirflowFailException("an address holds credentials; they belong in an Airflow connection")
    return address


def place(address: str) -> Any:
    """A folder or file, of this machine or of a store that Airflow has a connection to."""
    return ObjectStoragePath(address) if "://" in address else Path(address).absolute()


class ReportLink(BaseOperatorLink):
    """A button on the task that opens what it wrote."""

    name = "Report"

    def get_link(self, operator: Any, *, ti_key: Any) -> str:
        return str(operator.report)


class ChangesLink(BaseOperatorLink):
    """A button that opens what changed since the run before; without one it leads nowhere."""

    name = "Changes"

    def get_link(self, operator: Any, *, ti_key: Any) -> str:
        return str(operator.changes)


class SelectionOperator(SparkSubmitOperator):
    """One of our jobs, by spark-submit or as a process; what retrying cannot fix is not retried.

    ``settings``: of the configuration, by name; empty ones are left as they are in ``config``.
    """

    template_fields = (
        *SparkSubmitOperator.template_fields, "config", "settings", "settings_file", "engine", "report", "changes"
    )  # fmt: skip
    operator_extra_links = (ReportLink(), ChangesLink())

    def __init__(self, config: str, settings: dict[str, str], report: str, changes: str = "", **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.config, self.settings, self.report, self.changes = config, settings, report, changes
        self.settings_file = "{{ filled(params.settings_file) }}"
        self.engine = "{{ params.engine }}"
        self.process = SubprocessHook()

    def execute(self, context: Any) -> None:
        if not self.config:
            raise AirflowSkipException("no configuration is given for it")
        run = place(self.settings["output.path"])
        self.application_args = arguments(self.config, self.settings, self.settings_file)
        try:
            self._run(context)
        except AirflowException as error:
            if exit_code(str(error)) in NEVER_RETRIED:
                raise AirflowFailException(f"not retried: {error}") from error
            raise
        if not (run / CHANGES).exists():
            self.changes = ""

    def _run(self, context: Any) -> None:
        if self.engine == "spark":
            super().execute(context)
            return
        command = [PYTHON or "python3", self.application, *self.application_args, "--engine", "memory"]
        done = self.process.run_command(command, cwd=str(Path.cwd()))
        if done.exit_code:
            raise AirflowException(f"{done.output} Error code is: {done.exit_code}.")

    def on_kill(self) -> None:
        if self.engine == "spark":
            super().on_kill()
        else:
            self.process.send_sigterm()


def job(name: str, script: str, config: str, settings: dict[str, str], **kwargs: Any) -> SelectionOperator:
    """A step that runs ``script`` on the table of this interval."""
    overwrite = "{{ {'changed': 'changed', 'never': 'false', 'always': 'true'}[params.replace] }}"
    source = {"source.path": SOURCE, "source.table": "{{ filled(params.table) }}"}
    return SelectionOperator(
        task_id=name,
        name=f"spark-pufs-{name}-{INTERVAL}",
        application=f"{HOME}/jobs/{script}",
        config=f"{{{{ filled(params.{config}) }}}}",
        settings={**source, "output.overwrite": overwrite, **settings},
        env_vars={"PYSPARK_PYTHON": PYTHON} if PYTHON else None,
        py_files=os.environ.get("SPARK_PUFS_PY_FILES"),
        pool=POOL,
        execution_timeout=timedelta(hours=HOURS),
        **kwargs,
    )


@task.sensor(mode="reschedule", poke_interval=min(300.0, WAIT.total_seconds() / 10), timeout=WAIT.total_seconds())
def arrived(source: str, marker: str) -> bool:
    """Whether the partition is whole; between two looks no worker is held."""
    if not source or not marker:
        return True
    wanted = f"{source.rstrip('/')}/{marker}"
    log.info("waiting for %s", wanted)
    return bool(place(wanted).exists())


@task(outlets=[SELECTION], max_active_tis_per_dag=1)
def publish(run: str, pages: str, key: str, *, outlet_events: Any = None) -> dict[str, Any]:
    """Check the run's files, move current.json forward, and tell whoever follows the asset."""
    try:
        published = publish_run(place(run), run, pages)
    except NotWhole as error:
        raise AirflowFailException(str(error)) from error
    told = published.as_dict()
    event = outlet_events[SELECTION]
    event.extra = told
    event.add_partitions(key)
    log.info("%s: %s; report %s", published.interval, published.verdict, published.report)
    if published.changes:
        log.info("what changed: %s", published.changes)
    return told


@task.branch
def verdict(published: dict[str, Any]) -> str:
    """Which way to go: a day that is not the latest changes nothing for models in use."""
    if not published["current"]:
        return "earlier_day"
    return "changed" if published["verdict"] in (FIRST, "changed", "refit needed") else "unchanged"


def alarm(context: Any) -> None:
    """Tell the function that SPARK_PUFS_ALARM names, and the log, that a task failed or that the answer has changed."""
    failure, ti = context.get("exception"), context["ti"]
    day = f"{context.get('data_interval_start') or context['dag_run'].run_after:{KEY}}"
    if failure is not None:
        text = f"{ti.dag_id} {day}: {ti.task_id} failed: {failure}"
    else:
        told = ti.xcom_pull(task_ids="publish")
        if told["verdict"] == FIRST:
            return
        text = f"{ti.dag_id} {day}: {told['verdict']}: {'; '.join(told['reasons'])} {told['changes']}"
    log.warning("%s", text)
    if ALARM:
        module, _, function = ALARM.rpartition(".")
        getattr(import_module(module), function)(text, context)


@task(outlets=[FEATURES], on_success_callback=alarm)
def changed(published: dict[str, Any], *, outlet_events: Any = None) -> None:
    """The features to train with are others, or need other models: whoever follows the asset is told."""
    outlet_events[FEATURES].extra = published


with DAG(
    dag_id="select_features",
    description=__doc__.splitlines()[0],
    # A plain "@daily" has no data interval in Airflow 3: its run of a midnight would ask for the day that begins.
    schedule=CronDataIntervalTimetable("0 0 * * *", timezone="UTC"),
    start_date=datetime(2026, 1, 1, tzinfo=UTC),
    catchup=False,
    max_active_runs=1,
    params=PARAMS,
    user_defined_macros={"filled": filled, "interval_start": interval_start},
    default_args={
        "retries": 2,
        "retry_delay": timedelta(minutes=5),
        "retry_exponential_backoff": True,
        "on_failure_callback": alarm,
    },
    deadline=DeadlineAlert(DeadlineReference.DAGRUN_QUEUED_AT, DUE, AsyncCallback(LATE)) if LATE else None,
    render_template_as_native_obj=False,
) as dag:
    select = job(
        "select",
        "select_features.py",
        "select_config",
        {"output.path": RUN, "output.previous": "latest"},
        report=f"{PAGES}/report.html",
        changes=f"{PAGES}/{CHANGES}",
    )
    compare = job(
        "compare",
        "compare_methods.py",
        "compare_config",
        {"output.path": f"{RUN}/compare"},
        report=f"{PAGES}/compare/comparison.md",
    )
    published = publish(RUN, PAGES, f"{{{{ interval_start().strftime('{KEY}') }}}}")
    arrived(SOURCE, "{{ filled(params.wait_for) }}") >> select >> published
    way = verdict(published)
    way >> [EmptyOperator(task_id="unchanged"), EmptyOperator(task_id="earlier_day")]
    way >> changed(published) >> compare
