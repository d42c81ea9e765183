"""Real Delta tables: what is read of them, and what happens while they change."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from platforms.kept_tables import Kept, KeptTables, session
from platforms.tools import listed

pytestmark = pytest.mark.platform("delta")


@pytest.fixture(scope="module")
def kept(installed: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kept]:
    folder = tmp_path_factory.mktemp("delta")
    conf = {
        "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
        "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
    }
    for spark in session(folder, listed(installed), **conf):
        yield Kept(spark, "delta", folder)


class TestDelta(KeptTables):
    marks_deleted = "'delta.enableDeletionVectors' = 'true'"
    partitioned = "PARTITIONED BY (day)"
