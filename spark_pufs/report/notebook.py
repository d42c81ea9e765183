"""A selection as a notebook shows it: the verdict, the ranking with bars, what to look at."""

from __future__ import annotations

from typing import TYPE_CHECKING

from spark_pufs import fragments
from spark_pufs.report.sentences import fixed, number, short
from spark_pufs.report.verdict import Verdict, verdict_of

if TYPE_CHECKING:
    from spark_pufs.selection import Feature, Selection

__all__ = ["selection_fragment"]

CHOSEN, OTHERS = 15, 3  # rows of the ranking


def selection_fragment(selection: Selection) -> str:
    """HTML that stands alone in a cell; all that comes from the table is escaped."""
    verdict = verdict_of(selection)
    told = all(feature.relevance is not None for feature in selection.features)
    chosen = [feature for feature in selection.features if feature.selected]
    others = [feature for feature in selection.features if not feature.selected]
    shown = [*chosen[:CHOSEN], *others[:OTHERS]]
    most = max((abs(_value(feature, told)) for feature in shown), default=0.0) or 1.0
    ranking = fragments.bars(
        ["feature", "relevance" if told else "score", "", ""], [_bar(feature, told, most) for feature in shown]
    )
    left = len(selection.features) - len(shown)
    parts = [
        fragments.paragraph(f"{verdict.headline} {verdict.held_out}"),
        ranking,
        fragments.paragraph(f"{left:,} more features: selection.table() has them all.") if left else "",
        fragments.notes([f"{one.title}: {one.text} {one.next_step}".strip() for one in verdict.alerts]),
    ]
    title = f"{selection.method}: {len(chosen):,} of {len(selection.features):,} features"
    return fragments.card(title, _tone(verdict), *parts)


def _tone(verdict: Verdict) -> fragments.Tone:
    if verdict.better is None:
        return "plain"
    return "poor" if not verdict.better else "fair" if verdict.alerts else "good"


def _bar(feature: Feature, told: bool, most: float) -> fragments.Bar:
    value, error = _value(feature, told), feature.relevance_error if told else feature.standard_error
    figure = fixed(value) if told else number(value)
    width = fixed(2 * error) if told and error is not None else number(2 * (error or 0.0), 2)
    spread = f" ± {width}" if error and error == error else ""
    name, note = f"{feature.rank}. {short(feature.name, 80)}", "" if feature.selected else "not chosen"
    return fragments.Bar(name, value / most, f"{figure}{spread}", feature.selected, note)


def _value(feature: Feature, told: bool) -> float:
    value = feature.relevance if told else feature.score
    return 0.0 if value is None or value != value else value
