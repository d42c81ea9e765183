"""Published tables run again, as one Spark job that can be stopped at any time and goes on where it was.

Studies give units of work; units run in waves, a task each; after every wave the new rows are kept. At the end, and
when the time is used up, what there is becomes results, tables and pictures. The manifest comes when all is done.
"""

from __future__ import annotations

import dataclasses
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
from pydantic import Field

from spark_pufs.errors import ConfigError, Fault, PufsError, Stopped, did_you_mean
from spark_pufs.jobs.config import OutputConfig, Section, SparkConfig, resolved
from spark_pufs.masking.hidden import revealed
from spark_pufs.masking.texts import gist
from spark_pufs.rundir.files import parquet
from spark_pufs.rundir.folder import MANIFEST, RunFolder
from spark_pufs.rundir.lock import held
from spark_pufs.studies.han_shen.pufs_protocol import PufsProtocol
from spark_pufs.studies.real_tables.open_benchmark import RealTables
from spark_pufs.studies.result_parts import UNIT, KeptResults
from spark_pufs.studies.sechidis_brown.label_consistency import LabelConsistency
from spark_pufs.studies.sechidis_brown.markov_blankets import MarkovBlankets
from spark_pufs.studies.sechidis_brown.selection_error import SelectionError
from spark_pufs.studies.sechidis_brown.surrogate_ranking import SurrogateRanking
from spark_pufs.studies.sechidis_brown.surrogate_tests import SurrogateTests
from spark_pufs.studies.study import COLUMNS, ERROR, Row, Study, Unit, fixed_settings, key_of, long_form
from spark_pufs.studies.uchikoshi_akimoto.artificial_conditions import ArtificialConditions
from spark_pufs.studies.uchikoshi_akimoto.open_sets import OpenSets
from spark_pufs.version import __version__

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["EXAMPLE", "ReproduceConfig", "RunSection", "run_reproduce", "studies_of"]

EXAMPLE = "conf/reproduce.yaml"
Note = Callable[[str], None]


class RunSection(Section):
    """Which of the file's studies, on which data, for how long."""

    studies: list[str] | None = None
    data: str | None = None
    minutes: float | None = Field(default=None, gt=0)
    wave: int = Field(default=4, ge=1)  # units per slot
    retry: bool = False


class ReproduceConfig(Section):
    """One file, several studies: a section for each that is to run."""

    run: RunSection = RunSection()
    artificial_conditions: ArtificialConditions | None = None
    open_sets: OpenSets | None = None
    surrogate_tests: SurrogateTests | None = None
    surrogate_ranking: SurrogateRanking | None = None
    markov_blankets: MarkovBlankets | None = None
    label_consistency: LabelConsistency | None = None
    selection_error: SelectionError | None = None
    pufs_protocol: PufsProtocol | None = None
    real_tables: RealTables | None = None
    output: OutputConfig
    spark: SparkConfig = SparkConfig()


def run_reproduce(config: ReproduceConfig, note: Note = lambda what: None) -> str:
    """Run what is not there yet, write results, tables and pictures; what to tell the user."""
    studies, absent = studies_of(config)
    for message in absent:
        note(message)
    units = [(study.name, unit) for study in studies for unit in study.units()]
    folder = RunFolder(config.output.path.given)
    with held(folder):
        return _reproduce(config, studies, units, folder, note, absent)


def _reproduce(
    config: ReproduceConfig,
    studies: Sequence[Study],
    units: Sequence[tuple[str, Unit]],
    folder: RunFolder,
    note: Note,
    absent: list[str],
) -> str:
    kept = KeptResults(folder.inner("parts"))
    kept.open(
        {study.name: {"version": __version__, **fixed_settings(study)} for study in studies}, config.output.overwrite
    )
    done = kept.done(config.run.retry)
    waiting = [(name, unit) for name, unit in units if (name, key_of(unit)) not in done]
    note(f"{len(units):,} units, {len(units) - len(waiting):,} of them done before")
    left = _work(config, {study.name: study for study in studies}, waiting, kept, note) if waiting else 0
    results = ordered(kept.rows, units)
    files = _files(config, studies, results, note)
    folder.delete(MANIFEST)
    if left:
        for name, data in files.items():
            folder.write(name, data)
        raise Stopped(_unfinished(config, folder, len(units), left))
    folder.write_all(files, {"job": "reproduce", "units": len(units), "version": __version__})
    return _message(folder, files, results, absent)


def studies_of(config: ReproduceConfig) -> tuple[list[Study], list[str]]:
    """The studies to run, and sentences on those that have to be left out."""
    present = {name: getattr(config, name) for name in _study_names() if getattr(config, name) is not None}
    wanted = list(present) if config.run.studies is None else config.run.studies
    faults = [
        Fault("Setting 'run.studies'", f"'{name}' has no section in the file", did_you_mean(name, present))
        for name in wanted
        if name not in present
    ]
    if faults:
        raise ConfigError(faults)
    found = [_with_data(present[name], config.run.data) for name in wanted]
    reasons = [(study.name, _absent(study)) for study in found]
    absent = [f"{name} is left out: {reason}" for name, reason in reasons if reason]
    ready = [study for study in found if not _absent(study)]
    if not ready:
        why = absent or ["the file has no section of a study"]
        raise ConfigError(Fault("Studies", f"none can run; {'; '.join(why)}", f"See {EXAMPLE}."))
    return ready, absent


