"""A month as an operator has it: the two lines of cron of docs/every_day.md, day after day, by the command line.

Usage: python benchmarks/simulated_month.py [--rows 20000] [--keep FOLDER]

A made-up table of 12 columns gets a partition a day. Things happen: labels come late, rows are added to an older day, a
day is run again, a partition is missing and comes later, its run is made up for, a column comes in another unit, and
back. Each run is a process; its CPU seconds, rows read, verdict and warnings make the table that is printed.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

NAMES = list("abcdefghijkl")
FIRST, LAST = 3, 31
LATE_LABELS, LATE_ROWS, MISSING, AGAIN, UNIT, BACK = 8, 12, 16, 20, 24, 26

CONFIG = """
source: {path: data}
label: {column: label}
features: {keep: [flow]}
select: {method: semi-jmi, k: 4}
memory: {path: state, partition: day, window: 14}
output: {path: runs/x, previous: latest, overwrite: changed}
"""


@dataclass(frozen=True)
class Ran:
    """One command: what happened that day, its exit code, CPU seconds and what the run says of itself."""

    day: str
    event: str
    code: int
    cpu: float
    answer: dict[str, Any]

    def line(self) -> str:
        kept, since = self.answer.get("memory") or {}, self.answer.get("since") or {}
        named = sorted({one["name"] for one in kept.get("newest", [])})
        cells = (
            self.day, self.event, f"{self.cpu:.1f}", f"{kept.get('rows_read', 0):,} of {kept.get('rows', 0):,}",
            since.get("verdict", "first run"), ", ".join(named),
        )  # fmt: skip
        return f"| {' | '.join(cells)} |"


def rows_of(number: int, rows: int) -> pd.DataFrame:
    """The rows of a day; on some of them labels are still missing."""
    rng = np.random.default_rng(number)
    positive = rng.random(rows) < 0.2
    table = pd.DataFrame(rng.normal(size=(rows, len(NAMES))), columns=NAMES)
    for name, shift in zip("abcd", (2.0, 1.5, 1.0, 0.7), strict=True):
        table[name] += shift * positive
    if UNIT <= number < BACK:
        table["b"] *= 1000
    table["flow"] = number * 1_000_000 + np.arange(rows)
    return table.assign(label=(positive & (rng.random(rows) < 0.1)).astype(int))


def date_of(number: int) -> str:
    return f"2026-01-{number:02d}"


def write(folder: Path, number: int, table: pd.DataFrame, name: str = "0.parquet") -> None:
    place = folder / "data" / f"day={date_of(number)}"
    place.mkdir(parents=True, exist_ok=True)
    table.to_parquet(place / name, index=False)


def command(folder: Path, *words: str) -> tuple[int, float, str]:
    """Exit code, CPU seconds and what was printed."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    program = Path(sys.executable).with_name("spark-pufs")
    done = subprocess.run(
        [program, *words], cwd=folder, check=False, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )  # fmt: skip
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return done.returncode, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, done.stdout


def select(folder: Path, number: int, event: str = "", *more: str) -> Ran:
    run = f"runs/{date_of(number)}"
    words = ("select", "--config", "flows.yaml", "--set", f"output.path={run}", *more)
    code, cpu, said = command(folder, *words)
    if code:
        print(said, file=sys.stderr)
    answer = json.loads((folder / run / "selection.json").read_text())["details"] if not code else {}
    if "Already done" in said:
        answer = {"since": {"verdict": "already done"}}
    return Ran(date_of(number), event, code, cpu, answer)


def month(folder: Path, rows: int) -> Iterator[Ran]:
    """Day after day; a day's partition comes the day it is named after but for one."""
    for number in range(1, FIRST):
        write(folder, number, rows_of(number, rows))
    for number in range(FIRST, LAST + 1):
        table = rows_of(number, rows)
        if number == MISSING:
            continue
        if number == LATE_LABELS:
            table["label"] = table["label"].where(table.index % 2 == 0, 0)
        write(folder, number, table)
        yield select(folder, number, _event(folder, number, rows), *_settings(number))
        if number == AGAIN:
            yield select(folder, number, "run again")
            write(folder, MISSING, rows_of(MISSING, rows))
            until = ("--set", f"memory.until={date_of(MISSING)}")
            yield select(folder, MISSING, "the missing day has come: its run is made up for", *until)


def _event(folder: Path, number: int, rows: int) -> str:
    """What happens on a day before its run."""
    if number == LATE_LABELS + 1:
        whole = rows_of(LATE_LABELS, rows)
        late = whole[(whole["label"] == 1) & (whole.index % 2 == 1)]
        late[["flow", "label"]].assign(day=date_of(LATE_LABELS)).to_csv(folder / "late.csv", index=False)
        return f"{len(late):,} labels of the day before come in a file"
    if number == LATE_ROWS:
        write(folder, LATE_ROWS - 3, rows_of(100, rows // 10), "late.parquet")
        return f"{rows // 10:,} rows are added to {date_of(LATE_ROWS - 3)}"
    told = {
        FIRST: f"the memory is made of {FIRST} days",
        LATE_LABELS: "half of the labels are not there yet",
        MISSING + 1: "the partition of the day before is missing",
        UNIT: "column b comes in another unit",
        BACK: "column b is as it was",
    }
    return told.get(number, "")


def _settings(number: int) -> tuple[str, ...]:
    return ("--set", "memory.late_labels=late.csv") if number == LATE_LABELS + 1 else ()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--keep", type=Path, help="a folder to work in, which stays")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = given.keep or Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "flows.yaml").write_text(CONFIG)
        print("| day | what happens | CPU s | rows read | since the day before | columns unlike other days |")
        print("|---|---|---|---|---|---|", flush=True)
        ran = []
        for one in month(folder, given.rows):
            ran.append(one)
            print(one.line(), flush=True)
        quiet = [one.cpu for one in ran if not one.event]
        print(f"\n{len(ran)} runs, exit codes {sorted({one.code for one in ran})}; a day on which nothing happens:")
        print(f"{np.median(quiet):.1f} CPU s in the middle, {max(quiet):.1f} at most")
        code, cpu, said = command(folder, "history", "runs")
        print(f"history: exit code {code}, {cpu:.1f} CPU s; {said.splitlines()[0]}")
        pairs = ((UNIT - 2, UNIT - 1), (UNIT - 1, UNIT))
        for before, after in pairs:
            code, cpu, said = command(folder, "diff", f"runs/{date_of(before)}", f"runs/{date_of(after)}", "--json")
            verdict = re.search(r'"verdict": "([^"]*)"', said)
            print(f"diff {date_of(before)} {date_of(after)}: exit code {code}, {verdict.group(1) if verdict else said}")


if __name__ == "__main__":
    main()
