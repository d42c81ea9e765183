"""Open the table of a configuration: in memory where it is small and read alike, else with Spark."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar, Union

from spark_pufs.engines.arrow_columns import NotAlike
from spark_pufs.engines.memory import MemoryEngine
from spark_pufs.engines.weights import repeated_table
from spark_pufs.errors import ConfigError, DataError, Fault
from spark_pufs.jobs.config import RunConfig
from spark_pufs.jobs.partition_folders import FolderPartitions, folders_of
from spark_pufs.jobs.small_tables import check_there, read_small
from spark_pufs.masking.addresses import Address
from spark_pufs.masking.hidden import revealed
from spark_pufs.memory.arrow_partitions import ArrowPartitions
from spark_pufs.memory.late_labels import LateLabels, late_labels_of
from spark_pufs.memory.partitions import PartitionedTable
from spark_pufs.rundir.files import parquet
from spark_pufs.rundir.folder import RunFolder
from spark_pufs.spark.session import under_submit
from spark_pufs.types import Json

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from spark_pufs.spark.engine import SparkEngine

__all__ = ["TableEngine", "check_rows", "late_labels", "opened", "opened_partitions", "pinned", "session", "write_rows"]

TableEngine = Union["MemoryEngine", "SparkEngine"]
Run = TypeVar("Run", bound=RunConfig)
log = logging.getLogger("spark_pufs")


def pinned(config: Run, note: Callable[[str], None]) -> tuple[Run, dict[str, Json] | None]:
    """The same run on one state of a table that keeps several, and the facts of it: the newest where none is named.

    All passes over the rows, a run that is resumed and one that is done again from its config.yaml read this state.
    """
    source = config.source
    if not source.keeps_states or config.engine == "memory":  # memory will say that it does not read it
        return config, None
    from spark_pufs.spark.lake.snapshots import find_snapshot

    path = None if source.path is None else source.path.given
    found = find_snapshot(
        session(config, note),
        path,
        source.table,
        source.format,
        revealed(source.options),
        source.version,
        source.timestamp,
    )
    if found is None:
        return config, None
    log.info("source: %s, %s", source.shown, found)
    state = source.model_copy(update={"format": found.format, "version": found.version, "timestamp": None})
    facts: dict[str, Json] = {"path": None if path is None else source.shown, "table": source.table, **found.facts()}
    return config.model_copy(update={"source": state}), facts


@contextmanager
def opened(config: RunConfig, note: Callable[[str], None]) -> Iterator[TableEngine]:
    """The table of a configuration, its rows as often as their weights say; what cannot be read becomes one clear
    error, where that is cheap before Spark starts."""
    weights = config.weights
    with _errors_of_spark(config):
        engine = _open(config, note)
        yield engine if weights is None else _repeated(engine, weights)


def _repeated(engine: TableEngine, weights: str) -> TableEngine:
    if isinstance(engine, MemoryEngine):
        return MemoryEngine(repeated_table(engine.table, weights))
    from spark_pufs.spark.engine import SparkEngine
    from spark_pufs.spark.weights import repeated_rows

    return SparkEngine(repeated_rows(engine.frame, weights))


@contextmanager
def opened_partitions(config: RunConfig, partition: str, note: Callable[[str], None]) -> Iterator[PartitionedTable]:
    """The table of a configuration cut by a column: by its folders where they are named after it, else by its rows."""
    with _errors_of_spark(config):
        yield _partitions(config, partition, note)


def late_labels(path: Address, label: str, partition: str) -> LateLabels:
    """A small file of labels that came after their rows."""
    kind = path.given.rpartition(".")[2].lower()
    try:
        table = read_small(path.given, kind if kind in ("csv", "json") else "parquet", {}, limited=False)
        return late_labels_of(MemoryEngine(table), label, partition)
    except NotAlike as why:
        fix = "Give a Parquet, CSV or JSON file of this machine."
        raise DataError(Fault(f"Late labels '{path}'", f"cannot be read: {why}", fix)) from why


def _partitions(config: RunConfig, partition: str, note: Callable[[str], None]) -> PartitionedTable:
    files = config.source.path is not None and not config.source.keeps_states
    places = folders_of(config.source.path.given, partition) if files and config.source.path is not None else None
    if places is not None:
        return FolderPartitions(places, partition, lambda place: _open(_at(config, place), note))
    engine = _open(config, note)
    if isinstance(engine, MemoryEngine):
        return ArrowPartitions(engine.table, partition)
    from spark_pufs.spark.partitions import FramePartitions

    return FramePartitions(engine.frame, partition)


def _at(config: RunConfig, path: str) -> RunConfig:
    """The configuration of one partition's place."""
    return config.model_copy(update={"source": config.source.model_copy(update={"path": Address(path)})})


