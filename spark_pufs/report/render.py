"""Templates filled with the facts of a selection; every name is escaped."""

from __future__ import annotations

import json
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
    widest = max((abs(f.score) + 2 * f.standard_error for f in selection.features), default=0.0) or 1.0
    return {
        "selection": selection,
        "chosen": [f for f in selection.features if f.selected],
        "others": [f for f in selection.features if not f.selected],
        "widest": widest,
        "answer": _answer(selection),
        "settings": json.dumps(dict(selection.request), indent=2, default=str, ensure_ascii=False),
    }


def _answer(selection: Selection) -> str:
    facts = selection.facts
    known = f"{facts['labelled_positive']:,} rows labelled positive"
    if facts["labelled_negative"]:
        known += f" and {facts['labelled_negative']:,} labelled negative"
    return (
        f"{selection.method} chose {len(selection.names)} of {facts['features']} features from "
        f"{facts['rows']:,} rows, {known}."
    )


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
