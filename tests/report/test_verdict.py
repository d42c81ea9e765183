"""The verdict: what it reads from the evidence of each kind of method."""

from __future__ import annotations

from dataclasses import replace

import pytest

from spark_pufs.core.soft.held_out import HeldOut
from spark_pufs.findings import Findings
from spark_pufs.findings.parts import Choice, Standing, Standings, TeacherSummary
from spark_pufs.report.terminal import answer_lines
from spark_pufs.report.verdict import verdict_of
from spark_pufs.selection import Selection
from support.example_selections import plain


def with_findings(findings: Findings, warnings: tuple[str, ...] = ()) -> Selection:
    return replace(plain(), findings=findings, warnings=warnings)


def test_held_out_rows_tell_all_three() -> None:
    held = HeldOut(0.912, 0.93, 0.02, 0.01, 0.0, 0.015)
    found = with_findings(Findings(verdict="Better than chance: ...", held_out=held))
    chosen, every = len(found.names), len(found.features)
    assert verdict_of(found).lines == (
        "Better than chance.",
        f"Held-out AUC: {chosen} chosen 0.912 ± 0.020, all {every} 0.930 ± 0.015, chance 0.500.",
        "Nothing to look at was found.",
    )


def test_a_teacher_tells_of_all_features() -> None:
    teacher = TeacherSummary(0.75, 0.03, True, (), 0.1)
    found = with_findings(Findings(verdict="No better than chance: ...", teacher=teacher), ("one", "two", "three"))
    lines = verdict_of(found).lines
    assert lines[0] == "No better than chance: do not rely on this ranking."
    assert lines[1] == f"Held-out AUC: all {len(found.features)} 0.750 ± 0.030, chance 0.500."
    assert lines[2] == "Look at: one (and 2 more)"


def test_a_comparison_tells_with_labels_redrawn() -> None:
    rows = [("mim (bins=5)", 0.9, 0.01), ("all", 0.95, 0.02), ("chance (labels redrawn)", 0.51, 0.03)]
    standings = Standings(tuple(Standing(m, auc, e, None, None, 1, 1, 1, None, "") for m, auc, e in rows))
    choice = Choice("mim", ("mim",), "", "Better than chance")
    found = with_findings(Findings(verdict="Better than chance", choice=choice, comparison=standings))
    assert [(figure.auc, figure.error) for figure in verdict_of(found).figures] == [(a, e) for _, a, e in rows]
    assert verdict_of(found).figures[2].what == "labels redrawn"


@pytest.mark.parametrize("verdict", [None, "Not judged: 2 labelled rows are too few to hold any out."])
def test_what_was_not_judged_is_said(verdict: str | None) -> None:
    assert verdict_of(with_findings(Findings(verdict=verdict))).lines[:2] == (
        "Not judged against chance: no rows were held out.",
        "Held-out AUC: not known for this method.",
    )


def test_a_terminal_shows_bars_as_long_as_the_relevance() -> None:
    first, second, *others = plain().features
    ranked = (replace(first, relevance=1.0, relevance_error=0.05), replace(second, name="b", relevance=0.5))
    selection = replace(plain(), features=(*ranked, *others))
    lines = answer_lines(selection, "#")
    assert lines[0] == selection.summary
    assert f"{'#' * 24}  1.00 ± 0.10" in next(line for line in lines if line.startswith("    1  "))
    assert f" {'#' * 12} " in next(line for line in lines if line.startswith("    2  b "))
    assert lines[-3:] == list(verdict_of(selection).lines)
