"""The FSCPU paper's protocol on open data (section 6): AUC of LightGBM on the chosen features, true test labels.

    python benchmarks/open_data.py --methods fscpu fscpu-mi semi-jmi all --repeats 3

75/25 split, min-max by the training part, labels kept for a few training positives, half of the features selected,
LightGBM with 100 trees. The true class is used for the test score only. Needs the data folder (--data).
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import lightgbm
import numpy as np
import pandas as pd
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split

import spark_pufs

DATA = Path(__file__).parents[2] / "shared" / "data"
PAPER = {"spam": (0.844, 0.874), "iono": (0.797, 0.749), "rt-iot": (0.910, 0.916)}


@dataclass(frozen=True)
class OpenSet:
    """Where a data set comes from and how the paper used it."""

    load: Callable[[Path], tuple[pd.DataFrame, np.ndarray]]
    label_rate: float
    select: int


def spam(data: Path) -> tuple[pd.DataFrame, np.ndarray]:
    table = pd.read_csv(data / "spambase" / "spambase.csv.gz")
    return table.drop(columns="class"), table["class"].to_numpy()


def iono(data: Path) -> tuple[pd.DataFrame, np.ndarray]:
    table = pd.read_csv(data / "ionosphere" / "ionosphere.csv.gz")
    return table.drop(columns="class"), (table["class"] == "b").to_numpy().astype(int)


def rt_iot(data: Path) -> tuple[pd.DataFrame, np.ndarray]:
    """Without the flood of SYN packets; 67 numeric columns: ports out, more than 20 distinct values."""
    table = pd.read_parquet(data / "rt_iot2022" / "rt_iot2022.parquet")
    table = table[table["Attack_type"] != "DOS_SYN_Hping"]
    y = table["Attack_type"].isin(["NMAP_TCP_scan", "DDOS_Slowloris"]).to_numpy().astype(int)
    X = table.select_dtypes("number").drop(columns=["id.orig_p", "id.resp_p"])
    return X.loc[:, X.nunique() > 20], y


SETS = {"spam": OpenSet(spam, 0.03, 29), "iono": OpenSet(iono, 0.10, 17), "rt-iot": OpenSet(rt_iot, 0.02, 34)}


def trial(data: OpenSet, X: pd.DataFrame, y: np.ndarray, method: str, seed: int) -> dict[str, float]:
    """One split: the AUC on the test part, and what the selection took."""
    train, test, y_train, y_test = train_test_split(X, y, test_size=0.25, random_state=seed, stratify=y)
    low, span = train.min(), (train.max() - train.min()).replace(0, 1)
    train, test = ((part - low) / span for part in (train, test))
    rng = np.random.default_rng(seed)
    s = np.zeros(len(train), int)
    positives = np.flatnonzero(y_train)
    s[rng.choice(positives, round(data.label_rate * len(positives)), replace=False)] = 1
    began = time.perf_counter(), time.process_time()
    names, details = list(X.columns), {}
    if method == "random":
        names = list(rng.choice(names, data.select, replace=False))
    elif method != "all":
        name, *settings = method.split(",")
        options = dict(pair.split("=") for pair in settings)
        found = spark_pufs.select(
            train.assign(label__=s), label="label__", method=name, k=data.select, seed=seed, **options
        )
        names, details = found.names, found.details
    wall, cpu = time.perf_counter() - began[0], time.process_time() - began[1]
    model = lightgbm.LGBMClassifier(n_estimators=100, verbose=-1, random_state=seed, n_jobs=1)
    model.fit(train[names].to_numpy(), s)
    auc = roc_auc_score(y_test, model.predict_proba(test[names].to_numpy())[:, 1])
    return {"auc": auc, "wall": wall, "cpu": cpu, "unconverged": details.get("unconverged", np.nan)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--methods", nargs="+", default=["fscpu", "fscpu-mi", "semi-jmi", "all", "random"])
    parser.add_argument("--sets", nargs="+", default=list(SETS), choices=list(SETS))
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--data", type=Path, default=DATA)
    arguments = parser.parse_args()
    print(f"{'set':8}{'method':28}{'AUC':>7}{'s.d.':>7}{'wall s':>9}{'CPU s':>9}{'open':>7}   paper: FSCPU, FSCPU-MI")
    for name in arguments.sets:
        X, y = SETS[name].load(arguments.data)
        for method in arguments.methods:
            runs = pd.DataFrame([trial(SETS[name], X, y, method, arguments.seed + i) for i in range(arguments.repeats)])
            mean, spread = runs.mean(), runs["auc"].std()
            print(
                f"{name:8}{method:28}{mean['auc']:7.3f}{spread:7.3f}{mean['wall']:9.1f}{mean['cpu']:9.1f}"
                f"{mean['unconverged']:7.2f}   {PAPER[name]}",
                flush=True,
            )


if __name__ == "__main__":
    main()
