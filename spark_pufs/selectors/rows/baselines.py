"""The papers' baselines that need rows: one task, on a bounded sample, whatever the engine."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from spark_pufs.core.baselines.correlation import mrmr_ufs, rrpc
from spark_pufs.core.baselines.embedding import jelsr, ndfs
from spark_pufs.core.baselines.jsfs import jsfs
from spark_pufs.core.baselines.laplacian_scores import cls, sselect
from spark_pufs.core.baselines.rfs import rfs
from spark_pufs.core.baselines.scored import Scored, canonical_order, settled, tied
from spark_pufs.core.baselines.trace_ratio import semifs
from spark_pufs.core.baselines.wrappers.es_mcrfs import es_mcrfs
from spark_pufs.core.baselines.wrappers.fw_semifs import fw_semifs
from spark_pufs.core.counting.row_sample import LabelledRows
from spark_pufs.findings import Findings
from spark_pufs.selectors.base import Method, Outcome, Task
from spark_pufs.selectors.by_score import by_score
from spark_pufs.selectors.one_task import in_one_task
from spark_pufs.selectors.rows.baseline_options import (
    BaselineOptions,
    ClsOptions,
    EsMcrfsOptions,
    FwSemifsOptions,
    JelsrOptions,
    JsfsOptions,
    MrmrUfsOptions,
    NdfsOptions,
    RfsOptions,
    RrpcOptions,
    SemifsOptions,
    SselectOptions,
)
from spark_pufs.selectors.sampling import Rows, draw_rows
from spark_pufs.table.limits import Limits

__all__ = ["METHODS"]


@dataclass(frozen=True)
class BaselineKernel:
    """``score(X, label, rng, **options)``, and what it is given besides the method's options.

    ``forward``: it chooses feature by feature and is given which are free; ``counted``: how many are wanted.
    """

    score: Callable[..., Scored]
    forward: bool = False
    counted: bool = False


@dataclass(frozen=True)
class Asked:
    """What may be chosen, and the seed of what is drawn."""

    limits: Limits
    seed: int


@dataclass(frozen=True)
class ScoredColumns:
    """Scores (D,), the features in the order chosen where the baseline chooses, and the objective step by step."""

    scores: NDArray[np.float64]
    order: NDArray[np.int64]
    objective: NDArray[np.float64]


def score_rows(kernel: BaselineKernel, own: Mapping[str, object], shared: LabelledRows, asked: Asked) -> ScoredColumns:
    """The kernel on the rows, sorted by content first: neither the order of rows nor that of columns tells."""
    never = asked.limits.never
    open_ = np.flatnonzero(~never | (not kernel.counted))  # a feature never chosen takes no place
    rows, columns = canonical_order(shared.X[:, open_], shared.label)
    columns = open_[columns]
    limits = _of_columns(asked.limits, columns)
    options = dict(own)
    if kernel.forward:
        options["free"] = limits.open
    if kernel.counted:
        options["select"] = limits.in_features(limits.most())
    rng = np.random.default_rng(asked.seed)
    X = shared.X[rows][:, columns]
    found = kernel.score(X, shared.label[rows], rng, **options)
    # Where copies compete for one place their scores differ on purpose.
    compete = kernel.forward or kernel.counted
    scores = np.full(len(never), found.scores.min())
    scores[columns] = settled(found.scores if compete else tied(found.scores, X))
    order = np.array([] if found.order is None else columns[list(found.order)], np.int64)
    return ScoredColumns(scores, order, np.array(found.objective, np.float64))


def _of_columns(limits: Limits, columns: NDArray[np.intp]) -> Limits:
    """The limits in terms of sorted columns."""
    must = tuple(np.flatnonzero(np.isin(columns, limits.must)).tolist())
    units = None if limits.units is None else limits.units[columns]
    return Limits(limits.k, limits.costs[columns], limits.budget, must, limits.never[columns], units)


def _run(kernel: BaselineKernel, task: Task) -> Outcome:
    options = asdict(task.options_as(BaselineOptions))
    del options["judge"]  # which is done outside the method
    rows = draw_rows(task, options.pop("rows"))
    limits = task.limits
    asked = Asked(limits, task.request.seed)
    found = in_one_task(task, partial(score_rows, kernel, options), rows, asked, ScoredColumns)
    chosen = found.order.tolist() if kernel.forward else by_score(found.scores, limits)
    return Outcome(chosen, found.scores, np.zeros(len(found.scores)), findings=_findings(rows, found))


def _findings(rows: Rows, found: ScoredColumns) -> Findings:
    """What was looked at, and how far an iterative solver got."""
    steps = len(found.objective)
    own = {"objective": float(found.objective[-1]), "steps": steps} if steps else {}
    return Findings(sample=rows.note, extra=own)


ONE_TASK = "one task on a sample (option rows)"

METHODS = (
    Method(
        "mrmr-ufs",
        "the most relevant feature of each spectral cluster of features; labels are not read",
        "features worth having vary smoothly over neighbouring rows",
        f"{ONE_TASK}; neighbours of rows, eigenvectors of features x features",
        "no label can be trusted; a baseline of the FSCPU paper",
        partial(_run, BaselineKernel(mrmr_ufs, counted=True)),
        MrmrUfsOptions,
        from_sample=True,
    ),
    Method(
        "sselect",
        "smoothness over neighbouring rows, and agreement of the feature's two halves with the classes",
        "classes are clusters; a single threshold at the mean separates them",
        f"{ONE_TASK}; neighbours of rows",
        "a quick semi-supervised ranking; a baseline of the FSCPU paper",
        partial(_run, BaselineKernel(sselect)),
        SselectOptions,
        from_sample=True,
    ),
    Method(
        "jsfs",
        "weights of a sparse Bayesian classifier that turns features and unlabelled rows off as it learns",
        "classes are separated by a plane, and it runs where rows are few",
        f"{ONE_TASK}; a features x features inverse at each of up to 100 steps",
        "few features matter and their effects add up; a baseline of the FSCPU paper",
        partial(_run, BaselineKernel(jsfs)),
        JsfsOptions,
        from_sample=True,
    ),
    Method(
        "es-mcrfs",
        "reinforcement learning: an agent keeps or skips each feature, rewarded by a random forest",
        "unlabelled rows count as negative",
        f"{ONE_TASK}; 6,000 decisions, a random forest for every walk through the features: minutes",
        "to compare with the FSCPU paper; for use, set reward: auc and answer: policy",
        partial(_run, BaselineKernel(es_mcrfs, counted=True)),
        EsMcrfsOptions,
        from_sample=True,
    ),
    Method(
        "rfs",
        "weights of a robust regression on the classes with joint l2,1 norms",
        "classes are separated by a plane; plausible negatives are negatives",
        f"{ONE_TASK}; a features x features solve at each of up to 100 steps",
        "a linear baseline that tolerates mislabelled rows; from the PUFS paper's comparison",
        partial(_run, BaselineKernel(rfs)),
        RfsOptions,
        from_sample=True,
    ),
    Method(
        "jelsr",
        "weights of a row-sparse regression learnt together with a graph embedding; labels are not read",
        "the neighbour graph of all features shows the classes",
        f"{ONE_TASK}; eigenvectors of rows x rows at each of up to 20 steps",
        "no label can be trusted; from the PUFS paper's comparison",
        partial(_run, BaselineKernel(jelsr)),
        JelsrOptions,
        from_sample=True,
    ),
    Method(
        "ndfs",
        "weights of a row-sparse regression learnt together with non-negative cluster indicators; labels are not read",
        "the neighbour graph and k-means on all features show the classes",
        f"{ONE_TASK}; rows x rows products at each of up to 50 steps",
        "no label can be trusted; from the PUFS paper's comparison",
        partial(_run, BaselineKernel(ndfs)),
        NdfsOptions,
        from_sample=True,
    ),
    Method(
        "rrpc",
        "correlation with the class less mean correlation with features already chosen",
        "relevance is linear; with no labelled negatives, labels depend on the class alone (SCAR)",
        f"{ONE_TASK}; a features x features correlation matrix",
        "a quick linear mRMR; from Sechidis & Brown's comparison",
        partial(_run, BaselineKernel(rrpc, forward=True)),
        RrpcOptions,
        from_sample=True,
    ),
    Method(
        "cls",
        "the Laplacian score with must-links inside and cannot-links between the classes",
        "classes are clusters; labelled and unlabelled rows come from one distribution",
        f"{ONE_TASK}; neighbours of rows",
        "a quick semi-supervised ranking; from Sechidis & Brown's comparison",
        partial(_run, BaselineKernel(cls)),
        ClsOptions,
        from_sample=True,
    ),
    Method(
        "semifs",
        "the share of variance between soft classes that labels spread to along the neighbour graph",
        "classes are clusters in the space of all features",
        f"{ONE_TASK}; neighbours of rows and a sparse solve",
        "a strong semi-supervised ranking that needs no negatives; from Sechidis & Brown's comparison",
        partial(_run, BaselineKernel(semifs)),
        SemifsOptions,
        from_sample=True,
    ),
    Method(
        "fw-semifs",
        "forward search by a 3-nearest-neighbour classifier that labels more rows as it goes",
        "plausible negatives are negatives; nearness in the chosen features predicts the class",
        f"{ONE_TASK}; distances between labelled and all rows for every candidate at every step",
        "features that work together and few are wanted; from Sechidis & Brown's comparison",
        partial(_run, BaselineKernel(fw_semifs, forward=True)),
        FwSemifsOptions,
        from_sample=True,
    ),
)