def _study_names() -> list[str]:
    return [name for name in ReproduceConfig.model_fields if name not in ("run", "output", "spark")]


def _with_data(study: Any, data: str | None) -> Any:
    """The data folder as workers find it: they may run elsewhere."""
    if data is None or getattr(study, "data", data) is not None:
        return study
    return dataclasses.replace(study, data=data if "://" in data else str(Path(data).absolute()))


def _absent(study: object) -> str | None:
    """Why a study has to be left out, if so."""
    if getattr(study, "data", "") is None:
        return "it reads public data, and run.data names no folder"
    why: str | None = study.absent() if hasattr(study, "absent") else None
    return why


@dataclasses.dataclass(frozen=True)
class Nothing:
    """What units share."""


@dataclasses.dataclass(frozen=True)
class Work:
    """A unit of a study."""

    study: str
    unit: Unit


@dataclasses.dataclass(frozen=True)
class Rows:
    """Results of one unit."""

    rows: tuple[Row, ...]


@dataclasses.dataclass(frozen=True)
class UnitRunner:
    """One unit in a worker; what goes wrong becomes a row."""

    studies: Mapping[str, Study]

    def __call__(self, shared: Nothing, work: Work) -> Rows:
        study, unit = self.studies[work.study], work.unit
        began = time.perf_counter()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                found = study.run(unit)
            if not found:
                raise ValueError("the unit gave no results")
        except Exception as error:  # one unit that breaks down does not end the study
            found = [_failure(unit, error)]
        seconds = time.perf_counter() - began
        return Rows(tuple({UNIT: key_of(unit), **long_form(study.name, row, seconds)} for row in found))


def _failure(unit: Unit, error: Exception) -> Row:
    named = {name: value for name, value in unit.items() if name in COLUMNS}
    text = str(error) if isinstance(error, PufsError) else f"{type(error).__name__}: {gist(error)}"
    return {**named, "measure": ERROR, "message": " ".join(text.split())}


def _work(
    config: ReproduceConfig,
    studies: Mapping[str, Study],
    waiting: Sequence[tuple[str, Unit]],
    kept: KeptResults,
    note: Note,
) -> int:
    """Wave after wave until all is done or the time is used up; how many units are left."""
    from spark_pufs.spark.scan import slots
    from spark_pufs.spark.session import open_session

    note("starting Spark")
    spark = open_session(config.spark.master.given, revealed(config.spark.conf))
    began, done = time.perf_counter(), 0
    for wave in _waves(waiting, config.run.wave * slots(spark)):
        kept.add(_run_wave(spark, studies, wave))
        done += len(wave)
        minutes = (time.perf_counter() - began) / 60
        note(
            f"{done:,} of {len(waiting):,} units after {minutes:.1f} minutes, last {wave[-1][0]} {key_of(wave[-1][1])}"
        )
        if config.run.minutes is not None and minutes >= config.run.minutes:
            break
    return len(waiting) - done


def _waves(units: Sequence[tuple[str, Unit]], size: int) -> Iterator[Sequence[tuple[str, Unit]]]:
    yield from (units[first : first + size] for first in range(0, len(units), size))


def _run_wave(spark: SparkSession, studies: Mapping[str, Study], wave: Sequence[tuple[str, Unit]]) -> Iterator[Row]:
    from spark_pufs.spark.shipping import each

    work = [Work(name, dict(unit)) for name, unit in wave]
    for found in each(spark, UnitRunner(studies), Nothing(), work, Rows):
        yield from found.rows


def ordered(rows: pd.DataFrame, units: Sequence[tuple[str, Unit]]) -> pd.DataFrame:
    """Rows in the order of the units, then those of units that were asked for before; the key column goes."""
    place = {(name, key_of(unit)): position for position, (name, unit) in enumerate(units)}
    last = len(place)
    position = [place.get(pair, last) for pair in zip(rows["study"], rows[UNIT], strict=True)]
    order = rows.assign(position=position).sort_values(["position", "study", UNIT], kind="stable").index
    return rows.loc[order, list(COLUMNS)].reset_index(drop=True)


def _files(config: ReproduceConfig, studies: Sequence[Study], results: pd.DataFrame, note: Note) -> dict[str, bytes]:
    files = {
        "results.parquet": parquet(results),
        "results.csv": results.to_csv(index=False).encode(),
        "config.yaml": resolved(config),
    }
    drawing = find_spec("matplotlib") is not None
    if not drawing:
        note("matplotlib is not installed: no pictures (pip install spark-pufs[plots])")
    for study in studies:
        own = results[results["study"] == study.name]
        files |= {name: text.encode() for name, text in study.tables(own).items()}
        files |= study.pictures(own) if drawing else {}
    return files


def _unfinished(config: ReproduceConfig, folder: RunFolder, units: int, left: int) -> Fault:
    found = f"stopped after {config.run.minutes:g} minutes with {left:,} of {units:,} units left"
    return Fault("Reproduction", found, f"Run the same command again to go on; so far: {folder.path}")


def _message(folder: RunFolder, files: Mapping[str, bytes], results: pd.DataFrame, absent: list[str]) -> str:
    tables = [data.decode() for name, data in files.items() if name.endswith(".md")]
    failed = results[results["measure"] == ERROR]
    said = [f"{len(failed):,} units failed; results.csv says why."] if len(failed) else []
    return "\n".join([*tables, *absent, *said, f"Results: {folder.path}"])
