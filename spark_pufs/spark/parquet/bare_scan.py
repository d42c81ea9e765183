"""Is a DataFrame nothing but Parquet files, with some of their columns? Then tasks may read the files themselves.

All that could hide or change a row stays with Spark: filters, joins, views, catalog tables (whose catalog may have
policies for rows and columns), cached tables, formats that build on Parquet files (Delta, Iceberg), sessions whose
extensions may rewrite a query.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

from spark_pufs.engines.parquet.footers import Unfit
from spark_pufs.spark.own_session import is_connect

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["PARQUET", "RELATION", "BareScan", "bare_scan", "check_settings", "files_of_path", "local_path"]

_PLANS = "org.apache.spark.sql.catalyst.plans.logical."
_EXPRESSIONS = "org.apache.spark.sql.catalyst.expressions."
_SOURCES = "org.apache.spark.sql.execution.datasources."
RELATION = f"{_SOURCES}LogicalRelation"
PARQUET = f"{_SOURCES}parquet.ParquetFileFormat"
_ABOVE = (f"{_PLANS}Project", f"{_PLANS}SubqueryAlias")
# Options of a reader that only decide which files there are, or are looked at file by file.
_OPTIONS = {
    *("path", "paths", "basepath", "mergeschema", "recursivefilelookup", "pathglobfilter"),
    *("modifiedbefore", "modifiedafter"),
}
# Settings under which Spark's reader gives other values than the files hold, or leaves rows out.
_SETTINGS = {
    "spark.sql.parquet.int96TimestampConversion": "false",
    "spark.sql.parquet.binaryAsString": "false",
    "spark.sql.parquet.fieldId.read.enabled": "false",
    "spark.sql.files.ignoreCorruptFiles": "false",
    "spark.sql.files.ignoreMissingFiles": "false",
}
_EXTENSIONS = ("io.delta.sql.", "org.apache.iceberg.spark.extensions.", "org.apache.spark.sql.hudi.")
_MARKS = ("EXISTS_DEFAULT", "CURRENT_DEFAULT", "__CHAR_VARCHAR_TYPE_STRING", "parquet.field.id")


@dataclass(frozen=True)
class BareScan:
    """``files`` by address; the file column behind each column of the frame; values of ``keys`` by folder."""

    files: tuple[str, ...]
    names: tuple[str, ...]
    keys: tuple[str, ...] = ()
    values: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)


def bare_scan(frame: DataFrame) -> BareScan:
    """The files behind a frame that nobody has planned yet; raises ``Unfit`` where it is more than files."""
    if is_connect(frame.sparkSession):
        raise Unfit("Spark Connect does not tell how the DataFrame was made")
    query: Any = frame._jdf.queryExecution()
    for plan in (query.optimizedPlan(), query.analyzed()):
        relation = _relation(plan)
    source = relation.relation()
    _check_files(relation, source)
    keys = tuple(source.partitionSchema().fieldNames())
    if set(keys) & set(source.dataSchema().fieldNames()):
        raise Unfit("a column is both in the files and in the names of their folders")
    return BareScan(tuple(frame.inputFiles()), _names(query.analyzed()), keys, _folders(source) if keys else {})


def files_of_path(frame: DataFrame, names: Iterable[str]) -> BareScan:
    """The files behind a frame that was read from a path, where its plan cannot be looked at; ``names`` of columns."""
    files = tuple(frame.inputFiles())
    if any("=" in folder for file in files for folder in PurePosixPath(local_path(file)).parts[:-1]):
        raise Unfit("Spark Connect does not tell which columns are in the names of folders")
    return BareScan(files, tuple(names))


def check_settings(spark: SparkSession, frame: DataFrame) -> None:
    """Raise ``Unfit`` where settings of the session or marks of columns may change what is read."""
    for name, plain in _SETTINGS.items():
        if str(spark.conf.get(name, plain)).lower() != plain:
            raise Unfit(f"{name} is {spark.conf.get(name)}")
    extensions = [one.strip() for one in str(spark.conf.get("spark.sql.extensions", "") or "").split(",")]
    others = [one for one in extensions if one and not one.startswith(_EXTENSIONS)]
    if others:
        raise Unfit(f"the session has the extension {others[0]}, which may rewrite what is read")
    marked = [f.name for f in frame.schema.fields if any(mark in (f.metadata or {}) for mark in _MARKS)]
    if marked:
        raise Unfit(f"column '{marked[0]}' has a default, a length or an id of its own")


def local_path(address: str) -> str:
    """The path of a file of this machine; ``Unfit`` for other file systems."""
    parts = urlsplit(address)
    if parts.scheme not in ("file", "") or parts.netloc:
        raise Unfit(f"files of {parts.scheme}:// are read by Spark")
    return unquote(parts.path)


def _relation(plan: Any) -> Any:
    kind = plan.getClass().getName()
    while kind in _ABOVE:
        plan = plan.children().apply(0)
        kind = plan.getClass().getName()
    if kind != RELATION:
        raise Unfit(f"the DataFrame is more than files: {plan.nodeName()}")
    return plan


def _check_files(relation: Any, source: Any) -> None:
    if not relation.catalogTable().isEmpty():
        raise Unfit("a catalog table is read by Spark, as its catalog allows")
    kinds = source.getClass().getName(), relation.isStreaming()
    if kinds != (f"{_SOURCES}HadoopFsRelation", False):
        raise Unfit("the DataFrame is not made of files")
    format_, index = source.fileFormat().getClass().getName(), source.location().getClass().getName()
    if format_ != PARQUET or index != f"{_SOURCES}InMemoryFileIndex":
        raise Unfit(f"the files are not plain Parquet: {format_.rsplit('.', 1)[-1]}, {index.rsplit('.', 1)[-1]}")
    if not source.bucketSpec().isEmpty():
        raise Unfit("the table is bucketed")
    options = source.options().keys().toSeq()
    given = [str(options.apply(i)) for i in range(options.size())]
    others = [name for name in given if name.lower() not in _OPTIONS]
    if others:
        raise Unfit(f"reader option '{others[0]}' is for Spark")


def _names(plan: Any) -> tuple[str, ...]:
    """The file column behind each column of an analyzed plan.

    The plan tells all of itself in one call: thousands of columns asked one by one take seconds.
    """
    columns: list[tuple[int, str]] = []
    for node in reversed(json.loads(plan.toJSON())):  # the files first, what is above them after
        if node["class"] == RELATION:
            columns = [(_id(own[0]), own[0]["name"]) for own in node["output"]]
        elif node["class"] == _ABOVE[0]:
            known = dict(columns)
            columns = [(_id(own[0]), _name(own, known)) for own in node["projectList"]]
    return tuple(name for _, name in columns)


def _name(column: list[dict[str, Any]], known: Mapping[int, str]) -> str:
    """The name behind an expression of a projection, as the list of its parts from the outside in."""
    *outer, last = column
    plain = last["class"] == f"{_EXPRESSIONS}AttributeReference" and _id(last) in known
    if not plain or any(part["class"] != f"{_EXPRESSIONS}Alias" for part in outer):
        raise Unfit(f"a column is computed: {column[0].get('name', '')}")
    return known[_id(last)]


def _id(part: Mapping[str, Any]) -> int:
    """The number by which a plan knows a column; -1 for what has none."""
    return int(part.get("exprId", {"id": -1})["id"])


def _folders(source: Any) -> dict[str, tuple[Any, ...]]:
    """Values of the columns in the names of folders, as Spark holds them, by folder."""
    schema, found = source.partitionSchema(), source.location().partitionSpec().partitions()
    folders = {}
    for i in range(found.size()):
        values = found.apply(i).values().toSeq(schema)
        one = [values.apply(j) for j in range(values.size())]
        place = found.apply(i).path().toUri()
        folders[str(place.getPath())] = tuple(v.toString() if hasattr(v, "getClass") else v for v in one)
    return folders
