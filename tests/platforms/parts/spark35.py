"""The oldest Spark that we support, with packages of its time."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from platforms.tools import packages

SPARK = ("pyspark==3.5.9", "py4j==0.10.9.9")
OTHERS = (
    "numpy==1.26.4",
    "pandas==2.0.3",
    "pyarrow==15.0.2",
    "scipy==1.13.1",
    "scikit-learn==1.4.2",
    "lightgbm==4.7.0",
)
TESTS = ("tests/spark", "-m", "spark")


def install(folder: Path) -> None:
    packages(folder / "packages", *SPARK, *OTHERS)


def environment(folder: Path) -> Mapping[str, str]:
    return {"PYTHONPATH": str(folder / "packages")}
