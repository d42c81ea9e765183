"""Files of a table that lack the label column: Spark would read their rows as unlabelled without a word.

The label is followed down the plan to the files it comes from. One that is computed, or comes from a catalog's table,
whose columns may rightly be newer than its files, is left alone; so is a plan that Spark Connect does not tell.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

import pyarrow as pa
import pyarrow.parquet as pq

from spark_pufs.errors import DataError, Fault
from spark_pufs.spark.io import spark_errors
from spark_pufs.spark.own_session import is_connect
from spark_pufs.spark.parquet.bare_scan import PARQUET, RELATION

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["check_files", "check_label_files"]

MOST = 10_000  # files that are looked into, the ends of which hold their columns
MOST_ASKED = 500  # files of which a server is asked one by one
THREADS = 16  # that wait for object stores
_SAME_COLUMNS = ("Deduplicate", "Drop", "Filter", "Limit", "Sort")  # plans of Connect that compute none


@dataclass(frozen=True)
class LabelSource:
    """The Parquet files that a label comes from, and its name in them."""

    files: tuple[str, ...]
    column: str


def check_label_files(frame: DataFrame, position: int, label: str, from_path: bool = False) -> None:
    """Refuse Parquet files that do not hold the label, which the table has: from other files, or by a given schema.

    ``frame``: a table with other names given to its columns; ``position``: of the label among them. ``from_path``: the
    table is what was read from a path.
    """
    remote = is_connect(frame.sparkSession)
    source = _of_client(frame, label, from_path) if remote else _of_plan(frame, position)
    if source is None:
        return
    asked = [file for file in source.files if file.lower().endswith(".parquet")][:MOST]
    known = {file: _columns_here(file) for file in asked}
    others = [file for file in asked if known[file] is None][: MOST_ASKED if remote else MOST]
    look = partial(_server_holds if remote else _java_holds, frame.sparkSession, source.column)
    with ThreadPoolExecutor(THREADS) as pool:
        found = dict(zip(others, pool.map(look, others), strict=True))
    found |= {file: _among(source.column, names) for file, names in known.items() if names is not None}
    check_files([(file, holds or _in_folder(source.column, file)) for file, holds in found.items()], label)


def check_files(files: Sequence[tuple[str, bool]], label: str) -> None:
    """Addresses of files, and whether they hold the label."""
    lacking = [file for file, holds in files if not holds]
    if lacking:
        name = PurePosixPath(unquote(urlsplit(lacking[0]).path)).name
        found = f"is not in {len(lacking):,} of {len(files):,} files, '{name}' for one"
        fix = "Their rows would count as unlabelled: write them again with the column, or leave them out."
        raise DataError(Fault(f"Column '{label}'", found, fix))


def _of_client(frame: Any, label: str, from_path: bool) -> LabelSource | None:
    """Over Connect: what the client has built, where no column in it is computed; above stand names of ours."""
    plan = frame._plan._child
    while type(plan).__name__ in _SAME_COLUMNS:
        plan = plan._child
    read = type(plan).__name__ == "DataSource" and getattr(plan, "_format", None) == "parquet"
    return LabelSource(tuple(frame.inputFiles()), label) if read or from_path else None


def _of_plan(frame: Any, position: int) -> LabelSource | None:
    """The plan of the label's column alone, without what is cached, followed down to the files."""
    alone = frame.select(frame.columns[position])._jdf.queryExecution()
    plan = alone.sparkSession().sessionState().optimizer().execute(alone.analyzed())
    column = plan.output().apply(0)
    while plan.children().size():
        column = _renamed(plan, column)
        below = [plan.children().apply(i) for i in range(plan.children().size())]
        own = [one for one in below if column is not None and one.outputSet().contains(column)]
        if not own:
            return None
        plan = own[0]
    if plan.getClass().getName() != RELATION or not plan.catalogTable().isEmpty():
        return None
    return _of_relation(plan.relation(), column.name())


def _of_relation(relation: Any, column: str) -> LabelSource | None:
    if not hasattr(relation, "fileFormat") or relation.fileFormat().getClass().getName() != PARQUET:
        return None
    if column in relation.partitionSchema().fieldNames():
        return None
    return LabelSource(tuple(relation.location().inputFiles()), column)


def _renamed(plan: Any, column: Any) -> Any:
    """A column as it is called below a plan; None where it is computed there."""
    if plan.getClass().getSimpleName() != "Project":
        return column
    for i in range(plan.projectList().size()):
        one = plan.projectList().apply(i)
        if one.exprId().id() == column.exprId().id() and one.getClass().getSimpleName() == "Alias":
            return one.child() if one.child().getClass().getSimpleName() == "AttributeReference" else None
    return column


def _columns_here(address: str) -> list[str] | None:
    """The columns of a file of this machine; None for others."""
    parts = urlsplit(address)
    place = Path(unquote(parts.path))
    if parts.scheme not in ("file", "") or not place.is_file():
        return None
    try:
        return list(pq.read_schema(place).names)
    except (OSError, pa.ArrowException):
        return None


def _java_holds(spark: Any, column: str, address: str) -> bool:
    """By Spark's own libraries, which know the file system and who may read there."""
    java = spark._jvm
    settings = spark._jsparkSession.sessionState().newHadoopConf()
    try:
        place = getattr(java, "org.apache.hadoop.fs.Path")(getattr(java, "java.net.URI")(address))
        input_ = getattr(java, "org.apache.parquet.hadoop.util.HadoopInputFile").fromPath(place, settings)
        reader = getattr(java, "org.apache.parquet.hadoop.ParquetFileReader").open(input_)
        try:
            schema = reader.getFileMetaData().getSchema()
            return schema.containsField(column) or _among(column, [f.getName() for f in schema.getFields()])
        finally:
            reader.close()
    except spark_errors():
        return True  # whoever reads its rows will say so


def _server_holds(spark: SparkSession, column: str, address: str) -> bool:
    try:
        return _among(column, spark.read.parquet(address).columns)
    except spark_errors():
        return True


def _among(column: str, names: Sequence[str]) -> bool:
    """Spark does not tell upper case from lower."""
    return column.lower() in [name.lower() for name in names]


def _in_folder(column: str, address: str) -> bool:
    return f"/{column}=".lower() in unquote(urlsplit(address).path).lower()
