"""The results of the Markov blanket study as tables and as one picture, figure by figure of the paper."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import t as student

from spark_pufs.studies.drawing import png
from spark_pufs.studies.published import markdown_table

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["FIGURES", "MEASURES", "BlanketFigure", "Mean", "picture", "summary", "tables"]

KEYS = ["dataset", "at", "condition", "method", "measure"]
MEASURES = ("false_positives", "false_negatives", "f_measure")
LEVEL = 0.95
COLOURS = ("#4c566a", "#d08770", "#5e81ac")
Key: TypeAlias = tuple[str, int, str, str, str]  # network, rows, scenario, method, measure


class Mean(NamedTuple):
    """Over trials, with the half-width of Student's 95 % interval; NaN for a single trial."""

    mean: float
    half_width: float


@dataclass(frozen=True)
class BlanketFigure:
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
    BlanketFigure(6, "nodes falsely in the blanket", "false_positives", (_Y, _Y0)),
    BlanketFigure(7, "nodes falsely left out", "false_negatives", (_Y, _Y0, _MORE)),
    BlanketFigure(8, "F-measure, positives and unlabelled", "f_measure", (_Y, _Y0, _MORE)),
    BlanketFigure(9, "F-measure, semi-supervised, MCAR", "f_measure", _semi("mcar")),
    BlanketFigure(10, "F-measure, semi-supervised, MAR-C", "f_measure", _semi("mar-c")),
)


def summary(results: pd.DataFrame) -> dict[Key, Mean]:
    """Mean over targets within a trial, then mean and interval over trials."""
    found = results[results["measure"].isin(MEASURES)]
    per_trial = found.groupby([*KEYS, "repeat"], sort=False)["value"].mean().reset_index()
    means: dict[Key, Mean] = {}
    for _, group in per_trial.groupby(KEYS, sort=False):
        first = group.iloc[0]
        key = (str(first["dataset"]), int(first["at"]), str(first["condition"]), str(first["method"]))
        means[*key, str(first["measure"])] = _mean(group["value"].to_numpy(np.float64))
    return means


def _mean(values: NDArray[np.float64]) -> Mean:
    n = len(values)
    width = student.ppf((1 + LEVEL) / 2, n - 1) * values.std(ddof=1) / np.sqrt(n) if n > 1 else float("nan")
    return Mean(float(values.mean()), float(width))


def tables(means: Mapping[Key, Mean]) -> str:
    """One table per figure: a row for each network and N, a column for each line; empty where nothing was run."""
    parts = []
    for figure in FIGURES:
        head = ["network", "N", *(name for _, _, name in figure.lines)]
        lines = [
            [network, f"{rows:,}", *(_cell(_find(means, network, rows, figure, line)) for line in figure.lines)]
            for network, rows in _panels(means)
        ]
        parts.append(f"Fig. {figure.number}: {figure.title}\n\n{markdown_table(head, lines)}")
    return "\n".join(parts)


def picture(means: Mapping[Key, Mean]) -> dict[str, bytes]:
    """A row of panels per figure and a column per N."""
    from matplotlib.figure import Figure as Canvas

    sizes = sorted({rows for _, rows in _panels(means)})
    if not sizes:
        return {}
    canvas = Canvas(figsize=(5.2 * len(sizes), 2.5 * len(FIGURES)), layout="constrained")
    axes = canvas.subplots(len(FIGURES), len(sizes), squeeze=False, sharey="row")
    for row, figure in zip(axes, FIGURES, strict=True):
        for panel, rows in zip(row, sizes, strict=True):
            _draw(panel, means, figure, rows)
        row[0].set_ylim(0, 1.25 * row[0].get_ylim()[1])  # room for the legend above the bars
        row[0].legend(fontsize=7, loc="upper center", ncols=len(figure.lines))
    return {"markov_blankets.png": png(canvas)}


def _draw(panel: Axes, means: Mapping[Key, Mean], figure: BlanketFigure, rows: int) -> None:
    networks = [network for network, n in _panels(means) if n == rows]
    width = 0.8 / len(figure.lines)
    for i, line in enumerate(figure.lines):
        found = [_find(means, network, rows, figure, line) for network in networks]
        place = np.arange(len(networks)) + (i - (len(figure.lines) - 1) / 2) * width
        heights, errors = [one.mean for one in found], [one.half_width for one in found]
        panel.bar(place, heights, width, yerr=errors, label=line[2], color=COLOURS[i], capsize=2)
    panel.set_xticks(range(len(networks)), networks)
    panel.set_title(f"Fig. {figure.number}: {figure.title}, N = {rows:,}", fontsize=9)


def _panels(means: Mapping[Key, Mean]) -> list[tuple[str, int]]:
    """Network and N of what there is, by name and size."""
    return sorted({(network, rows) for network, rows, *_ in means})


def _find(
    means: Mapping[Key, Mean], network: str, rows: int, figure: BlanketFigure, line: tuple[str, str, str]
) -> Mean:
    scenario, method, _ = line
    return means.get((network, rows, scenario, method, figure.measure), Mean(float("nan"), float("nan")))


def _cell(found: Mean) -> str:
    if np.isnan(found.mean):
        return ""
    return f"{found.mean:.2f}" if np.isnan(found.half_width) else f"{found.mean:.2f} ± {found.half_width:.2f}"
