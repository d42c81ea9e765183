"""The comparison as a job: a configuration in, a table of methods out."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable

from pydantic import Field, model_validator

from spark_pufs.jobs.config import RunConfig, Section, resolved
from spark_pufs.jobs.opening import opened, pinned
from spark_pufs.jobs.places import check_apart
from spark_pufs.jobs.select_job import CONFIG
from spark_pufs.masking.hidden import revealed
from spark_pufs.run.execution import compare_with, prepare
from spark_pufs.run.provenance import fingerprint
from spark_pufs.rundir.folder import RunFolder
from spark_pufs.rundir.lock import held
from spark_pufs.rundir.stores import store_settings
from spark_pufs.selectors.evidence.auto import CANDIDATES
from spark_pufs.selectors.evidence.comparison import Candidate, Comparison, EvaluationProtocol, Standing, candidate

__all__ = ["EXAMPLE", "CompareConfig", "CompareSection", "run_compare"]

EXAMPLE = "conf/compare_methods.yaml"


class CompareSection(Section):
    """What is compared, and how."""

    methods: list[str | dict[str, object]] = Field(default=list(CANDIDATES), min_length=1)
    folds: int = EvaluationProtocol.folds
    repeats: int = EvaluationProtocol.repeats
    rows: int = EvaluationProtocol.rows
    classifier: str = EvaluationProtocol.classifier


class CompareConfig(RunConfig):
    """A selection's configuration and how to judge methods on it."""

    compare: CompareSection = CompareSection()

    @model_validator(mode="after")
    def _not_logged(self) -> CompareConfig:
        if self.output.mlflow is not None:
            raise ValueError("only selections are logged: take output.mlflow out")
        if self.output.tables is not None:
            raise ValueError("only selections are written as tables: take output.tables out")
        return self


def run_compare(config: CompareConfig, note: Callable[[str], None] = lambda what: None) -> str:
    """Compare, write comparison.json and comparison.md; what to tell the user."""
    settings = config.compare
    protocol = EvaluationProtocol(**settings.model_dump(exclude={"methods"}))
    candidates = [candidate(one) for one in settings.methods]
    check_apart(config.source.path, config.output.path)
    with store_settings(revealed(config.spark.conf)):
        folder = RunFolder(config.output.path.given)
    with held(folder):
        return _compare(config, candidates, protocol, folder, note)


def _compare(
    config: CompareConfig,
    candidates: list[Candidate],
    protocol: EvaluationProtocol,
    folder: RunFolder,
    note: Callable[[str], None],
) -> str:
    config, snapshot = pinned(config, note)
    with opened(config, note) as engine:
        request = config.request()
        plan = prepare(engine, request)
        mark = _mark(fingerprint(plan, request), config.compare)
        if folder.check(mark, config.output.overwrite):
            return f"Already done: {folder.path} holds this comparison of this table."
        found = compare_with(engine, request, candidates, protocol, note, plan)
    files = {
        "comparison.json": json.dumps(found.as_dict(), indent=2).encode(),
        "comparison.md": markdown(found).encode(),
        CONFIG: resolved(config),
    }
    folder.write_all(files, {"fingerprint": mark, "job": "compare"} | ({"source": snapshot} if snapshot else {}))
    return f"{found}\nResults: {folder.path}"


def _mark(table: str, settings: CompareSection) -> str:
    return hashlib.sha256(f"{table} {settings.model_dump_json()}".encode()).hexdigest()


def markdown(found: Comparison) -> str:
    """The table for a pull request or a chat."""
    head = "| method | PU-AUC | PU-F1 | features | cost | seconds | stability |\n|---|---:|---:|---:|---:|---:|---:|\n"
    return head + "".join(map(_row, found.standings)) + f"\n{found.protocol}\n"


def _row(one: Standing) -> str:
    name = one.method.replace("|", "\\|")
    if math.isnan(one.auc):
        return f"| {name} | {one.note.replace('|', ' ')} | | | | | |\n"
    f1 = "" if one.f1 is None else f"{one.f1:.3f} ± {one.f1_error:.3f}"
    steady = "" if one.stability is None else f"{one.stability:.2f}"
    cells = (f"{one.auc:.3f} ± {one.auc_error:.3f}", f1, f"{one.features:.1f}", f"{one.cost:.1f}", f"{one.seconds:.2f}")
    return f"| {name} | {' | '.join(cells)} | {steady} |\n"
