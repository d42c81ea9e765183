"""Delta Lake, with the Spark that it is made for."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from platforms.tools import jars, packages

SPARK = "4.1.4"
DELTA = "4.4.0"


def install(folder: Path) -> None:
    packages(folder.parent / f"spark-{SPARK}", f"pyspark=={SPARK}")
    jars(folder, f"io.delta:delta-spark_4.1_2.13:{DELTA}", without=["org.apache.spark:*"])


def environment(folder: Path) -> Mapping[str, str]:
    return {"PYTHONPATH": str(folder.parent / f"spark-{SPARK}")}
