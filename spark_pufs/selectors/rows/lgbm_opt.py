"""LGBM-OPT: FSCPU's search over masks with the AUC of a classifier of the label as objective.

The FSCPU paper's ablation (section 6.2.2): LightGBM with 100 trees learns the label on 75 % of the rows and is judged
on the rest. The masks of a generation are judged side by side on one bounded sample. Unlike in the paper, each
generation draws the rows to judge by anew, so that a long search does not learn one split by heart.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spark_pufs.core.evidence.classifier import CLASSIFIERS, TREES, classifier_named
from spark_pufs.core.evidence.held_out_auc import JudgedMasks, MaskAucs, auc_of_masks
from spark_pufs.core.search.budget import Budget
from spark_pufs.core.search.searches import ContrastSearch, ContrastSettings, PaperSearch, Search
from spark_pufs.errors import DataError, Fault
from spark_pufs.findings import Findings
from spark_pufs.findings.parts import SearchTrace
from spark_pufs.selectors.base import Method, Outcome, Task
from spark_pufs.selectors.by_score import mask_within
from spark_pufs.selectors.mask_budget import mask_budget
from spark_pufs.selectors.options import Options, one_of, whole
from spark_pufs.selectors.sampling import Rows, draw_rows

__all__ = ["METHODS"]

Floats = NDArray[np.float64]
GENERATION = 48
UNIT = 4  # masks that one task judges


@dataclass(frozen=True)
class LgbmOptOptions(Options):
    """Options of lgbm-opt."""

    search: str = one_of("contrast", "contrast", "paper")
    evaluations: int = whole(480, 2)
    classifier: str = one_of("lightgbm", *CLASSIFIERS)
    trees: int = whole(TREES, 1)
    rows: int = whole(5_000, 100)


def _run(task: Task) -> Outcome:
    options = task.options_as(LgbmOptOptions)
    classifier = classifier_named(options.classifier)
    budget = mask_budget(task)
    if task.table.plan.labels.positive < 2:
        found = "lgbm-opt learns from some labelled rows and is judged by others, found one"
        raise DataError(Fault(f"Column '{task.request.label.column}'", found, "Label more, or use semi-jmi."))
    rows = draw_rows(task, options.rows)
    search = _search(task, budget)
    while not search.stopped:
        search.tell(_judged(task, rows, search.ask(), search.evaluation_seed, classifier))
        settled = len(search.theta) - search.unsettled
        task.note(
            f"searching: round {search.generation}, {settled} of {len(search.theta)} features decided, best held-out "
            f"AUC so far {search.best_f:.3f}"
        )
    return _outcome(task, search, rows)


def _judged(task: Task, rows: Rows, masks: NDArray[np.bool_], seed: tuple[int, int], classifier: str) -> Floats:
    trees = task.options_as(LgbmOptOptions).trees
    units = [
        JudgedMasks(masks[first : first + UNIT], seed, classifier, trees) for first in range(0, len(masks), UNIT)
    ]  # fmt: skip
    found = task.engine.each(auc_of_masks, rows.plain, units, MaskAucs)
    return np.concatenate([one.auc for one in found])


def _search(task: Task, budget: Budget) -> Search:
    options, seed = task.options_as(LgbmOptOptions), task.request.seed
    evaluations = options.evaluations
    if options.search == "paper":
        return PaperSearch(budget, seed, pairs=max(1, evaluations // 2))
    generations = max(1, evaluations // GENERATION)
    return ContrastSearch(budget, seed, ContrastSettings(generation_size=GENERATION, max_generations=generations))


def _outcome(task: Task, search: Search, rows: Rows) -> Outcome:
    scored = search.scored()
    scores, errors = scored.estimate, scored.error
    mask = mask_within(search.selection(), scores, task.limits)
    chosen = sorted(np.flatnonzero(mask).tolist(), key=lambda i: (-scores[i], i))
    trace = SearchTrace(
        dict(zip(task.table.names, search.theta.tolist(), strict=True)),
        search.generation,
        search.stopped,
        best_auc=search.best_f if np.isfinite(search.best_f) else None,
        masks=search.tried,
    )
    notes = {i: f"theta {theta:.2f}" for i, theta in enumerate(search.theta.tolist())}
    return Outcome(chosen, scores, errors, notes=notes, findings=Findings(sample=rows.note, search=trace))


METHODS = (
    Method(
        "lgbm-opt",
        "Search for the columns on which boosted trees predict labelled rows best (LightGBM)",
        "unlabelled rows may count as negative",
        "480 fits of 100 trees to a bounded sample, as parallel work",
        "a baseline from a library; features that matter to boosted trees together",
        _run,
        LgbmOptOptions,
        from_sample=True,
    ),
)
