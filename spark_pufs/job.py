"""The main job: a configuration in, a run directory out. The command line and spark-submit both come here."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from dataclasses import dataclass

import yaml

from spark_pufs.config import RunConfig
from spark_pufs.counter import Counter
from spark_pufs.output import RunFolder, write_selection
from spark_pufs.run import check, execute, fingerprint, prepare
from spark_pufs.selection import Selection
from spark_pufs.table import Plan, pack

__all__ = ["Report", "plan_text", "run_select"]

log = logging.getLogger("spark_pufs")


@dataclass(frozen=True)
class Report:
    """How a job ended: ``selection`` is None after a dry run and where the work was done before."""

    selection: Selection | None
    message: str


def run_select(config: RunConfig, dry_run: bool = False, note: Callable[[str], None] = lambda what: None) -> Report:
    """Read, check, select, write. Nothing is written before everything is computed."""
    from spark_pufs.spark.engine import SparkEngine
    from spark_pufs.spark.io import plain_errors, read_table
    from spark_pufs.spark.session import open_session

    request = config.request()
    check(request)
    folder = RunFolder(config.output.path)
    if not dry_run:
        folder.open()
    note("starting Spark")
    spark = open_session(config.spark.master, config.spark.conf)
    source = config.source
    with plain_errors(f"Source '{source.table or source.path}'"):
        engine = SparkEngine(read_table(spark, source.path, source.table, source.format, source.options))
        note("reading the table")
        plan = prepare(engine, request)
        if dry_run:
            return Report(None, plan_text(plan, config))
        if folder.check(fingerprint(plan, request), config.output.overwrite):
            return Report(None, f"Already done: {config.output.path} holds this selection of this table.")
        selection = execute(engine, plan, request, note)
    resolved = yaml.safe_dump(json.loads(config.model_dump_json()), sort_keys=False, allow_unicode=True)
    write_selection(selection, config.output.path, config.output.overwrite, {"config.yaml": resolved.encode()})
    return Report(selection, f"{selection}\nResults: {config.output.path} (open report.html)")


def plan_text(plan: Plan, config: RunConfig) -> str:
    """What a run would do."""
    request = config.request()
    table = pack(plan, request)
    try:
        one_pass = Counter(table, request.pair_memory_mb).pairs_fit()
    finally:
        table.blocks.release()
    labels = plan.labels
    lines = [
        f"table     {plan.profile.rows:,} rows, {labels.positive:,} labelled positive, "
        f"{labels.negative:,} labelled negative, {labels.unlabelled:,} unlabelled",
        f"features  {len(plan.features)} used, {len(plan.dropped)} left out",
        f"method    {request.method}, k = {request.k or 'all'}, {request.bins} bins, {request.binning}",
        f"counting  {'all pairs in one pass' if one_pass else 'one pass per chosen feature'}",
        f"output    {config.output.path}",
        *[f"left out  {name}: {why}" for name, why in plan.dropped.items()],
        *[f"look at   {warning}" for warning in plan.warnings],
    ]
    return "\n".join(lines)
