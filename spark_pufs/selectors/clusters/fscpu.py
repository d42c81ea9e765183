"""FSCPU: search masks by how well Gaussian-mixture clusters on them concentrate the labelled rows.

Uchikoshi & Akimoto. The driver owns the search; a generation of masks goes to the engine's scorer, the cluster counts
come back, and after each generation the state is kept. The chosen mask's mixture is then counted over every row.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from spark_pufs.core.clusters.cluster_check import ClusterCheck, cluster_check
from spark_pufs.core.clusters.cluster_model import ClusterModel, VerdictKernel
from spark_pufs.core.clusters.count_noise import Rows
from spark_pufs.core.clusters.mixture import (
    COVARIANCES,
    DENSE,
    SCALES,
    STARTS,
    Judge,
    MixtureSettings,
    concentration,
    fit_mask,
    likelihood,
    make_sample,
)
from spark_pufs.core.clusters.objective import positive_clusters, recall_precision
from spark_pufs.core.counting.row_sample import RowSample
from spark_pufs.core.information.chance import MEASURES
from spark_pufs.core.information.surrogate import apply_surrogate
from spark_pufs.core.search.budget import Budget
from spark_pufs.core.search.mask_regression import normal_scores
from spark_pufs.core.search.saved_state import State, state_array, whole_number
from spark_pufs.core.search.searches import (
    SEARCHES,
    ContrastSearch,
    ContrastSettings,
    PaperSearch,
    ScoreLog,
    Search,
    combined,
    jmi_of_masks,
)
from spark_pufs.errors import ConfigError, DataError, Fault, Stopped
from spark_pufs.findings import Findings
from spark_pufs.findings.parts import AssumptionCheck, Cluster, Clustering, SearchTrace
from spark_pufs.masking.texts import gist
from spark_pufs.selectors.base import Method, Outcome, Task
from spark_pufs.selectors.clusters.screening import information_alone, screen, screened, some_column_tells, widened
from spark_pufs.selectors.options import Options, chance_correction, one_of, whole
from spark_pufs.selectors.sampling import Cleaning, draw_sample, rows_in
from spark_pufs.table.numbers import text_numbers

__all__ = ["METHODS", "FscpuOptions", "check_counts", "count_clusters", "mask_budget", "mixture_settings"]

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]
UPPER = 20  # the assumption is checked before the search on the 95 % quantile of its first masks, drawn blindly


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


@dataclass
class Objective:
    """f of masks, or f and their joint mutual information weighed against each other (paper eqs 5 and 13)."""

    labelled: float
    cmi: Floats | None
    log: ScoreLog
    rows: Rows  # that the next generation is scored on
    first: list[Cluster] | None = None  # clusters of a good mask of the first generation, before any choice
    check_before: ClusterCheck | None = None  # of these

    def value(self, masks: Mask, labelled: Floats, rows: Floats) -> Floats:
        f = recall_precision(labelled, rows, self.labelled)
        if self.first is None:
            self.first = _clusters_of_upper(f, labelled, rows)
        if self.cmi is None:
            return f
        score, self.log = combined(f, jmi_of_masks(masks, self.cmi), self.log)
        return score


def _clusters_of_upper(f: Floats, labelled: Floats, rows: Floats) -> list[Cluster]:
    """Whole counts of the mask that one in ``UPPER`` is better than."""
    place = int(np.argsort(f, kind="stable")[-max(len(f) // UPPER, 1)])
    known = np.rint(labelled[place]).astype(int)
    return [Cluster(int(c), int(a)) for a, c in zip(known, np.maximum(np.rint(rows[place]), known), strict=True)]


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
    """``alone`` (D,): what each feature tells by itself, which decides where clusters do not."""
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
    _restore(task, search, objective)
    _generations(task, search, objective, rows, settings)
    mask = search.selection(normal_scores(alone))
    clusters, model = count_clusters(task, mask, rows, cleaning, settings, concentration)
    check = check_counts(clusters, task.request.seed, selected=True, tried=STARTS + search.tried)
    # Nothing is searched where every feature fits.
    before = _before(task, objective)
    clustering = _clustering(clusters, model, len(rows.weight))
    return _outcome(task, search, mask, clustering, AssumptionCheck.of(check), before)


def _generations(task: Task, search: Search, objective: Objective, rows: RowSample, settings: MixtureSettings) -> None:
    """Ask, score, tell, keep, until the search says why it stops."""
    if search.stopped:
        return
    scorer = task.engine.mask_scorer(rows, settings)
    began, first = time.perf_counter(), search.generation
    try:
        while not search.stopped and not _in_vain(task, search, objective):
            masks, used = search.ask(), objective.rows
            counts = scorer.score(search.draws, search.evaluation_seed, used.used)
            search.tell(objective.value(masks, *counts))
            objective.rows = used.after(masks, *counts)
            task.keeper.save(_state(search, objective))
            if search.generation == 1:
                objective.check_before = _check_before(task, objective.first or [])
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
    before = _before(task, objective)
    if before is None or before.verdict == "holds":
        return False
    search.give_up("no effects beyond noise, and no clusters that gather labelled rows")
    return True


def _before(task: Task, objective: Objective) -> AssumptionCheck | None:
    if not objective.first:
        return None
    return AssumptionCheck.of(objective.check_before or _check_before(task, objective.first))


def _check_before(task: Task, clusters: Sequence[Cluster]) -> ClusterCheck:
    """Before any choice: do clusters on some columns, drawn blindly, concentrate the labelled rows?"""
    return check_counts(clusters, task.request.seed, selected=True, tried=UPPER)


def _progress(task: Task, search: Search, seconds: float) -> str:
    options = task.options_as(FscpuOptions)
    total = options.pairs if search.name == "paper" else options.generations
    settled = len(search.theta) - search.unsettled
    left = (total - search.generation) * seconds
    return (
        f"generation {search.generation}: best f {search.best_f:.3f}, {settled} of {len(search.theta)} features "
        f"settled, at most {left:.0f} s left"
    )


def _stopped(task: Task, search: Search) -> Fault:
    names = [task.table.names[i] for i in np.flatnonzero(search.selection())]
    best = f"best f {search.best_f:.3f} after {search.generation} generations with {', '.join(names)}"
    kept = task.keeper.where
    fix = f"Go on with `spark-pufs resume {kept}`." if kept else "Name a checkpoint to be able to go on."
    return Fault("Search", f"stopped by the user; {best}", fix)


def _state(search: Search, objective: Objective) -> State:
    log = objective.log
    own = {"log_count": log.count, "log_mean": log.mean, "log_scatter": log.scatter, "rows": objective.rows.used}
    first = [{"labelled": one.labelled, "rows": one.rows} for one in objective.first or ()]
    return {**{f"search.{name}": value for name, value in search.state_dict().items()}, **own, "first": first}


def _restore(task: Task, search: Search, objective: Objective) -> None:
    state = task.keeper.load()
    if state is None:
        return
    try:
        search.restore({name.removeprefix("search."): v for name, v in state.items() if name.startswith("search.")})
        objective.log = _kept_log(state, search.generation, objective.cmi is not None)
        objective.rows = _kept_rows(state, objective.rows)
        objective.first = _kept_clusters(state, task.options_as(FscpuOptions).clusters)
    except (ValueError, KeyError, TypeError, OverflowError) as error:
        found = f"is not one of this search ({gist(error)})"
        raise DataError(Fault(f"Checkpoint in '{task.keeper.where}'", found, "Delete it to start again.")) from error
    task.note(f"going on after generation {search.generation}")


def _kept_log(state: State, generations: int, with_information: bool) -> ScoreLog:
    """The log of scores; every generation adds to it where information is weighed in, and none otherwise."""
    count = whole_number(state, "log_count")
    mean, scatter = (state_array(state, name, np.float64, (2,)) for name in ("log_mean", "log_scatter"))
    if (scatter < 0).any() or (count > 0) != (with_information and generations > 0):
        raise ValueError(f"a log of {count} scores after {generations} generations")
    return ScoreLog(count, mean, scatter)


def _kept_rows(state: State, first: Rows) -> Rows:
    """The rows that the next generation is scored on; they only ever grow."""
    used = whole_number(state, "rows")
    if not first.used <= used <= first.labelled + first.others:
        raise ValueError(f"scores on {used} rows")
    return replace(first, used=used)


def _kept_clusters(state: State, components: int) -> list[Cluster]:
    """The clusters of a good mask of the first generation."""
    first = state["first"]
    if not isinstance(first, list) or len(first) != components:
        raise ValueError(f"'first' is not a list of {components} clusters")
    found = [Cluster(whole_number(one, "rows"), whole_number(one, "labelled")) for one in first]
    if any(cluster.labelled > cluster.rows for cluster in found):
        raise ValueError("more labelled rows than rows in a cluster")
    return found


def _search(task: Task, budget: Budget, start: Floats | None) -> Search:
    options = task.options_as(FscpuOptions)
    if options.search == "paper":
        return PaperSearch(budget, task.request.seed, options.pairs, start=start)
    settings = ContrastSettings(options.generation_size, max_generations=options.generations)
    return ContrastSearch(budget, task.request.seed, settings, start)


def mixture_settings(options: FscpuOptions) -> MixtureSettings:
    """How masks are clustered."""
    return MixtureSettings(options.clusters, options.covariance, scale=options.scale)


def mask_budget(task: Task) -> Budget:
    """What a mask may cost: k features or a budget; half of the features if neither is given."""
    limits, request = task.limits, task.request
    if request.k is not None and request.budget is not None:
        fault = Fault("Options 'k' and 'budget'", "a search takes one of them, got both", "Leave one out.")
        raise ConfigError(fault)
    must = np.zeros(len(limits.costs), np.bool_)
    must[list(limits.must)] = True
    if request.budget is not None:
        return Budget.of(limits.costs, request.budget, must, limits.never)
    k = limits.k if request.k is not None else -(-int((~limits.never).sum()) // 2)
    return Budget.of(np.ones(len(must)), max(k, len(limits.must)), must, limits.never)


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


def check_counts(clusters: Sequence[Cluster], seed: int, selected: bool = False, tried: int = 1) -> ClusterCheck:
    """Does clustering concentrate the labelled rows more than chance? ``tried``: clusterings it was the best of."""
    labelled, rows = (np.array(counts) for counts in zip(*((one.labelled, one.rows) for one in clusters), strict=True))
    return cluster_check(labelled, rows, np.random.default_rng([seed, 2]), selected=selected, tried=tried)


def count_clusters(
    task: Task,
    mask: Mask,
    rows: RowSample,
    cleaning: Cleaning,
    settings: MixtureSettings,
    judge: Judge = likelihood,
) -> tuple[tuple[Cluster, ...], ClusterModel]:
    """Cluster the sample on the chosen columns once more, with care, and count every row of the table.

    Of several fits ``judge`` chooses: the likeliest, blind to labels, or the one that gathers them best.
    """
    chosen = np.flatnonzero(mask)
    sample = make_sample(rows.X[:, chosen], rows.labelled, rows.weight, scale=settings.scale)
    mixture = fit_mask(sample, np.ones(len(chosen), np.bool_), settings, [task.request.seed, len(mask)], judge)
    names = tuple(task.table.names[i] for i in chosen)
    text = {name: own for name, own in text_numbers(task.table, task.counter).items() if name in names}
    model = ClusterModel(names, *cleaning.of(chosen), mixture, np.zeros(settings.components, np.bool_), text)
    plan = task.table.plan
    # A source of the chosen columns alone: of a wide table the others need not be read.
    source = task.engine.source(model.numeric, tuple(text), plan.schema.label)
    counts = source.scan(VerdictKernel(model, plan.states), "verdict").counts
    positive = positive_clusters(counts[1:], counts[:1])[0]
    clusters = tuple(
        Cluster(int(size), int(labelled), bool(flag))
        for size, labelled, flag in zip(counts[0], counts[1], positive, strict=True)
    )
    return clusters, replace(model, positive=positive)


def _clustering(clusters: tuple[Cluster, ...], model: ClusterModel, sample_rows: int) -> Clustering:
    labelled, rows = ([getattr(one, name) for one in clusters] for name in ("labelled", "rows"))
    f = float(recall_precision([labelled], [rows], sum(labelled))[0])
    return Clustering(clusters, f, f * sum(rows) / max(sum(labelled), 1), sample_rows, model=model)


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
    )
    findings = Findings(check=check, check_before=before, clustering=clustering, search=trace)
    notes = {i: f"theta {search.theta[i]:.2f}" for i in range(len(mask))}
    return Outcome(chosen, scores, errors, notes=notes, warnings=_open(unsettled), findings=findings)


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
