"""The doors of a Spark session: all that take a table, with odd ones that Spark accepts, and pyspark.ml."""

from __future__ import annotations

import json
import tempfile
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
from hypothesis import strategies as st

from support.fuzz.folder_doors import days, remembered
from support.fuzz.places import Door, Place, example
from support.fuzz.python_doors import TABLE_DOORS, plain
from support.fuzz.values import odd, texts

__all__ = ["spark_doors"]

_SLOW = ("compare", "prior", "check labels")
_PARAMS = st.fixed_dictionaries(
    {"labelCol": st.just("label"), "method": st.sampled_from(["semi-mim", "k-best", "x"]), "k": st.just(1) | odd},
    optional={"inputCols": st.lists(texts, max_size=2) | odd, "featuresCol": st.just("a") | odd, "seed": odd},
)
_FIELDS = st.sampled_from(["class", "uid", "paramMap", "defaultParamMap", "selection", "sparkVersion", "x"])


def spark_doors(spark: Any) -> tuple[Door, ...]:
    """All of them, in the session of a user."""
    frame_of = partial(on_spark, spark)
    own = [
        Door(f"{door.name} on Spark", door.cases.map(partial(_first, frame_of)), door.call, _weight(door), spark)
        for door in TABLE_DOORS
    ]
    memory = Door("memory on Spark", days(), partial(remembered, table_of=frame_of), 2, spark)
    return (*own, memory, _fitting(spark, frame_of), _saving(spark))


def _weight(door: Door) -> int:
    return 1 if door.name in _SLOW else 2


def _first(frame_of: Any, case: Any) -> Any:
    return (frame_of(case[0]), *case[1:])


def on_spark(spark: Any, table: Any) -> Any:
    """As Spark takes it, or a plain table where Spark refuses it itself; what is no table stays what it is."""
    if not isinstance(table, pd.DataFrame):
        return table
    try:
        return spark.createDataFrame(table)
    except Exception:
        return spark.createDataFrame(example())


def _fitting(spark: Any, frame_of: Any) -> Door:
    from support.fuzz.values import tables

    def fit(case: Any, place: Place) -> str:
        from spark_pufs.spark import PUFeatureSelector

        frame, params = case
        return str(PUFeatureSelector(**params).fit(frame).transform(frame).columns)

    return Door("pyspark.ml", st.tuples(tables().map(frame_of), _PARAMS), fit, 2, spark)


def _saving(spark: Any) -> Door:
    """A saved model with fields taken out or changed, loaded again."""
    from pyspark.ml.feature import VectorAssembler

    from spark_pufs.spark import PUFeatureSelector, PUFeatureSelectorModel

    rows = spark.createDataFrame(example())
    vectors = VectorAssembler(inputCols=["a", "b1"], outputCol="features").transform(rows)
    model = PUFeatureSelector(labelCol="label", featuresCol="features", method="semi-mim", k=1).fit(vectors)
    folder = Path(tempfile.mkdtemp())
    model.write().overwrite().save(str(folder / "model"))

    def load(case: Any, place: Place) -> str:
        files = sorted(path for path in (folder / "model").rglob("*") if path.is_file())
        name, value, cut, junk = case
        for path in files:
            target = place.folder / "model" / path.relative_to(folder / "model")
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(_changed(path, name, value, cut, junk))
        return str(PUFeatureSelectorModel.load(str(place.folder / "model")).transform(vectors).columns)

    changes = st.tuples(_FIELDS, plain | st.just(...), st.none() | st.floats(0, 1), st.binary(max_size=4))
    return Door("a saved model", changes, load, 2, spark)


def _changed(path: Path, name: str, value: Any, cut: float | None, junk: bytes) -> bytes:
    """A file as it is, a line of JSON with a field other or taken out, or cut with bytes put in."""
    data = path.read_bytes()
    if path.name.startswith(".") or not data.startswith(b"{"):
        return data
    if cut is not None:
        return data[: int(cut * len(data))] + junk
    values = json.loads(data)
    if value is ...:
        values.pop(name, None)
    else:
        values[name] = value
    return (json.dumps(values) + "\n").encode()
