"""A selection as lines of text: the ranking with bars, then the verdict."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from spark_pufs.masking.texts import visible
from spark_pufs.report.sentences import fixed, number, short
from spark_pufs.report.verdict import verdict_of

if TYPE_CHECKING:
    from spark_pufs.selection import Feature, Selection

__all__ = ["answer_lines", "bar_text", "ranking_lines"]

CHOSEN, OTHERS = 20, 3  # rows of the table
NAME, BAR = 32, 24  # widths of a name and of a bar


def answer_lines(selection: Selection, block: str = "█") -> list[str]:
    """The answer as a terminal shows it; ``block`` is what bars are made of."""
    return [selection.summary, "", *ranking_lines(selection, block), "", *verdict_of(selection).lines]


def ranking_lines(selection: Selection, block: str = "█") -> list[str]:
    """Chosen features with bars, best first, and the first of those that were not chosen."""
    chosen = [feature for feature in selection.features if feature.selected]
    others = [feature for feature in selection.features if not feature.selected]
    told = all(feature.relevance is not None for feature in selection.features)
    shown = [*chosen[:CHOSEN], *others[:OTHERS]]
    names = max(len("feature"), *(len(short(visible(feature.name), NAME)) for feature in shown), 0)
    most = max((abs(_value(feature, told)) for feature in shown), default=0.0) or 1.0
    head = f"{'rank':>5}  {'feature':{names}}  {'relevance' if told else 'score':{BAR}}"
    rows = [_row(feature, told, names, most, block) for feature in shown]
    return [
        head.rstrip(),
        *rows[: len(chosen[:CHOSEN])],
        *_more(len(chosen) - CHOSEN, "chosen"),
        *([f"{'':5}  not chosen, best first:"] if others and chosen else []),
        *rows[len(chosen[:CHOSEN]) :],
        *_more(len(others) - OTHERS, "not chosen"),
    ]


def bar_text(value: float, most: float, block: str = "█", width: int = BAR) -> str:
    """A bar as long as its share of ``most``; what is not above 0 has none.

    >>> bar_text(0.5, 1.0, "#", 8), bar_text(-1.0, 1.0, "#", 8)
    ('####', '')
    """
    share = value / most if most > 0 else 0.0
    return block * round(width * min(max(share, 0.0), 1.0))


def _row(feature: Feature, told: bool, names: int, most: float, block: str) -> str:
    value, error = _value(feature, told), feature.relevance_error if told else feature.standard_error
    figure = fixed(value) if told else number(value)
    spread = f" ± {2 * error:.2f}" if error and told else ""
    bar = bar_text(value, most, block)
    return f"{feature.rank:>5}  {short(visible(feature.name), NAME):{names}}  {bar:{BAR}}  {figure}{spread}"


def _value(feature: Feature, told: bool) -> float:
    value = feature.relevance if told else feature.score
    return 0.0 if value is None or value != value else value


def _more(count: int, what: str) -> Sequence[str]:
    return [f"{'':5}  {count:,} more {what}"] if count > 0 else []
