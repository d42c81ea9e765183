"""Figures 3 and 4 of Sechidis & Brown 2017: how often the G-test accepts independence, by effect.

    python benchmarks/surrogate_power.py --out results/surrogate_power

Writes surrogate_power.csv, and surrogate_power.png when matplotlib is installed. Fig. 3 does not state p(y=1)
and neither figure lists its effects: 0.2 (as in Fig. 4) and 0 to 0.05 nats are used. As in the paper, p(x|y)
is drawn anew for each repetition, here from a flat Dirichlet, and mixed towards independence until I(X;Y) is
the wanted effect.
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy
from scipy.stats import chi2

from spark_pufs.core.power import g_power, kappa_mar_c, kappa_mcar
from spark_pufs.core.surrogate import SurrogateName, apply_surrogate

ALPHA, PRIOR = 0.10, 0.20
EFFECTS = tuple(np.linspace(0, 0.05, 11).round(3).tolist())
SURROGATES: tuple[SurrogateName, ...] = ("labelled", "y0", "y1")
HEADER = ("figure", "effect", "test", "accepted", "standard_error", "formula")
Row = tuple[str, float, str, float, float, float | None]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Panel:
    """One panel: ``labelled`` = p(s=1), ``positive`` = p(y=1|s=1)."""

    name: str
    levels: int
    rows: int
    labelled: float
    positive: float

    @property
    def share_positive(self) -> float:
        return self.labelled * self.positive

    @property
    def share_negative(self) -> float:
        return self.labelled * (1 - self.positive)

    def kappa(self, test: str) -> float | None:
        """Correction factor; None where the paper has none (labelled rows only, MAR-C)."""
        if test == "y":
            return 1.0
        if test == "labelled":
            return kappa_mcar("labelled", PRIOR, self.labelled) if self.positive == PRIOR else None
        if test == "y0":
            return kappa_mar_c("y0", PRIOR, self.share_positive)
        return kappa_mar_c("y1", PRIOR, self.share_negative)


PANELS = (
    Panel("3a", 2, 500, 0.25, PRIOR),
    Panel("3b", 5, 1000, 0.25, PRIOR),
    Panel("4a", 2, 500, 0.25, 0.50),
    Panel("4b", 5, 1000, 0.25, 0.50),
    Panel("4c", 2, 500, 0.20, 0.25),
    Panel("4d", 5, 1000, 0.20, 0.25),
)


def information(given: Floats) -> Floats:
    """I(X;Y) of each repetition; ``given`` is p(x|y), shape (repeats, 2, levels)."""
    share = np.array([1 - PRIOR, PRIOR])[:, None]
    mean = (share * given).sum(axis=1, keepdims=True)
    return np.asarray((share * xlogy(given, given / mean)).sum(axis=(1, 2)))


def draw_given(effect: float, levels: int, repeats: int, rng: np.random.Generator) -> Floats:
    """p(x|y) with I(X;Y) = effect, shape (repeats, 2, levels)."""
    wide = rng.dirichlet(np.ones(levels), size=(repeats, 2))
    while (weak := information(wide) < effect).any():
        wide[weak] = rng.dirichlet(np.ones(levels), size=(int(weak.sum()), 2))
    mean = (1 - PRIOR) * wide[:, :1] + PRIOR * wide[:, 1:]
    low, high = np.zeros((repeats, 1, 1)), np.ones((repeats, 1, 1))
    for _ in range(50 if effect else 0):
        middle = (low + high) / 2
        short = (information(mean + middle * (wide - mean)) < effect)[:, None, None]
        low, high = np.where(short, middle, low), np.where(short, high, middle)
    return np.asarray(mean + low * (wide - mean))


def draw_counts(panel: Panel, given: Floats, rng: np.random.Generator) -> dict[str, NDArray[np.int64]]:
    """Tables (2, repeats, levels) of class by value, for the hidden class and each surrogate."""
    joint = given * np.array([1 - PRIOR, PRIOR])[:, None]
    seen = np.array([panel.share_negative / (1 - PRIOR), panel.share_positive / PRIOR])[:, None]
    cells = np.stack([joint * (1 - seen), joint * seen], axis=1)  # repeat, s, y, x
    draws = rng.multinomial(panel.rows, cells.reshape(len(given), -1)).reshape(cells.shape)
    states = np.stack([draws[:, 0].sum(axis=1), draws[:, 1, 1], draws[:, 1, 0]])
    tables: dict[str, NDArray[np.int64]] = {"y": np.moveaxis(draws.sum(axis=1), 1, 0)}
    return tables | {name: apply_surrogate(states, name) for name in SURROGATES}


def acceptance(counts: NDArray[np.int64]) -> float:
    """Share of repetitions in which the G-test accepts independence."""
    by_class, by_value = counts.sum(axis=2, keepdims=True), counts.sum(axis=0, keepdims=True)
    expected = by_class * by_value / counts.sum(axis=(0, 2), keepdims=True)
    ratio = np.divide(counts, expected, out=np.ones(counts.shape), where=counts > 0)
    statistic = 2 * xlogy(counts, ratio).sum(axis=(0, 2))
    return float(np.mean(statistic < chi2.isf(ALPHA, counts.shape[2] - 1)))


def run_panel(panel: Panel, repeats: int, rng: np.random.Generator) -> list[Row]:
    rows: list[Row] = []
    for effect in EFFECTS:
        tables = draw_counts(panel, draw_given(effect, panel.levels, repeats, rng), rng)
        for test, counts in tables.items():
            rate, kappa = acceptance(counts), panel.kappa(test)
            error = float(np.sqrt(rate * (1 - rate) / repeats))
            formula = None
            if kappa is not None:
                df = panel.levels - 1
                formula = 1 - float(g_power(effect, panel.rows, alpha=ALPHA, df=df, kappa=kappa))
            rows.append((panel.name, effect, test, rate, error, formula))
    return rows


def print_panel(panel: Panel, rows: list[Row]) -> None:
    tests = ("y", *SURROGATES)
    print(f"\nFig. {panel.name}: N = {panel.rows}, |X| = {panel.levels}, p(s=1) = {panel.labelled}, ", end="")
    print(f"p(y=1|s=1) = {panel.positive}. Acceptance of H0: measured (formula)")
    print("effect " + "".join(f"{test:>16}" for test in tests))
    for effect in EFFECTS:
        cells = [
            f"{rate:.3f} ({'-' if formula is None else f'{formula:.3f}'})"
            for _, size, _, rate, _, formula in rows
            if size == effect
        ]
        print(f"{effect:<7g}" + "".join(f"{cell:>16}" for cell in cells))


def plot(rows: list[Row], path: Path) -> None:
    try:
        from matplotlib.figure import Figure
    except ImportError:
        print("matplotlib is not installed: no picture")
        return
    figure = Figure(figsize=(9, 11), layout="constrained")
    axes = figure.subplots(3, 2, sharey=True).ravel()
    for axis, panel in zip(axes, PANELS, strict=True):
        for test in ("y", *SURROGATES):
            line = [(row[1], row[3], row[4]) for row in rows if row[0] == panel.name and row[2] == test]
            effect, rate, error = zip(*line, strict=True)
            axis.errorbar(effect, rate, np.multiply(1.96, error), label=test, marker="o", markersize=3)
        axis.axhline(1 - ALPHA, color="grey", linewidth=0.5)
        axis.set(title=f"Fig. {panel.name}", xlabel="I(X;Y) in nats", ylabel="acceptance rate of H0")
    axes[0].legend()
    figure.savefig(path, dpi=120)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Figures 3 and 4 of Sechidis & Brown 2017")
    parser.add_argument("--out", type=Path, required=True, help="directory for the CSV and the picture")
    parser.add_argument("--repeats", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args(arguments)
    rng = np.random.default_rng(options.seed)
    rows: list[Row] = []
    for panel in PANELS:
        rows += (found := run_panel(panel, options.repeats, rng))
        print_panel(panel, found)
    options.out.mkdir(parents=True, exist_ok=True)
    with (options.out / "surrogate_power.csv").open("w", newline="") as file:
        csv.writer(file).writerows([HEADER, *rows])
    plot(rows, options.out / "surrogate_power.png")


if __name__ == "__main__":
    main()