@contextmanager
def _errors_of_spark(config: RunConfig) -> Iterator[None]:
    """What Spark says of rows in our words, where it is there to say something."""
    try:
        yield
    except Exception:  # raised again: plain_errors knows which are Spark's
        if "pyspark" not in sys.modules:
            raise
        from spark_pufs.spark.io import plain_errors

        with plain_errors(f"Source '{config.source.shown}'"):
            raise


def _open(config: RunConfig, note: Callable[[str], None]) -> TableEngine:
    _check_there(config)
    engine = None if config.engine == "spark" else _in_memory(config, note)
    return _on_spark(config, note) if engine is None else engine


def _in_memory(config: RunConfig, note: Callable[[str], None]) -> MemoryEngine | None:
    """The table in memory; None where ``auto`` leaves it to Spark."""
    source, ours = config.source, config.source.format == "arrow"  # which Spark does not read
    auto = config.engine == "auto" and not ours
    try:
        if auto:
            _check_wanted(config)
        if source.path is None:
            raise NotAlike("a table of a catalog")
        note("reading the table")
        return MemoryEngine(read_small(source.path.given, source.format, revealed(source.options), limited=auto))
    except NotAlike as why:
        if not auto:
            found = f"memory does not read this source as Spark does: {why}"
            fix = "Write it as Parquet." if ours else "Set engine: spark, or auto."
            raise ConfigError(Fault("Setting 'engine'", found, fix)) from why
        log.info("engine: spark, since the source is not read in memory: %s", why)
        return None


def _check_there(config: RunConfig) -> None:
    """A path that Spark would look for on this machine must be there: Spark takes long to start and to say so."""
    path, conf = config.source.path, revealed(config.spark.conf)
    elsewhere = under_submit() or "SPARK_REMOTE" in os.environ or not config.spark.master.given.startswith("local")
    stores = "HADOOP_CONF_DIR" in os.environ or any("defaultFS" in name for name in conf)
    if path is not None and not elsewhere and not (stores and "://" not in path.given):
        check_there(path.given)


def _check_wanted(config: RunConfig) -> None:
    """A cluster, or settings of a session, are named by those who want them used."""
    if under_submit() or "SPARK_REMOTE" in os.environ or not config.spark.master.given.startswith("local"):
        raise NotAlike("a cluster is named")
    if config.spark.conf or config.spark.reader != "auto":
        raise NotAlike("settings of Spark are given")


def session(config: RunConfig, note: Callable[[str], None]) -> SparkSession:
    from spark_pufs.spark.session import open_session

    note("starting Spark")
    return open_session(config.spark.master.given, revealed(config.spark.conf))


def _on_spark(config: RunConfig, note: Callable[[str], None]) -> SparkEngine:
    from spark_pufs.spark.engine import SparkEngine
    from spark_pufs.spark.io import read_table
    from spark_pufs.spark.lake.snapshots import read_snapshot

    spark = session(config, note)
    source = config.source
    note("reading the table")
    path, options = None if source.path is None else source.path.given, revealed(source.options)
    if isinstance(source.version, int):  # as ``pinned`` found it
        frame = read_snapshot(spark, path, source.table, source.format, options, source.version)
    else:
        frame = read_table(spark, path, source.table, source.format, options)
    files = source.table is None and source.format == "parquet" and not source.options
    asked = None if config.spark.reader == "auto" else config.spark.reader  # then the session's setting may say it
    return SparkEngine(frame, reader=asked, from_path=files)


def check_rows(engine: TableEngine, folder: RunFolder, name: str) -> None:
    """Refuse a place where an engine could not write a table of rows, before any work."""
    if not isinstance(engine, MemoryEngine):
        from spark_pufs.spark.io import check_reach

        check_reach(engine.frame.sparkSession, folder.address(name), f"Output '{folder.path}'")


def write_rows(rows: Any, folder: RunFolder, name: str) -> None:
    """Stage rows that an engine gave, a DataFrame of Spark or an Arrow table, as a table of Parquet."""
    if hasattr(rows, "write"):
        from spark_pufs.spark.io import address_for_spark, store_errors

        with store_errors(f"Output '{folder.path}'"):
            rows.write.parquet(address_for_spark(rows.sparkSession, folder.staged_table(name)))
    else:
        folder.stage_table(name, parquet(rows))
