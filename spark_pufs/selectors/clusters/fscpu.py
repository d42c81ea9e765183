"""FSCPU: search masks by how well Gaussian-mixture clusters on them concentrate the labelled rows.

Uchikoshi & Akimoto. The driver owns the search; a generation of masks goes to the engine's scorer, the cluster counts
come back, and after each generation the state is kept. The chosen mask's mixture is then counted over every row.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from spark_pufs.core.clusters.count_noise import Rows
from spark_pufs.core.clusters.mixture import (
    COVARIANCES,
    DENSE,
    SCALES,
    STARTS,
    MixtureSettings,
    concentration,
)
from spark_pufs.core.counting.row_sample import RowSample
from spark_pufs.core.information.chance import MEASURES
from spark_pufs.core.information.surrogate import apply_surrogate
from spark_pufs.core.search.budget import Budget
from spark_pufs.core.search.mask_regression import normal_scores
from spark_pufs.core.search.searches import (
    SEARCHES,
    ContrastSearch,
    ContrastSettings,
    PaperSearch,
    ScoreLog,
    Search,
)
from spark_pufs.engines.at_work import at_work
from spark_pufs.engines.base import log_generation
from spark_pufs.errors import ConfigError, Fault, Stopped
from spark_pufs.findings import Findings
from spark_pufs.findings.parts import AssumptionCheck, Clustering, SearchTrace
from spark_pufs.selectors.base import Method, Outcome, Task
from spark_pufs.selectors.by_score import mask_within
from spark_pufs.selectors.clusters.cluster_counts import check_counts, clustering_of, count_clusters
from spark_pufs.selectors.clusters.screening import information_alone, screen, screened, some_column_tells, widened
from spark_pufs.selectors.clusters.search_state import (
    Objective,
    check_before,
    checkpoint_state,
    finding_before,
    restore,
)
from spark_pufs.selectors.mask_budget import mask_budget
from spark_pufs.selectors.options import Options, chance_correction, one_of, whole
from spark_pufs.selectors.sampling import draw_sample, rows_in

__all__ = ["METHODS", "FscpuOptions", "mixture_settings"]

NAMED = 3  # features in a line of progress

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class FscpuOptions(Options):
    """Options of fscpu and fscpu-mi."""

    search: str = one_of("contrast", *SEARCHES)
    clusters: int = whole(10, 2, 100)
    covariance: str = one_of("diag", *COVARIANCES)
    scale: str = one_of("deviation", *SCALES)
    generation_size: int = whole(288, 16)
    generations: int = whole(60, 1)
    pairs: int = whole(3000, 1)
    start: str = one_of("even", "even", "semi-jmi")
    sample_mb: int = whole(16, 1)
    screen: int = whole(512, 16)
    correction: str = chance_correction()


def _run(task: Task, with_information: bool) -> Outcome:
    options, limits = task.options_as(FscpuOptions), task.limits
    alone = information_alone(task, options.correction)
    kept = screen(alone, limits.must, limits.never, options.screen, mask_budget(task).count)
    if kept is None:
        return _advised(_searched(task, with_information, alone), task)
    part = screened(task, kept)
    try:
        outcome = _advised(_searched(part, with_information, alone[kept]), task)
    finally:
        part.table.blocks.release()
    return widened(outcome, kept, task, alone)


def _searched(task: Task, with_information: bool, alone: Floats) -> Outcome:
    """``alone`` (D,): each feature's information alone, which decides where clusters do not."""
    options = task.options_as(FscpuOptions)
    budget = mask_budget(task)
    settings = mixture_settings(options)
    cmi = _cmi(task) if with_information or options.start == "semi-jmi" else None
    search = _search(task, budget, _start(cmi) if cmi is not None and options.start == "semi-jmi" else None)
    rows, cleaning = draw_sample(task, rows_in(options.sample_mb, task))
    weighed = cmi if with_information else None
    known, few = int(rows.labelled.sum()), isinstance(search, ContrastSearch) and settings.covariance not in DENSE
    start = Rows.first(known, len(rows.weight) - known, few)
    objective = Objective(float(task.table.plan.labels.positive), weighed, ScoreLog.empty(), start)
    restore(task, search, objective, options.clusters)
    _generations(task, search, objective, rows, settings)
    mask = search.selection(normal_scores(alone))
    if task.request.k is not None or task.request.budget is not None:
        mask = mask_within(mask, search.scored().estimate, task.limits)
    clusters, model = count_clusters(task, mask, rows, cleaning, settings, concentration)
    check = check_counts(clusters, task.request.seed, selected=True, tried=STARTS + search.tried)
    before = finding_before(task, objective)
    clustering = clustering_of(clusters, model, len(rows.weight))
    return _outcome(task, search, mask, clustering, AssumptionCheck.of(check), before)


