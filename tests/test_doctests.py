"""The examples in docstrings give what they say."""

from __future__ import annotations

import doctest
import importlib
import inspect
import pkgutil
import re
from typing import TYPE_CHECKING

import pytest

import spark_pufs

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ESTIMATOR = "spark_pufs.spark.ml.estimator"  # its examples need a session
MODULES = [
    found.name
    for found in pkgutil.walk_packages(spark_pufs.__path__, "spark_pufs.")
    if found.name not in (ESTIMATOR, "spark_pufs.__main__", "spark_pufs.cli.__main__")
]


@pytest.mark.parametrize("name", MODULES)
def test_examples(name: str) -> None:
    assert doctest.testmod(importlib.import_module(name)).failed == 0


@pytest.mark.spark
def test_estimator(spark: SparkSession) -> None:
    from spark_pufs.spark import PUFeatureSelector

    names = {"spark": spark, "PUFeatureSelector": PUFeatureSelector}
    # Found by class: its address is that of the package, not of the module it is written in.
    [test] = [test for test in doctest.DocTestFinder().find(PUFeatureSelector, globs=names) if test.examples]
    assert doctest.DocTestRunner().run(test).failed == 0


PUBLIC = {name: getattr(spark_pufs, name) for name in spark_pufs.__all__ if name != "__version__"}
FUNCTIONS = [thing for thing in PUBLIC.values() if inspect.isfunction(thing)]


@pytest.mark.parametrize("thing", [*FUNCTIONS, spark_pufs.Selection], ids=lambda thing: thing.__name__)
def test_public_names_show_an_example(thing: object) -> None:
    assert ">>>" in (thing.__doc__ or "")


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda thing: thing.__name__)
def test_every_parameter_is_explained(function: object) -> None:
    explained = set(re.findall(r"``(\w+)``", function.__doc__ or ""))
    assert set(inspect.signature(function).parameters) - explained == set()  # type: ignore[arg-type]
