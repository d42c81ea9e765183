"""Pieces of HTML for notebooks: no script and no style sheet, in colours that suit light and dark pages."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Literal

from spark_pufs.masking.texts import visible

__all__ = ["Bar", "Tone", "bars", "card", "notes", "paragraph", "preformatted"]

Tone = Literal["good", "fair", "poor", "plain"]

_COLOURS = {"good": "#2e8b57", "fair": "#c07f00", "poor": "#c94040", "plain": "#4c86d9"}
_FRAME = "border:1px solid rgba(128,128,128,.4);border-left:4px solid {};border-radius:6px;padding:.6em 1em"
_CELL = "padding:.15em .8em .15em 0;text-align:left;border:0;background:none"
_TRACK = "display:inline-block;width:12em;height:.8em;background:rgba(128,128,128,.18);border-radius:3px"
LONGEST = 120  # characters of a name


@dataclass(frozen=True)
class Bar:
    """A line with a bar: ``share`` from 0 to 1 of the longest, the figure in words, and the cells beside them."""

    name: str
    share: float
    figure: str
    chosen: bool = True
    note: str = ""


def card(title: str, tone: Tone, *parts: str) -> str:
    """A frame with a heading; ``parts`` are HTML already."""
    heading = f'<p style="margin:0 0 .4em"><strong>{_text(title)}</strong></p>'
    style = f"{_FRAME.format(_COLOURS[tone])};max-width:60em;font-family:system-ui,sans-serif;line-height:1.45"
    return "".join([f'<div style="{style}">', heading, *parts, "</div>"])


def paragraph(text: str) -> str:
    return f'<p style="margin:.2em 0">{_text(text)}</p>'


def preformatted(text: str) -> str:
    """Columns of text as they stand."""
    return f'<pre style="margin:.4em 0;background:none;border:0">{_text(text)}</pre>'


def notes(texts: Sequence[str], most: int = 5) -> str:
    """Warnings as a list, the first few of them."""
    items = "".join(f"<li>{_text(text)}</li>" for text in texts[:most])
    more = f"<li>and {len(texts) - most:,} more</li>" if len(texts) > most else ""
    style = f"margin:.4em 0;border-left:3px solid {_COLOURS['fair']};padding-left:1.6em"
    return f'<ul style="{style}">{items}{more}</ul>' if items else ""


def bars(head: Sequence[str], rows: Iterable[Bar]) -> str:
    """A table of names with bars.

    >>> "width:50%" in bars(["feature", "relevance"], [Bar("a<b", 0.5, "0.50")])
    True
    """
    titles = "".join(f'<th scope="col" style="{_CELL};font-weight:600">{_text(one)}</th>' for one in head)
    lines = "".join(map(_row, rows))
    style = "border-collapse:collapse;margin:.5em 0;font-variant-numeric:tabular-nums;width:auto"
    return f'<table style="{style}"><thead><tr>{titles}</tr></thead><tbody>{lines}</tbody></table>'


def _row(row: Bar) -> str:
    wide, colour = f"{100 * min(max(row.share, 0.0), 1.0):.0f}%", _COLOURS["plain"] if row.chosen else "#9fb1c9"
    bar = f'<span style="display:block;width:{wide};height:100%;background:{colour};border-radius:3px"></span>'
    cells = [
        f"<bdi>{_text(row.name)}</bdi>",
        f'<span style="{_TRACK}" aria-hidden="true">{bar}</span>',
        _text(row.figure),
        _text(row.note),
    ]
    return "".join(["<tr>", *(f'<td style="{_CELL}">{cell}</td>' for cell in cells), "</tr>"])


def _text(words: str) -> str:
    plain = visible(words) if "\n" not in words else words
    return escape(plain if len(plain) <= 50 * LONGEST else f"{plain[: 50 * LONGEST]}...")
