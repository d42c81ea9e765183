"""Features in one ML vector column: their names, their values for the engine, and smaller vectors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pyspark.ml.feature import VectorSlicer
from pyspark.ml.functions import vector_to_array
from pyspark.ml.linalg import VectorUDT
from pyspark.sql import functions as F

from spark_pufs.errors import DataError, Fault
from spark_pufs.spark.engine import SparkEngine
from spark_pufs.types import Column

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["Attribute", "VectorEngine", "attributes_of", "is_nominal", "quoted", "slice_vectors"]

ML_ATTR = "ml_attr"


@dataclass(frozen=True)
class Attribute:
    """What Spark's metadata tell of one element of a vector; ``kind`` is numeric, nominal or binary."""

    name: str
    kind: str
    facts: Mapping[str, Any]


def attributes_of(frame: DataFrame, vector: str) -> list[Attribute]:
    """The elements of a vector column, named by its metadata, else f0, f1, ...; one pass checks all vectors."""
    width = _width(frame, vector)
    told = frame.schema[vector].metadata.get(ML_ATTR, {})
    if told.get("num_attrs", width) != width:
        found = f"its metadata describe {told['num_attrs']} features, its vectors hold {width}"
        raise DataError(Fault(f"Column '{vector}'", found, "Build it again, with VectorAssembler for one."))
    return _attributes(told, width)


def _attributes(told: Mapping[str, Any], width: int) -> list[Attribute]:
    known = {facts["idx"]: (kind, facts) for kind, group in told.get("attrs", {}).items() for facts in group}
    found = [known.get(i, ("numeric", {})) for i in range(width)]
    return [Attribute(facts.get("name", f"f{i}"), kind, facts) for i, (kind, facts) in enumerate(found)]


def _width(frame: DataFrame, vector: str) -> int:
    """The length that all vectors have."""
    kind = frame.schema[vector].dataType
    if not isinstance(kind, VectorUDT):
        fix = "Name columns in inputCols, or build a vector with VectorAssembler."
        raise DataError(Fault(f"Column '{vector}'", f"is {kind.simpleString()}, not a vector", fix))
    column = F.col(quoted(vector))
    size = F.array_size(F.when(column.isNotNull(), vector_to_array(column)))  # the function fails on null
    row = frame.agg(F.count(F.lit(1)), F.count(size), F.min(size), F.max(size)).collect()[0]
    rows, present, shortest, longest = row
    if not rows:
        raise DataError(Fault("Table", "has no rows", "Check the path, the date or the filter."))
    if present < rows:
        found = f"{rows - present:,} of {rows:,} vectors are null"
        raise DataError(Fault(f"Column '{vector}'", found, "Fill them or leave these rows out."))
    if shortest < longest:
        found = f"its vectors hold from {shortest} to {longest} values"
        raise DataError(Fault(f"Column '{vector}'", found, "Give all of them the same length."))
    return int(longest)


class VectorEngine(SparkEngine):
    """The elements of a vector column as features, without taking the vectors apart where all are read."""

    in_columns = False

    def __init__(self, frame: DataFrame, vector: str, names: Sequence[str], label: str) -> None:
        array = vector_to_array(F.col(quoted(vector)))
        super().__init__(frame.select(F.col(quoted(label)), array.alias(vector)))
        self._places = {name: i for i, name in enumerate(names)}
        self._names = tuple(names)

    def columns(self) -> list[Column]:
        return [super().columns()[0], *(Column(name, "numeric", "double") for name in self._names)]

    def _numbers(self, names: Sequence[str]) -> str:
        """All elements or some of them, in the vector's order, which is the one a source is asked for."""
        if tuple(names) == self._names:
            return "c1"
        kept = ", ".join(str(self._places[name]) for name in names)
        # A filter stays one small expression however many elements there are; c1[0], c1[1], ... would not compile.
        return f"filter(c1, (value, place) -> place in ({kept}))" if kept else "array()"

    def _text(self, name: str) -> str:
        return f"c1[{self._places[name]}]" if name in self._places else super()._text(name)


def slice_vectors(frame: DataFrame, vector: str, output: str, indices: list[int], names: Sequence[str]) -> DataFrame:
    """``output`` holds the elements at ``indices`` of ``vector``, sparse where that is, with names in its metadata."""
    told = frame.schema[vector].metadata.get(ML_ATTR, {})
    known = _attributes(told, len(names))
    _unchanged(vector, told.get("num_attrs", len(names)), [(names[i], known[i].name, f"f{i}") for i in indices], names)
    sliced = VectorSlicer(inputCol=vector, outputCol=output, indices=indices).transform(frame)
    groups: dict[str, list[dict[str, Any]]] = {}
    for place, i in enumerate(indices):
        groups.setdefault(known[i].kind, []).append({**known[i].facts, "idx": place, "name": names[i]})
    return sliced.withMetadata(output, {ML_ATTR: {"attrs": groups, "num_attrs": len(indices)}})


def _unchanged(vector: str, width: int, chosen: list[tuple[str, str, str]], names: Sequence[str]) -> None:
    """The vectors are built as they were when the selection was made; names made up here tell nothing."""
    fix = "Build the vectors as for fit."
    if width != len(names):
        raise DataError(Fault(f"Column '{vector}'", f"holds {width} features, {len(names)} were fitted", fix))
    moved = [(was, now) for was, now, made_up in chosen if was != now and made_up not in (was, now)]
    if moved:
        found = f"holds '{moved[0][1]}' where '{moved[0][0]}' was fitted"
        raise DataError(Fault(f"Column '{vector}'", found, fix))


def is_nominal(metadata: Mapping[str, Any]) -> bool:
    """Whether a column's numbers stand for categories, as StringIndexer writes them."""
    return bool(metadata.get(ML_ATTR, {}).get("type") == "nominal")


def quoted(name: str) -> str:
    """A column's name as SQL, whatever it holds."""
    return "`" + name.replace("`", "``") + "`"
