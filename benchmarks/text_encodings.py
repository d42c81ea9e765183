"""How should text become numbers for methods that read numbers? Encodings side by side on real tables.

    python benchmarks/text_encodings.py --data ../shared/data --splits 3

Tables that may guide choices (every second name of the folder) and that have text columns, and tables whose numeric
columns were cut into levels with names that tell nothing (marked *). Protocol of real_tables.py: mean true AUC of three
classifiers on the chosen columns. Then the same tables with random text columns added: how many of them are chosen.
"""

from __future__ import annotations

import argparse
import json
import sys
import warnings
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import chi2

from spark_pufs.studies.published import markdown_table
from spark_pufs.studies.real_tables.hardening import PLAIN, given_to_selectors
from spark_pufs.studies.real_tables.protocol import coded, split_of, true_aucs
from spark_pufs.studies.real_tables.tables import CHOICES, Table, groups, load_table
from spark_pufs.studies.study_methods import select_rows

Floats = NDArray[np.float64]
Codes = NDArray[np.intp]
METHODS = ("k-best", "lasso", "prfs", "dt-rfe trees=50 step=5", "rfs", "semifs")
MADE = ("australian", "vowel0", "sonar", "marketing")
FOLDS = 5


def is_text(column: pd.Series) -> bool:
    return not pd.api.types.is_numeric_dtype(column)


def codes_of(column: pd.Series) -> Codes:
    values = column.astype(object).where(column.notna(), "(missing)").map(str)
    return np.unique(values.to_numpy(str), return_inverse=True)[1]


def alphabetical(codes: Codes, labelled: NDArray[np.bool_], fold: Codes) -> Floats:
    return codes.astype(np.float64)


def frequency(codes: Codes, labelled: NDArray[np.bool_], fold: Codes) -> Floats:
    return np.bincount(codes)[codes].astype(np.float64)


def rates(codes: Codes, labelled: NDArray[np.bool_], strength: float) -> Floats:
    """Smoothed share of labelled rows of each level, relative to the share in all rows."""
    rows, positives = np.bincount(codes), np.bincount(codes, labelled)
    share = max(labelled.mean(), 1 / len(labelled))
    more = strength / share
    found: Floats = (positives + strength) / (rows + more) / share
    return found


def in_sample(codes: Codes, labelled: NDArray[np.bool_], fold: Codes, strength: float = 5.0) -> Floats:
    """The leak that the others must not have."""
    return rates(codes, labelled, strength)[codes]


def out_of_fold(codes: Codes, labelled: NDArray[np.bool_], fold: Codes, strength: float = 5.0) -> Floats:
    found = np.ones(len(codes))
    levels = codes.max() + 1
    for one in range(FOLDS):
        others, own = fold != one, fold == one
        values = np.ones(levels)
        known = rates(codes[others], labelled[others], strength)
        values[: len(known)] = known
        found[own] = values[codes[own]]
    return found


def where_sure(codes: Codes, labelled: NDArray[np.bool_], fold: Codes, level: float = 0.01) -> Floats:
    """One number per level: its smoothed rate where the levels differ beyond chance, else its frequency."""
    table = np.stack([np.bincount(codes, labelled), np.bincount(codes, ~labelled)])
    expected = table.sum(axis=1, keepdims=True) * table.sum(axis=0) / table.sum()
    g = 2 * np.sum(table * np.log(np.maximum(table, 1e-300) / expected), where=table > 0)
    sure = chi2.sf(g, table.shape[1] - 1) < level
    return in_sample(codes, labelled, fold) if sure else frequency(codes, labelled, fold)


def hashed_folds(X: pd.DataFrame) -> Codes:
    """By content: equal rows are in one fold."""
    hashes = pd.util.hash_pandas_object(X.astype(str), index=False).to_numpy()
    return np.asarray(hashes % FOLDS).astype(np.intp)


Encoder = Callable[[Codes, NDArray[np.bool_], Codes], Floats]
ENCODERS: dict[str, Encoder | None] = {
    "dropped": None,
    "alphabetical": alphabetical,
    "frequency": frequency,
    "out of fold, 1": partial(out_of_fold, strength=1.0),
    "out of fold, 5": partial(out_of_fold, strength=5.0),
    "rate where sure": where_sure,
    "rate, in sample": in_sample,
}


