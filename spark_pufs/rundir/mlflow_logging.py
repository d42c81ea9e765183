"""A selection as one run of MLflow: parameters, metrics, tags and files. Only this module imports mlflow."""

from __future__ import annotations

import json
import math
import os
import re
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spark_pufs.errors import ConfigError, EnvironmentFault, Fault, PufsError
from spark_pufs.findings import Findings
from spark_pufs.findings.parts import StabilitySummary
from spark_pufs.masking.addresses import address_shown
from spark_pufs.masking.hidden import known_address
from spark_pufs.masking.texts import gist
from spark_pufs.rundir.files import selection_files

if TYPE_CHECKING:
    from spark_pufs.selection import Selection

__all__ = ["Tracking", "log_selection", "metrics_of", "parameters_of", "tags_of"]

EXPERIMENT = "spark_pufs"
ARTEFACTS = ("selection.json", "ranking.parquet", "report.html")
LONGEST = 500  # characters of a parameter that older servers still take
FINGERPRINT = "spark_pufs.fingerprint"


@dataclass(frozen=True)
class Tracking:
    """Where runs go; what is not given comes from MLFLOW_EXPERIMENT_NAME and MLFLOW_TRACKING_URI."""

    experiment: str | None = None
    tracking_uri: str | None = field(default=None, repr=False)

    @property
    def name(self) -> str:
        return self.experiment or os.environ.get("MLFLOW_EXPERIMENT_NAME") or EXPERIMENT

    def check(self) -> None:
        """Find out before any work that MLflow is installed and its store answers; nothing is written."""
        with self._plain_errors():
            self._experiment(self._client())

    def log(self, selection: Selection, source: Mapping[str, Any]) -> str:
        """The id of the run that holds a selection, made where there is none yet."""
        with self._plain_errors():
            client = self._client()
            experiment = self._experiment(client) or client.create_experiment(self.name)
            found = _found(client, experiment, selection.fingerprint)
            return found or _log(client, experiment, selection, source)

    def _client(self) -> Any:
        try:
            from mlflow import MlflowClient
        except ImportError as error:
            fix = 'Run: pip install "spark-pufs[mlflow]", or take output.mlflow out.'
            raise EnvironmentFault(Fault("Package 'mlflow'", f"cannot be loaded ({gist(error)})", fix)) from error
        return MlflowClient(tracking_uri=self.tracking_uri)

    def _experiment(self, client: Any) -> str | None:
        found = client.get_experiment_by_name(self.name)
        if found is not None and found.lifecycle_stage != "active":
            fix = "Restore it, or name another in output.mlflow.experiment."
            raise ConfigError(Fault(f"MLflow experiment '{self.name}'", "is deleted", fix))
        return None if found is None else str(found.experiment_id)

    @contextmanager
    def _plain_errors(self) -> Iterator[None]:
        """What MLflow says as one error of ours; a fault masks the password that its address may hold."""
        try:
            yield
        except PufsError:
            raise
        except Exception as error:  # MLflow, requests and the clients of clouds raise many kinds
            wrong = getattr(error, "error_code", None) == "INVALID_PARAMETER_VALUE"  # a retry does not help
            uri = self.tracking_uri or os.environ.get("MLFLOW_TRACKING_URI") or ""
            text = gist(error).rstrip(".")
            where = f"MLflow at '{known_address(uri)}'" if uri else "MLflow"
            fix = "Correct output.mlflow or remove it; finished results are kept, and running again logs them."
            raise (ConfigError if wrong else PufsError)(Fault(where, text, fix)) from error


def log_selection(selection: Selection, experiment: str | None = None, tracking_uri: str | None = None) -> str:
    """Log a selection as one run and return the run's id; the same selection again is the same run."""
    return Tracking(experiment, tracking_uri).log(selection, {})


def parameters_of(request: Mapping[str, Any], source: Mapping[str, Any]) -> dict[str, str]:
    """The request and the source, flat; what was left out is not named, and long values are cut.

    >>> parameters_of({"k": 5, "label": {"column": "y"}, "must": (), "costs": {"a b": 2}}, {"path": "s3://me:pw@b/t"})
    {'k': '5', 'label.column': 'y', 'costs': '{"a b": 2}', 'source.path': 's3://***@b/t'}
    """
    source = {name: address_shown(value) if name == "path" and value else value for name, value in source.items()}
    plain = json.loads(json.dumps({**request, "source": source}, default=str))
    flat: dict[str, Any] = {}
    for name, value in plain.items():
        inner = name in ("label", "options", "source")  # of the others, keys are names of columns
        flat |= {f"{name}.{key}": one for key, one in value.items()} if inner else {name: value}
    return {name: _short(value) for name, value in flat.items() if value not in (None, [], {})}


