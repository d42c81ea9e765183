"""The main job: a configuration in, a run directory out. The command line and spark-submit both come here."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

import yaml

from spark_pufs.core.counting.pass_checksum import changed_table
from spark_pufs.engines.base import Engine
from spark_pufs.errors import ConfigError, DataError, Fault
from spark_pufs.findings.parts import PromisedList
from spark_pufs.history.previous import Previous, previous_run
from spark_pufs.jobs.config import EXAMPLE, RunConfig, SelectionOutput, resolved, settings_of
from spark_pufs.jobs.opening import TableEngine, check_rows, late_labels, opened, opened_partitions, pinned, write_rows
from spark_pufs.jobs.places import check_apart
from spark_pufs.jobs.publishing import check_tables, publish, published
from spark_pufs.masking.hidden import revealed
from spark_pufs.request import DEFAULT_METHOD, Request
from spark_pufs.run.execution import (
    check,
    check_table,
    identifiers,
    labelling_of_table,
    prepare,
    prior_of_table,
    recall_list_of,
    rehearse,
)
from spark_pufs.run.provenance import fingerprint
from spark_pufs.run.recall import check_promise
from spark_pufs.run.remembered import Recalled, recall
from spark_pufs.rundir.checkpoint import FolderKeeper
from spark_pufs.rundir.files import selection_files
from spark_pufs.rundir.folder import RunFolder
from spark_pufs.rundir.lock import held
from spark_pufs.rundir.mlflow_logging import Tracking
from spark_pufs.rundir.stores import store_settings
from spark_pufs.selection import Selection
from spark_pufs.selectors.clusters.fscpu import FscpuOptions
from spark_pufs.selectors.registry import method_named, no_clusters
from spark_pufs.table.counter import Counter
from spark_pufs.table.pu_table import Plan, pack
from spark_pufs.types import Json, LabelRule

__all__ = ["RunOutcome", "plan_text", "resume", "run_check", "run_check_labels", "run_estimate_prior", "run_select"]

CONFIG, PENDING = "config.yaml", "config.pending.yaml"

log = logging.getLogger("spark_pufs")


@dataclass(frozen=True)
class RunOutcome:
    """How a job ended: ``selection`` is None after a dry run and where the work was done before.

    ``message``: what to tell the user besides the answer. ``folder``: where results lie, or would.
    """

    selection: Selection | None
    message: str
    folder: str


def run_select(config: RunConfig, dry_run: bool = False, note: Callable[[str], None] = lambda what: None) -> RunOutcome:
    """Read, check, select, write. Until all is computed, only the configuration and a checkpoint are written."""
    with store_settings(revealed(config.spark.conf)):
        return _run_select(config, dry_run, note)


def _run_select(config: RunConfig, dry_run: bool, note: Callable[[str], None]) -> RunOutcome:
    request = config.request()
    check(request)
    check_apart(config.source.path, config.output.path)
    if config.memory is not None:
        check_apart(config.source.path, config.memory.path, "Memory")
        check_apart(config.memory.path, config.output.path, of="memory")
    _check_likely(config)
    _check_weights(config, request)
    tracking = _tracking(config)
    if tracking is not None:
        tracking.check()
    folder = RunFolder(config.output.path.given)
    previous = previous_run(config.output.previous, config.output.path)
    if dry_run:
        return RunOutcome(None, _planned(config, request, folder, note), str(folder.path))
    with held(folder):
        check_tables(config, note)
        config, snapshot = pinned(config, note)
        return _select(config, request, folder, previous, tracking, snapshot, note)


def _planned(config: RunConfig, request: Request, folder: RunFolder, note: Callable[[str], None]) -> str:
    """What a run would do, or the error that it would end with; nothing is written."""
    folder.check_place()
    folder.check_ours()
    check_tables(config, note)
    config, _ = pinned(config, note)
    with _ready(config, request, note, keep=False) as ready:
        _done(config, ready, folder, FolderKeeper(folder, ready.identity, config.output.overwrite))
        return plan_text(ready.plan, config, ready.request)


def _select(
    config: RunConfig,
    request: Request,
    folder: RunFolder,
    previous: Previous,
    tracking: Tracking | None,
    snapshot: Json,
    note: Callable[[str], None],
) -> RunOutcome:
    with _ready(config, request, note) as ready:
        keeper = FolderKeeper(folder, ready.identity, config.output.overwrite)
        if _done(config, ready, folder, keeper):
            _clean(folder, keeper)  # a run that was killed between its last file and here has left these
            done = f"Already done: {folder.path} holds this selection of this table."
            return RunOutcome(None, done + _log(tracking, folder), str(folder.path))
        settings = resolved(config)
        folder.write(PENDING, settings)  # so that `resume` finds it; an older run's files stay whole until the end
        selection = ready.select(note, keeper)
        written: dict[str, int] = {}
        if config.output.lists is not None:
            note("writing likely positives")
            selection, rows = _write_likely(ready.engine, selection, request, folder, config.output)
            written |= rows
    selection, pages = previous.since(selection)
    files, facts = selection_files(selection)
    publish(config, selection, folder, note)
    told = {"source": snapshot, "published": published(config, selection.fingerprint)}
    facts |= {name: value for name, value in told.items() if value}
    folder.write_all(files | pages | {CONFIG: settings}, facts, written)
    _clean(folder, keeper)
    where = [f"Report:  {folder.path}/report.html", f"Results: {folder.path}"]
    return RunOutcome(selection, "\n".join([*_since(selection), *where]) + _log(tracking, folder), str(folder.path))


def _since(selection: Selection) -> list[str]:
    since = selection.findings.since
    return [] if since is None else [f"Since {since.previous}: {'; '.join([since.verdict, *since.reasons[:3]])}"]


def _clean(folder: RunFolder, keeper: FolderKeeper) -> None:
    """The results are there: what was kept to get them goes."""
    keeper.clear()
    folder.delete(PENDING)


@contextmanager
def _ready(config: RunConfig, request: Request, note: Callable[[str], None], keep: bool = True) -> Iterator[Recalled]:
    """The table of a configuration, read and found fit, or what a memory has of it; without ``keep`` that stays."""
    if config.memory is None:
        with opened(config, note) as engine:
            yield Recalled(engine, _prepared(engine, config, request), request)
        return
    settings, given = config.memory.settings, config.memory.late_labels
    late = None if given is None else late_labels(given, config.label.column, settings.partition)
    with opened_partitions(config, settings.partition, note) as table:
        yield recall(table, request, settings, note, keep, late)


def _prepared(engine: TableEngine, config: RunConfig, request: Request) -> Plan:
    """The table and all that is to be written of it, found fit."""
    if config.output.lists is not None:
        _, faults = identifiers([column.name for column in engine.columns()], request.keep, _added(config.output))
        if faults:
            raise DataError(faults)
        check_rows(engine, RunFolder(config.output.path.given), config.output.lists)
    plan = prepare(engine, request)
    if config.output.recall is not None:
        check_promise(plan.labels.positive, config.output.recall)
    return plan


def _done(config: RunConfig, ready: Recalled, folder: RunFolder, keeper: FolderKeeper) -> bool:
    """Whether this very run has finished here; what another run has left, finished or not, is refused."""
    tables = [config.output.lists] if config.output.lists is not None else []
    request, mark = ready.request, fingerprint(ready.plan, ready.request)
    if folder.check(mark, config.output.overwrite, tables, request.as_dict()):
        return (folder.finished() or {}).get("published") == published(config, mark)
    keeper.check()
    return False


def run_check(config: RunConfig, note: Callable[[str], None] = lambda what: None) -> str:
    """The cluster assumption on the features of a configuration, before any search; what to tell the user.

    Rows are clustered as ``fscpu`` would do it, with its settings where the method has the same.
    """
    asked = config.request()
    check(asked)
    options = asked.options if method_named(asked.method).options_class is FscpuOptions else {}
    request = replace(asked, method="fscpu", k=None, propose_k=False, budget=None, options=options)
    with opened(pinned(config, note)[0], note) as engine:
        return str(check_table(engine, request))


def run_estimate_prior(config: RunConfig, note: Callable[[str], None] = lambda what: None) -> str:
    """How many positives the table of a configuration has; what to tell the user."""
    with opened(pinned(config, note)[0], note) as engine:
        return str(prior_of_table(engine, _of_columns(config.request()), note))


def run_check_labels(config: RunConfig, note: Callable[[str], None] = lambda what: None) -> str:
    """Whether labels depend on the columns of a configuration; what to tell the user."""
    with opened(pinned(config, note)[0], note) as engine:
        return str(labelling_of_table(engine, _of_columns(config.request()), note))


def _of_columns(request: Request) -> Request:
    """What a request says of the table, without what it says of a selection."""
    request = replace(request, k=None, propose_k=False, budget=None, fdr=None, expected_false=None, distinct=False)
    request = replace(request, method=DEFAULT_METHOD, options={}, must=(), never=(), costs={})
    return replace(request, prior=None, estimate_prior=False, check_labels=False, labelled_by=())


def _tracking(config: RunConfig) -> Tracking | None:
    asked = config.output.mlflow
    if asked is None:
        return None
    return Tracking(asked.experiment, None if asked.tracking_uri is None else asked.tracking_uri.given)


def _log(tracking: Tracking | None, folder: RunFolder) -> str:
    """Log what a finished folder holds, also where an earlier run ended before it could; what to tell the user.

    The source is named as config.yaml names it: what that file keeps back is not logged either, nor are its options.
    """
    if tracking is None:
        return ""
    selection = Selection.from_dict(json.loads(folder.read("selection.json") or b""))
    source = yaml.safe_load(folder.read(CONFIG) or b"{}").get("source", {})
    run = tracking.log(selection, {name: source.get(name) for name in ("path", "table", "format")})
    return f"\nMLflow: run {run} in experiment '{tracking.name}'"


def _check_likely(config: RunConfig) -> None:
    if config.output.lists is None:
        return
    setting = f"Setting 'output.{'likely_positives' if config.output.recall is None else 'recall'}'"
    if config.memory is not None:
        raise ConfigError(Fault(setting, "needs all rows, and a memory keeps counts", "Leave memory or the list out."))
    if config.output.recall is None and not method_named(config.select.method).makes_clusters:
        raise ConfigError(no_clusters(setting, config.select.method))
    if config.memory is not None:
        fix = "Leave it out, and list them with selection.likely_positives(table)."
        raise ConfigError(Fault(setting, "goes through all rows, and a memory keeps counts", fix))
    if not config.features.keep:
        raise ConfigError(Fault(setting, "needs identifiers", "Name identifier columns in features.keep."))


def _check_weights(config: RunConfig, request: Request) -> None:
    """What names rows or keeps counts of them cannot repeat them."""
    if request.weights is None:
        return
    if config.memory is not None:
        found = "are not kept with the counts of a memory"
        raise ConfigError(Fault("Setting 'select.weights'", found, "Leave memory out, or repeat rows beforehand."))
    if config.output.likely_positives:
        found = "would list a row as often as it counts"
        fix = "Leave it out, and list them with Selection.likely_positives."
        raise ConfigError(Fault("Setting 'output.likely_positives' with 'select.weights'", found, fix))


def resume(path: str, overrides: Sequence[str] = (), note: Callable[[str], None] = lambda what: None) -> RunOutcome:
    """Go on with the run that was started in a run directory, there; a finished one stays as it is.

    Secrets are not kept with the settings: ``overrides`` gives them again.
    """
    folder = RunFolder(path)
    started = ((name, folder.read(name)) for name in (PENDING, CONFIG))
    name, data = next(((name, data) for name, data in started if data is not None), ("", b""))
    if not name:
        fault = Fault(f"Run directory '{folder.path}'", f"has no {CONFIG}", "Name the output.path of a run.")
        raise ConfigError(fault)
    _only_selections(folder, name, data)
    # Where the run lies is what was asked for, whatever its settings say: it may have been moved.
    here = f"output.path={json.dumps(path)}"
    return run_select(settings_of(data, f"{folder.path}/{name}", RunConfig, [*overrides, here], EXAMPLE), note=note)


def _only_selections(folder: RunFolder, name: str, data: bytes) -> None:
    """Other jobs keep their settings in a file of the same name; they go on, or are done, when they are run again."""
    for job, section in (("compare", b"compare:"), ("reproduce", b"run:")):
        if any(line.startswith(section) for line in data.splitlines()):
            fix = f"Run `spark-pufs {job} --config {folder.path}/{name}` again."
            raise ConfigError(Fault(f"Run directory '{folder.path}'", f"holds a run of spark-pufs {job}", fix))


def _added(output: SelectionOutput) -> str:
    """The column that a list of likely positives has beside identifiers."""
    return "cluster" if output.recall is None else "score"


def _write_likely(
    engine: Engine, selection: Selection, request: Request, folder: RunFolder, output: SelectionOutput
) -> tuple[Selection, dict[str, int]]:
    """Stage the table of likely positives; the selection with what it promises, and the rows of the table by name."""
    keep, _ = identifiers([column.name for column in engine.columns()], request.keep, _added(output))
    name = str(output.lists)
    if output.recall is None:
        return selection, {name: _write_clusters(engine, selection, request.label, folder, (name, keep))}
    if not selection.names:
        told = "No likely positives are listed: no feature was chosen to list them by."
        return replace(selection, warnings=(*selection.warnings, told)), {}
    model = recall_list_of(engine, selection, request.label, output.recall)
    write_rows(engine.likely_positives(model, request.label, keep), folder, name)
    rows = folder.staged_rows(name)
    findings = replace(selection.findings, promised=PromisedList.of(model, rows))
    return replace(selection, findings=findings, warnings=(*selection.warnings, *model.left_out)), {name: rows}


def _write_clusters(
    engine: Engine, selection: Selection, label: LabelRule, folder: RunFolder, table: tuple[str, list[str]]
) -> int:
    """The rows of positive clusters, which must be those that the verdict counted."""
    name, keep = table
    clustering = selection.findings.clustering
    if clustering is None or clustering.model is None:
        raise ConfigError(no_clusters("Likely positives", selection.method))
    write_rows(engine.likely_positives(clustering.model, label, keep), folder, name)
    written = folder.staged_rows(name)
    counted = clustering.likely_positives
    if written != counted:
        raise changed_table(f"{counted:,} likely positives were counted, {written:,} written")
    return written


def plan_text(plan: Plan, config: RunConfig, request: Request) -> str:
    """What a run would do, if the method can be run on this table at all."""
    table = pack(plan, request)
    try:
        rehearse(table, request)
        one_pass = Counter(table, request.pair_memory_mb).pairs_fit()
    finally:
        table.blocks.release()
    labels = plan.labels
    size = request.k or ("proposed" if request.propose_k else "all")
    source = config.source
    state = [f"state     {source.format} {source.version}"] if source.version is not None else []
    lines = [
        *state,
        f"table     {plan.profile.rows:,} rows, {labels.positive:,} labelled positive, "
        f"{labels.negative:,} labelled negative, {labels.unlabelled:,} unlabelled",
        f"features  {len(plan.features)} used, {len(plan.dropped)} left out",
        f"method    {request.method}, k = {size}, {request.bins} bins, {plan.binning}",
        f"counting  {'all pairs in one pass' if one_pass else 'one pass for up to a dozen chosen features'}",
        f"output    {config.output.path}",
        *[f"left out  {name}: {why}" for name, why in plan.dropped.items()],
        *[f"look at   {warning}" for warning in plan.warnings],
    ]
    return "\n".join(lines)
