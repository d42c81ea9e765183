"""Templates filled with the facts of a selection; every name is escaped."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import lru_cache
from importlib import resources
from typing import TYPE_CHECKING

from jinja2 import Environment, FunctionLoader, StrictUndefined, Template

from spark_pufs.masking.texts import masked_texts
from spark_pufs.report.sentences import duration, fixed, number, share, short
from spark_pufs.report.template_values import facts_of, pictures_of

if TYPE_CHECKING:
    from spark_pufs.selection import Selection

__all__ = ["MARKS", "template", "to_html", "to_markdown"]

# At the head of every page, of HTML and of Markdown: only such a file is replaced.
MARKS = ('<meta name="generator" content="spark_pufs">', "<!-- spark_pufs -->")


def to_html(selection: Selection) -> str:
    """One self-contained page."""
    selection = _shown(selection)
    facts = {**facts_of(selection), **pictures_of(selection)}
    return template("report.html.jinja", escape=True).render(facts)


def to_markdown(selection: Selection) -> str:
    """The same facts for a pull request or a chat."""
    text = template("report.md.jinja", escape=False).render(facts_of(_shown(selection)))
    return re.sub(r"\n{3,}", "\n\n", text).strip() + "\n"


def _shown(selection: Selection) -> Selection:
    """What was asked and found, with addresses in it without secrets."""
    values = {name: masked_texts(getattr(selection, name)) for name in ("findings", "dropped", "warnings")}
    return replace(selection, **values)


def _cell(text: object, most: int = 160) -> str:
    """A value in Markdown: signs that would break a table, start a tag, a link or a code span are shown as they are."""
    plain = " ".join(short(text, most).split()).replace("&", "&amp;").replace("<", "&lt;")
    # A mention would call somebody and a bare address would be a link: both need the sign that is written otherwise.
    inert = plain.replace("@", "&#64;").replace("://", "&#58;//").replace("www.", "www&#46;")
    return re.sub(r"([\\|`*\[\]])", r"\\\1", inert)


def _fence(text: str) -> str:
    """A fence longer than any run of back-ticks inside."""
    return "`" * max([3, *(len(run) + 1 for run in re.findall("`+", text))])


@lru_cache
def template(name: str, escape: bool) -> Template:
    environment = Environment(
        autoescape=escape,
        loader=FunctionLoader(_source),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(
        cell=_cell, fence=_fence, duration=duration, fixed=fixed, number=number, share=share, short=short
    )
    return environment.get_template(name)


def _source(name: str) -> str:
    return (resources.files("spark_pufs.report") / name).read_text(encoding="utf-8")
