"""Alarms of `diff` from day to day: how often on days without a change, and whether a change is seen the day it comes.

Usage: python benchmarks/alarms.py [--streams 20] [--days 100] [--rt-iot FILE]

Streams are generated: 3,000 rows a day of 12 columns, of which three tell of the hidden class; a fifth of the rows is
positive and 30 % of those are labelled. Each day is compared with the day before, as `spark-pufs history` does. With
--rt-iot the rows of RT-IoT2022 are dealt to 30 days at random, five times, so that no day differs from another.
"""

from __future__ import annotations

import argparse
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pandas as pd

import spark_pufs

ROWS, METHOD, K = 3000, "semi-mim", 3
DEALS = 5
WEEK: int = 7
ALARMS = ("changed", "refit needed")
NAMES = list("abcdefghijkl")

Change = Callable[[pd.DataFrame, np.ndarray, np.random.Generator], pd.DataFrame]


def day(seed: int, change: Change | None = None) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    positive = rng.random(ROWS) < 0.2
    table = pd.DataFrame(rng.normal(size=(ROWS, len(NAMES))), columns=NAMES)
    for name, shift in zip("abc", (2.0, 1.5, 1.0), strict=True):
        table[name] += shift * positive
    table["label"] = (positive & (rng.random(ROWS) < 0.3)).astype(int)
    return table if change is None else change(table, positive, rng)


def unit(table: pd.DataFrame, positive: np.ndarray, rng: np.random.Generator) -> pd.DataFrame:
    """Column b is given in another unit."""
    return table.assign(b=table["b"] * 1000)


def dead(table: pd.DataFrame, positive: np.ndarray, rng: np.random.Generator) -> pd.DataFrame:
    """Column b stands still."""
    return table.assign(b=0.0)


def frozen(table: pd.DataFrame, positive: np.ndarray, rng: np.random.Generator) -> pd.DataFrame:
    """Half of column g, which tells nothing, is missing."""
    return table.assign(g=table["g"].where(rng.random(ROWS) < 0.5))


def new_kind(table: pd.DataFrame, positive: np.ndarray, rng: np.random.Generator) -> pd.DataFrame:
    """Positives are far from the rest in column d and no longer in a."""
    return table.assign(a=table["a"] - 2.0 * positive, d=table["d"] + 2.0 * positive)


def labelled_by(table: pd.DataFrame, positive: np.ndarray, rng: np.random.Generator) -> pd.DataFrame:
    """Positives with a large value of column e are labelled four times as often, as many as before in all."""
    chance = np.where(table["e"] > 0, 0.48, 0.12)
    return table.assign(label=(positive & (rng.random(ROWS) < chance)).astype(int))


def labels_stop(table: pd.DataFrame, positive: np.ndarray, rng: np.random.Generator) -> pd.DataFrame:
    """Two of three labels are missing."""
    return table.assign(label=table["label"].where(rng.random(ROWS) < 1 / 3, 0))


CHANGES: dict[str, tuple[Change, str]] = {  # what happens, and the word that a reason must hold
    "another unit of a chosen column": (unit, "b"),
    "a chosen column stands still": (dead, "b"),
    "half of another column is missing": (frozen, "g"),
    "positives of a new kind": (new_kind, "d"),
    "labels follow a column": (labelled_by, "e"),
    "two of three labels are missing": (labels_stop, "share of labelled rows"),
}


def selected(table: pd.DataFrame) -> spark_pufs.Selection:
    return spark_pufs.select(table, label="label", method=METHOD, k=K)


def verdicts(tables: Iterator[pd.DataFrame]) -> list[str]:
    """The verdict of each table beside the one before."""
    found: list[str] = []
    before: spark_pufs.Selection | None = None
    for table in tables:
        after = selected(table)
        if before is not None:
            found.append(spark_pufs.diff(before, after).verdict)
        before = after
    return found


def seen(change: Change, word: str, streams: int) -> tuple[int, int]:
    """In how many streams the change raised an alarm the day it came, and in how many a reason named the cause."""
    alarms = named = 0
    for stream in range(streams):
        found = spark_pufs.diff(selected(day(10_000 + 2 * stream)), selected(day(10_001 + 2 * stream, change)))
        alarms += found.verdict in ALARMS
        named += any(f" {word}" in f" {reason}" for reason in found.reasons)
    return alarms, named


def warned(change: Change | None, streams: int, days: int, word: str = "") -> tuple[int, int]:
    """Of how many days a memory of the week before says that the day is unlike others, and names the cause."""
    unlike = named = 0
    for stream in range(streams):
        with tempfile.TemporaryDirectory() as state:
            for number in range(days + WEEK):
                last = number == days + WEEK - 1
                table = day(20_000 + 1000 * stream + number, change if last else None).assign(day=number)
                kept = spark_pufs.select(
                    table, label="label", method=METHOD, k=K, memory=state, partition="day", window=WEEK + 1
                ).findings.memory
                if kept is not None and number >= WEEK:
                    unlike += bool(kept.newest)
                    named += any(one.name == word for one in kept.newest)
    return unlike, named


def rt_iot_days(path: Path, seed: int, days: int = 30) -> Iterator[pd.DataFrame]:
    table = pd.read_parquet(path)
    rng = np.random.default_rng(seed)
    attack = table.pop("Attack_type").isin(["NMAP_TCP_scan", "DDOS_Slowloris"])
    table["label"] = (attack & (rng.random(len(table)) < 0.5)).astype(int)
    turn = rng.integers(days, size=len(table))
    return (table[turn == number].reset_index(drop=True) for number in range(days))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--streams", type=int, default=20)
    parser.add_argument("--days", type=int, default=100)
    parser.add_argument("--rt-iot", type=Path)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    began = time.process_time()
    print("| days without a change | pairs | alarms | within error |\n|---|---|---|---|")
    still: dict[str, list[Iterator[pd.DataFrame]]] = {"generated": [(day(seed) for seed in range(given.days + 1))]}
    if given.rt_iot:
        still["RT-IoT2022 dealt to 30 days"] = [rt_iot_days(given.rt_iot, seed) for seed in range(DEALS)]
    for name, streams in still.items():
        found = [verdict for tables in streams for verdict in verdicts(tables)]
        alarms = sum(one in ALARMS for one in found)
        print(f"| {name} | {len(found)} | {alarms} | {found.count('changed within error')} |", flush=True)
    print(f"\n| change | alarm the same day, of {given.streams} | cause named |\n|---|---|---|")
    for name, (change, word) in CHANGES.items():
        alarms, named = seen(change, word, given.streams)
        print(f"| {name} | {alarms} | {named} |", flush=True)
    unlike, _ = warned(None, 1, given.days)
    print(f"\nA memory of {WEEK} days: warns on {unlike} of {given.days} days without a change.")
    print(f"\n| change | the memory warns the same day, of {given.streams} | names it |\n|---|---|---|")
    for name, (change, word) in CHANGES.items():
        print(f"| {name} | {' | '.join(map(str, warned(change, given.streams, 1, word)))} |", flush=True)
    print(f"\n{time.process_time() - began:.0f} CPU s")


if __name__ == "__main__":
    main()
