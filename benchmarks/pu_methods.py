"""Share of the relevant features that the PU methods find on the ten artificial conditions (FSCPU paper, Table 1).

    python benchmarks/pu_methods.py --repeats 3
    python benchmarks/pu_methods.py --methods prfs "pufs alpha=balance" --conditions 1 5 --repeats 1
    python benchmarks/pu_methods.py --book ../shared/data
    python benchmarks/pu_methods.py --neighbours 50000

Data seeds and the measure are those of search_quality.py: 25 of 50 features selected, FSR = relevant ones / 25.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import yaml
from numpy.typing import NDArray
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

import spark_pufs
from spark_pufs.core.artificial import CONDITIONS, make_artificial
from spark_pufs.core.neighbours import blocks_of, nearest_block
from spark_pufs.local.engine import LocalEngine

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


BOOK = ("ssl_g241c", "ssl_usps", "ssl_coil2")
BOOK_METHODS = ("pufs", "pufs alpha=balance", "pufs scale=range", "prfs", "apucfs", "random", "all")


def book(args: argparse.Namespace, selected: int = 30) -> None:
    """The sets of the PUFS paper, near its protocol: AUC of a linear SVM on the chosen features, test part."""
    for name in BOOK:
        frame = pd.read_parquet(args.book / name / f"{name}.parquet")
        y = (frame.pop("y") == 1).to_numpy().astype(int)
        aucs = np.array([_split(frame, y, seed, selected) for seed in range(args.repeats)])
        for words, mean, deviation in zip(BOOK_METHODS, aucs.mean(axis=0), aucs.std(axis=0), strict=True):
            print(f"{name:10s} {words:20s} {mean:.3f} +- {deviation:.3f}", flush=True)


def _split(frame: pd.DataFrame, y: NDArray[np.int64], seed: int, selected: int) -> list[float]:
    """AUC of every method on one split: 80 % for training, 10 % of its positives labelled."""
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(y))
    train, test = np.split(order, [len(y) * 4 // 5])
    positive = train[y[train] == 1]
    s = np.zeros(len(y), int)
    s[rng.choice(positive, round(0.1 * len(positive)), replace=False)] = 1
    table = frame.iloc[train].assign(s=s[train])
    aucs = []
    for words in BOOK_METHODS:
        method, options = read(words)
        if method == "all":
            names = [str(name) for name in frame]
        elif method == "random":
            names = rng.choice(frame.columns, selected, replace=False).tolist()
        else:
            names = spark_pufs.select(table, label="s", method=method, k=selected, **options).names
        aucs.append(_svm_auc(frame.iloc[test][names], y[test]))
    return aucs


def _svm_auc(X: pd.DataFrame, y: NDArray[np.int64]) -> float:
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    machine = make_pipeline(StandardScaler(), LinearSVC(C=0.01))
    return float(roc_auc_score(y, cross_val_predict(machine, X, y, cv=folds, method="decision_function")))


def neighbours(rows: int, features: int = 50, k: int = 10) -> None:
    """Wall time of the exact neighbours of ``rows`` rows on this machine's threads."""
    X = np.random.default_rng(0).random((rows, features))
    engine, began, cpu = LocalEngine(pd.DataFrame()), time.perf_counter(), time.process_time()
    engine.each(nearest_block, {"X": X, "k": k}, blocks_of(rows))
    wall, spent = time.perf_counter() - began, time.process_time() - cpu
    print(f"{rows:,} rows x {features}, k = {k}: {wall:.0f} s, {spent:.0f} CPU s")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--methods", nargs="+", default=list(METHODS), help="name, then option=value")
    parser.add_argument("--conditions", type=int, nargs="+", default=list(range(1, 11)), help="1 to 10")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--seed", type=int, default=100)
    parser.add_argument("--neighbours", type=int, help="only time the neighbours of so many rows")
    parser.add_argument("--book", type=Path, help="only the sets of the PUFS paper, in this folder")
    args = parser.parse_args()
    if args.neighbours:
        neighbours(args.neighbours)
    elif args.book:
        book(args)
    else:
        quality(args)


if __name__ == "__main__":
    main()
