"""The clusters of a chosen mask, counted over every row of the table, and whether they hold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from spark_pufs.core.clusters.cluster_check import ClusterCheck, cluster_check
from spark_pufs.core.clusters.cluster_model import ClusterModel, VerdictKernel
from spark_pufs.core.clusters.mixture import Judge, MixtureSettings, fit_mask, likelihood, make_sample
from spark_pufs.core.clusters.objective import positive_clusters, recall_precision
from spark_pufs.core.counting.row_sample import RowSample
from spark_pufs.findings.parts import Cluster, Clustering
from spark_pufs.selectors.base import Task
from spark_pufs.selectors.sampling import Cleaning
from spark_pufs.table.numbers import text_numbers

__all__ = ["check_counts", "clustering_of", "count_clusters"]

Mask = NDArray[np.bool_]


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


def clustering_of(clusters: tuple[Cluster, ...], model: ClusterModel, sample_rows: int) -> Clustering:
    labelled, rows = ([getattr(one, name) for one in clusters] for name in ("labelled", "rows"))
    f = float(recall_precision([labelled], [rows], sum(labelled))[0])
    return Clustering(clusters, f, f * sum(rows) / max(sum(labelled), 1), sample_rows, model=model)
