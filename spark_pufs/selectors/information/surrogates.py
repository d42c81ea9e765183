"""Which stand-in for the hidden class a method counts with, and why."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Literal

from spark_pufs.core.information.surrogate import (
    Labels,
    SurrogateChoice,
    choose_surrogate,
    switching_threshold,
)
from spark_pufs.errors import DataError, Fault
from spark_pufs.selectors.base import Task
from spark_pufs.selectors.options import Options, one_of
from spark_pufs.types import Json

__all__ = ["SurrogateOptions", "needs_negatives", "plain_choice", "record", "semi_choice"]


@dataclass(frozen=True)
class SurrogateOptions(Options):
    """The option of methods that may be told which surrogate to count with."""

    surrogate: Literal["auto", "y0", "y1", "labelled"] = one_of("auto", "auto", "y0", "y1", "labelled")


def semi_choice(task: Task) -> SurrogateChoice:
    """The more powerful of y0 and y1, by the switching threshold; or as told."""
    told = _told(task)
    return told or choose_surrogate(task.table.plan.labels, task.request.prior)


def plain_choice(task: Task) -> SurrogateChoice:
    """Labelled rows alone where both classes are labelled; else unlabelled as negative, the usual simplification."""
    labels = task.table.plan.labels
    told = _told(task)
    if told:
        return told
    phi = switching_threshold(labels)
    if labels.negative:
        return SurrogateChoice("labelled", phi, "Both classes are labelled: unlabelled rows are left out.")
    return SurrogateChoice("y0", phi, "No negative is labelled: unlabelled rows count as negative.")


def needs_negatives(task: Task, method: str) -> None:
    """Some methods compare labelled positives with labelled negatives and cannot do without."""
    if not task.table.plan.labels.negative:
        raise DataError(
            Fault(
                f"Column '{task.request.label.column}'",
                f"method '{method}' needs rows labelled negative, found none",
                "Name their values in `negative`, or use a method for positives alone such as semi-jmi.",
            )
        )


def record(choice: SurrogateChoice, labels: Labels) -> dict[str, Json]:
    """The choice as plain data for selection.json."""
    return asdict(choice) | {"labels": asdict(labels)}


def _told(task: Task) -> SurrogateChoice | None:
    name = task.options_as(SurrogateOptions).surrogate
    if name == "auto":
        return None
    if name != "y0":
        needs_negatives(task, f"{task.request.method} with surrogate {name}")
    return SurrogateChoice(name, switching_threshold(task.table.plan.labels), "As asked for.")
