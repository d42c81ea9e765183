"""What is owed to every format that keeps the states of a table; each runs these tests on its own tables."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import yaml

import spark_pufs
from spark_pufs.errors import ConfigError, DataError
from spark_pufs.jobs.config import parse
from spark_pufs.jobs.select_job import resume, run_select

ROWS = 600


class Killed(BaseException):
    """In place of a power cut."""


@dataclass(frozen=True)
class Kept:
    """A format with the session that knows it; tables lie in the catalog ``lake``."""

    spark: Any
    format: str
    folder: Path

    def made(self, name: str, properties: str = "", partitioned: str = "") -> pd.DataFrame:
        """A table with one state; its rows."""
        rows = table()
        self.spark.createDataFrame(rows).createOrReplaceTempView("rows")
        settings = f"TBLPROPERTIES ({properties})" if properties else ""
        self.spark.sql(
            f"CREATE TABLE {self.name(name)} USING {self.format} {partitioned} {settings} AS SELECT * FROM rows"
        )
        return rows

    def name(self, name: str) -> str:
        return f"lake.db.{name}" if self.format == "iceberg" else f"db.{name}"

    def path(self, name: str) -> str:
        told = self.spark.sql(f"DESCRIBE TABLE EXTENDED {self.name(name)}").collect()
        return str(next(row[1] for row in told if row[0] == "Location"))

    def state(self, name: str) -> int:
        """The number of the newest state, as the format itself tells it."""
        if self.format == "delta":
            return int(self.spark.sql(f"DESCRIBE HISTORY {self.name(name)} LIMIT 1").head()[0])
        return int(self.spark.sql(f"SELECT snapshot_id FROM {self.name(name)}.refs WHERE name = 'main'").head()[0])

    def change(self, name: str) -> None:
        """Rows go and other rows come: two states."""
        self.spark.sql(f"DELETE FROM {self.name(name)} WHERE row_id % 3 = 0")
        self.spark.sql(f"INSERT INTO {self.name(name)} SELECT -row_id, b, a, a, day, label FROM {self.name(name)}")


def table() -> pd.DataFrame:
    rng = np.random.default_rng(7)
    a, b, c = rng.normal(size=(3, ROWS))
    label = ((a + b > 1) & (rng.random(ROWS) < 0.6)).astype(int)
    day = np.where(np.arange(ROWS) % 2, "2026-03-01", "2026-03-02")
    return pd.DataFrame({"row_id": np.arange(ROWS), "a": a, "b": b, "c": c, "day": day, "label": label})


def settings(output: Path, **source: Any) -> dict[str, Any]:
    return {
        "source": source,
        "label": {"column": "label"},
        "features": {"keep": ["row_id", "day"]},
        "select": {"method": "semi-jmi", "k": 2},
        "output": {"path": str(output)},
    }


def answer(rows: pd.DataFrame) -> str:
    """The fingerprint of the same selection from rows that are known."""
    return spark_pufs.select(rows, label="label", keep=["row_id", "day"], method="semi-jmi", k=2).fingerprint


def manifest(folder: Path) -> Any:
    return json.loads((folder / "manifest.json").read_text())


class KeptTables:
    @pytest.mark.parametrize("how", ["table", "path"])
    def test_what_is_read_is_named(self, kept: Kept, tmp_path: Path, how: str) -> None:
        rows = kept.made(f"named_{how}")
        place = kept.name(f"named_{how}") if how == "table" else kept.path(f"named_{how}")
        run_select(parse(settings(tmp_path / "run", **{how: place, "format": kept.format})))
        told = manifest(tmp_path / "run")
        assert told["fingerprint"] == answer(rows)
        assert told["source"]["format"] == kept.format
        assert told["source"]["version"] == kept.state(f"named_{how}")
        assert told["source"]["committed"].endswith(" UTC")
        assert (
            yaml.safe_load((tmp_path / "run" / "config.yaml").read_text())["source"]["version"]
            == told["source"]["version"]
        )

    @pytest.mark.parametrize("how", ["table", "path"])
    def test_a_table_that_changes_while_it_is_read(self, kept: Kept, tmp_path: Path, how: str) -> None:
        name = f"changes_{how}"
        rows = kept.made(name)
        place = kept.name(name) if how == "table" else kept.path(name)
        before, changed = kept.state(name), []

        def note(what: str) -> None:
            if what.startswith("sorting") and not changed:  # the first pass is done, the others are to come
                changed.append(what)
                kept.change(name)

        run_select(parse(settings(tmp_path / "run", **{how: place, "format": kept.format})), note=note)
        assert changed
        assert kept.state(name) != before
        assert manifest(tmp_path / "run")["fingerprint"] == answer(rows)
        assert manifest(tmp_path / "run")["source"]["version"] == before
        again = yaml.safe_load((tmp_path / "run" / "config.yaml").read_text())
        run_select(parse({**again, "output": {"path": str(tmp_path / "again")}}))
        ours, theirs = ((tmp_path / one / "ranking.parquet").read_bytes() for one in ("run", "again"))
        assert ours == theirs

    def test_a_run_that_is_resumed_reads_what_it_began_with(self, kept: Kept, tmp_path: Path) -> None:
        rows = kept.made("resumed")

        def note(what: str) -> None:
            if what.startswith("sorting"):
                raise Killed

        with pytest.raises(Killed):
            run_select(parse(settings(tmp_path / "run", table=kept.name("resumed"))), note=note)
        kept.change("resumed")
        resume(str(tmp_path / "run"))
        assert manifest(tmp_path / "run")["fingerprint"] == answer(rows)

    def test_earlier_states(self, kept: Kept, tmp_path: Path) -> None:
        rows = kept.made("earlier")
        first, moment = kept.state("earlier"), f"{datetime.now(UTC).replace(tzinfo=None)}"
        kept.change("earlier")
        for how in ({"version": first}, {"timestamp": moment}):
            for place in ({"table": kept.name("earlier")}, {"path": kept.path("earlier"), "format": kept.format}):
                output = tmp_path / f"{len(list(tmp_path.iterdir()))}"
                run_select(parse(settings(output, **how, **place)))
                assert manifest(output)["fingerprint"] == answer(rows)
                assert manifest(output)["source"]["version"] == first
        from spark_pufs.spark import table_at

        frame = table_at(kept.spark, table=kept.name("earlier"), version=first)
        newest = table_at(kept.spark, table=kept.name("earlier"))
        counted = newest.count()
        kept.change("earlier")
        assert frame.count() == ROWS
        assert newest.count() == counted != ROWS

    def test_states_that_are_not_there(self, kept: Kept, tmp_path: Path) -> None:
        kept.made("lacks")
        for asked in ({"version": 999}, {"timestamp": "1999-01-01"}):
            with pytest.raises(
                DataError, match=r"Source '.*lacks': has no (version 999|state of 1999-01-01 or before)"
            ):
                run_select(parse(settings(tmp_path / "run", table=kept.name("lacks"), **asked)))
        kept.spark.createDataFrame(table()).write.mode("overwrite").saveAsTable("spark_catalog.db.plain")
        with pytest.raises(ConfigError, match=r"plain': is parquet, which keeps no earlier states"):
            run_select(parse(settings(tmp_path / "run", table="spark_catalog.db.plain", version=1)))

    def test_rows_that_are_marked_as_deleted(self, kept: Kept, tmp_path: Path) -> None:
        rows = kept.made("deleted", self.marks_deleted)
        kept.spark.sql(f"DELETE FROM {kept.name('deleted')} WHERE row_id % 5 = 0")
        run_select(parse(settings(tmp_path / "run", table=kept.name("deleted"))))
        assert manifest(tmp_path / "run")["fingerprint"] == answer(rows[rows.row_id % 5 != 0])

    def test_columns_that_came_later(self, kept: Kept, tmp_path: Path) -> None:
        rows, name = kept.made("grown"), kept.name("grown")
        before = kept.state("grown")
        kept.spark.sql(f"ALTER TABLE {name} ADD COLUMNS (d double)")
        kept.spark.sql(f"INSERT INTO {name} SELECT row_id + {ROWS}, a, b, c, day, label, a * b FROM {name}")
        more = pd.concat([rows, rows.assign(row_id=rows.row_id + ROWS, d=rows.a * rows.b)])
        run_select(parse(settings(tmp_path / "new", table=name)))
        run_select(parse(settings(tmp_path / "old", table=name, version=before)))
        assert manifest(tmp_path / "new")["fingerprint"] == answer(more.reindex(columns=[*rows.columns, "d"]))
        assert manifest(tmp_path / "old")["fingerprint"] == answer(rows)

    def test_a_partitioned_table(self, kept: Kept, tmp_path: Path) -> None:
        rows = kept.made("parted", partitioned=self.partitioned)
        run_select(parse(settings(tmp_path / "run", table=kept.name("parted"))))
        assert manifest(tmp_path / "run")["fingerprint"] == answer(rows)

    def test_a_view_is_read_as_it_is(self, kept: Kept, tmp_path: Path) -> None:
        rows = kept.made("viewed")
        kept.spark.sql(f"CREATE OR REPLACE TEMP VIEW half AS SELECT * FROM {kept.name('viewed')} WHERE row_id % 2 = 0")
        run_select(parse(settings(tmp_path / "run", table="half")))
        assert "source" not in manifest(tmp_path / "run")
        assert manifest(tmp_path / "run")["fingerprint"] == answer(rows[rows.row_id % 2 == 0])

    def test_results_as_tables(self, kept: Kept, tmp_path: Path) -> None:
        """Every run adds its rows, once; a partition's rows are replaced."""
        rows, ranking = kept.made("asked"), kept.name("rankings")
        tables = {"ranking": ranking, "format": kept.format}
        asked = settings(tmp_path / "one", table=kept.name("asked"))
        asked["output"]["tables"] = tables
        run_select(parse(asked))
        (tmp_path / "one" / "manifest.json").unlink()  # as if the run had ended between the table and its manifest
        run_select(parse(asked))
        kept.change("asked")
        run_select(parse({**asked, "output": {"path": str(tmp_path / "two"), "tables": tables}}))
        found = kept.spark.table(ranking).toPandas()
        marks = [manifest(tmp_path / one)["fingerprint"] for one in ("one", "two")]
        assert marks[0] == answer(rows)
        assert found.groupby("run").size().to_dict() == dict.fromkeys(marks, 3)
        told = pd.read_parquet(tmp_path / "one" / "ranking.parquet").set_index("name")["score"]
        there = found[found.run == marks[0]].set_index("name")["score"]
        assert there.to_dict() == told.to_dict()
        days = {"ranking": kept.name("by_day"), "format": kept.format}
        for number, day in enumerate(["2026-03-01", "2026-03-02", "2026-03-02"]):
            output = {"path": str(tmp_path / f"day{number}"), "tables": {**days, "partition": {"day": day}}}
            run_select(parse({**asked, "output": output}))
        assert kept.spark.table(days["ranking"]).groupBy("day").count().count() == 2
        assert kept.spark.table(days["ranking"]).count() == 6

    def test_likely_positives_as_a_table(self, kept: Kept, tmp_path: Path) -> None:
        kept.made("likely_from")
        asked = settings(tmp_path / "run", table=kept.name("likely_from"))
        asked["select"] = {"method": "fscpu-mi", "k": 2, "clusters": 2}
        asked["output"] |= {"likely_positives": True}
        asked["output"]["tables"] = {"likely_positives": kept.name("likely"), "format": kept.format}
        run_select(parse(asked))
        ours = pd.read_parquet(tmp_path / "run" / "likely_positives.parquet")
        theirs = kept.spark.table(kept.name("likely")).toPandas()
        assert sorted(theirs["row_id"]) == sorted(ours["row_id"])
        assert len(theirs) > 0

    def test_what_cannot_be_written_is_told_before_any_work(self, kept: Kept, tmp_path: Path) -> None:
        kept.made("unwritten")
        asked = settings(tmp_path / "run", table=kept.name("unwritten"))
        for name, why in ((kept.name("unwritten"), "has no column 'run'"), ("nowhere.rankings", "its schema cannot")):
            asked["output"]["tables"] = {"ranking": name, "format": kept.format}
            with pytest.raises(ConfigError, match=why):
                run_select(parse(asked), dry_run=True)

    marks_deleted = ""
    partitioned = ""


def session(folder: Path, jars: str, **conf: str) -> Iterator[Any]:
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[2]").appName("platforms")
    plain = {
        "spark.jars": jars,
        "spark.ui.enabled": "false",
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.driver.extraJavaOptions": f"-Dderby.system.home={folder}",
        "spark.python.unix.domain.socket.enabled": "true",
    }
    for name, value in {**plain, **conf}.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    spark.sql("CREATE DATABASE IF NOT EXISTS spark_catalog.db")
    yield spark
    spark.stop()