def axis_of(X: pd.DataFrame) -> dict[str, Floats]:
    """The first axis of a multiple correspondence analysis of all columns, numbers in five bins: one number a level."""
    levels = [codes_of(X[name]) if is_text(X[name]) else binned(X[name]) for name in X]
    Z = np.concatenate([np.eye(codes.max() + 1)[codes] for codes in levels], axis=1)
    mass = Z.mean(axis=0)
    S = (Z - mass) / np.sqrt(np.maximum(mass, 1e-12))
    axis = np.linalg.eigh(S.T @ S)[1][:, -1] / np.sqrt(np.maximum(mass, 1e-12))
    ends = np.cumsum([codes.max() + 1 for codes in levels])
    places = zip(X, levels, ends, strict=True)
    return {str(name): axis[end - codes.max() - 1 + codes] for name, codes, end in places if is_text(X[name])}


def binned(column: pd.Series) -> Codes:
    cuts = np.unique(np.nanquantile(column.astype(float), [0.2, 0.4, 0.6, 0.8]))
    return np.unique(np.searchsorted(cuts, column.astype(float).fillna(-np.inf)), return_inverse=True)[1]


def encoded(X: pd.DataFrame, labelled: NDArray[np.bool_], how: str) -> pd.DataFrame:
    text = [name for name in X if is_text(X[name])]
    if how == "axis":
        return X.assign(**axis_of(X))
    encoder = ENCODERS[how]
    if encoder is None:
        return X.drop(columns=text)
    fold = hashed_folds(X)
    return X.assign(**{str(name): encoder(codes_of(X[name]), labelled, fold) for name in text})


def made(table: Table, seed: int) -> Table:
    """Every second column cut at random places into eight levels, named at random."""
    rng, X = np.random.default_rng(seed), table.X.copy()
    for name in list(X)[::2]:
        cuts = np.quantile(X[name].dropna(), np.sort(rng.random(7)))
        names = rng.permutation([f"level {i}" for i in range(8)])
        X[name] = pd.Series(names[np.searchsorted(cuts, X[name])], X.index, object)
    return Table(X, table.positive, table.asked)


def judged(folder: str, methods: list[str], name: str, split: int, hardening: str) -> list[dict[str, object]]:
    """AUC, and the share of random columns among those chosen, of every encoding and method."""
    warnings.simplefilter("ignore")
    table = load_table(name.rstrip("*"), folder, "")
    table = made(table, split) if name.endswith("*") else table
    parts = split_of(table.positive, table.asked.labelled, split)
    given = given_to_selectors(table.X, table.positive, parts, hardening, name, split)
    numbers, answers = coded(given.judged), []
    for how in (*ENCODERS, "axis"):
        X = encoded(given.train, given.labelled, how)
        for method in methods:
            try:
                chosen = select_rows(X, given.labelled, given.positive[parts.train], method, table.asked.k, split).names
            except Exception:
                chosen = []
            aucs = true_aucs(numbers, parts, table.positive, chosen)
            fooled = sum(one.startswith("random_") for one in chosen) / max(len(chosen), 1)
            named = {"table": name, "split": split, "hardening": hardening, "encoding": how, "method": method}
            answers.append({**named, "auc": float(np.mean(list(aucs.values()))), "random": fooled})
    return answers


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", default="../shared/data")
    parser.add_argument("--splits", type=int, default=3)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--methods", nargs="+", default=METHODS, help="each with its options: 'fscpu generations=9'")
    asked = parser.parse_args()
    folder = str(Path(asked.data) / "real_tables")
    names = [name for name, group in groups(folder).items() if group == CHOICES]
    names = [name for name in names if any(map(is_text, (c for _, c in load_table(name, folder, "").X.items())))]
    units = [(n, s, h) for n in [*names, *(f"{n}*" for n in MADE)] for s in range(asked.splits) for h in HARD]
    with ProcessPoolExecutor(asked.processes) as pool:
        futures = [pool.submit(judged, folder, asked.methods, *unit) for unit in units]
        answers = []
        for unit, future in zip(units, futures, strict=True):
            answers += future.result()
            print(json.dumps(unit), file=sys.stderr, flush=True)
    print(tables(pd.DataFrame(answers)))


HARD = (PLAIN, "random-text")


def tables(found: pd.DataFrame) -> str:
    parts = []
    for title, hardening, value in (("AUC", PLAIN, "auc"), ("share of random columns", HARD[1], "random")):
        rows = found[found["hardening"] == hardening]
        real = rows[~rows["table"].str.endswith("*")].groupby("encoding")[value].mean()
        wide = rows.pivot_table(index="encoding", columns="method", values=value)
        wide = wide.assign(**{"all": wide.mean(axis=1), "of real text": real}).loc[[*ENCODERS, "axis"]]
        lines = [[str(how), *(f"{v:.4f}" for v in row)] for how, row in zip(wide.index, wide.to_numpy(), strict=True)]
        parts.append(markdown_table([title, *map(str, wide.columns)], lines))
    return "\n".join(parts)


if __name__ == "__main__":
    main()
