"""The results of the Markov blanket study as tables and as one picture, figure by figure of the paper."""

from __future__ import annotations

import io
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import t as student

__all__ = ["FIGURES", "Figure", "markdown", "picture", "summary"]

KEYS = ["network", "rows", "scenario", "method"]
MEASURES = ("false_positives", "false_negatives", "f_measure")
LEVEL = 0.95
COLOURS = ("#4c566a", "#d08770", "#5e81ac")


@dataclass(frozen=True)
class Figure:
    """A figure of Sechidis & Brown 2017: what is measured, and on which (scenario, method) lines, with their names."""

    number: int
    title: str
    measure: str
    lines: tuple[tuple[str, str, str], ...]


_Y = ("full", "iamb", "Y, all labels")
_Y0 = ("pu", "iamb-y0", "Y0, N rows")
_MORE = ("pu-corrected", "iamb-y0", "Y0, N/kappa rows")


def _semi(scenario: str) -> tuple[tuple[str, str, str], ...]:
    return tuple((scenario, f"{name}-iamb", f"{name.capitalize()}-IAMB") for name in ("semi", "listwise", "pairwise"))


FIGURES = (
    Figure(6, "nodes falsely in the blanket", "false_positives", (_Y, _Y0)),
    Figure(7, "nodes falsely left out", "false_negatives", (_Y, _Y0, _MORE)),
    Figure(8, "F-measure, positives and unlabelled", "f_measure", (_Y, _Y0, _MORE)),
    Figure(9, "F-measure, semi-supervised, MCAR", "f_measure", _semi("mcar")),
    Figure(10, "F-measure, semi-supervised, MAR-C", "f_measure", _semi("mar-c")),
)


def summary(results: pd.DataFrame) -> pd.DataFrame:
    """Mean over targets within a trial, then mean and 95 % half-width over trials; one row per (KEYS, measure)."""
    per_trial = results.groupby([*KEYS, "trial"], sort=False)[list(MEASURES)].mean()
    long = per_trial.melt(var_name="measure", value_name="value", ignore_index=False).reset_index()
    groups = long.groupby([*KEYS, "measure"], sort=False)["value"]
    table = groups.agg(mean="mean", half_width=_half_width, trials="size").reset_index()
    return table.assign(low=table["mean"] - table["half_width"], high=table["mean"] + table["half_width"])


def _half_width(values: pd.Series[float]) -> float:
    """Student's interval of the mean; NaN for a single trial."""
    n = len(values)
    return float(student.ppf((1 + LEVEL) / 2, n - 1) * values.std() / np.sqrt(n)) if n > 1 else float("nan")


def markdown(table: pd.DataFrame) -> str:
    """One table per figure: a row for each network and N, a column for each line."""
    parts = []
    for figure in FIGURES:
        head = ["network", "N", *(name for _, _, name in figure.lines)]
        lines = [f"Fig. {figure.number}: {figure.title}", "", _row(head), _row(["---"] * len(head))]
        for network, rows in _panels(table):
            cells = [_cell(_find(table, network, rows, figure, line)) for line in figure.lines]
            lines.append(_row([network, f"{rows:,}", *cells]))
        parts.append("\n".join(lines))
    return "\n\n".join(parts) + "\n"


def picture(table: pd.DataFrame) -> bytes | None:
    """A PNG with a row per figure and a column per N; None without matplotlib (extra ``plots``)."""
    try:
        from matplotlib.figure import Figure as Canvas
    except ImportError:
        return None
    sizes = sorted({rows for _, rows in _panels(table)})
    canvas = Canvas(figsize=(5.2 * len(sizes), 2.5 * len(FIGURES)), layout="constrained")
    axes = canvas.subplots(len(FIGURES), len(sizes), squeeze=False, sharey="row")
    for row, figure in zip(axes, FIGURES, strict=True):
        for panel, rows in zip(row, sizes, strict=True):
            _draw(panel, table, figure, rows)
        row[0].set_ylim(0, 1.25 * row[0].get_ylim()[1])  # room for the legend above the bars
        row[0].legend(fontsize=7, loc="upper center", ncols=len(figure.lines))
    file = io.BytesIO()
    canvas.savefig(file, format="png", dpi=80)
    return file.getvalue()


def _draw(panel: Any, table: pd.DataFrame, figure: Figure, rows: int) -> None:
    networks = list(dict.fromkeys(network for network, n in _panels(table) if n == rows))
    width = 0.8 / len(figure.lines)
    for i, line in enumerate(figure.lines):
        found = [_find(table, network, rows, figure, line) for network in networks]
        place = np.arange(len(networks)) + (i - (len(figure.lines) - 1) / 2) * width
        means, errors = [f["mean"] for f in found], [f["half_width"] for f in found]
        panel.bar(place, means, width, yerr=errors, label=line[2], color=COLOURS[i], capsize=2)
    panel.set_xticks(range(len(networks)), networks)
    panel.set_title(f"Fig. {figure.number}: {figure.title}, N = {rows:,}", fontsize=9)


def _panels(table: pd.DataFrame) -> list[tuple[str, int]]:
    return list(dict.fromkeys(zip(table["network"], table["rows"].astype(int), strict=True)))


def _find(table: pd.DataFrame, network: str, rows: int, figure: Figure, line: tuple[str, str, str]) -> pd.Series[Any]:
    scenario, method, _ = line
    wanted = {"network": network, "rows": rows, "scenario": scenario, "method": method, "measure": figure.measure}
    return table.loc[np.logical_and.reduce([table[key] == value for key, value in wanted.items()])].iloc[0]


def _cell(found: pd.Series[Any]) -> str:
    return f"{found['mean']:.2f} ± {found['half_width']:.2f}"


def _row(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"
