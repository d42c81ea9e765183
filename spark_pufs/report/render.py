"""Templates filled with the facts of a selection; every name is escaped."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import lru_cache
from importlib import resources
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, StrictUndefined, Template

if TYPE_CHECKING:
    from spark_pufs.selection import Selection

__all__ = ["to_html", "to_markdown"]


def to_html(selection: Selection) -> str:
    """One self-contained page."""
    return _template("report.html.jinja", escape=True).render(_facts(selection))


def to_markdown(selection: Selection) -> str:
    """The same facts for a pull request or a chat."""
    return _template("report.md.jinja", escape=False).render(_facts(selection))


def _facts(selection: Selection) -> dict[str, Any]:
    return {
        "selection": selection,
        "chosen": [f for f in selection.features if f.selected],
        "others": [f for f in selection.features if not f.selected],
        "place": _scale(selection),
        "answer": _answer(selection),
        "convergence": _convergence(selection),
        "settings": json.dumps(dict(selection.request), indent=2, default=str, ensure_ascii=False),
    }


def _scale(selection: Selection) -> Callable[[float], float]:
    """Where a score lies between the smallest and the largest that the bars must show, in per cent."""
    edges = [f.score + sign * 2 * f.standard_error for f in selection.features for sign in (-1, 1)]
    low, high = min([0.0, *edges]), max(edges, default=1.0)
    span = (high - low) or 1.0
    return lambda score: round(100 * min(max((score - low) / span, 0.0), 1.0), 2)


def _answer(selection: Selection) -> str:
    facts = selection.facts
    known = f"{facts['labelled_positive']:,} rows labelled positive"
    if facts["labelled_negative"]:
        known += f" and {facts['labelled_negative']:,} labelled negative"
    return (
        f"{selection.method} chose {len(selection.names)} of {facts['features']} features from "
        f"{facts['rows']:,} rows, {known}."
    )


def _convergence(selection: Selection) -> list[dict[str, Any]]:
    """One line per feature through its theta after each generation, in a picture of 600 x 220."""
    history = selection.details.get("history") or []
    if len(history) < 2:
        return []
    chosen = set(selection.names)
    step = 550 / (len(history) - 1)
    return [
        {
            "selected": name in chosen,
            "points": " ".join(f"{40 + step * t:.1f},{190 - 180 * theta[i]:.1f}" for t, theta in enumerate(history)),
        }
        for i, name in enumerate(selection.details["theta"])
    ]


def _cell(text: Any) -> str:
    """A value inside a Markdown table: bars, back-ticks and line ends must not break it."""
    plain = str(text).replace("\\", "\\\\").replace("|", "\\|").replace("`", "\\`").replace("<", "&lt;")
    return " ".join(plain.split())


@lru_cache
def _template(name: str, escape: bool) -> Template:
    environment = Environment(autoescape=escape, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    environment.filters["cell"] = _cell
    source = (resources.files("spark_pufs.report") / name).read_text(encoding="utf-8")
    return environment.from_string(source)
