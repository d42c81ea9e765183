"""Rows of a Spark DataFrame as often as their weights say."""

from __future__ import annotations

from typing import TYPE_CHECKING

from spark_pufs.engines.weights import WeightFacts, check_weights, place_of

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

__all__ = ["repeated_rows"]


def repeated_rows(frame: DataFrame, column: str) -> DataFrame:
    """The rows of weight w as w equal ones, without the weights; one pass looks at these first."""
    from pyspark.sql import functions as F

    names = frame.columns
    place = place_of(column, names)
    plain = frame.toDF(*[f"c{i}" for i in range(len(names))])  # names of users may be anything
    weight = F.expr(f"try_cast(c{place} as double)")
    check_weights(column, _facts(plain, weight))
    kept = [F.col(f"c{i}") for i in range(len(names)) if i != place]
    copies = F.explode(F.sequence(F.lit(1), weight.cast("int"))).alias("copy")
    rows = plain.where(weight > 0).select(*kept, copies).drop("copy")
    return rows.toDF(*[name for i, name in enumerate(names) if i != place])


def _facts(plain: DataFrame, weight: Column) -> WeightFacts:
    from pyspark.sql import functions as F

    missing = weight.isNull() | F.isnan(weight)
    odd = (weight < 0) | (weight != F.floor(weight))
    counts = [F.sum(F.when(flag, 1).otherwise(0)) for flag in (missing, ~missing & odd)]
    found = plain.agg(*counts, F.max(weight), F.sum(weight)).first()
    values = [0.0 if value is None else float(value) for value in found or (0, 0, 0, 0)]
    return WeightFacts(int(values[0]), int(values[1]), values[2], values[3])
