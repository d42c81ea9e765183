"""Other readings of baselines beside what the papers print: `python readings.py METHOD`.

A reading is a way a method may have been run that its description allows or that is an easy slip. Share of relevant
features found (FSCPU paper, Table 1), mean of some tables a condition; how many cells lie within two standard errors of
the published ones, both spreads counted. Methods of Table 6 of Sechidis & Brown 2017 need --data and show errors.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from unittest.mock import patch

import numpy as np
import pandas as pd
import scipy.sparse as sp
from numpy.typing import NDArray
from readings_table_6 import table_6
from sklearn.neighbors import kneighbors_graph

from spark_pufs import select
from spark_pufs.core.baselines.classes import SecondClass, known_classes
from spark_pufs.core.baselines.correlation import mrmr_ufs
from spark_pufs.core.baselines.graph import neighbour_graph
from spark_pufs.core.baselines.jsfs import fit_jsfs, pseudo_signs
from spark_pufs.core.baselines.laplacian_scores import normalised_information
from spark_pufs.core.information.mutual_information import class_given_feature
from spark_pufs.core.information.surrogate import apply_surrogate
from spark_pufs.core.synthetic.artificial import CONDITIONS, Artificial, make_artificial
from spark_pufs.request import Binning
from spark_pufs.selectors.base import Task
from spark_pufs.selectors.clusters import fscpu

Floats = NDArray[np.float64]
Weight = Callable[[Floats], Floats]  # of squared distances
Readings = Iterator[tuple[str, Floats]]  # name, scores (D,): larger is better
SELECT = 25
LAMBDA = 0.1
JSFS_STEPS = 100
_NEAR: dict[bytes, sp.csr_array] = {}

PUBLISHED = {  # mean, standard deviation by condition
    "mrmr-ufs": ".59 .02 .59 .03 .61 .02 .60 .00 .59 .02 .59 .03 .61 .02 .60 .00 .60 .00 .60 .00",
    "sselect": ".34 .06 .36 .04 .42 .07 .45 .07 .34 .06 .35 .05 .42 .07 .45 .07 .35 .10 .35 .10",
    "fscpu-mi": ".90 .06 .79 .09 .74 .06 .82 .06 .87 .06 .86 .06 .76 .14 .81 .03 .59 .10 .54 .08",
    "jsfs": ".43 .07 .51 .03 .42 .05 .49 .05 .46 .10 .44 .05 .42 .05 .49 .03 .42 .07 .46 .07",
}
PUBLISHED_REPEATS = 5
TABLE_6 = {"cls": "CLS", "semifs": "SemiFS", "mint": "MINT"}


def unit_variance(X: Floats) -> Floats:
    Z: Floats = (X - X.mean(axis=0)) / X.std(axis=0)
    return Z


def neighbours(X: Floats) -> sp.csr_array:
    """Distances to five neighbours; conditions that differ in labels alone share their rows, and this."""
    key = X[:5].tobytes()
    if key not in _NEAR:
        _NEAR[key] = sp.csr_array(kneighbors_graph(X, 5, mode="distance"))
    return _NEAR[key]


def laplacian(X: Floats, weight: Weight, own: bool) -> Floats:
    """The Laplacian score, smaller is smoother; ``own``: each row is a neighbour of itself, with weight 1."""
    edges = neighbours(X).copy()
    edges.data = weight(edges.data**2)
    S = sp.csr_array(edges.maximum(edges.T))
    d = np.asarray(S.sum(axis=1)).ravel()
    own_degree = d + own
    G = X - own_degree @ X / own_degree.sum()
    rough = np.einsum("ij,ij->j", G, d[:, None] * G - S @ G)
    score: Floats = rough / (own_degree @ G**2)
    return score


def mean_heat(squared: Floats) -> Floats:
    heat: Floats = np.exp(-squared / squared.mean())
    return heat


def ufs_readings(data: Artificial) -> Readings:
    X, Z = data.X, unit_variance(data.X)
    rng = np.random.default_rng(0)
    yield "ours: clusters of features, columns in [0, 1]", mrmr_ufs(X, data.s, rng, select=SELECT).scores
    yield "the same, columns of unit variance", mrmr_ufs(Z, data.s, rng, select=SELECT).scores
    yield "no clusters: Laplacian score, [0, 1]", -laplacian(X, mean_heat, False)
    yield "Laplacian score, unit variance", -laplacian(Z, mean_heat, False)
    yield "the same, exp(-d^2 / 5)", -laplacian(Z, lambda q: np.exp(-q / 5), False)
    yield "the same, exp(-d^2 / 5), rows their own neighbours", -laplacian(Z, lambda q: np.exp(-q / 5), True)
    yield "the same, exp(-d), rows their own neighbours", -laplacian(Z, lambda q: np.exp(-np.sqrt(q)), True)


def sselect_readings(data: Artificial) -> Readings:
    X, Z = data.X, unit_variance(data.X)
    seconds: tuple[SecondClass, ...] = ("plausible", "unlabelled", "none")
    for second in seconds:
        sign = known_classes(X, data.s, second)
        cuts = X.mean(axis=0) <= X
        agreement = normalised_information(cuts[sign != 0], sign[sign != 0] == 1)
        ours = -(LAMBDA * laplacian(X, mean_heat, False) + (1 - LAMBDA) * (1 - agreement))
        yield f"second class {second}", ours
        yield f"second class {second}, largest score first", -ours
    for name, table, weight, own in (
        ("one class, unit variance", Z, mean_heat, False),
        ("one class, [0, 1], exp(-50 d^2)", X, lambda q: np.exp(-50 * q), False),
        ("one class, [0, 1], exp(-100 d^2)", X, lambda q: np.exp(-100 * q), False),
        ("one class, [0, 1], exp(-100 d^2), own neighbour", X, lambda q: np.exp(-100 * q), True),
        ("one class, unit variance, exp(-d^2 / 2)", Z, lambda q: np.exp(-q / 2), False),
    ):
        yield name, -laplacian(table, weight, own)
    yield "one class, unit variance, largest first", laplacian(Z, mean_heat, False)


def jsfs_readings(data: Artificial) -> Readings:
    X = data.X
    S, A = neighbour_graph(X, 5), np.column_stack([X, np.ones(len(X))])
    seconds: tuple[SecondClass, ...] = ("plausible", "unlabelled", "none")
    for second in seconds:
        sign = known_classes(X, data.s, second)
        for name, mu, gamma in (("", 9.95e-3, 1e-11), (", constants exchanged", 1e-11, 9.95e-3)):
            weights = fit_jsfs(A, pseudo_signs(S, sign), sign == 0, S, mu, gamma, JSFS_STEPS)[0][:-1]
            yield f"second class {second}{name}, size of weights", np.abs(weights)
            yield f"second class {second}{name}, weights with their sign", weights


def less_bias(task: Task) -> Floats:
    """I(X_k; S | X_j) as (k, j), less what chance alone gives it: degrees of freedom of occupied cells over 2N."""
    layout = task.table.layout
    columns = []
    for j in range(layout.features):
        n = apply_surrogate(task.counter.with_feature(j), "y0")
        classes = (n[:, :, layout.span(0)].sum(axis=2) > 0).sum(axis=0) - 1  # by level of X_j
        levels = np.add.reduceat(n.sum(axis=0) > 0, layout.offsets[:-1], axis=1, dtype=np.int64) - 1
        columns.append(class_given_feature(n, layout)[0] - classes @ levels / (2 * task.table.rows))
    return np.stack(columns, axis=1)


def fscpu_mi_readings(data: Artificial) -> Readings:
    table = pd.DataFrame(data.X, columns=data.names).assign(label=data.s.astype(int))
    binnings: tuple[Binning, ...] = ("equal-width", "equal-frequency")
    for binning in binnings:
        for name, cmi in (("", fscpu._cmi), (", less its bias", less_bias)):
            with patch.object(fscpu, "_cmi", cmi):
                chosen = select(table, label="label", method="fscpu-mi", k=SELECT, binning=binning).names
            yield f"{binning}{name}", np.isin(data.names, chosen).astype(np.float64)


READINGS: Mapping[str, Callable[[Artificial], Readings]] = {
    "mrmr-ufs": ufs_readings,
    "sselect": sselect_readings,
    "jsfs": jsfs_readings,
    "fscpu-mi": fscpu_mi_readings,
}


def found(scores: Floats, relevant: NDArray[np.bool_]) -> float:
    """Ties go to no column before another: an order drawn once."""
    order = np.random.default_rng(0).permutation(len(scores))
    return float(relevant[order[np.argsort(-scores[order], kind="stable")[:SELECT]]].mean())


def measure(method: str, repeats: int) -> dict[str, Floats]:
    """Reading -> shares (conditions, repeats)."""
    shares: dict[str, Floats] = {}
    for place, condition in enumerate(CONDITIONS):
        for repeat in range(repeats):
            first = CONDITIONS.index(replace(condition, label_rate=CONDITIONS[0].label_rate))
            if method == "mrmr-ufs" and first < place:  # the same rows, and labels are not read
                for table in shares.values():
                    table[place] = table[first]
                continue
            data = make_artificial(condition, seed=repeat + 1)
            for name, scores in READINGS[method](data):
                table = shares.setdefault(name, np.zeros((len(CONDITIONS), repeats)))
                table[place, repeat] = found(scores, data.relevant)
    return shares


def within(ours: Floats, published: Floats) -> int:
    """Cells whose means are at most two standard errors apart, or half a rounded hundredth."""
    error = np.sqrt(ours.var(axis=1, ddof=1) / ours.shape[1] + published[:, 1] ** 2 / PUBLISHED_REPEATS)
    return int((np.abs(ours.mean(axis=1) - published[:, 0]) <= 2 * error + 0.005).sum())


def print_table(method: str, repeats: int) -> None:
    published = np.array(PUBLISHED[method].split(), float).reshape(-1, 2)
    print(f"| {method}, {repeats} tables |", " | ".join(str(i + 1) for i in range(len(CONDITIONS))), "| within 2 SE |")
    print("|---" * (len(CONDITIONS) + 2) + "|")
    print("| *published* |", " | ".join(_short(value) for value in published[:, 0]), "| |")
    for name, shares in measure(method, repeats).items():
        cells = " | ".join(_short(value) for value in shares.mean(axis=1))
        print(f"| {name} | {cells} | {within(shares, published)} of {len(CONDITIONS)} |", flush=True)


def _short(value: float) -> str:
    return f"{value:.2f}".removeprefix("0")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("method", choices=[*READINGS, *TABLE_6])
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--data", help="folder of the open sets, for methods of Table 6")
    asked = parser.parse_args()
    if asked.method in TABLE_6:
        print(table_6(TABLE_6[asked.method], asked.data, asked.repeats))
    else:
        print_table(asked.method, asked.repeats)
