"""All runs of a directory over time, as one page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import quote

from markupsafe import Markup

from spark_pufs.masking import masked_texts
from spark_pufs.report import svg
from spark_pufs.report.render import template
from spark_pufs.report.sentences import CHANGE_TONES, short

if TYPE_CHECKING:
    from spark_pufs.history.timeline import RunPoint, Timeline

__all__ = ["timeline_page"]

FEATURES = 24  # drawn over time: those chosen most often
ROWS = 60  # features in the table of who was chosen when
HEIGHT, STRIP = 64, 14  # pixels of a small chart, and of a line of the table


@dataclass(frozen=True)
class Panel:
    """A small chart: its title, the picture, and the range of its values in words."""

    title: str
    picture: Markup
    range: str


def timeline_page(found: Timeline, reports: str) -> str:
    """A page without anything from elsewhere; every name is escaped, and long lists are cut and say so."""
    runs, features = found.runs, found.features()
    return template("timeline.html.jinja", escape=True).render(
        found=found,
        tones=CHANGE_TONES,
        latest=runs[-1] if runs else None,
        rows=[_row(run, reports) for run in reversed(runs)],
        alarms=[_row(run, reports) for run in reversed(found.alarms)],
        relevance=[_relevance(runs, name) for name in features[:FEATURES]],
        chosen=[(name, _strip(runs, name)) for name in features[:ROWS]],
        more=(max(len(features) - FEATURES, 0), max(len(features) - ROWS, 0)),
        counts=_counts(runs),
        unread=masked_texts([(one.name, one.why) for one in found.unread]),
    )


def _row(run: RunPoint, reports: str) -> tuple[RunPoint, str, list[str]]:
    """A run, the link to its report, and its reasons without secrets."""
    place = "" if run.name == "." else f"{quote(run.name)}/"
    return run, f"{quote(reports)}/{place}report.html", masked_texts(list(run.change.reasons if run.change else ()))


def _counts(runs: Sequence[RunPoint]) -> list[Panel]:
    """Rows, labels and drift: what alarms are often about."""
    drift = [run.change.drift if run.change else 0.0 for run in runs]
    return [
        _line(runs, "Labelled rows", [float(run.labelled) for run in runs], "{:,.0f}"),
        _line(runs, "Rows", [float(run.rows) for run in runs], "{:,.0f}"),
        _line(runs, "Largest drift of a column", drift, "{:.0%}", most=1.0),
    ]


def _line(
    runs: Sequence[RunPoint], title: str, values: Sequence[float], shown: str, most: float | None = None
) -> Panel:
    """A curve from 0 to the largest value, or to ``most``."""
    top = most or max(values) or 1.0
    points = [(x, value / top) for x, value in zip(_across(len(runs)), values, strict=True)]
    low, high, latest = (shown.format(value) for value in (min(values), max(values), values[-1]))
    label = f"{title} of {len(runs)} runs, from {low} to {high}"
    return Panel(title, _chart(runs, label, [svg.path(points, "curve")]), f"{latest} in the latest run")


def _relevance(runs: Sequence[RunPoint], name: str) -> Panel:
    """A feature's relevance with a band of two standard errors; runs that did not rank it break the line."""
    marks: list[Markup] = []
    for piece in _pieces([run.relevance.get(name) for run in runs]):
        across = [_across(len(runs))[place] for place in piece]
        values = [runs[place].relevance[name] for place in piece]
        low = [(x, _cut(value - 2 * error)) for x, (value, error) in zip(across, values, strict=True)]
        high = [(x, _cut(value + 2 * error)) for x, (value, error) in zip(across, values, strict=True)]
        marks.append(svg.area([*low, *reversed(high)], "band"))
        marks.append(svg.path([(x, _cut(value)) for x, (value, _) in zip(across, values, strict=True)], "curve"))
    latest = runs[-1].relevance.get(name)
    told = "not ranked in the latest run" if latest is None else f"{latest[0]:.2f} in the latest run"
    return Panel(name, _chart(runs, f"relevance of {short(name)} over {len(runs)} runs", marks), told)


def _chart(runs: Sequence[RunPoint], label: str, inside: Sequence[Markup]) -> Markup:
    """The curves of one panel over a line for each alarm."""
    across = _across(len(runs))
    alarms = [svg.path([(across[i], 0.0), (across[i], 1.0)], "alarm") for i, run in enumerate(runs) if run.alarm]
    return svg.graph(
        HEIGHT,
        label,
        [svg.panel(0, 2, 100, HEIGHT - 4, [*alarms, svg.path([(0.0, 0.0), (1.0, 0.0)], "base"), *inside])],
    )


def _strip(runs: Sequence[RunPoint], name: str) -> Markup:
    """Where a feature was chosen, as bars along the runs."""
    step = 100 / len(runs)
    spans = _pieces([True if name in run.chosen else None for run in runs])
    bars = [svg.rect(span[0] * step, 2, len(span) * step, STRIP - 4, "fill") for span in spans]
    times = sum(map(len, spans))
    back = svg.rect(0, 2, 100, STRIP - 4, "back")
    return svg.graph(STRIP, f"chosen in {times} of {len(runs)} runs", [back, *bars])


def _pieces(values: Sequence[object]) -> list[list[int]]:
    """Places of unbroken rows of values that are there.

    >>> _pieces([1, 2, None, 3])
    [[0, 1], [3]]
    """
    pieces: list[list[int]] = []
    for place, value in enumerate(values):
        if value is not None and pieces and pieces[-1][-1] == place - 1:
            pieces[-1].append(place)
        elif value is not None:
            pieces.append([place])
    return pieces


def _across(count: int) -> list[float]:
    """Places of so many runs along the unit line."""
    return [0.5] if count == 1 else [place / (count - 1) for place in range(count)]


def _cut(value: float) -> float:
    return min(max(value, 0.0), 1.0)
