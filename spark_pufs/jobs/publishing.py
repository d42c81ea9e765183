"""Results of a run as tables of a catalog: looked at before any work, written before the manifest."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from spark_pufs.errors import ConfigError, Fault
from spark_pufs.jobs.config import RunConfig, TablesOutput
from spark_pufs.jobs.opening import session
from spark_pufs.rundir.folder import RunFolder
from spark_pufs.selection import Selection
from spark_pufs.types import Json

__all__ = ["check_tables", "publish", "published"]

Note = Callable[[str], None]


def check_tables(config: RunConfig, note: Note) -> None:
    """Refuse what could not be written at the end."""
    tables = config.output.tables
    if tables is None:
        return
    _check_named(config, tables)
    from spark_pufs.spark.lake.results import RANKING, check_target

    spark, key = session(config, note), tables.partition or {"run": ""}
    if tables.ranking is not None:
        check_target(spark, tables.ranking, tables.format, key, [part.split()[0] for part in RANKING.split(", ")])
    if tables.likely_positives is not None:
        check_target(spark, tables.likely_positives, tables.format, key, [])


def _check_named(config: RunConfig, tables: TablesOutput) -> None:
    if tables.ranking is None and tables.likely_positives is None:
        fault = Fault("Setting 'output.tables'", "names no table", "Give ranking, likely_positives, or both.")
        raise ConfigError(fault)
    if tables.likely_positives is not None and config.output.lists is None:
        fix = "Set output.likely_positives: true."
        raise ConfigError(Fault("Setting 'output.tables.likely_positives'", "is of rows that are not written", fix))


def published(config: RunConfig, fingerprint: str) -> Json:
    """What the manifest of a run says of its tables."""
    tables = config.output.tables
    if tables is None:
        return None
    names = {"ranking": tables.ranking, "likely_positives": tables.likely_positives}
    return {**{what: name for what, name in names.items() if name}, "partition": _key(tables, fingerprint)}


def publish(config: RunConfig, selection: Selection, folder: RunFolder, note: Note) -> None:
    """Write the tables; likely positives are those that are staged in the folder."""
    tables = config.output.tables
    if tables is None:
        return
    from spark_pufs.spark.io import read_table
    from spark_pufs.spark.lake.results import put_rows, ranking_rows

    note("writing tables")
    spark, key = session(config, note), _key(tables, selection.fingerprint)
    if tables.likely_positives is not None and config.output.lists is not None:
        staged = read_table(spark, folder.staged_at(config.output.lists), None, "parquet", {})
        put_rows(staged, tables.likely_positives, tables.format, key)
    if tables.ranking is not None:
        put_rows(ranking_rows(spark, selection.table()), tables.ranking, tables.format, key)


def _key(tables: TablesOutput, fingerprint: str) -> Mapping[str, str]:
    return tables.partition or {"run": fingerprint}
