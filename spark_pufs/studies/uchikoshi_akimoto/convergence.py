"""Fig. 1 of Uchikoshi & Akimoto: theta of relevant and irrelevant features while FSCPU searches."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from spark_pufs.selection import Selection
from spark_pufs.studies.drawing import png
from spark_pufs.studies.published import markdown_table
from spark_pufs.studies.study import Row

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["convergence_picture", "convergence_rows", "convergence_table"]

THETA = "theta "
PAIRS_PER_RECORD = 100  # the paper's search keeps theta after every hundredth pair
COLOURS = {"relevant": "#bf616a", "noise": "#5e81ac"}  # red and blue, as in the paper


def convergence_rows(found: Selection) -> list[Row]:
    """Theta of every feature by the number of clusterings; nothing for methods that do not search."""
    trace = found.findings.search
    if trace is None or not trace.history:
        return []
    history = np.array(trace.history, float)
    masks = _masks_scored(found, trace.generations, len(history))
    names = list(trace.theta)
    return [
        {"measure": f"{THETA}{names[feature]}", "at": masks[step], "value": history[step, feature]}
        for feature in range(history.shape[1])
        for step in range(history.shape[0])
    ]


def _masks_scored(found: Selection, generations: int, records: int) -> NDArray[np.float64]:
    """How many masks had been clustered at each record of theta."""
    options = found.request.options
    steps = np.arange(1.0, records + 1)
    if options.get("search") == "paper":
        steps = np.minimum(PAIRS_PER_RECORD * steps, float(generations))
    return steps * float(2 if options.get("search") == "paper" else options.get("generation_size", 288))


def _thetas(results: pd.DataFrame) -> pd.DataFrame:
    """Rows of theta with the feature's kind, relevant or noise."""
    rows = results[results["measure"].str.startswith(THETA)]
    feature = rows["measure"].str.removeprefix(THETA)
    return rows.assign(feature=feature, kind=feature.str.split("_").str[0])


def convergence_table(results: pd.DataFrame) -> dict[str, str]:
    """Where theta ended; the paper shows a picture only."""
    thetas = _thetas(results)
    if thetas.empty:
        return {}
    last = thetas[thetas["at"] == thetas.groupby(["condition", "method"])["at"].transform("max")]
    rows = []
    for (condition, method), group in last.groupby(["condition", "method"], sort=False):
        means = group.groupby("kind")["value"].mean()
        settled = 1 - group["value"].between(0.1, 0.9, inclusive="neither").mean()
        cells = (f"{group['at'].iloc[0]:,.0f}", *(f"{means[kind]:.2f}" for kind in COLOURS), f"{settled:.0%}")
        rows.append([str(condition), str(method), *cells])
    head = ["condition", "method", "masks clustered", "theta, relevant", "theta, irrelevant", "settled"]
    title = "Fig. 1 of Uchikoshi & Akimoto: theta at the end of the first repeat (settled: below 0.1 or above 0.9)"
    return {"figure_1_convergence.md": f"{title}\n\n{markdown_table(head, rows)}"}


def convergence_picture(results: pd.DataFrame, titles: Mapping[str, str]) -> dict[str, bytes]:
    """A row of panels per search, a column per condition, a line per feature."""
    from matplotlib.figure import Figure as Canvas

    thetas = _thetas(results)
    conditions = [number for number in titles if number in set(thetas["condition"])]
    methods = sorted(set(thetas["method"]))
    if not conditions:
        return {}
    canvas = Canvas(figsize=(3.4 * len(conditions), 2.4 * len(methods)), layout="constrained")
    axes = canvas.subplots(len(methods), len(conditions), squeeze=False, sharey=True)
    for row, method in zip(axes, methods, strict=True):
        for panel, number in zip(row, conditions, strict=True):
            _draw(panel, thetas[(thetas["condition"] == number) & (thetas["method"] == method)])
            panel.set_title(f"{method}\n{number}: {titles[number]}", fontsize=8)
    return {"figure_1_convergence.png": png(canvas)}


def _draw(panel: Axes, thetas: pd.DataFrame) -> None:
    for kind, group in thetas.groupby("kind"):
        wide = group.pivot_table(index="at", columns="feature", values="value")
        panel.plot(wide.index, wide.to_numpy(), color=COLOURS[str(kind)], linewidth=0.6)
    panel.set_ylim(0, 1)
    panel.set_xlabel("masks clustered", fontsize=7)