def _generations(task: Task, search: Search, objective: Objective, rows: RowSample, settings: MixtureSettings) -> None:
    """Ask, score, tell, keep, until the search says why it stops."""
    if search.stopped:
        return
    scorer = task.engine.mask_scorer(rows, settings)
    began, first = time.perf_counter(), search.generation
    try:
        while not search.stopped and not _in_vain(task, search, objective):
            masks, used, asked = search.ask(), objective.rows, time.perf_counter()
            with at_work(f"generation {search.generation + 1} of {_most(task, search)}"):
                counts = scorer.score(search.draws, search.evaluation_seed, used.used)
            log_generation(search.generation + 1, len(masks), used.used, asked)
            search.tell(objective.value(masks, *counts))
            objective.rows = used.after(masks, *counts)
            task.keeper.save(checkpoint_state(search, objective))
            if search.generation == 1:
                objective.check_before = check_before(task, objective.first or [])
                task.note(f"before the search, {objective.check_before}")
            task.note(_progress(task, search, (time.perf_counter() - began) / (search.generation - first)))
    except KeyboardInterrupt as stop:
        raise Stopped(_stopped(task, search)) from stop
    finally:
        scorer.close()


def _in_vain(task: Task, search: Search, objective: Objective) -> bool:
    """Ends a search that is not expected to settle, of rows that clusters did not gather before it either."""
    if not isinstance(search, ContrastSearch) or not search.hopeless:
        return False
    before = finding_before(task, objective)
    if before is None or before.verdict == "holds":
        return False
    search.give_up("no effects beyond noise, and no clusters that gather labelled rows")
    return True


def _most(task: Task, search: Search) -> int:
    """Generations that the search may make."""
    options = task.options_as(FscpuOptions)
    return options.pairs if search.name == "paper" else options.generations


def _progress(task: Task, search: Search, seconds: float) -> str:
    total = _most(task, search)
    settled = len(search.theta) - search.unsettled
    left = (total - search.generation) * seconds
    return (
        f"searching: round {search.generation} of at most {total:,}, {settled} of {len(search.theta)} features "
        f"decided, at most {left:.0f} s left, best so far {_some(task, search)}"
    )


def _some(task: Task, search: Search) -> str:
    """The first features of the best choice so far."""
    names = [task.table.names[i] for i in np.argsort(-search.theta, kind="stable") if search.selection()[i]]
    return ", ".join(names[:NAMED]) + (f" and {len(names) - NAMED} more" if len(names) > NAMED else "")


def _stopped(task: Task, search: Search) -> Fault:
    names = [task.table.names[i] for i in np.flatnonzero(search.selection())]
    best = f"best f {search.best_f:.3f} after {search.generation} generations with {', '.join(names)}"
    kept = task.keeper.where
    fix = f"Go on with `spark-pufs resume {kept}`." if kept else "Name a checkpoint to be able to go on."
    return Fault("Search", f"stopped by the user; {best}", fix)


def _search(task: Task, budget: Budget, start: Floats | None) -> Search:
    options = task.options_as(FscpuOptions)
    if options.search == "paper":
        return PaperSearch(budget, task.request.seed, options.pairs, start=start)
    settings = ContrastSettings(options.generation_size, max_generations=options.generations)
    return ContrastSearch(budget, task.request.seed, settings, start)


def mixture_settings(options: FscpuOptions) -> MixtureSettings:
    """How masks are clustered."""
    return MixtureSettings(options.clusters, options.covariance, scale=options.scale)


