"""`memory:` in a configuration: partitions in folders, by a template, or by a column of the files."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import spark_pufs
from spark_pufs import Selection
from spark_pufs.errors import ConfigError, DataError
from spark_pufs.findings.parts import WindowCounts
from spark_pufs.findings.run_facts import RunFacts
from spark_pufs.jobs.config import RunConfig, parse
from spark_pufs.jobs.partition_folders import folders_of
from spark_pufs.jobs.select_job import run_select
from support.memory_days import OPTIONS, day, days


def config(tmp_path: Path, source: str, run: str = "run", **memory: Any) -> RunConfig:
    return parse(
        {
            "source": {"path": source},
            "label": {"column": "label"},
            "select": {"method": "semi-jmi", "k": 3},
            "output": {"path": str(tmp_path / run)},
            "memory": {"path": str(tmp_path / "state"), "partition": "day", **memory},
            "engine": "memory",
        }
    )


def selected(found: RunConfig) -> tuple[Selection, WindowCounts]:
    selection = run_select(found).selection
    assert selection is not None
    assert selection.findings.memory is not None
    return selection, selection.findings.memory


def write(folder: Path, number: int, name: str = "part-0.parquet") -> None:
    folder.mkdir(parents=True, exist_ok=True)
    day(number).drop(columns="day").to_parquet(folder / name, index=False)


def answer(found: Selection) -> Any:
    return json.loads(
        replace(found, run=RunFacts("", 0.0), fingerprint="", findings=replace(found.findings, memory=None)).to_json()
    )


def test_folders_of_hive(tmp_path: Path) -> None:
    flows = tmp_path / "flows"
    for number in (1, 2):
        write(flows / f"day=2026-01-0{number}", number)
    selected(config(tmp_path, str(flows)))
    write(flows / "day=2026-01-03", 3)
    _, counts = selected(config(tmp_path, str(flows), "third", window=2))
    assert (counts.read, counts.left, counts.rows) == (("2026-01-03",), ("2026-01-01",), 800)
    write(flows / "day=2026-01-02", 9, "late.parquet")  # late rows
    _, counts = selected(config(tmp_path, str(flows), "late", window=2))
    assert (counts.read, counts.rows_read) == (("2026-01-02",), 800)
    assert run_select(config(tmp_path, str(flows), "late", window=2)).message.startswith("Already done")


def test_a_memory_of_pandas_goes_on_with_files(tmp_path: Path) -> None:
    """The same reference, whoever counts: the answers are one."""
    options = {**OPTIONS, "partition": "day", "window": 3}
    for name in ("state", "pandas"):
        spark_pufs.select(days(1, 2), memory=tmp_path / name, **options)
    write(tmp_path / "flows" / "day=2026-01-03", 3)
    found, counts = selected(config(tmp_path, str(tmp_path / "flows"), window=3))
    assert counts.read == ("2026-01-03",)
    again = spark_pufs.select(day(3), memory=tmp_path / "pandas", **options)
    assert answer(found) == answer(again)
    assert found.fingerprint == again.fingerprint
    _, counts = selected(config(tmp_path, str(tmp_path / "flows" / "day=2026-01-03"), "alone", window=3))
    assert counts.read == ()


def test_a_template(tmp_path: Path) -> None:
    for number in (1, 2):
        write(tmp_path / "flows", number, f"2026-01-0{number}.parquet")
    _, counts = selected(config(tmp_path, str(tmp_path / "flows" / "{day}.parquet")))
    assert (counts.first, counts.last) == ("2026-01-01", "2026-01-02")
    with pytest.raises(DataError, match="fits no file or folder"):
        selected(config(tmp_path, str(tmp_path / "flows" / "{day}.csv"), "other"))
    places = folders_of(str(tmp_path / "{day}" / "2026-01-01.parquet"), "day")
    assert places == {"flows": str(tmp_path / "flows" / "2026-01-01.parquet")}


@pytest.mark.parametrize("kind", ["text", "date", "moment"])
def test_a_column_of_the_files(kind: str, tmp_path: Path) -> None:
    table = days(1, 3)
    if kind != "text":
        table["day"] = pd.to_datetime(table["day"], utc=True).astype("datetime64[us, UTC]")
        table["day"] = table["day"].dt.date if kind == "date" else table["day"] + pd.Timedelta("5h")
    table.to_parquet(tmp_path / "table.parquet", index=False, coerce_timestamps="us")
    found, counts = selected(config(tmp_path, str(tmp_path / "table.parquet"), window=2))
    assert (counts.first, counts.last, counts.rows_read) == ("2026-01-02", "2026-01-03", 800)
    plain = spark_pufs.select(days(2, 3), memory=tmp_path / "pandas", partition="day", **OPTIONS)
    assert answer(found) == answer(plain)
    last = table.assign(b=0.0)[table["day"] == table["day"].max()]
    last.to_parquet(tmp_path / "table.parquet", index=False, coerce_timestamps="us")
    _, counts = selected(config(tmp_path, str(tmp_path / "table.parquet"), "new", window=2))
    assert counts.read == ("2026-01-03",)


def test_a_dry_run_writes_nothing(tmp_path: Path) -> None:
    write(tmp_path / "flows" / "day=1", 1)
    told = run_select(config(tmp_path, str(tmp_path / "flows")), dry_run=True).message
    assert "400 rows" in told
    assert not (tmp_path / "state").exists()


def test_places_apart(tmp_path: Path) -> None:
    write(tmp_path / "flows" / "day=1", 1)
    for path, message in (("flows/state", "Memory '.*': lies in the source"), ("run", "Output '.*': is the memory")):
        with pytest.raises(ConfigError, match=message):
            run_select(config(tmp_path, str(tmp_path / "flows"), path=str(tmp_path / path)))


def test_a_partition_without_a_value(tmp_path: Path) -> None:
    write(tmp_path / "flows" / "day=__HIVE_DEFAULT_PARTITION__", 1)
    with pytest.raises(DataError, match="has a partition without a value"):
        run_select(config(tmp_path, str(tmp_path / "flows")))


def test_likely_positives_are_not_listed_from_a_memory(tmp_path: Path) -> None:
    asked = config(tmp_path, "flows", "run")
    own = {"select": asked.select.model_copy(update={"method": "fscpu"})}
    own |= {"output": asked.output.model_copy(update={"likely_positives": True})}
    with pytest.raises(ConfigError, match="likely_positives': needs all rows, and a memory keeps counts"):
        run_select(asked.model_copy(update=own))


def test_a_table_too_large_for_memory_is_read_in_memory_by_partition(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """``engine: auto`` looks at one partition at a time: Spark is not started for a small one of a large table."""
    from spark_pufs.jobs import opening, small_tables

    for number in (1, 2, 3):
        write(tmp_path / "flows" / f"day=2026-01-0{number}", number)
    monkeypatch.setattr(small_tables, "MEMORY_MB", 0.05)  # a partition is of 0.03
    monkeypatch.setattr(opening, "_on_spark", lambda *_: pytest.fail("Spark was started"))
    asked = config(tmp_path, str(tmp_path / "flows")).model_copy(update={"engine": "auto"})
    _, counts = selected(asked)
    assert counts.rows == 1200
