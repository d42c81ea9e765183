"""Pictures of a selection as inline SVG: bars with intervals, lines of a search, curves, paired bars, a heat map."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
from markupsafe import Markup

from spark_pufs.findings.parts import SizePoint
from spark_pufs.report import svg
from spark_pufs.report.sentences import number, share, short

__all__ = ["Scale", "bar", "convergence", "dot", "heat_map", "judged", "pair", "scale_of", "size_curve", "spread"]

Scale = Callable[[float], float]
LINES = 60  # of each kind in a picture of a search
STEPS = 120  # points of a line
LEFT, WIDTH, TOP, HEIGHT = 9.0, 89.0, 8.0, 180.0  # of a graph with axes, per cent and pixels
CELL = 18  # height of a cell of the heat map, pixels
TRIANGLE = 62.0  # width of the heat map, per cent; names take the rest


def scale_of(values: Sequence[float], zero: bool = True) -> Scale:
    """Where a value lies between the smallest and the largest, in per cent; what is no number lies at the start."""
    finite = [value for value in values if math.isfinite(value)] + ([0.0] if zero else [])
    low, high = min(finite, default=0.0), max(finite, default=1.0)
    span = (high - low) or 1.0
    return lambda value: 100 * min(max((value - low) / span, 0.0), 1.0) if math.isfinite(value) else 0.0


def bar(value: float, error: float, place: Scale, chosen: bool, what: str = "score") -> Markup:
    """A bar from zero to a value, with a line over two standard errors each way."""
    start, end = sorted((place(0.0), place(value)))
    marks = [svg.rect(start, 2, end - start, 10, "fill" if chosen else "fill no", rx=2)]
    return svg.graph(14, f"{what} {number(value)}", marks + _whisker(value, error, place, 7), "bar")


def judged(auc: float, error: float | None, kind: str) -> Markup:
    """Held-out AUC on a scale from 0.5, which is chance, to 1, with two standard errors each way."""
    place = scale_of([0.5, 1.0], zero=False)
    marks = [svg.line(0, 9, 100, 9, "grid"), *_whisker(auc, error or 0.0, place, 9)]
    marks.append(svg.circle(place(auc), 9, 5, "fill" if kind == "chosen" else "other"))
    return svg.graph(18, number(auc, 3), marks, "bar dots")


def dot(value: float, error: float, place: Scale, chosen: bool) -> Markup:
    """A point with a line over two standard errors each way."""
    marks = [svg.line(0, 9, 100, 9, "grid"), *_whisker(value, error, place, 9)]
    marks.append(svg.circle(place(value), 9, 4.5, "fill" if chosen else "fill no"))
    return svg.graph(18, number(value), marks, "bar dots")


def spread(value: float, low: float, high: float) -> Markup:
    """A share between 0 and 1 with its interval."""
    ends = [100 * min(max(end, 0.0), 1.0) for end in (low, high)]
    marks = [svg.line(0, 9, 100, 9, "grid"), svg.line(ends[0], 9, ends[1], 9, "whisker")]
    marks.append(svg.circle(100 * min(max(value, 0.0), 1.0), 9, 5, "fill"))
    return svg.graph(18, f"{number(value, 2)}, {number(low, 2)} to {number(high, 2)}", marks, "bar dots")


def pair(labelled: float, unlabelled: float, most: float) -> Markup:
    """Two bars: the share of labelled rows over the share of unlabelled rows."""
    wide = [100 * part / most if most else 0.0 for part in (labelled, unlabelled)]
    marks = [svg.rect(0, 2, wide[0], 8, "fill", rx=1), svg.rect(0, 11, wide[1], 5, "other", rx=1)]
    return svg.graph(18, f"labelled {share(labelled, 1)}, unlabelled {share(unlabelled, 1)}", marks, "bar")


def convergence(history: Sequence[Sequence[float]], chosen: Sequence[bool]) -> tuple[Markup, int]:
    """Theta of each feature after each generation, and how many features are drawn."""
    theta, flags = np.asarray(history, np.float64), np.asarray(chosen, np.bool_)
    steps = np.unique(np.linspace(0, len(theta) - 1, min(len(theta), STEPS)).round().astype(int))
    moved = np.abs(np.diff(theta, axis=0)).sum(axis=0)
    order = np.argsort(-moved, kind="stable")
    drawn = [*order[~flags[order]][:LINES], *order[flags[order]][:LINES]]
    x = steps / max(len(theta) - 1, 1)
    lines = [
        svg.path(list(zip(x, theta[steps, i], strict=True)), "curve" if flags[i] else "curve no") for i in drawn
    ]  # fmt: skip
    axes = [*_y_axis([0, 0.5, 1], 0, 1), *_x_axis([1, len(theta)], _x_of(1, len(theta)), "generation")]
    label = f"probability of {len(drawn)} features over {len(theta)} generations"
    return svg.graph(HEIGHT + 44, label, [*axes, svg.panel(LEFT, TOP, WIDTH, HEIGHT, lines)]), len(drawn)


def size_curve(points: Sequence[SizePoint], chosen: int) -> Markup:
    """Held-out score against the number of features, with intervals; the chosen number is marked."""
    ordered = sorted(points, key=lambda point: point.k)
    sizes, values = [point.k for point in ordered], [point.auc for point in ordered]
    reach = [2 * (point.error or 0.0) for point in ordered]
    low, high = min(map(_less, values, reach)), max(v + r for v, r in zip(values, reach, strict=True))
    margin = (high - low) / 20 or 0.01
    low, high = low - margin, high + margin
    across, up = _log_unit(sizes[0], sizes[-1]), _y_of(low, high)
    unit = [(across(k), _unit(v, low, high)) for k, v in zip(sizes, values, strict=True)]
    at: Scale = lambda k: LEFT + WIDTH * across(k)  # noqa: E731
    marks = [svg.panel(LEFT, TOP, WIDTH, HEIGHT, [svg.path(unit, "curve")])]
    if sizes[0] <= chosen <= sizes[-1]:
        marks.append(svg.line(at(chosen), TOP, at(chosen), TOP + HEIGHT, "mark"))
    for k, value, error in zip(sizes, values, reach, strict=True):
        marks.append(svg.line(at(k), up(value - error), at(k), up(value + error), "whisker"))
        marks.append(svg.circle(at(k), up(value), 4 if k == chosen else 3, "fill"))
    axes = [*_y_axis(svg.ticks(low, high), low, high), *_x_axis(_apart(sizes, at), at, "features, on a log scale")]
    return svg.graph(HEIGHT + 44, f"score of {len(points)} sizes", [*axes, *marks])


def heat_map(names: Sequence[str], values: Sequence[Sequence[float]]) -> Markup:
    """How much every two features share: the lower triangle, each row ending in the feature's name."""
    wide = TRIANGLE / len(names)
    marks = []
    for i, name in enumerate(names):
        y = float(i * CELL)
        marks += [_cell(j * wide, y, wide, values[i][j], f"{short(name)} – {short(names[j])}") for j in range(i)]
        x = i * wide
        room = int((100 - x - 2) / 100 * 340 / 6.6) - 3  # characters that fit on a phone
        marks.append(svg.text(x, y + 13, f"{i + 1} {short(name, max(room, 8))}", class_="axis ink", dx=5))
    return svg.graph(len(names) * CELL, f"shared information of {len(names)} features", marks)


