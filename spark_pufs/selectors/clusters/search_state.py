"""The objective of an FSCPU search between generations, and the search with it as a checkpoint."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from spark_pufs.core.clusters.cluster_check import ClusterCheck
from spark_pufs.core.clusters.count_noise import Rows
from spark_pufs.core.clusters.objective import recall_precision
from spark_pufs.core.search.saved_state import State, state_array, whole_number
from spark_pufs.core.search.searches import ScoreLog, Search, combined, jmi_of_masks
from spark_pufs.errors import DataError, Fault
from spark_pufs.findings.parts import AssumptionCheck, Cluster
from spark_pufs.masking.texts import gist
from spark_pufs.selectors.base import Task
from spark_pufs.selectors.clusters.cluster_counts import check_counts

__all__ = ["Objective", "check_before", "checkpoint_state", "finding_before", "restore"]

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]
UPPER = 20  # the assumption is checked before the search on the 95 % quantile of its first masks, drawn blindly


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


def finding_before(task: Task, objective: Objective) -> AssumptionCheck | None:
    """The check before the search, for the report; None where nothing was searched."""
    if not objective.first:
        return None
    return AssumptionCheck.of(objective.check_before or check_before(task, objective.first))


def check_before(task: Task, clusters: Sequence[Cluster]) -> ClusterCheck:
    """Before any choice: do clusters on some columns, drawn blindly, concentrate the labelled rows?"""
    return check_counts(clusters, task.request.seed, selected=True, tried=UPPER)


def checkpoint_state(search: Search, objective: Objective) -> State:
    """What ``restore`` needs: arrays, numbers and strings."""
    log = objective.log
    own = {"log_count": log.count, "log_mean": log.mean, "log_scatter": log.scatter, "rows": objective.rows.used}
    first = [{"labelled": one.labelled, "rows": one.rows} for one in objective.first or ()]
    return {**{f"search.{name}": value for name, value in search.state_dict().items()}, **own, "first": first}


def restore(task: Task, search: Search, objective: Objective, clusters: int) -> None:
    """Go on where a checkpoint of the same search, with so many clusters, was saved; or begin."""
    state = task.keeper.load()
    if state is None:
        return
    try:
        search.restore({name.removeprefix("search."): v for name, v in state.items() if name.startswith("search.")})
        objective.log = _kept_log(state, search.generation, objective.cmi is not None)
        objective.rows = _kept_rows(state, objective.rows)
        objective.first = _kept_clusters(state, clusters)
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
