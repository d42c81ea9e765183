"""Figs 2 and 3 of Han & Shen 2016 (PUFS): a linear SVM on selected features of three sets of the SSL book.

80 % of the rows train, 10 % of their positives are labelled; each method ranks the features on them. On the other 20 %
a linear SVM on the first N features is cross-validated with the true classes. AUC and the true positive rate at three
false positive rates are those of the folds' mean ROC curve. The figures print no numbers.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import ClassVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.integrate import trapezoid

from spark_pufs.errors import DataError, Fault
from spark_pufs.studies.drawing import png, subplots
from spark_pufs.studies.published import Figure, figures, markdown_table
from spark_pufs.studies.settings import check_known
from spark_pufs.studies.study import Row, Unit, chooses, seed_of
from spark_pufs.studies.study_methods import longest_first, select_rows

__all__ = ["ALL", "MEASURES", "SETS", "PufsProtocol", "mean_roc"]

ALL = "all"
TRAIN, LABELLED = 0.8, 0.1
# File, label column's positive value, and the class sizes of the paper's Table 1.
SETS = {
    "USPS": ("ssl_usps/ssl_usps.parquet", 1, (750, 750)),
    "COIL": ("ssl_coil2/ssl_coil2.parquet", 1, (750, 750)),
    "G241": ("ssl_g241c/ssl_g241c.parquet", 1, (748, 752)),
}
METHODS = ("pufs", "pufs alpha=balance", "prfs", "apucfs", "rfs", "jelsr", "ndfs")
RATES = (0.05, 0.10, 0.15)
MEASURES = ("auc", *(f"tpr at {rate:.0%}" for rate in RATES))
GRID = np.linspace(0, 1, 401)
Floats = NDArray[np.float64]
Class = NDArray[np.bool_]


@dataclass(frozen=True)
class PufsProtocol:
    """The paper: 15 splits, 30 to 210 features, five folds."""

    __pydantic_config__: ClassVar[dict[str, str]] = {"extra": "forbid"}
    name: ClassVar[str] = "pufs_protocol"

    data: str | None = None
    seed: int = 0
    folds: int = 5
    sizes: tuple[int, ...] = tuple(range(30, 211, 20))
    repeats: int = chooses(15)
    sets: tuple[str, ...] = chooses(tuple(SETS))
    methods: tuple[str, ...] = chooses(METHODS)

    def units(self) -> list[Unit]:
        check_known("pufs_protocol.sets", self.sets, SETS)
        return [
            {"dataset": name, "method": method, "repeat": repeat}
            for repeat in range(self.repeats)
            for method in (*longest_first(self.methods), ALL)
            for name in self.sets
        ]

    def run(self, unit: Unit) -> list[Row]:
        name, method, repeat = unit["dataset"], unit["method"], unit["repeat"]
        X, positive = read_set(str(self.data), name)
        rng = np.random.default_rng(seed_of(self.seed, "split", name, repeat))
        order = rng.permutation(len(X))
        train, test = np.split(order, [round(TRAIN * len(X))])
        labelled = _labelled(positive[train], rng)
        seed = seed_of(self.seed, "method", name, repeat)
        ranking = _ranking(X.iloc[train], labelled, positive[train], method, max(self.sizes), seed)
        sizes = (len(ranking),) if method == ALL else self.sizes
        fold_seed = seed_of(self.seed, "folds", name, repeat)
        values = X.to_numpy(np.float64)[test]
        return [
            dict(unit) | {"at": size, "measure": measure, "value": value}
            for size in sizes
            for measure, value in self._judged(values[:, ranking[:size]], positive[test], fold_seed)
        ]

    def _judged(self, X: Floats, positive: Class, seed: int) -> Iterator[tuple[str, float]]:
        curve = mean_roc(X, positive, self.folds, seed)
        yield "auc", float(trapezoid(curve, GRID))
        yield from zip(MEASURES[1:], np.interp(RATES, GRID, curve).tolist(), strict=True)

    def tables(self, results: pd.DataFrame) -> dict[str, str]:
        if not (results["measure"] == "auc").any():
            return {}
        parts = [
            _table(results, name, measure)
            for name in self.sets
            for measure in MEASURES
            if (results["dataset"] == name).any()
        ]
        return {"pufs_figs_2_3.md": "\n".join([*parts, _mean_ranks(results)])}

    def pictures(self, results: pd.DataFrame) -> dict[str, bytes]:
        if not (results["measure"] == "auc").any():
            return {}
        panels = [(name, measure) for name in self.sets for measure in MEASURES]
        figure, axes = subplots(len(panels), len(MEASURES))
        for axis, (name, measure) in zip(axes, panels, strict=True):
            rows = results[(results["dataset"] == name) & (results["measure"] == measure)]
            for method, lines in rows.groupby("method", sort=False):
                means = lines.groupby("at")["value"].mean()
                if method == ALL:
                    axis.axhline(means.iloc[0], color="grey", linestyle="--", label=ALL)
                else:
                    axis.plot(means.index, means, marker="o", markersize=3, label=method)
            axis.set(title=f"{name}: {measure}", xlabel="features")
        axes[0].legend(fontsize=7)
        return {"pufs_figs_2_3.png": png(figure)}


@lru_cache(maxsize=len(SETS))
def read_set(folder: str, name: str) -> tuple[pd.DataFrame, Class]:
    """Features and the positive class (n,)."""
    file, positive, _ = SETS[name]
    path = Path(folder) / file
    if not path.is_file():
        raise DataError(Fault(f"Set '{name}'", f"'{file}' is not in the data folder", "Leave the set out."))
    table = pd.read_parquet(path)
    return table.drop(columns="y"), (table["y"] == positive).to_numpy()


def _labelled(positive: Class, rng: np.random.Generator) -> Class:
    places = np.flatnonzero(positive)
    labelled = np.zeros(len(positive), bool)
    labelled[rng.choice(places, round(LABELLED * len(places)), replace=False)] = True
    return labelled


def _ranking(X: pd.DataFrame, labelled: Class, positive: Class, method: str, k: int, seed: int) -> list[int]:
    """Features as the method ranks them: chosen ones as chosen, then the others by score."""
    if method == ALL:
        return list(range(X.shape[1]))
    place = {name: i for i, name in enumerate(X.columns)}
    found = select_rows(X.reset_index(drop=True), labelled, positive, method, k, seed)
    return [place[feature.name] for feature in sorted(found.features, key=lambda feature: feature.rank)]


def mean_roc(X: Floats, positive: Class, folds: int, seed: int) -> Floats:
    """True positive rate on GRID, averaged over the folds, of a linear SVM on standardised features."""
    from sklearn.metrics import roc_curve
    from sklearn.model_selection import StratifiedKFold
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import SVC

    curves = []
    for train, test in StratifiedKFold(folds, shuffle=True, random_state=seed).split(X, positive):
        model = make_pipeline(StandardScaler(), SVC(kernel="linear")).fit(X[train], positive[train])
        false, true, _ = roc_curve(positive[test], model.decision_function(X[test]))
        curves.append(np.interp(GRID, false, true))
    return np.asarray(np.mean(curves, axis=0))


def _table(results: pd.DataFrame, name: str, measure: str) -> str:
    rows = results[results["dataset"] == name]
    ours = figures(rows.assign(at=rows["at"].map("{:.0f}".format)), ["method", "at"], measure)
    sizes = sorted({size for method, size in ours if method != ALL}, key=int)
    methods = list(dict.fromkeys(method for method, _ in ours if method != ALL))
    lines = [[method, *(_text(ours.get((method, size))) for size in sizes)] for method in methods]
    whole = next((figure for (method, _), figure in ours.items() if method == ALL), None)
    lines.append([f"{ALL} features", _text(whole), *[""] * (len(sizes) - 1)])
    head = f"{name}: {measure} by number of features, mean ± sd over {rows['repeat'].nunique()} splits.\n\n"
    return head + markdown_table(["method", *sizes], lines)


def _mean_ranks(results: pd.DataFrame) -> str:
    """Average rank by AUC over sizes, 1 is best: what the paper says of its Fig. 3, set by set."""
    found = results[(results["measure"] == "auc") & (results["method"] != ALL)]
    means = found.pivot_table(index=["dataset", "at"], columns="method", values="value", sort=False)
    ranks = means.rank(axis=1, ascending=False).groupby("dataset", sort=False).mean()
    lines = [
        [str(name), *(f"{rank:.1f}" for rank in row)] for name, row in zip(ranks.index, ranks.to_numpy(), strict=True)
    ]
    head = "Average rank by AUC over the numbers of features, 1 is best.\n\n"
    return head + markdown_table(["set", *map(str, ranks.columns)], lines)


def _text(figure: Figure | None) -> str:
    return "–" if figure is None else figure.text(2)
