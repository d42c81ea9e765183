"""Features in one ML vector column: their names, their values for the engine, and smaller vectors."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pyspark.ml.feature import VectorSlicer
from pyspark.ml.functions import vector_to_array
from pyspark.ml.linalg import VectorUDT
from pyspark.sql import functions as F

from spark_pufs.errors import DataError, Fault
from spark_pufs.masking.texts import gist
from spark_pufs.spark.engine import SparkEngine
from spark_pufs.types import Column
from spark_pufs.values import shown

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["Attribute", "VectorEngine", "attributes_of", "is_nominal", "quoted", "slice_vectors"]

ML_ATTR = "ml_attr"
WIDEST = 1_000_000  # elements of a vector: its rows are read dense, 8 MB each
_BUILD = "Build it again, with VectorAssembler for one."


@dataclass(frozen=True)
class Attribute:
    """What Spark's metadata tell of one element of a vector; ``kind`` is numeric, nominal or binary."""

    name: str
    kind: str
    facts: Mapping[str, Any]


def attributes_of(frame: DataFrame, vector: str) -> list[Attribute]:
    """The elements of a vector column, named by its metadata, else f0, f1, ...; one pass checks all vectors."""
    width = _width(frame, vector)
    return _attributes(frame, vector, width)


def _attributes(frame: DataFrame, vector: str, width: int) -> list[Attribute]:
    """What the metadata of a vector column tell of each of its elements, found to be what Spark writes there."""
    told = frame.schema[vector].metadata.get(ML_ATTR, {})
    if isinstance(told, Mapping) and told.get("num_attrs", width) != width:
        found = f"its metadata describe {shown(told['num_attrs'])} features, its vectors hold {width}"
        raise DataError(Fault(f"Column '{vector}'", found, _BUILD))
    try:
        known = dict(_told(told, width))
    except (TypeError, ValueError, KeyError, AttributeError) as error:
        found = f"its metadata are not those of a vector ({gist(error)})"
        raise DataError(Fault(f"Column '{vector}'", found, _BUILD)) from error
    return [known.get(i, Attribute(f"f{i}", "numeric", {})) for i in range(width)]


def _told(told: Mapping[str, Any], width: int) -> Iterator[tuple[int, Attribute]]:
    for kind, group in (told.get("attrs") or {}).items():
        if kind not in ("numeric", "nominal", "binary"):
            raise ValueError(f"attributes of kind {shown(kind)}")
        for facts in group:
            place, name = facts["idx"], facts.get("name", "")
            if type(place) is not int or not 0 <= place < width:
                raise ValueError(f"an attribute at place {shown(place)}")
            if not isinstance(name, str):
                raise ValueError(f"an attribute called {shown(name)}")
            yield place, Attribute(name if "name" in facts else f"f{place}", kind, facts)


def _width(frame: DataFrame, vector: str) -> int:
    """The length that all vectors have."""
    kind = frame.schema[vector].dataType
    if not isinstance(kind, VectorUDT):
        fix = "Name columns in inputCols, or build a vector with VectorAssembler."
        raise DataError(Fault(f"Column '{vector}'", f"is {kind.simpleString()}, not a vector", fix))
    held = F.unwrap_udt(F.col(quoted(vector)))  # a sparse vector says its size: it is not made dense to find out
    size = F.coalesce(held.getField("size"), F.array_size(held.getField("values")))
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
    if longest > WIDEST:
        found = f"its vectors have {longest:,} elements, and at most {WIDEST:,} can be read"
        raise DataError(Fault(f"Column '{vector}'", found, "Drop elements first, with a VectorSlicer for one."))
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
    told = frame.schema[vector].metadata.get(ML_ATTR)
    width = told.get("num_attrs", len(names)) if isinstance(told, Mapping) else len(names)
    if width != len(names):
        found = f"holds {shown(width)} features, {len(names)} were fitted"
        raise DataError(Fault(f"Column '{vector}'", found, "Build the vectors as for fit."))
    known = _attributes(frame, vector, len(names))
    _unchanged(vector, [(names[i], known[i].name, f"f{i}") for i in indices])
    sliced = VectorSlicer(inputCol=vector, outputCol=output, indices=indices).transform(frame)
    groups: dict[str, list[dict[str, Any]]] = {}
    for place, i in enumerate(indices):
        groups.setdefault(known[i].kind, []).append({**known[i].facts, "idx": place, "name": names[i]})
    return sliced.withMetadata(output, {ML_ATTR: {"attrs": groups, "num_attrs": len(indices)}})


def _unchanged(vector: str, chosen: list[tuple[str, str, str]]) -> None:
    """The vectors are built as they were when the selection was made; names made up here tell nothing."""
    fix = "Build the vectors as for fit."
    moved = [(was, now) for was, now, made_up in chosen if was != now and made_up not in (was, now)]
    if moved:
        found = f"holds '{moved[0][1]}' where '{moved[0][0]}' was fitted"
        raise DataError(Fault(f"Column '{vector}'", found, fix))


def is_nominal(metadata: Mapping[str, Any]) -> bool:
    """Whether a column's numbers stand for categories, as StringIndexer writes them."""
    told = metadata.get(ML_ATTR)
    return isinstance(told, Mapping) and told.get("type") == "nominal"


def quoted(name: str) -> str:
    """A column's name as SQL, whatever it holds."""
    return "`" + name.replace("`", "``") + "`"
