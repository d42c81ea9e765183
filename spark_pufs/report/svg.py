"""Small building blocks of inline SVG. Widths are per cent, heights pixels: text keeps its size on any screen."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

from markupsafe import Markup, escape

__all__ = ["area", "circle", "graph", "line", "panel", "path", "rect", "tag", "text", "ticks"]


def tag(name: str, attributes: Mapping[str, object], inside: Iterable[Markup | str] = ()) -> Markup:
    """One element; names and values that come from data are escaped."""
    given = "".join(f' {key.rstrip("_").replace("_", "-")}="{escape(value)}"' for key, value in attributes.items())
    body = Markup("").join(inside)
    return Markup(f"<{name}{given}>{body}</{name}>")


def graph(height: float, label: str, inside: Iterable[Markup], class_: str = "graph") -> Markup:
    """A picture as wide as the column it stands in, with words for those who cannot see it."""
    size = {"class": class_, "width": "100%", "height": _px(height)}
    return tag("svg", {**size, "role": "img", "aria_label": label}, inside)


def rect(x: float, y: float, width: float, height: float, class_: str, **more: object) -> Markup:
    place = {"x": _pc(x), "y": _px(y), "width": _pc(max(width, 0)), "height": _px(height)}
    return tag("rect", {**place, "class": class_, **more})


def line(x1: float, y1: float, x2: float, y2: float, class_: str) -> Markup:
    return tag("line", {"x1": _pc(x1), "y1": _px(y1), "x2": _pc(x2), "y2": _px(y2), "class": class_})


def circle(x: float, y: float, radius: float, class_: str) -> Markup:
    return tag("circle", {"cx": _pc(x), "cy": _px(y), "r": radius, "class": class_})


def text(x: float, y: float, words: str, anchor: str = "start", class_: str = "axis", dx: float = 0) -> Markup:
    place = {"x": _pc(x), "y": _px(y), "dx": _px(dx), "text_anchor": anchor, "class": class_}
    return tag("text", place, [escape(words)])


def path(points: Sequence[tuple[float, float]], class_: str) -> Markup:
    """A line through points of the unit square, (0, 0) bottom left; goes inside a ``panel``."""
    return tag("polyline", {"points": _joined(points), "class": class_})


def area(points: Sequence[tuple[float, float]], class_: str) -> Markup:
    """A filled shape through points of the unit square; goes inside a ``panel``."""
    return tag("polygon", {"points": _joined(points), "class": class_})


def panel(x: float, y: float, width: float, height: float, inside: Iterable[Markup]) -> Markup:
    """A part of a picture that stretches with it; strokes keep their width."""
    place = {"x": _pc(x), "y": _px(y), "width": _pc(width), "height": _px(height)}
    return tag("svg", {**place, "viewBox": "0 0 1000 1000", "preserveAspectRatio": "none"}, inside)


def ticks(low: float, high: float, most: int = 5) -> list[float]:
    """Round numbers between ``low`` and ``high``.

    >>> ticks(0.62, 0.97)
    [0.7, 0.8, 0.9]
    """
    span = high - low
    if not 0 < span < math.inf:
        return [low]
    step = 10 ** math.floor(math.log10(span))
    step = next(step * factor for factor in (0.1, 0.2, 0.5, 1, 2, 5) if span / (step * factor) <= most)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [round(i * step, 12) for i in range(first, last + 1)]


def _joined(points: Sequence[tuple[float, float]]) -> str:
    return " ".join(f"{1000 * x:.0f},{1000 * (1 - y):.0f}" for x, y in points)


def _pc(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".") + "%"


def _px(value: float) -> str:
    return f"{value:.1f}".rstrip("0").rstrip(".")