def _cell(x: float, y: float, wide: float, value: float, names: str) -> Markup:
    opacity = f"{min(max(value, 0.0), 1.0):.2f}"
    title = svg.tag("title", {}, [Markup.escape(f"{names}: {value:.2f}")]) if value >= 0.05 else Markup("")
    place = {"x": f"{x:.2f}%", "y": y + 1, "width": f"{wide * 0.94:.2f}%", "height": CELL - 2, "class": "cell"}
    return svg.tag("rect", {**place, "fill_opacity": opacity}, [title])


def _whisker(value: float, error: float, place: Scale, y: float) -> list[Markup]:
    if not error or not math.isfinite(error):
        return []
    low, high = place(value - 2 * error), place(value + 2 * error)
    ends = [svg.line(end, y - 3, end, y + 3, "whisker") for end in (low, high)]
    return [svg.line(low, y, high, y, "whisker"), *ends]


def _y_axis(marks: Sequence[float], low: float, high: float) -> list[Markup]:
    up = _y_of(low, high)
    lines = [svg.line(LEFT, up(mark), LEFT + WIDTH, up(mark), "grid") for mark in marks]
    return lines + [svg.text(LEFT, up(mark) + 4, f"{mark:g}", "end", dx=-6) for mark in marks]


def _x_axis(marks: Sequence[float], at: Scale, what: str) -> list[Markup]:
    y = TOP + HEIGHT + 16
    return [
        *[svg.text(at(mark), y, f"{mark:,}", "middle") for mark in marks],
        svg.text(LEFT + WIDTH / 2, y + 17, what, "middle"),
    ]


def _apart(sizes: Sequence[int], at: Scale, least: float = 8) -> list[int]:
    """Sizes whose labels do not touch, the last one among them."""
    kept = [sizes[-1]]
    for size in reversed(sizes[:-1]):
        if at(kept[-1]) - at(size) >= least:
            kept.append(size)
    return kept


def _unit(value: float, low: float, high: float) -> float:
    return (value - low) / (high - low) if high > low else 0.5


def _log_unit(low: float, high: float) -> Scale:
    return lambda value: _unit(math.log(max(value, 1)), math.log(max(low, 1)), math.log(max(high, 1)))


def _x_of(low: float, high: float) -> Scale:
    return lambda value: LEFT + WIDTH * _unit(value, low, high)


def _y_of(low: float, high: float) -> Scale:
    return lambda value: TOP + HEIGHT * (1 - _unit(value, low, high))


def _less(value: float, reach: float) -> float:
    return value - reach