def _cmi(task: Task) -> Floats:
    """I(X_k; S | X_j) as (k, j), counted once."""
    if not task.counter.pairs_fit():
        needed = -(-task.counter.pair_bytes() // 2**20)
        fault = Fault(
            f"Method '{task.request.method}'",
            f"counts all pairs of {len(task.table.names)} features, which takes {needed} MB",
            f"Set pair_memory_mb: {needed}, or use fscpu.",
        )
        raise ConfigError(fault)
    layout, measure = task.table.layout, MEASURES[task.options_as(FscpuOptions).correction]
    columns = [
        measure.given(apply_surrogate(task.counter.with_feature(j), "y0"), layout)[0] for j in range(layout.features)
    ]
    return np.stack(columns, axis=1)


def _start(cmi: Floats) -> Floats:
    """A starting theta from joint mutual information: ranks from 0.1 to 0.9."""
    rank = np.argsort(np.argsort(cmi.sum(axis=1), kind="stable"), kind="stable")
    return 0.1 + 0.8 * rank / max(len(rank) - 1, 1)


def _outcome(
    task: Task,
    search: Search,
    mask: Mask,
    clustering: Clustering,
    check: AssumptionCheck,
    before: AssumptionCheck | None,
) -> Outcome:
    scored = search.scored()
    scores, errors = scored.estimate, scored.error
    chosen = sorted(np.flatnonzero(mask).tolist(), key=lambda i: (-scores[i], i))
    if task.request.k is None and task.request.budget is None:  # all are asked for: the search's half comes first
        chosen += sorted(np.flatnonzero(~mask & ~task.limits.never).tolist(), key=lambda i: (-scores[i], i))
    unsettled = search.unsettled / len(search.theta)
    trace = SearchTrace(
        dict(zip(task.table.names, search.theta.tolist(), strict=True)),
        search.generation,
        search.stopped,
        unsettled,
        tuple(map(tuple, np.round(np.array(search.history).reshape(-1, len(mask)), 4).tolist())),
        masks=search.tried,
    )
    findings = Findings(check=check, check_before=before, clustering=clustering, search=trace)
    notes = {i: f"theta {search.theta[i]:.2f}" for i in range(len(mask))}
    told = (*_open(unsettled), *clustering.left_out)
    return Outcome(chosen, scores, errors, notes=notes, warnings=told, findings=findings)


def _open(unsettled: float) -> tuple[str, ...]:
    told = f"{unsettled:.0%} of the features are not settled: the search ended before the answer was clear."
    return (told,) if unsettled > 0.2 else ()


def _advised(outcome: Outcome, task: Task) -> Outcome:
    """What to do where clusters do not hold: other methods help where there is something to be found."""
    check = outcome.findings.check
    if check is None or check.verdict != "does not hold":
        return outcome
    told = "The chosen columns' clusters gather the labelled rows hardly more than chance would"
    if some_column_tells(task):
        advice = f"{told}: use method semi-jmi or auto, which do not rest on clusters."
    else:
        advice = f"{told}, and no column alone tells more of the label than noise does: label more rows."
    return replace(outcome, warnings=(*outcome.warnings, advice))


_ASSUMES = "positives gather in clusters once the right columns are looked at; labels depend on the class alone (SCAR)"
_COST = "three passes over the rows, and 2,000 to 17,000 clusterings of a bounded sample"

METHODS = (
    Method(
        "fscpu",
        "Search for the columns on which clusters concentrate the labelled rows",
        _ASSUMES,
        _COST,
        "few labels, and positives that form groups of their own",
        partial(_run, with_information=False),
        FscpuOptions,
        makes_clusters=True,
        trial_options={"generations": 3, "sample_mb": 1},
    ),
    Method(
        "fscpu-mi",
        "The same search, with the columns' joint information about the label weighed in",
        _ASSUMES,
        "as fscpu, and one pass more to count pairs",
        "as fscpu, where single columns are informative too",
        partial(_run, with_information=True),
        FscpuOptions,
        makes_clusters=True,
    ),
)
