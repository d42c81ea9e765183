"""Apache Iceberg, with the Spark that it is made for."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from platforms.tools import jars, packages

SPARK = "4.1.4"
ICEBERG = "1.12.0"


def install(folder: Path) -> None:
    packages(folder.parent / f"spark-{SPARK}", f"pyspark=={SPARK}")
    jars(folder, f"org.apache.iceberg:iceberg-spark-runtime-4.1_2.13:{ICEBERG}")


def environment(folder: Path) -> Mapping[str, str]:
    return {"PYTHONPATH": str(folder.parent / f"spark-{SPARK}")}
