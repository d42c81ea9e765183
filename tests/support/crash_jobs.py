"""The jobs that are struck: all that write folders, in memory and on Spark."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pandas as pd

import spark_pufs
from spark_pufs.cli import commands
from spark_pufs.jobs.compare_job import CompareConfig, run_compare
from spark_pufs.jobs.config import RunConfig
from spark_pufs.jobs.select_job import run_select
from spark_pufs.memory.store import INDEX
from spark_pufs.studies import reproduce
from spark_pufs.studies.reproduce import Nothing, ReproduceConfig, UnitRunner, Work, run_reproduce
from support.crash_points import Job
from support.memory_days import OPTIONS, day
from support.shared_java import joined

__all__ = ["JOBS", "SPARK_JOBS"]

ROWS = 120


def table() -> pd.DataFrame:
    rng = np.random.default_rng(3)
    X = rng.normal(size=(ROWS, 5))
    X[:40, :2] += 4
    columns = pd.DataFrame(X, columns=list("abcde"))
    return columns.assign(label=(np.arange(ROWS) < 20).astype(int), row=np.arange(ROWS))


def days(last: int) -> pd.DataFrame:
    """The table in parts, by day up to the last of three."""
    found = table().assign(day=[f"2026-01-0{1 + place % 3}" for place in range(ROWS)])
    return found[found["day"] <= f"2026-01-0{last}"].reset_index(drop=True)


def _one_table(place: Path) -> None:
    table().to_parquet(place / "table.parquet")


def _tables(place: Path) -> None:
    for last in (2, 3):
        days(last).to_parquet(place / f"{last}.parquet")


def _config(place: Path, engine: str, **more: Any) -> dict[str, Any]:
    return {
        "source": {"path": str(place / "table.parquet")},
        "label": {"column": "label"},
        "features": {"keep": ["row"]},
        "output": {"path": str(place / "out"), "overwrite": True},
        "engine": engine,
        **more,
    }


def _session(engine: str) -> AbstractContextManager[object]:
    return patch("spark_pufs.spark.session.open_session", joined) if engine == "spark" else nullcontext()


def _fscpu(place: Path, engine: str, seed: int = 7) -> None:
    own = {"method": "fscpu", "k": 2, "seed": seed, "generations": 2, "generation_size": 16, "clusters": 2}
    out = {"path": str(place / "out"), "overwrite": True, "likely_positives": True}
    with _session(engine):
        run_select(RunConfig(**_config(place, engine, select=own, output=out)))


def _compare(place: Path, engine: str, methods: tuple[str, ...] = ("mim", "k-best")) -> None:
    own = {"methods": list(methods), "folds": 2, "repeats": 1}
    with _session(engine):
        run_compare(CompareConfig(**_config(place, engine, select={"k": 2}, compare=own)))


def _remembered(place: Path, engine: str, last: int = 3) -> None:
    """A run of a day after others: counts of days that are known are not read again."""
    own = {"select": {"method": "semi-mim", "k": 2}, "memory": {"path": str(place / "state"), "partition": "day"}}
    with _session(engine):
        run_select(RunConfig(**_config(place, engine, source={"path": str(place / f"{last}.parquet")}, **own)))


def _reproduce(place: Path, engine: str) -> None:
    def wave(spark: Any, studies: Any, units: Any) -> Iterator[Any]:
        for name, unit in units:
            yield from UnitRunner(studies)(Nothing(), Work(name, dict(unit))).rows

    study = {"panels": ["3a"], "effects": [0], "draws": 12}
    config = ReproduceConfig(surrogate_tests=study, output={"path": str(place / "out")}, run={"wave": 1})
    if engine == "spark":
        with _session(engine):
            run_reproduce(config)
        return
    with (
        patch.object(reproduce, "_run_wave", wave),
        patch("spark_pufs.spark.session.open_session"),
        patch("spark_pufs.spark.scan.slots", return_value=1),
    ):
        run_reproduce(config)


def _a_day_more(place: Path, first: int = 3, last: int = 3) -> None:
    """Of the window only the last day is in the table: what is lost of the others is lost."""
    rows = pd.concat([day(number, rows=120) for number in range(first, last + 1)])
    spark_pufs.select(rows, memory=place / "out", partition="day", window=2, **OPTIONS)


def _runs(place: Path) -> None:
    for name, k in (("before", 1), ("after", 2)):
        spark_pufs.select(table(), label="label", method="mim", k=k).write(place / name)
    (place / "out").mkdir()
    _page(place, "before")


def _page(place: Path, after: str = "after") -> None:
    page = place / "out" / "page.html"
    commands.app.main(["diff", str(place / "before"), str(place / after), "--html", str(page)], standalone_mode=False)


def _written(place: Path) -> None:
    found = spark_pufs.select(table(), label="label", method="mim", k=2)
    found.write(place / "out", overwrite=True)
    found.write_report(place / "out" / "alone.html")


def _names(out: Path) -> Any:
    values = json.loads((out / "selection.json").read_text())
    likely = out / "likely_positives.parquet"
    rows = sorted(pd.read_parquet(likely)["row"]) if likely.exists() else []
    return values["features"], values["fingerprint"], rows, sorted(os.listdir(out))


def _standings(out: Path) -> Any:
    rows = json.loads((out / "comparison.json").read_text())["rows"]
    return [{name: value for name, value in row.items() if name != "seconds"} for row in rows], sorted(os.listdir(out))


def _results(out: Path) -> Any:
    return pd.read_csv(out / "results.csv").drop(columns="seconds", errors="ignore").fillna("").to_dict("list")


def _html(out: Path) -> str:
    return re.sub(r"\d+\.\d+ s", "", (out / "page.html").read_text())


def _kept(out: Path) -> Any:
    index = json.loads((out / INDEX).read_text())["index"]
    return index, {name: (out / name).read_bytes() for name in os.listdir(out)}


def _on(engine: str, name: str, run: Callable[..., object], older: dict[str, Any] | None, *rest: Any) -> Job:
    """A job over what the same with ``older`` arguments left, or over nothing."""
    table_of = _tables if run is _remembered else _one_table
    before = (lambda place: None) if older is None else lambda place: run(place, engine, **older)
    return Job(f"{name}, {engine}", table_of, before, lambda place: run(place, engine), *rest)


def _on_engine(engine: str) -> tuple[Job, ...]:
    return (
        _on(engine, "fscpu and likely positives over older results", _fscpu, {"seed": 1}, _names),
        _on(engine, "compare over an older one", _compare, {"methods": ("mim",)}, _standings),
        _on(engine, "the third day of a memory", _remembered, {"last": 2}, _names, ("out", "state")),
        _on(engine, "reproduce", _reproduce, None, _results),
    )


JOBS = (
    *_on_engine("memory"),
    Job("a day more in a memory", lambda place: None, lambda place: _a_day_more(place, 1, 2), _a_day_more, _kept),
    Job("diff --html over an older page", _one_table, _runs, _page, _html),
    Job("Selection.write over an older one", _one_table, lambda place: _fscpu(place, "memory", 1), _written, _names),
)
SPARK_JOBS = _on_engine("spark")
