"""The last of many days with a memory of counts, against counting the whole window again: rows read and CPU seconds.

python benchmarks/memory_of_counts.py --days 31 --rows 200000 --columns 81
python benchmarks/memory_of_counts.py --days 31 --rows 200000 --columns 81 --engine spark

Days are written as Parquet in folders of their own. The memory is made from the first of them, and others are added.
The last is measured in a process of its own, as is a recount by the same cut points into an empty memory.
Both answers are compared in every count, and so are the counts of the window after the first day was taken away.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from process_tree import cpu_seconds

from spark_pufs.jobs.config import RunConfig, parse
from spark_pufs.jobs.select_job import run_select
from spark_pufs.memory.store import Store
from spark_pufs.rundir.folder import RunFolder

FIRST = 3  # days that cut points are made from


def write_day(flows: Path, number: int, rows: int, columns: int) -> None:
    rng = np.random.default_rng(number)
    positive = rng.random(rows) < 0.1
    X = rng.normal(size=(rows, columns))
    X[:, :8] += np.linspace(2, 0.2, 8) * positive[:, None]
    table = pd.DataFrame(X, columns=[f"x{i}" for i in range(columns)])
    folder = flows / f"day={number:03d}"
    folder.mkdir(parents=True)
    table.assign(label=(positive & (rng.random(rows) < 0.1)).astype(int)).to_parquet(folder / "0.parquet", index=False)


def config(folder: Path, state: str, run: str, engine: str, window: int | None = None) -> RunConfig:
    return parse(
        {
            "source": {"path": str(folder / "flows")},
            "label": {"column": "label"},
            "select": {"method": "semi-jmi", "k": 10},
            "output": {"path": str(folder / run), "overwrite": True},
            "memory": {"path": str(folder / state), "partition": "day", "window": window},
            "engine": engine,
            "spark": {"master": "local[2]"},
        }
    )


def measured(folder: Path, state: str, run: str, engine: str) -> dict[str, Any]:
    """One run in a process of its own; CPU of all processes it started, Java among them."""
    command = [sys.executable, __file__, "--one", str(folder), state, run, engine]
    said = subprocess.run(command, check=True, stderr=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True).stdout
    found = json.loads((folder / run / "selection.json").read_text())
    kept = found["details"]["memory"]
    return {
        "cpu": float(said.split()[-1]),
        "rows_read": kept["rows_read"],
        "rows": kept["rows"],
        "names": found["names"],
    }


def window(folder: Path) -> np.ndarray[Any, np.dtype[np.int64]]:
    store = Store(RunFolder(folder))
    index = store.index()
    assert index is not None
    return sum(store.counts(entry).counts.counts for entry in index.partitions.values())  # type: ignore[return-value]


def without_counts(state: Path, empty: Path) -> None:
    """A memory with the cut points of another one and no partitions."""
    shutil.copytree(state, empty)
    store = Store(RunFolder(empty))
    index = store.index()
    assert index is not None
    store.show(replace(index, partitions={}))


def compare(folder: Path, days: int, rows: int, columns: int, engine: str) -> None:
    for number in range(1, FIRST + 1):
        write_day(folder / "flows", number, rows, columns)
    made = measured(folder, "state", "made", engine)
    for number in range(FIRST + 1, days):
        write_day(folder / "flows", number, rows, columns)
    measured(folder, "state", "between", engine)
    write_day(folder / "flows", days, rows, columns)
    last = measured(folder, "state", "last", engine)
    without_counts(folder / "state", folder / "empty")
    recount = measured(folder, "empty", "recount", engine)
    same = np.array_equal(window(folder / "state"), window(folder / "empty"))
    whole = window(folder / "state")
    store = Store(RunFolder(folder / "state"))
    index = store.index()
    assert index is not None
    first = store.counts(index.partitions["001"]).counts.counts
    shutil.rmtree(folder / "flows" / "day=001")
    run_select(config(folder, "empty", "slid", engine, window=days - 1))
    slid = np.array_equal(whole - first, window(folder / "empty"))
    size = sum(file.stat().st_size for file in (folder / "state").iterdir())
    print(f"{days} days of {rows:,} x {columns}, engine {engine}; {size / days / 2**20:.2f} MB kept a day")
    print("| | CPU s | rows read |\n|---|---|---|")
    measures = {f"the memory is made of {FIRST} days": made, f"day {days}, with it": last, "recount": recount}
    for name, one in measures.items():
        print(f"| {name} | {one['cpu']:.1f} | {one['rows_read']:,} |")
    print(f"rows 1 : {recount['rows_read'] / last['rows_read']:.0f}, CPU 1 : {recount['cpu'] / last['cpu']:.1f};",
          f"counts equal: {same}; same features: {last['names'] == recount['names']};",
          f"less day 1 equals days 2 to {days}: {slid}")  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--days", type=int, default=31)
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--columns", type=int, default=81)
    parser.add_argument("--engine", default="memory", choices=["memory", "spark"])
    parser.add_argument("--one", nargs=4)
    given = parser.parse_args()
    if given.one:
        run_select(config(Path(given.one[0]), *given.one[1:]))
        print(cpu_seconds())
        return
    with tempfile.TemporaryDirectory() as folder:
        compare(Path(folder), given.days, given.rows, given.columns, given.engine)


if __name__ == "__main__":
    main()
