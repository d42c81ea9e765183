"""The main job: a configuration in, a run directory out. The command line and spark-submit both come here."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from spark_pufs.checkpoint import FolderKeeper
from spark_pufs.config import RunConfig, load_config, resolved
from spark_pufs.core.schema import match
from spark_pufs.core.verdict import ClusterModel
from spark_pufs.counter import Counter
from spark_pufs.errors import ConfigError, Fault
from spark_pufs.output import RunFolder, write_selection
from spark_pufs.request import Request
from spark_pufs.run import check, check_table, execute, fingerprint, identity, prepare
from spark_pufs.selection import Selection
from spark_pufs.table import Plan, pack

if TYPE_CHECKING:
    from spark_pufs.spark.engine import SparkEngine

__all__ = ["Report", "opened", "plan_text", "resume", "run_check", "run_select"]

CONFIG, PENDING = "config.yaml", "config.pending.yaml"
LIKELY = "likely_positives.parquet"

log = logging.getLogger("spark_pufs")


@dataclass(frozen=True)
class Report:
    """How a job ended: ``selection`` is None after a dry run and where the work was done before."""

    selection: Selection | None
    message: str


def run_select(config: RunConfig, dry_run: bool = False, note: Callable[[str], None] = lambda what: None) -> Report:
    """Read, check, select, write. Until all is computed, only the configuration and a checkpoint are written."""
    request = config.request()
    check(request)
    _check_likely(config)
    folder = RunFolder(config.output.path)
    if not dry_run:
        folder.open()
    with opened(config, note) as engine:
        plan = prepare(engine, request)
        if dry_run:
            return Report(None, plan_text(plan, config))
        if folder.check(fingerprint(plan, request), config.output.overwrite):
            return Report(None, f"Already done: {config.output.path} holds this selection of this table.")
        settings = resolved(config)
        folder.write(PENDING, settings)  # so that `resume` finds it; an older run's files stay whole until the end
        keeper = FolderKeeper(folder, identity(plan, request), config.output.overwrite)
        selection = execute(engine, plan, request, note, keeper)
        if config.output.likely_positives:
            note("writing likely positives")
            _write_likely(engine, selection, request, config)
    write_selection(selection, config.output.path, config.output.overwrite, {CONFIG: settings})
    keeper.clear()
    folder.delete(PENDING)
    return Report(selection, f"{selection}\nResults: {config.output.path} (open report.html)")


def run_check(config: RunConfig, note: Callable[[str], None] = lambda what: None) -> str:
    """The cluster assumption on the features of a configuration, before any search; what to tell the user."""
    with opened(config, note) as engine:
        request = replace(config.request(), method="fscpu", k=None, propose_k=False, budget=None, options={})
        return str(check_table(engine, request))


@contextmanager
def opened(config: RunConfig, note: Callable[[str], None]) -> Iterator[SparkEngine]:
    """The table of a configuration; what Spark cannot read becomes one clear error."""
    from spark_pufs.spark.engine import SparkEngine
    from spark_pufs.spark.io import plain_errors, read_table
    from spark_pufs.spark.session import open_session

    note("starting Spark")
    spark = open_session(config.spark.master, config.spark.conf)
    source = config.source
    with plain_errors(f"Source '{source.table or source.path}'"):
        note("reading the table")
        yield SparkEngine(read_table(spark, source.path, source.table, source.format, source.options))


def _check_likely(config: RunConfig) -> None:
    if not config.output.likely_positives:
        return
    setting = "Setting 'output.likely_positives'"
    if config.select.method not in ("fscpu", "fscpu-mi"):
        fault = Fault(setting, f"method '{config.select.method}' makes no clusters", "Use fscpu or fscpu-mi.")
        raise ConfigError(fault)
    if not config.features.keep:
        raise ConfigError(Fault(setting, "needs identifiers", "Name identifier columns in features.keep."))


def resume(path: Path, note: Callable[[str], None] = lambda what: None) -> Report:
    """Go on with the run that was started in a run directory; a finished one stays as it is."""
    started = [path / name for name in (PENDING, CONFIG) if (path / name).exists()]
    if not started:
        raise ConfigError(Fault(f"Run directory '{path}'", f"has no {CONFIG}", "Name the output.path of a run."))
    return run_select(load_config(started[0]), note=note)


def _write_likely(engine: SparkEngine, selection: Selection, request: Request, config: RunConfig) -> None:
    model = ClusterModel.from_dict(selection.details["model"])
    keep = match([column.name for column in engine.columns()], request.keep)
    rows = engine.likely_positives(model, request.label, keep)
    rows.write.mode("overwrite").parquet(f"{config.output.path.rstrip('/')}/{LIKELY}")


def plan_text(plan: Plan, config: RunConfig) -> str:
    """What a run would do."""
    request = config.request()
    table = pack(plan, request)
    try:
        one_pass = Counter(table, request.pair_memory_mb).pairs_fit()
    finally:
        table.blocks.release()
    labels = plan.labels
    size = request.k or ("proposed" if request.propose_k else "all")
    lines = [
        f"table     {plan.profile.rows:,} rows, {labels.positive:,} labelled positive, "
        f"{labels.negative:,} labelled negative, {labels.unlabelled:,} unlabelled",
        f"features  {len(plan.features)} used, {len(plan.dropped)} left out",
        f"method    {request.method}, k = {size}, {request.bins} bins, {request.binning}",
        f"counting  {'all pairs in one pass' if one_pass else 'one pass for up to a dozen chosen features'}",
        f"output    {config.output.path}",
        *[f"left out  {name}: {why}" for name, why in plan.dropped.items()],
        *[f"look at   {warning}" for warning in plan.warnings],
    ]
    return "\n".join(lines)
