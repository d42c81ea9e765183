"""A search over thousands of features takes those of highest individual relevance: no mask would hold two that matter.

With D features and masks of k, a feature is in k / D of the masks: at 3,000 features and k = 25 once in a hundred and
twenty. What is searched is then also all that the sample has to hold and that its pass has to read.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from spark_pufs.core.information.chance import MEASURES, chance_of_class
from spark_pufs.core.information.mutual_information import class_given_feature
from spark_pufs.core.information.surrogate import apply_surrogate
from spark_pufs.selectors.base import Outcome, Task
from spark_pufs.selectors.task import task_of
from spark_pufs.table.pu_table import narrowed

__all__ = ["information_alone", "screen", "screened", "some_column_tells", "widened"]

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]

PER_CHOSEN = 4  # features to search for each that is chosen, at least


def information_alone(task: Task, correction: str) -> Floats:
    """The information (D,) of each feature alone about the label."""
    measure = MEASURES[correction]
    return measure.alone(apply_surrogate(task.counter.labels(), "y0"), task.table.layout)[0]


def some_column_tells(task: Task) -> bool:
    """Whether some column alone has more information about the label than the best of as many noise columns, at 5 %."""
    counts, layout = apply_surrogate(task.counter.labels(), "y0")[:, None, :], task.table.layout
    deviates = chance_of_class(counts, layout).deviates(class_given_feature(counts, layout)[0])
    return bool(deviates.max() > -ndtri(0.05 / layout.features))


def screen(information: Floats, must: tuple[int, ...], never: NDArray[np.bool_], most: int, chosen: int) -> Ints | None:
    """The features to search, in table order; None where all of them are.

    >>> screen(np.array([0.3, 0.1, 0.2, 0.0, 0.4]), (3,), np.array([0, 0, 0, 0, 1], bool), most=2, chosen=0).tolist()
    [0, 3]
    """
    size = max(most, PER_CHOSEN * chosen, len(must))
    if int((~never).sum()) <= size:
        return None
    rank = np.where(never, -np.inf, information)
    rank[list(must)] = np.inf
    return np.sort(np.argsort(-rank, kind="stable")[:size])


def screened(task: Task, kept: Ints) -> Task:
    """The same task on some of its features."""
    names = tuple(task.table.names[i] for i in kept)
    return task_of(task, narrowed(task.table.plan, task.engine, names))


def widened(outcome: Outcome, kept: Ints, task: Task, information: Floats) -> Outcome:
    """The outcome in terms of all features; those that were not searched rank last, by their individual relevance."""
    scores, errors = np.zeros(len(information)), np.zeros(len(information))
    scores[kept], errors[kept] = outcome.scores, outcome.errors
    out = np.ones(len(information), np.bool_)
    out[kept] = False
    told = information - min(float(information.min()), 0.0)
    scores[out] = outcome.scores.min() - 1 + told[out] / max(float(told.max()), 1e-300)
    notes = {int(kept[i]): note for i, note in outcome.notes.items()}
    notes |= {int(i): "not searched: low individual relevance" for i in np.flatnonzero(out)}
    warning = (
        f"Searched the {len(kept):,} features of highest individual relevance, of {len(information):,}: one that is "
        f"relevant only together with others may be missed. Set screen to search more."
    )
    clustering = outcome.findings.clustering
    return replace(
        outcome,
        chosen=[int(kept[i]) for i in outcome.chosen],
        scores=scores,
        errors=errors,
        notes=notes,
        warnings=(warning, *outcome.warnings),
        findings=replace(outcome.findings, clustering=clustering and replace(clustering, screened=len(kept))),
    )
