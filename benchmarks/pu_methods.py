"""Share of the relevant features that the PU methods find on the ten artificial conditions (FSCPU paper, Table 1).

    python benchmarks/pu_methods.py --repeats 3
    python benchmarks/pu_methods.py --methods prfs "pufs alpha=balance" --conditions 1 5 --repeats 1
    python benchmarks/pu_methods.py --neighbours 50000

Data seeds and the measure are those of search_quality.py: 25 of 50 features selected, FSR = relevant ones / 25.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np
import pandas as pd
import yaml

import spark_pufs
from spark_pufs.core.pu.neighbours import Nearest, Searched, blocks_of, nearest_block
from spark_pufs.core.synthetic.artificial import CONDITIONS, make_artificial
from spark_pufs.engines.local import LocalEngine

SELECTED = 25
METHODS = (
    "pufs",
    "pufs alpha=balance",
    "pucfs prior=0.111",
    "pucfs prior=0.111 search=best-first",
    "apucfs",
    "apucfs beta=[1,1]",
    "prfs",
    "semi-mim",
    "semi-jmi",
)


def share(number: int, seed: int, method: str, options: dict[str, Any]) -> float:
    """FSR of one method on one data set."""
    data = make_artificial(CONDITIONS[number - 1], seed)
    table = pd.DataFrame(data.X, columns=data.names).assign(s=data.s.astype(int))
    found = spark_pufs.select(table, label="s", method=method, k=SELECTED, **options)
    return sum(name.startswith("relevant") for name in found.names) / SELECTED


def read(words: str) -> tuple[str, dict[str, Any]]:
    """A method and its options from "name option=value ..."."""
    method, *settings = words.split()
    return method, {name: yaml.safe_load(value) for name, value in (setting.split("=") for setting in settings)}


def quality(args: argparse.Namespace) -> None:
    """One line per method: mean over repeats by condition, and the mean of the standard deviations."""
    print(f"{args.repeats} repeats, data seeds from {args.seed}; conditions {' '.join(map(str, args.conditions))}")
    for words in args.methods:
        method, options = read(words)
        began = time.process_time()
        seeds = range(args.seed, args.seed + args.repeats)
        shares = np.array([[share(number, seed, method, options) for seed in seeds] for number in args.conditions])
        cpu = (time.process_time() - began) / shares.size
        row = " ".join(f"{mean:.2f}" for mean in shares.mean(axis=1))
        print(f"{words:36s} {row} | sd {shares.std(axis=1).mean():.2f} | {cpu:.2f} CPU s a run", flush=True)


def neighbours(rows: int, features: int = 50, k: int = 10) -> None:
    """Wall time of the exact neighbours of ``rows`` rows on this machine's threads."""
    X = np.random.default_rng(0).random((rows, features))
    engine, began, cpu = LocalEngine(pd.DataFrame()), time.perf_counter(), time.process_time()
    engine.each(nearest_block, Searched(X, k), blocks_of(rows), Nearest)
    wall, spent = time.perf_counter() - began, time.process_time() - cpu
    print(f"{rows:,} rows x {features}, k = {k}: {wall:.0f} s, {spent:.0f} CPU s")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--methods", nargs="+", default=list(METHODS), help="name, then option=value")
    parser.add_argument("--conditions", type=int, nargs="+", default=list(range(1, 11)), help="1 to 10")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--seed", type=int, default=100)
    parser.add_argument("--neighbours", type=int, help="only time the neighbours of so many rows")
    args = parser.parse_args()
    if args.neighbours:
        neighbours(args.neighbours)
    else:
        quality(args)


if __name__ == "__main__":
    main()
