"""Figures 11 and 12 of Sechidis & Brown 2017: do ten features chosen with few labels agree with those of all labels?

Kuncheva's index between the features that mRMR, MIM or JMI choose with every label and those chosen with 25 % of them.
The paper shows box plots over the seven sets and prints no numbers.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from spark_pufs.core.evidence.stability import kuncheva
from spark_pufs.core.synthetic.labelling import MAR_C
from spark_pufs.studies.drawing import png, subplots
from spark_pufs.studies.published import Figure, figures, markdown_table
from spark_pufs.studies.sechidis_brown.data_sets import SETS, biased, chosen, labelled_as, read_set
from spark_pufs.studies.settings import check_known
from spark_pufs.studies.study import Row, Unit, chooses, seed_of
from spark_pufs.types import Json

__all__ = ["METHODS", "SCENARIOS", "LabelConsistency"]

LABELLED = 0.25
SCENARIOS = {"MCAR": None, "MAR-C": 2 / 3}  # p(y=1|s=1), None: that of all rows
# Name in the paper: method and options here, and the method that is given all labels.
METHODS: dict[str, tuple[str, dict[str, Json], str]] = {
    "mRMR, labelled": ("mrmr", {"surrogate": "labelled"}, "mrmr"),
    "MINT": ("mint", {}, "mrmr"),
    "MIM, labelled": ("mim", {"surrogate": "labelled"}, "mim"),
    "Semi-MIM": ("semi-mim", {}, "mim"),
    "JMI, labelled": ("jmi", {"surrogate": "labelled"}, "jmi"),
    "Semi-JMI": ("semi-jmi", {}, "jmi"),
}


@dataclass(frozen=True)
class LabelConsistency:
    """The paper: ten features, 30 draws of the labels of each set."""

    __pydantic_config__: ClassVar[dict[str, str]] = {"extra": "forbid"}
    name: ClassVar[str] = "label_consistency"

    data: str | None = None
    seed: int = 0
    k: int = 10
    repeats: int = chooses(30)
    sets: tuple[str, ...] = chooses(tuple(SETS))

    def units(self) -> list[Unit]:
        check_known("label_consistency.sets", self.sets, SETS)
        return [
            {"dataset": name, "condition": scenario, "repeat": repeat}
            for repeat in range(self.repeats)
            for name in self.sets
            for scenario in SCENARIOS
        ]

    def run(self, unit: Unit) -> list[Row]:
        name, scenario, repeat = unit["dataset"], unit["condition"], unit["repeat"]
        X, positive = read_set(str(self.data), name)
        prior = float(positive.mean())
        seed = seed_of(self.seed, name, scenario, repeat)
        data = labelled_as(X, positive, biased(prior, LABELLED, SCENARIOS[scenario] or prior), seed)
        rows = []
        for method, (here, options, reference) in METHODS.items():
            masks = np.stack(
                [_mask(data.X, chosen(data, here, self.k, seed, options=options)), self._full(name, reference)]
            )
            rows.append(dict(unit) | {"method": method, "measure": "kuncheva", "value": kuncheva(masks)})
        return rows

    def _full(self, name: str, method: str) -> NDArray[np.bool_]:
        X, _ = read_set(str(self.data), name)
        return _mask(X, list(_with_all_labels(str(self.data), name, method, self.k)))

    def tables(self, results: pd.DataFrame) -> dict[str, str]:
        if not (results["measure"] == "kuncheva").any():
            return {}
        ours = figures(results, ["condition", "dataset", "method"], "kuncheva")
        parts = []
        for number, scenario in enumerate(SCENARIOS, start=11):
            sets = [name for name in SETS if any(key[:2] == (scenario, name) for key in ours)]
            lines = [[name, *(_text(ours.get((scenario, name, method))) for method in METHODS)] for name in sets]
            means = [[ours[scenario, name, method].mean for name in sets] for method in METHODS]
            lines.append(["mean of sets", *(f"{np.mean(values):.2f}" if values else "–" for values in means)])
            parts.append(
                f"Fig. {number}, {scenario}: Kuncheva's index with the {self.k} features of all labels, mean ± sd over "
                f"{results['repeat'].nunique()} draws of the labels.\n\n" + markdown_table(["set", *METHODS], lines)
            )
        return {"sechidis_figs_11_12.md": "\n".join(parts)}

    def pictures(self, results: pd.DataFrame) -> dict[str, bytes]:
        if not (results["measure"] == "kuncheva").any():
            return {}
        figure, axes = subplots(len(SCENARIOS), 2)
        found = results[results["measure"] == "kuncheva"]
        for axis, scenario, number in zip(axes, SCENARIOS, (11, 12), strict=True):
            means = (
                found[found["condition"] == scenario].groupby(["method", "dataset"])["value"].mean().unstack(level=1)
            )
            boxes = means.reindex(list(METHODS)).to_numpy().tolist()
            axis.boxplot(boxes, tick_labels=[name.replace(", ", "\n") for name in METHODS], showmeans=True)
            axis.tick_params(axis="x", labelsize=7)
            axis.set(title=f"Fig. {number}, {scenario}", ylabel="Kuncheva's index", ylim=(-0.1, 1.05))
        return {"sechidis_figs_11_12.png": png(figure)}


def _mask(X: pd.DataFrame, features: list[int]) -> NDArray[np.bool_]:
    mask = np.zeros(X.shape[1], bool)
    mask[features] = True
    return mask


@lru_cache(maxsize=64)
def _with_all_labels(folder: str, name: str, method: str, k: int) -> tuple[int, ...]:
    X, positive = read_set(folder, name)
    return tuple(chosen(labelled_as(X, positive, MAR_C(1.0, 1.0), 0), method, k, 0))


def _text(figure: Figure | None) -> str:
    return "–" if figure is None else figure.text(2)
