"""Everything that touches pyspark; nothing else in the package imports it."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from spark_pufs.spark.lake.snapshots import table_at
    from spark_pufs.spark.ml.estimator import PUFeatureSelector, PUFeatureSelectorModel

__all__ = ["PUFeatureSelector", "PUFeatureSelectorModel", "table_at"]

_MODULES = {"table_at": "lake.snapshots"}


def __getattr__(name: str) -> object:
    # Loaded when first used: workers import kernels from here and must not pay for pyspark.ml.
    if name not in __all__:
        raise AttributeError(f"module 'spark_pufs.spark' has no attribute {name!r}")
    return getattr(importlib.import_module(f"spark_pufs.spark.{_MODULES.get(name, 'ml.estimator')}"), name)