def metrics_of(selection: Selection) -> list[tuple[str, float, int]]:
    """(name, value, step): sizes, cost and what the method, resampling and held-out labels say; finite ones only."""
    findings = selection.findings
    search, clustering = findings.search, findings.clustering
    values: dict[str, Any] = {
        "selected": len(selection.names),
        "cost": selection.cost,
        "left_out": len(selection.dropped),
        "warnings": len(selection.warnings),
        "seconds": selection.run.seconds,
        **selection.facts,
        **({"f": clustering.f, "lift": clustering.lift} if clustering else {}),
        **({"unconverged": search.unconverged, "generations": search.generations} if search else {}),
        **_stability(findings.stability),
        **_held_out(findings),
    }
    points = findings.sizes.points if findings.sizes else ()
    curve = [("held_out_auc_by_size", point.auc, point.k) for point in points]
    found = [(name, value, 0) for name, value in values.items()] + curve
    return [(name, float(value), step) for name, value, step in found if value is not None and math.isfinite(value)]


def tags_of(selection: Selection) -> dict[str, str]:
    """What to search runs by; MLflow shows the note as the run's description."""
    choice, stability = selection.findings.choice, selection.findings.stability
    said = [*filter(None, [selection.verdict]), selection.summary, *selection.warnings]
    tags = {
        FINGERPRINT: selection.fingerprint,
        "spark_pufs.version": selection.versions.get("spark_pufs"),
        "spark_pufs.method": selection.method,
        "spark_pufs.chosen_method": choice and choice.method,
        "spark_pufs.engine": selection.run.engine,
        "spark_pufs.stability": stability and stability.verdict,
        "mlflow.note.content": "\n\n".join(said)[:5000],
    }
    return {name: str(value) for name, value in tags.items() if value is not None}


def _stability(found: StabilitySummary | None) -> dict[str, float | None]:
    return {"stability": found.nogueira, "stability_low": found.low, "stability_high": found.high} if found else {}


def _held_out(findings: Findings) -> dict[str, float | None]:
    """PU-AUC on held-out labels: of the chosen size, and of every method that auto compared."""
    sizes = findings.sizes
    chosen = [point.auc for point in sizes.points if point.k == sizes.chosen] if sizes else []
    own: dict[str, float | None] = {"held_out_auc": chosen[0]} if chosen else {}
    for row in findings.comparison.rows if findings.comparison else ():
        method = re.sub(r"[^\w\-./ ]", "_", row.method)  # what MLflow takes in a name
        own |= {f"held_out_auc.{method}": row.auc, f"held_out_f1.{method}": row.f1}
    return own


def _log(client: Any, experiment: str, selection: Selection, source: Mapping[str, Any]) -> str:
    from mlflow.entities import Metric, Param

    now = int(time.time() * 1000)
    name = f"{selection.method}, {len(selection.names)} of {len(selection.features)}"
    run = str(client.create_run(experiment, run_name=name, tags=tags_of(selection)).info.run_id)
    try:
        metrics = [Metric(name, value, now, step) for name, value, step in metrics_of(selection)]
        parameters = [Param(*pair) for pair in parameters_of(selection.request.as_dict(), source).items()]
        client.log_batch(run, metrics=metrics, params=parameters)
        files, _ = selection_files(selection)
        _log_files(client, run, {name: files[name] for name in ARTEFACTS})
    except BaseException:
        client.set_terminated(run, "FAILED")  # not taken for a finished one when the selection is logged again
        raise
    client.set_terminated(run)
    return run


def _log_files(client: Any, run: str, files: Mapping[str, bytes]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        for name, data in files.items():
            Path(folder, name).write_bytes(data)
        client.log_artifacts(run, folder)


def _found(client: Any, experiment: str, fingerprint: str) -> str | None:
    wanted = f"tags.`{FINGERPRINT}` = '{fingerprint}' and attributes.status = 'FINISHED'"
    runs = client.search_runs([experiment], wanted, max_results=1)
    return str(runs[0].info.run_id) if runs else None


def _short(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value)
    more = " ... (all of it: selection.json)"
    return text if len(text) <= LONGEST else text[: LONGEST - len(more)] + more
