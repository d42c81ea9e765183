"""Parts of a selection as figures of matplotlib, for the reports of those who have their own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from spark_pufs.errors import ConfigError, EnvironmentFault, Fault, did_you_mean
from spark_pufs.findings.parts import Distribution
from spark_pufs.report.sentences import short
from spark_pufs.values import plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from spark_pufs.selection import Feature, Selection

__all__ = ["PARTS", "figure_of"]

BLUE, PALE, GREY = "#1f5fcf", "#b4c3dc", "#8b98a9"
MOST = 30  # features drawn
PANELS = 12  # distributions drawn
NAME = 32  # characters of a name


def figure_of(selection: Selection, part: str) -> Figure:
    """One part as a figure; what cannot be drawn is an error that says how to get it."""
    part = plain(part)
    if not isinstance(part, str) or part not in PARTS:
        raise ConfigError(Fault(f"Plot '{part}'", "is not known", did_you_mean(str(part), PARTS)))
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        fix = 'Run pip install "spark-pufs[plots]".'
        raise EnvironmentFault(Fault("Package 'matplotlib'", "is not installed, and plots need it", fix)) from error
    missing = _MISSING[part](selection)
    if missing:
        raise ConfigError(Fault(f"Plot '{part}'", "was not looked into by this selection", missing))
    return PARTS[part](selection, Figure)


def _ranking(selection: Selection, canvas: type[Figure]) -> Figure:
    features = selection.features[:MOST]
    told = all(feature.relevance is not None for feature in features)
    what = "relevance (0 chance, 1 best)" if told else "score"
    figure, axis = _bars(canvas, len(features), what)
    values = [_value(feature, told) for feature in features]
    errors = [2 * _error(feature, told) for feature in features]
    colours = [BLUE if feature.selected else PALE for feature in features]
    places = np.arange(len(features))
    axis.barh(places, values, xerr=errors, color=colours, error_kw={"lw": 1})
    _names(axis, [feature.name for feature in features])
    axis.set_title(f"{selection.method}: {len(selection.names)} of {len(selection.features)} features")
    return figure


def _stability(selection: Selection, canvas: type[Figure]) -> Figure:
    found, chosen = selection.findings.stability, set(selection.names)
    rows = sorted((found.frequency if found else {}).items(), key=lambda item: (item[0] not in chosen, -item[1]))[:MOST]
    figure, axis = _bars(canvas, len(rows), "share of resampled runs that chose it")
    axis.barh(np.arange(len(rows)), [part for _, part in rows], color=[BLUE if n in chosen else PALE for n, _ in rows])
    _names(axis, [name for name, _ in rows])
    axis.set_xlim(0, 1)
    return figure


def _sizes(selection: Selection, canvas: type[Figure]) -> Figure:
    found = selection.findings.sizes
    points = sorted(found.points if found else (), key=lambda point: point.k)
    figure = canvas(figsize=(7, 4), layout="constrained")
    axis = figure.subplots()
    errors = [2 * (point.error or 0.0) for point in points]
    axis.errorbar([point.k for point in points], [point.auc for point in points], yerr=errors, color=BLUE, marker="o")
    axis.axvline(found.chosen if found else 0, color=GREY, ls="--", lw=1)
    axis.set(xscale="log", xlabel="features", ylabel="held-out PU-AUC")
    axis.set_xticks([point.k for point in points], [f"{point.k:,}" for point in points])
    axis.minorticks_off()
    return figure


def _redundancy(selection: Selection, canvas: type[Figure]) -> Figure:
    found = selection.findings.features.redundancy
    names, values = (found.names, found.values) if found else ((), ())
    side = 2.5 + 0.28 * len(names)
    figure = canvas(figsize=(side + 1, side), layout="constrained")
    axis = figure.subplots()
    picture = axis.imshow(np.asarray(values), vmin=0, vmax=1, cmap="Blues")
    shown = [_word(name) for name in names]
    axis.set_yticks(range(len(names)), shown, fontsize=8)
    axis.set_xticks(range(len(names)), shown, fontsize=8, rotation=90)
    figure.colorbar(picture, ax=axis, label="shared information (0 none, 1 all)", shrink=0.7)
    return figure


def _distributions(selection: Selection, canvas: type[Figure]) -> Figure:
    found = (selection.findings.features.distributions or ())[:PANELS]
    columns = min(3, len(found))
    rows = -(-len(found) // columns)
    figure = canvas(figsize=(4.2 * columns, 2.8 * rows), layout="constrained")
    axes = figure.subplots(rows, columns, squeeze=False).ravel().tolist()
    for axis, one in zip(axes, found, strict=False):
        _panel(axis, one)
    for axis in axes[len(found) :]:
        axis.set_visible(False)
    axes[0].legend(fontsize=8)
    return figure


def _panel(axis: Axes, found: Distribution) -> None:
    """Shares of labelled and of unlabelled rows by level."""
    labelled, unlabelled = np.array([(one.labelled, one.unlabelled) for one in found.levels]).T
    places = np.arange(len(found.levels))
    axis.barh(places - 0.2, labelled / max(labelled.sum(), 1), 0.4, color=BLUE, label="labelled")
    axis.barh(places + 0.2, unlabelled / max(unlabelled.sum(), 1), 0.4, color=GREY, label="unlabelled")
    _names(axis, [one.level for one in found.levels])
    axis.set_title(_word(found.name), fontsize=9)


def _search(selection: Selection, canvas: type[Figure]) -> Figure:
    trace, chosen = selection.findings.search, set(selection.names)
    figure = canvas(figsize=(7, 4), layout="constrained")
    axis = figure.subplots()
    history = np.asarray(trace.history if trace else ())
    for place, name in enumerate(trace.theta if trace else ()):
        axis.plot(history[:, place], color=BLUE if name in chosen else PALE, lw=1)
    axis.set(xlabel="generation", ylabel="probability of being chosen", ylim=(0, 1))
    return figure


def _bars(canvas: type[Figure], count: int, what: str) -> tuple[Figure, Axes]:
    figure = canvas(figsize=(7, 1 + 0.28 * count), layout="constrained")
    axis = figure.subplots()
    axis.set_xlabel(what)
    return figure, axis


def _names(axis: Axes, names: Sequence[str]) -> None:
    axis.set_yticks(range(len(names)), [_word(name) for name in names], fontsize=8)
    axis.invert_yaxis()


def _word(name: str) -> str:
    """A name that fits; a dollar would begin a formula."""
    return short(name, NAME).replace("$", r"\$")


def _value(feature: Feature, told: bool) -> float:
    return float((feature.relevance if told else feature.score) or 0.0)


def _error(feature: Feature, told: bool) -> float:
    error = (feature.relevance_error if told else feature.standard_error) or 0.0
    return error if np.isfinite(error) else 0.0


PARTS: dict[str, Callable[[Selection, type[Figure]], Figure]] = {
    "ranking": _ranking,
    "distributions": _distributions,
    "redundancy": _redundancy,
    "sizes": _sizes,
    "stability": _stability,
    "search": _search,
}
# What to do where a part is not there; nothing where it is.
_MISSING: dict[str, Callable[[Selection], str]] = {
    "ranking": lambda one: "" if one.features else "Select from a table with features.",
    "distributions": lambda one: "" if one.findings.features.distributions else "Choose at least one feature.",
    "redundancy": lambda one: "" if one.findings.features.redundancy else "Choose at least two features.",
    "sizes": lambda one: "" if one.findings.sizes else 'Leave k out, or set k="auto".',
    "stability": lambda one: "" if one.findings.stability else "Set stability=20.",
    "search": lambda one: "" if one.findings.search and one.findings.search.history else 'Use method="fscpu".',
}
