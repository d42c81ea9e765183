"""Figures 6 to 10 of Sechidis & Brown 2017: Markov blankets of hidden labels, as a Spark job.

Every target of every sample is one row of a small DataFrame of units; tasks turn units into results, which are few and
come to the driver to be summed up, drawn and written.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict
from itertools import starmap
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
from pydantic import Field

from spark_pufs.config import OutputConfig, Section, SparkConfig, resolved
from spark_pufs.core.bayes_net import Network, parse_bif, targets
from spark_pufs.errors import ConfigError, DataError, Fault
from spark_pufs.folder import RunFolder
from spark_pufs.lock import held
from spark_pufs.output import parquet
from spark_pufs.spark.scan import single_thread, slots
from spark_pufs.studies.blanket_summary import markdown, picture, summary
from spark_pufs.studies.blanket_trial import RESULT_SCHEMA, Protocol, Unit, run_unit
from spark_pufs.version import __version__

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["EXAMPLE", "BlanketConfig", "SizeConfig", "StudyConfig", "results", "run_study", "units_of"]

TASKS_PER_SLOT = 16  # units differ in cost by a factor of ten: many small tasks even that out
EXAMPLE = "conf/markov_blankets.yaml"
ORDER = ["network", "rows", "trial", "target", "scenario", "method"]


class SizeConfig(Section):
    """A sample size, and how many of its rows are labelled in the semi-supervised scenarios."""

    rows: int = Field(ge=10)
    labelled: int = Field(ge=2)


class BlanketConfig(Section):
    """The experiment; the paper has 10 trials, 30 draws and does not state its alpha."""

    networks: list[str] = Field(min_length=1)
    sizes: list[SizeConfig] = Field(min_length=1)
    trials: int = Field(10, ge=1)
    draws: int = Field(10, ge=1)
    seed: int = Field(0, ge=0)
    alpha: float = Field(0.05, gt=0, lt=1)
    pu_share: float = Field(0.05, gt=0, lt=0.15)

    def protocol(self) -> Protocol:
        return Protocol(self.seed, self.draws, self.alpha, self.pu_share)


class StudyConfig(Section):
    """One file, one study."""

    study: BlanketConfig
    output: OutputConfig
    spark: SparkConfig = SparkConfig()


def run_study(config: StudyConfig, note: Callable[[str], None] = lambda what: None) -> str:
    """Read the networks, run every unit, write results, tables and picture; what to tell the user."""
    networks = {_name(path): parse_bif(_text(path)) for path in config.study.networks}
    folder = RunFolder(config.output.path)
    with held(folder):
        return _run(config, networks, folder, note)


def _run(config: StudyConfig, networks: Mapping[str, Network], folder: RunFolder, note: Callable[[str], None]) -> str:
    from spark_pufs.spark.session import open_session

    fingerprint = _fingerprint(config)
    if folder.check(fingerprint, config.output.overwrite):
        return f"Already done: {folder.path} holds this study."
    units = units_of(networks, config.study)
    if not units:
        found = "none has a node with a parent, a child, a spouse and a first state of probability 0.15 to 0.5"
        raise DataError(Fault("Setting 'study.networks'", found, "Name networks with such a node."))
    note("starting Spark")
    spark = open_session(config.spark.master, config.spark.conf)
    note(f"{len(units):,} units of {len(networks)} networks, {config.study.draws} draws each")
    began = time.perf_counter()
    outcome = results(spark, networks, units, config.study.protocol())
    note(f"all units done in {time.perf_counter() - began:.0f} s")
    table = summary(outcome)
    folder.write_all(_files(outcome, table, config), {"fingerprint": fingerprint, "study": "markov_blankets"})
    return f"{markdown(table)}\nResults: {folder.path}"


def units_of(networks: Mapping[str, Network], study: BlanketConfig) -> list[Unit]:
    """Every target of every sample."""
    return [
        Unit(name, size.rows, size.labelled, trial, target)
        for name, network in networks.items()
        for target in targets(network)
        for size in study.sizes
        for trial in range(study.trials)
    ]


def results(
    spark: SparkSession,
    networks: Mapping[str, Network],
    units: list[Unit],
    protocol: Protocol,
    partitions: int | None = None,
) -> pd.DataFrame:
    """One row per unit, scenario and method, in one order for any number of partitions."""

    def run(frames: Iterator[pd.DataFrame]) -> Iterator[pd.DataFrame]:
        single_thread()
        for frame in frames:
            for unit in starmap(Unit, frame.itertuples(index=False)):
                yield pd.DataFrame(list(run_unit(networks[unit.network], unit, protocol)))

    frame = spark.createDataFrame(pd.DataFrame([asdict(unit) for unit in units]))
    count = partitions or min(len(units), TASKS_PER_SLOT * slots(spark))
    found = frame.repartition(count).mapInPandas(run, RESULT_SCHEMA).toPandas()
    found["network"] = pd.Categorical(found["network"], list(networks))  # networks stay in the order of the file
    found = found.sort_values(ORDER, ignore_index=True)
    return found.astype({"network": str})


def _files(found: pd.DataFrame, table: pd.DataFrame, config: StudyConfig) -> dict[str, bytes]:
    files = {
        "results.parquet": parquet(found),
        "results.csv": found.to_csv(index=False).encode(),
        "summary.csv": table.to_csv(index=False, float_format="%.4f").encode(),
        "summary.md": markdown(table).encode(),
        "config.yaml": resolved(config),
    }
    drawn = picture(table)
    return files | ({} if drawn is None else {"markov_blankets.png": drawn})


def _name(path: str) -> str:
    return Path(path).name.split(".")[0]


def _text(path: str) -> str:
    try:
        data = Path(path).read_bytes()
        return (gzip.decompress(data) if path.endswith(".gz") else data).decode()
    except (OSError, UnicodeDecodeError, EOFError) as error:
        fix = "Check study.networks: paths of BIF files, .bif or .bif.gz."
        raise ConfigError(Fault(f"Network '{path}'", f"cannot be read: {error}", fix)) from error


def _fingerprint(config: StudyConfig) -> str:
    texts: list[Any] = [hashlib.sha256(_text(path).encode()).hexdigest() for path in config.study.networks]
    facts = [config.study.model_dump(), texts, __version__]
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()
