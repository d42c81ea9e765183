"""Changes put into days of RT-IoT2022: is each seen the day it comes, with its cause named?

Usage: python benchmarks/alarms_rt_iot.py rt_iot2022.parquet [--streams 10]

Rows are dealt to 30 days at random; half of the rows of two attacks are labelled. A day is compared with a changed one
after it, by `diff`, and the changed one is also the newest of a memory of counts with three days before it, whose
warning is looked at. Which columns are changed follows from what the first day's selection chose.
"""

from __future__ import annotations

import argparse
import tempfile
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from alarms import ALARMS, METHOD, K, selected

import spark_pufs

DAYS, BEFORE = 30, 3
OLD, NEW = ("NMAP_TCP_scan", "DDOS_Slowloris"), "ARP_poisioning"


@dataclass(frozen=True)
class Day:
    """Rows without their class, and the class."""

    table: pd.DataFrame
    attack: pd.Series[str]
    rng: np.random.Generator

    def labelled(self, share: np.ndarray | float, kinds: tuple[str, ...] = OLD) -> pd.DataFrame:
        """The table with a share of the rows of some attacks labelled."""
        known = self.attack.isin(kinds).to_numpy() & (self.rng.random(len(self.table)) < share)
        return self.table.assign(label=known.astype(int))


@dataclass(frozen=True)
class Columns:
    """What is changed: a column that was chosen, one that was not, and one by which positives differ."""

    chosen: str
    other: str
    led: str


def columns_of(day: Day, found: spark_pufs.Selection) -> Columns:
    numbers = day.table.select_dtypes("number")
    rest = numbers.drop(columns=list(found.names))
    spread = rest[day.attack.isin(OLD).to_numpy()].nunique().sort_values(ascending=False, kind="stable")
    return Columns(found.names[0], str(rest.nunique().idxmax()), str(spread.index[0]))


def unit(day: Day, columns: Columns) -> pd.DataFrame:
    return day.labelled(0.5).assign(**{columns.chosen: day.table[columns.chosen] * 1000 + 7})


def dead(day: Day, columns: Columns) -> pd.DataFrame:
    return day.labelled(0.5).assign(**{columns.chosen: 0.0})


def missing(day: Day, columns: Columns) -> pd.DataFrame:
    kept = day.table[columns.other].where(day.rng.random(len(day.table)) < 0.5)
    return day.labelled(0.5).assign(**{columns.other: kept})


def new_kind(day: Day, columns: Columns) -> pd.DataFrame:
    return day.labelled(0.5, (NEW,))


def led(day: Day, columns: Columns) -> pd.DataFrame:
    """Positives above the median of a column are labelled four times as often, as many as before in all."""
    values = day.table[columns.led]
    middle = values[day.attack.isin(OLD)].median()
    return day.labelled(np.where(values > middle, 0.8, 0.2))


def few(day: Day, columns: Columns) -> pd.DataFrame:
    return day.labelled(0.5 / 3)


CHANGES: dict[str, tuple[Callable[[Day, Columns], pd.DataFrame], Callable[[Columns], str]]] = {
    "another unit of a chosen column": (unit, lambda columns: columns.chosen),
    "a chosen column stands still": (dead, lambda columns: columns.chosen),
    "half of another column is missing": (missing, lambda columns: columns.other),
    "positives of a new kind": (new_kind, lambda columns: "labelled rows"),
    "labels follow a column": (led, lambda columns: columns.led),
    "two of three labels are missing": (few, lambda columns: "labelled rows"),
}


def days_of(path: Path, stream: int) -> list[Day]:
    table = pd.read_parquet(path)
    rng = np.random.default_rng(1000 + stream)
    attack = table.pop("Attack_type").astype(str)
    turn = rng.integers(DAYS, size=len(table))
    return [Day(table[turn == n].reset_index(drop=True), attack[turn == n].reset_index(drop=True), rng) for n in
            range(BEFORE + 1)]  # fmt: skip


def newest_names(before: list[pd.DataFrame], after: pd.DataFrame) -> set[str]:
    """Columns that the memory says are unlike the other days."""
    with tempfile.TemporaryDirectory() as state:

        def added(tables: list[tuple[int, pd.DataFrame]]) -> spark_pufs.Selection:
            rows = pd.concat([table.assign(day=number) for number, table in tables])
            return spark_pufs.select(rows, label="label", method=METHOD, k=K, memory=state, partition="day")

        added(list(enumerate(before)))
        kept = added([(len(before), after)]).findings.memory
    return {one.name for one in kept.newest} if kept is not None else set()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("path", type=Path)
    parser.add_argument("--streams", type=int, default=10)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    began = time.process_time()
    tally = {name: np.zeros(3, int) for name in ["no change", *CHANGES]}
    for stream in range(given.streams):
        days = days_of(given.path, stream)
        still = [day.labelled(0.5) for day in days]
        before = selected(still[BEFORE - 1])
        columns = columns_of(days[BEFORE - 1], before)
        after = {name: (change(days[BEFORE], columns), word(columns)) for name, (change, word) in CHANGES.items()}
        for name, (table, word) in {"no change": (still[BEFORE], "\0"), **after}.items():
            found = spark_pufs.diff(before, selected(table))
            unlike = newest_names(still[:BEFORE], table)
            named = any(word in reason for reason in found.reasons)
            tally[name] += (found.verdict in ALARMS, named, bool(unlike))
    print(f"| RT-IoT2022, of {given.streams} days | alarm of diff | cause named | warning of the memory |")
    print("|---|---|---|---|")
    for name, (alarms, named, warned) in tally.items():
        print(f"| {name} | {alarms} | {named if name in CHANGES else ''} | {warned} |")
    print(f"\n{time.process_time() - began:.0f} CPU s")


if __name__ == "__main__":
    main()
