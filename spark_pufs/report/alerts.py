"""Dangers of an answer, the worst first, each with the next step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from spark_pufs.core.evidence.drift import ColumnCounts
from spark_pufs.masking.texts import masked_texts
from spark_pufs.report.known_warnings import NOTHING_CHOSEN, few_labels
from spark_pufs.report.sentences import listed, short
from spark_pufs.types import LABELLED_POSITIVE, UNLABELLED

if TYPE_CHECKING:
    from spark_pufs.selection import Selection

__all__ = ["Alert", "alerts_of"]

Level = Literal["danger", "caution", "note"]
FEW_LABELS = 30
NEARLY = 0.9  # of the labelled rows in a level that holds hardly any other row
_RANK: dict[Level, int] = {"danger": 0, "caution": 1, "note": 2}


@dataclass(frozen=True)
class Alert:
    """One danger: how bad it is, what was found and what to do next."""

    level: Level
    title: str
    text: str
    next_step: str


# What a warning begins with or holds: its level, title and next step. The first that fits counts.
_KINDS: tuple[tuple[str, Level, str, str], ...] = (
    ("determines the label of every row", "danger", "Leak", "Exclude it, unless it is known before the label is."),
    ("no better than chance", "danger", "Noise", "Label more rows; `spark-pufs power` tells how many it takes."),
    ("labelled positive: expect changes", "danger", "Few labels", "Label more rows, or ask for `stability`."),
    ("Worse than all", "caution", "Something is lost", "Ask for more features, or leave k out."),
    ("not settled", "caution", "Not settled", "Raise `generations`, or choose more or fewer features."),
    ("depends on the draw", "caution", "Not stable", "Rely on the features that most runs chose, or label more rows."),
    ("code for missing", "caution", "Code for missing", "Set such values to null and select again."),
    ("an identifier", "caution", "Identifier", "Name it in keep, or exclude it."),
    ("Too few labelled rows", "caution", "Few labels", "Give k, or label more rows."),
    (
        "infinite values",
        "caution",
        "Infinite values",
        "Set them to null, or to a value that means something.",
    ),
    ("value that means negative", "caution", "No negatives", "Check the values of the label column."),
    ("copies of each other", "note", "Copies", "Nothing to do: one of each group is chosen from."),
)


def alerts_of(selection: Selection) -> list[Alert]:
    """All that a warning, a count or a column left out tells, the worst first."""
    told = [text for text in selection.warnings if text != NOTHING_CHOSEN]
    found = [*map(_of_warning, masked_texts(told)), *_own(selection)]
    return sorted(found, key=lambda one: _RANK[one.level])


def _of_warning(text: str) -> Alert:
    for words, level, title, step in _KINDS:
        if words.casefold() in text.casefold():
            return Alert(level, title, text, step)
    return Alert("caution", "To look at", text, "")


def _own(selection: Selection) -> list[Alert]:
    """What no warning says."""
    found = []
    labelled = selection.facts["labelled_positive"]
    if labelled < FEW_LABELS and few_labels(labelled) not in selection.warnings:
        step = "Label more rows, or ask for `stability` to see what hangs on them."
        found.append(Alert("caution", "Few labels", few_labels(labelled), step))
    if not selection.names:
        step = "Look at the ranking; semi-jmi and other methods that rank choose as many as k says."
        found.append(Alert("danger", "Nothing chosen", "No feature was chosen.", step))
    found += _labels_follow(selection)
    told = {name for name in selection.names if any(f"'{name}'" in text for text in selection.warnings)}
    for column in selection.columns:
        name = column.bins.name
        if name in selection.names and name not in told and _gives_away(column):
            text = f"Column '{short(name, 60)}': one of its levels holds nearly all labelled rows and hardly any other."
            found.append(Alert("caution", "Leak?", text, "Was it known before the label was? Exclude it if not."))
    many = [name for name, why in selection.dropped.items() if "identifier" in why]
    if many:
        text = f"Left out, with too many values to count: {listed(many)}."
        found.append(Alert("note", "Many levels", text, "Group the values of what is no identifier, and select again."))
    return found


def _labels_follow(selection: Selection) -> list[Alert]:
    """Columns by which positives are labelled: they look relevant whatever they say of the class."""
    labelling = selection.findings.labelling
    if labelling is None or not labelling.found:
        return []
    names = list(labelling.found)
    chosen = set(names) & set(selection.names)
    text = f"Who gets a label depends on {listed(names)} among the positives: such a column looks relevant in any case."
    step = f"Rank given them: labelled_by={names[:3]!r}, with semi-mim. Or exclude them."
    return [Alert("danger" if chosen else "caution", "Labels follow a column", text, step)]


def _gives_away(column: ColumnCounts) -> bool:
    """Whether one level is nearly the label itself."""
    labelled, unlabelled = column.rows(LABELLED_POSITIVE), column.rows(UNLABELLED)
    best = int(labelled.argmax())
    enough = labelled[best] >= max(NEARLY * labelled.sum(), 5)
    return bool(enough and labelled[best] >= NEARLY * (labelled[best] + unlabelled[best]))
