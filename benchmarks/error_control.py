"""Other ways to say how many features are false, beside `fdr`: stability paths, and features that others explain.

    OMP_NUM_THREADS=1 python benchmarks/error_control.py paths [--tables 5]
    OMP_NUM_THREADS=1 python benchmarks/error_control.py echoes [--tables 6]

`paths`: integrated path stability selection (Melikechi & Miller 2025) of the ranking by information, at a rate of false
discoveries of 0.1, over 50 pairs of halves, each half of the labelled and half of the other rows; the path is the
number of features, integrated while the bound on false ones is at most 0.05, with the cube of 2 p - 1. Beside it
`fdr=0.1` and analysis of variance with Benjamini and Hochberg, which is Spark ML's fdr mode for numbers. False share
and power, means over tables of each of the ten artificial conditions.

`echoes`: of six columns that tell by themselves, six that repeat three of those with noise, and ten that tell nothing,
how many are found with `fdr=0.1`, and with `distinct=True` too.
"""

from __future__ import annotations

import argparse
import warnings
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.feature_selection import f_classif

import spark_pufs
from spark_pufs.core.evidence.false_discoveries import q_values
from spark_pufs.core.information.chance import chance_of_class
from spark_pufs.core.information.mutual_information import class_given_feature
from spark_pufs.core.synthetic.artificial import CONDITIONS, make_artificial
from spark_pufs.types import Layout

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Codes = NDArray[np.int64]

BINS, PAIRS, Q = 5, 50, 0.1
CUTOFF = 0.05  # of the integrated bound
KINDS = ("own", "echo", "noise")


def codes_of(X: Floats) -> Codes:
    """Columns (D, n) in bins of equal frequency."""
    edges = np.linspace(0, 1, BINS + 1)[1:-1]
    return np.stack([np.searchsorted(np.quantile(column, edges), column, side="right") for column in X.T])


def information(codes: Codes, s: NDArray[np.uint8]) -> Floats:
    """What each column (D,) tells of the labels s (n,) beyond chance."""
    counts = np.stack([np.concatenate([np.bincount(own[s == v], minlength=BINS) for own in codes]) for v in (0, 1)])
    layout = Layout((BINS,) * len(codes))
    value, _ = class_given_feature(counts[:, None], layout)
    found: Floats = value - chance_of_class(counts[:, None], layout).mean
    return found


def scores_of_halves(codes: Codes, s: NDArray[np.uint8], rng: np.random.Generator) -> Floats:
    """Scores (2 PAIRS, D) of halves that share no row with the other of their pair."""
    found = []
    for _ in range(PAIRS):
        own = [rng.permutation(np.flatnonzero(s == v)) for v in (0, 1)]
        for first in (0, 1):
            rows = np.concatenate([part[first * (len(part) // 2) : (first + 1) * (len(part) // 2)] for part in own])
            found.append(information(codes[:, rows], s[rows]))
    return np.array(found)


def stability_path_q(scores: Floats) -> Floats:
    """q-values (D,) of integrated path stability selection from scores (2 B, D) of halves."""
    runs, features = scores.shape
    pairs, q = runs // 2, np.arange(1.0, features + 1)
    place = np.argsort(np.argsort(-scores, axis=1), axis=1)
    chosen = (place[None] < q[:, None, None]).mean(axis=1)  # (path, D)
    terms = q**2 + 3 * (pairs - 1) * q**4 / features**2 + (pairs - 1) * (pairs - 2) * q**6 / features**4
    bound = np.cumsum(terms / (features * pairs**2)) / features
    stop = max(int((bound <= CUTOFF).sum()), 1)
    score = np.where(chosen > 0.5, (2 * chosen - 1) ** 3, 0.0)[:stop].sum(axis=0) / features
    false = bound[stop - 1] / np.maximum(score, bound[stop - 1] / features)
    order = np.argsort(false, kind="stable")
    share = false[order] / np.searchsorted(false[order], false[order], side="right")
    found = np.empty(features)
    found[order] = np.minimum(np.minimum.accumulate(share[::-1])[::-1], 1.0)
    return found


def rates(found: Bools, relevant: Bools) -> tuple[float, float]:
    """False share and power."""
    return float((found & ~relevant).sum() / max(found.sum(), 1)), float(found[relevant].mean())


def paths(tables: int) -> None:
    print("condition | paths: false share, power | fdr | analysis of variance")
    for number, condition in enumerate(CONDITIONS, start=1):
        rows = []
        for seed in range(tables):
            data = make_artificial(condition, 1_000 + seed)
            scores = scores_of_halves(codes_of(data.X), data.s, np.random.default_rng(seed))
            table = pd.DataFrame(data.X, columns=data.names).assign(label=data.s)
            own = spark_pufs.select(table, label="label", method="semi-mim", fdr=Q).names
            peer = q_values(f_classif(data.X, data.s)[1]) <= Q
            founds = (stability_path_q(scores) <= Q, np.isin(data.names, own), peer)
            rows.append([rate for found in founds for rate in rates(found, data.relevant)])
        mean = np.mean(rows, axis=0)
        print(f"{number} | " + " | ".join(f"{mean[i]:.2f}, {mean[i + 1]:.2f}" for i in (0, 2, 4)), flush=True)


def echoing(seed: int) -> pd.DataFrame:
    """4,500 rows, 500 positive, 200 of them labelled."""
    rng = np.random.default_rng(seed)
    own = rng.normal(size=(4_500, 6))
    own[:500] += np.array([1, 0.8, 0.8, 0.7, 0.6, 0.6])
    echo = np.repeat(own[:, :3], 2, axis=1) + 0.3 * rng.normal(size=(4_500, 6))
    noise = rng.normal(size=(4_500, 10))
    names = [*(f"own{i}" for i in range(6)), *(f"echo{i}" for i in range(6)), *(f"noise{i}" for i in range(10))]
    label = np.zeros(4_500, int)
    label[rng.choice(500, 200, replace=False)] = 1
    return pd.DataFrame(np.hstack([own, echo, noise]), columns=names).assign(label=label)


def echoes(tables: int) -> None:
    given: tuple[dict[str, Any], ...] = ({}, {"distinct": True})
    for options in given:
        founds = [
            spark_pufs.select(echoing(seed), label="label", method="semi-mim", fdr=Q, copies="exact", **options).names
            for seed in range(tables)
        ]
        counts = {kind: np.mean([sum(n.startswith(kind) for n in found) for found in founds]) for kind in KINDS}
        print(options or "fdr alone", ", ".join(f"{kind} {count:.1f}" for kind, count in counts.items()), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=("paths", "echoes"))
    parser.add_argument("--tables", type=int, default=5)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    {"paths": paths, "echoes": echoes}[given.part](given.tables)


if __name__ == "__main__":
    main()
