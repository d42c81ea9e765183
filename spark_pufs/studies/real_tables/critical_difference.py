"""Do methods differ over tables? Friedman's test, Nemenyi's critical difference, and its diagram (Demsar 2006)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from markupsafe import Markup, escape
from numpy.typing import NDArray
from scipy.stats import friedmanchisquare, rankdata, studentized_range

from spark_pufs.report.svg import tag

__all__ = ["MeanRanks", "cliques", "critical_difference", "diagram", "mean_ranks"]

ALPHA = 0.05


@dataclass(frozen=True)
class MeanRanks:
    """Mean rank of each method over so many tables, 1 the best; p of Friedman's test; Nemenyi's difference."""

    ranks: Mapping[str, float]
    tables: int
    p: float
    difference: float


def mean_ranks(values: NDArray[np.float64], methods: list[str]) -> MeanRanks:
    """From values (tables, methods), larger is better; the test needs three methods on two tables."""
    ranks = rankdata(-values, axis=1).mean(axis=0)
    enough = len(methods) >= 3 and len(values) >= 2 and bool(np.ptp(values, axis=1).any())
    p = float(friedmanchisquare(*values.T).pvalue) if enough else math.nan
    found = dict(sorted(zip(methods, map(float, ranks), strict=True), key=lambda pair: pair[1]))
    return MeanRanks(found, len(values), p, critical_difference(len(methods), len(values)))


def critical_difference(methods: int, tables: int, alpha: float = ALPHA) -> float:
    """Mean ranks closer than this do not differ at level ``alpha``, all pairs looked at (Nemenyi).

    >>> round(critical_difference(4, 14), 2)  # Demsar 2006, section 3.2.2: q = 2.569
    1.25
    """
    if methods < 2 or not tables:
        return math.nan
    q = float(studentized_range.ppf(1 - alpha, methods, np.inf)) / math.sqrt(2)
    return q * math.sqrt(methods * (methods + 1) / (6 * tables))


def cliques(ranks: Mapping[str, float], difference: float) -> list[tuple[float, float]]:
    """First and last rank of the largest groups of methods that do not differ; ``ranks`` ascending.

    >>> cliques({"a": 1.0, "b": 1.5, "c": 2.4, "d": 4.0}, 1.0)
    [(1.0, 1.5), (1.5, 2.4)]
    """
    values = list(ranks.values())
    spans = [(first, max(v for v in values if v <= first + difference)) for first in values]
    ends = [-math.inf, *(last for _, last in spans)]
    return [span for span, before in zip(spans, ends, strict=False) if span[1] > span[0] and span[1] > before]


# Pixels.
WIDTH, SIDE, TOP, STEP, BAR = 900, 230, 56, 19, 7
_STYLE = "text{font:13px sans-serif;fill:#222} line{stroke:#222} .clique{stroke:#c0392b;stroke-width:4}"


def diagram(found: MeanRanks) -> str:
    """An SVG: methods on an axis of mean ranks, the best at the left; a thick bar joins those that do not differ."""
    count = len(found.ranks)
    bars = cliques(found.ranks, found.difference)
    below = TOP + 12 + BAR * (len(bars) + 1)
    height = below + STEP * ((count + 1) // 2) + 12
    parts = [
        tag("style", {}, [Markup(_STYLE)]),
        tag("rect", {"width": WIDTH, "height": height, "fill": "#fff"}),
        *_axis(count),
        *_scale(found, count),
        *(_bar(bar, TOP + 10 + BAR * i, count) for i, bar in enumerate(bars)),
        *(_label(i, name, rank, below, count) for i, (name, rank) in enumerate(found.ranks.items())),
    ]
    words = "Mean ranks: " + ", ".join(f"{name} {rank:.1f}" for name, rank in found.ranks.items())
    size = {"viewBox": f"0 0 {WIDTH} {height}", "width": WIDTH, "height": height}
    return str(tag("svg", {"xmlns": "http://www.w3.org/2000/svg", **size, "role": "img", "aria_label": words}, parts))


def _x(rank: float, count: int) -> float:
    return round(SIDE + (rank - 1) / max(count - 1, 1) * (WIDTH - 2 * SIDE), 1)


def _line(x1: float, y1: float, x2: float, y2: float, **more: object) -> Markup:
    return tag("line", {"x1": x1, "y1": y1, "x2": x2, "y2": y2, **more})


def _text(x: float, y: float, words: str, anchor: str = "middle") -> Markup:
    return tag("text", {"x": x, "y": y, "text_anchor": anchor}, [escape(words)])


def _axis(count: int) -> list[Markup]:
    step = -(-count // 15)  # at most fifteen numbers
    places = [rank for rank in range(1, count + 1) if (rank - 1) % step == 0]
    marks = [_line(_x(rank, count), TOP - 5, _x(rank, count), TOP) for rank in places]
    numbers = [_text(_x(rank, count), TOP - 9, str(rank)) for rank in places]
    return [_line(_x(1, count), TOP, _x(count, count), TOP), *marks, *numbers]


def _scale(found: MeanRanks, count: int) -> list[Markup]:
    """How long the critical difference is, above the axis."""
    last = min(1 + found.difference, count)
    words = f"critical difference {found.difference:.2f}, {found.tables} tables"
    return [_line(_x(1, count), 20, _x(last, count), 20), _text(_x(last, count) + 8, 24, words, "start")]


def _bar(span: tuple[float, float], y: float, count: int) -> Markup:
    return _line(_x(span[0], count) - 3, y, _x(span[1], count) + 3, y, class_="clique")


def _label(place: int, name: str, rank: float, below: float, count: int) -> Markup:
    """The better half at the left, best on top; the others at the right, worst on top."""
    left = place < (count + 1) // 2
    y = below + STEP * (place if left else count - 1 - place)
    x, end = _x(rank, count), SIDE - 12 if left else WIDTH - SIDE + 12
    words = f"{name}  {rank:.1f}" if left else f"{rank:.1f}  {name}"
    lines = [_line(x, TOP, x, y), _line(x, y, end, y)]
    return tag("g", {}, [*lines, _text(end + (-6 if left else 6), y + 4, words, "end" if left else "start")])
