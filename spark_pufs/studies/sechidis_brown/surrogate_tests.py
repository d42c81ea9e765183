"""Figures 3 and 4 of Sechidis & Brown 2017: how often the G-test accepts independence, by effect.

Fig. 3 does not state p(y=1) and neither figure lists its effects: 0.2 (as in Fig. 4) and 0 to 0.05 nats are used. The
figures print no numbers, so the formula of Theorems 2 and 4 stands beside what was counted.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import chi2

from spark_pufs.core.information.gtest import g_statistic
from spark_pufs.core.information.power import g_power, kappa_mar_c, kappa_mcar
from spark_pufs.studies.drawing import png, subplots
from spark_pufs.studies.published import markdown_table
from spark_pufs.studies.sechidis_brown.planted_effects import (
    TESTS,
    Counts,
    draw_given,
    estimated,
    labelled_share,
    with_surrogates,
)
from spark_pufs.studies.settings import check_known
from spark_pufs.studies.study import Row, Unit, chooses, seed_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["PANELS", "ErrorPanel", "SurrogateTests"]

PRIOR = 0.20


@dataclass(frozen=True)
class ErrorPanel:
    """One panel: ``labelled`` = p(s=1), ``positive`` = p(y=1|s=1)."""

    levels: int
    rows: int
    labelled: float
    positive: float

    def kappa(self, test: str) -> float | None:
        """Correction factor; None where the paper has none (labelled rows only, MAR-C)."""
        if test == "y":
            return 1.0
        if test == "labelled":
            return kappa_mcar("labelled", PRIOR, self.labelled) if self.positive == PRIOR else None
        if test == "y0":
            return kappa_mar_c("y0", PRIOR, self.labelled * self.positive)
        return kappa_mar_c("y1", PRIOR, self.labelled * (1 - self.positive))

    def accepted(self, test: str, effect: float, alpha: float) -> float | None:
        """Acceptance rate by the non-central chi-square of Theorems 2 and 4."""
        kappa = self.kappa(test)
        if kappa is None:
            return None
        return 1 - float(g_power(effect, self.rows, alpha=alpha, df=self.levels - 1, kappa=kappa))


PANELS = {
    "3a": ErrorPanel(2, 500, 0.25, PRIOR),
    "3b": ErrorPanel(5, 1000, 0.25, PRIOR),
    "4a": ErrorPanel(2, 500, 0.25, 0.50),
    "4b": ErrorPanel(5, 1000, 0.25, 0.50),
    "4c": ErrorPanel(2, 500, 0.20, 0.25),
    "4d": ErrorPanel(5, 1000, 0.20, 0.25),
}


@dataclass(frozen=True)
class SurrogateTests:
    """The paper: 1,000 draws of the data for each effect, alpha 0.10."""

    __pydantic_config__: ClassVar[dict[str, str]] = {"extra": "forbid"}
    name: ClassVar[str] = "surrogate_tests"

    seed: int = 0
    draws: int = 1000
    alpha: float = 0.10
    panels: tuple[str, ...] = chooses(tuple(PANELS))
    effects: tuple[float, ...] = chooses(tuple(np.linspace(0, 0.05, 11).round(3).tolist()))

    def units(self) -> list[Unit]:
        check_known("surrogate_tests.panels", self.panels, PANELS)
        return [{"panel": panel, "effect": effect} for panel in self.panels for effect in self.effects]

    def run(self, unit: Unit) -> list[Row]:
        panel, effect = PANELS[unit["panel"]], unit["effect"]
        rng = np.random.default_rng(seed_of(self.seed, unit["panel"], str(effect)))
        tables = draw_tables(panel, draw_given(np.full(self.draws, effect), panel.levels, PRIOR, rng), rng)
        rows: list[tuple[str, str, float | None]] = [
            (test, "accepted", self._accepted(panel, counts)) for test, counts in tables.items()
        ]
        rows += [(test, "formula", panel.accepted(test, effect, self.alpha)) for test in tables]
        common = {"dataset": unit["panel"], "at": effect}
        return [
            common | {"method": test, "measure": measure, "value": value}
            for test, measure, value in rows
            if value is not None
        ]

    def _accepted(self, panel: ErrorPanel, counts: Counts) -> float:
        statistic = g_statistic(estimated(counts), 1) * counts.sum(axis=(0, 2))
        return float(np.mean(statistic < chi2.isf(self.alpha, panel.levels - 1)))

    def tables(self, results: pd.DataFrame) -> dict[str, str]:
        if not (results["measure"] == "accepted").any():
            return {}
        cells = _cells(results)
        parts = [
            f"Fig. {name}: N = {panel.rows}, |X| = {panel.levels}, p(s=1) = {panel.labelled}, p(y=1|s=1) = "
            f"{panel.positive}. Acceptance of independence, counted (formula); {self.draws} draws.\n\n"
            + markdown_table(
                ["effect in nats", *TESTS],
                [[f"{at:g}", *(_cell(cells, name, test, at) for test in TESTS)] for at in _effects(results, name)],
            )
            for name, panel in PANELS.items()
            if name in set(results["dataset"])
        ]
        return {"sechidis_figs_3_4.md": "\n".join([*parts, self._agreement(cells)])}

    def _agreement(self, cells: pd.DataFrame) -> str:
        both = cells.dropna()
        error = np.sqrt(both["formula"] * (1 - both["formula"]) / self.draws)
        gap = (both["accepted"] - both["formula"]).abs()
        return (
            f"{int((gap <= 2 * error).sum())} of {len(both)} counted rates lie within two standard errors of the "
            f"formula; the largest gap is {gap.max():.3f}.\n"
        )

    def pictures(self, results: pd.DataFrame) -> dict[str, bytes]:
        if not (results["measure"] == "accepted").any():
            return {}
        names = [name for name in PANELS if name in set(results["dataset"])]
        figure, axes = subplots(len(names), 2)
        for axis, name in zip(axes, names, strict=False):
            self._draw(axis, results[(results["dataset"] == name) & (results["measure"] == "accepted")], name)
        axes[0].legend()
        return {"sechidis_figs_3_4.png": png(figure)}

    def _draw(self, axis: Axes, rows: pd.DataFrame, name: str) -> None:
        for test in TESTS:
            line = rows[rows["method"] == test].sort_values("at")
            error = np.sqrt(line["value"] * (1 - line["value"]) / self.draws)
            axis.errorbar(line["at"], line["value"], 1.96 * error, label=test, marker="o", markersize=3)
        axis.axhline(1 - self.alpha, color="grey", linewidth=0.5)
        axis.set(title=f"Fig. {name}", xlabel="I(X;Y) in nats", ylabel="independence accepted")


def draw_tables(panel: ErrorPanel, given: NDArray[np.float64], rng: np.random.Generator) -> dict[str, Counts]:
    """Tables (2, draws, levels) of class by value, for the hidden class and each surrogate."""
    joint = given * np.array([1 - PRIOR, PRIOR])[:, None]
    seen = labelled_share(PRIOR, panel.labelled, panel.positive)[:, None]
    cells = np.stack([joint * (1 - seen), joint * seen], axis=1)  # draw, s, y, x
    drawn = rng.multinomial(panel.rows, cells.reshape(len(given), -1)).reshape(cells.shape)
    return with_surrogates(np.moveaxis(drawn.sum(axis=1), 1, 0), np.moveaxis(drawn[:, 1], 1, 0))


def _cells(results: pd.DataFrame) -> pd.DataFrame:
    """Acceptance rates, counted and by the formula, for each panel, test and effect."""
    found = results[results["measure"].isin(["accepted", "formula"])]
    wide = found.pivot_table(index=["dataset", "method", "at"], columns="measure", values="value")
    return wide.reindex(columns=["accepted", "formula"])


def _effects(results: pd.DataFrame, panel: str) -> list[float]:
    return sorted(results.loc[results["dataset"] == panel, "at"].dropna().unique().tolist())


def _cell(cells: pd.DataFrame, panel: str, test: str, effect: float) -> str:
    counted, formula = cells.reindex([(panel, test, effect)]).to_numpy()[0]
    return f"{counted:.3f}" if np.isnan(formula) else f"{counted:.3f} ({formula:.3f})"
