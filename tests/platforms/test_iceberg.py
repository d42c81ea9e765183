"""Real Iceberg tables: what is read of them, and what happens while they change."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from platforms.kept_tables import Kept, KeptTables, answer, manifest, session, settings
from platforms.tools import listed
from spark_pufs.jobs.config import parse
from spark_pufs.jobs.select_job import run_select

pytestmark = pytest.mark.platform("iceberg")


@pytest.fixture(scope="module")
def kept(installed: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kept]:
    folder = tmp_path_factory.mktemp("iceberg")
    conf = {
        "spark.sql.extensions": "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
        "spark.sql.catalog.lake": "org.apache.iceberg.spark.SparkCatalog",
        "spark.sql.catalog.lake.type": "hadoop",
        "spark.sql.catalog.lake.warehouse": str(folder / "lake"),
    }
    for spark in session(folder, listed(installed), **conf):
        yield Kept(spark, "iceberg", folder)


class TestIceberg(KeptTables):
    marks_deleted = "'format-version' = '2', 'write.delete.mode' = 'merge-on-read'"
    partitioned = "PARTITIONED BY (bucket(4, row_id), truncate(7, day))"

    def test_a_tag(self, kept: Kept, tmp_path: Path) -> None:
        rows = kept.made("tagged")
        kept.spark.sql("ALTER TABLE lake.db.tagged CREATE TAG released")
        kept.change("tagged")
        run_select(parse(settings(tmp_path / "run", table="lake.db.tagged", version="released")))
        assert manifest(tmp_path / "run")["fingerprint"] == answer(rows)

    def test_a_table_that_was_set_back(self, kept: Kept, tmp_path: Path) -> None:
        rows, before = kept.made("set_back"), kept.state("set_back")
        kept.change("set_back")
        kept.spark.sql(f"CALL lake.system.rollback_to_snapshot('db.set_back', {before})")
        run_select(parse(settings(tmp_path / "run", table="lake.db.set_back")))
        assert manifest(tmp_path / "run")["fingerprint"] == answer(rows)
