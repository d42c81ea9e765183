"""The verdict in three lines: better than chance or not; held-out AUC; what to look at first."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from spark_pufs.findings import Findings
from spark_pufs.report.alerts import Alert, alerts_of
from spark_pufs.selectors.evidence.comparison import CHANCE
from spark_pufs.selectors.evidence.trial import ALL

if TYPE_CHECKING:
    from spark_pufs.selection import Selection

__all__ = ["Figure", "Verdict", "verdict_of"]

BY_CHANCE = 0.5  # AUC


@dataclass(frozen=True)
class Figure:
    """Held-out AUC of one set of columns; ``error`` is a standard error, None where it is not known."""

    what: str
    auc: float
    error: float | None = None

    def __str__(self) -> str:
        error = "" if not self.error else f" ± {self.error:.3f}"
        return f"{self.what} {self.auc:.3f}{error}"


@dataclass(frozen=True)
class Verdict:
    """``better`` than chance, or not judged: None. ``figures``: held-out AUC, chosen first, where it is known."""

    better: bool | None
    figures: tuple[Figure, ...]
    chosen: int
    features: int
    alerts: tuple[Alert, ...]

    @property
    def headline(self) -> str:
        """The first line: may one rely on it at all?"""
        if self.better is None:
            return "Not judged against chance: no rows were held out."
        return "Better than chance." if self.better else "No better than chance: do not rely on this ranking."

    @property
    def held_out(self) -> str:
        """The second line: what the choice is worth beside all features and beside chance."""
        if not self.figures:
            return "Held-out AUC: not known for this method."
        return f"Held-out AUC: {', '.join(map(str, self.figures))}."

    @property
    def look_at(self) -> str:
        """The third line: the first danger, and how many more there are."""
        if not self.alerts:
            return "Nothing to look at was found."
        more = f" (and {len(self.alerts) - 1:,} more)" if len(self.alerts) > 1 else ""
        return f"Look at: {self.alerts[0].text}{more}"

    @property
    def lines(self) -> tuple[str, str, str]:
        return self.headline, self.held_out, self.look_at


def verdict_of(selection: Selection) -> Verdict:
    """What a selection found, in the order in which it is asked for."""
    findings, words = selection.findings, selection.verdict
    better = None if not words or words.startswith("Not judged") else words.startswith("Better")
    chosen, every = len(selection.names), len(selection.features)
    figures = tuple(_figures(findings, chosen, every))
    return Verdict(better, figures, chosen, every, tuple(alerts_of(selection)))


def _figures(findings: Findings, chosen: int, every: int) -> Iterator[Figure]:
    """The choice, all features and chance, from whatever judged them."""
    if findings.choice is not None and findings.comparison is not None:
        rows = {row.method: row for row in findings.comparison.rows}
        own = [row for name, row in rows.items() if name.split(" (")[0] in findings.choice.methods]
        if own:
            yield Figure(_columns(chosen), own[0].auc, own[0].auc_error)
        for name, what in ((ALL, f"all {every}"), (CHANCE, "labels redrawn")):
            if name in rows:
                yield Figure(what, rows[name].auc, rows[name].auc_error)
        return
    held, teacher = findings.held_out, findings.teacher
    if held is not None:
        yield Figure(_columns(chosen), held.chosen, held.chosen_error)
        yield Figure(f"all {every}", held.every, held.every_error)
    elif teacher is not None:
        yield Figure(f"all {every}", teacher.auc, teacher.error)
    else:
        return
    yield Figure("chance", BY_CHANCE)


def _columns(count: int) -> str:
    return f"{count} chosen"
