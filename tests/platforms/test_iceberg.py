"""A real Iceberg table: what is read, and what happens while it changes."""

from __future__ import annotations

from pathlib import Path

import pytest

pytestmark = pytest.mark.platform("iceberg")


@pytest.fixture(scope="module")
def jars(installed: Path) -> str:
    return ",".join(map(str, sorted((installed / "jars").glob("*.jar"))))


def test_it_is_the_spark_that_iceberg_is_made_for(jars: str) -> None:
    import pyspark

    assert pyspark.__version__.startswith("4.1.")
    assert "iceberg-spark-runtime-4.1" in jars
