"""Readings of CLS and SemiFS on the sets of Sechidis & Brown 2017: every combination of how values, weights and score
may have been taken, and the means of each set beside the published ones (Table 6)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.spatial.distance import cdist
from sklearn.neighbors import KNeighborsClassifier, kneighbors_graph

from spark_pufs.core.baselines.laplacian_scores import _squared_gaps
from spark_pufs.core.baselines.trace_ratio import between_share, propagate
from spark_pufs.core.bins import equal_width_edges
from spark_pufs.studies.base import seed_of
from spark_pufs.studies.published import markdown_table
from spark_pufs.studies.sechidis_published import ERRORS
from spark_pufs.studies.sechidis_sets import SETS, biased, labelled_as, read_set
from spark_pufs.types import LABELLED_NEGATIVE, LABELLED_POSITIVE

Floats = NDArray[np.float64]
K, NEIGHBOURS, SHOWN, TINY = 5, 5, 8, 1e-12
Chosen = Iterator[tuple[str, str, list[int]]]  # method, reading, features


def views(raw: Floats) -> dict[str, Floats]:
    span, deviation = np.ptp(raw, axis=0), raw.std(axis=0)
    scaled = (raw - raw.min(axis=0)) / np.where(span > 0, span, 1)
    standard = (raw - raw.mean(axis=0)) / np.where(deviation > 0, deviation, 1)
    bins = np.digitize(scaled, equal_width_edges(0.0, 1.0, 5)).astype(float)
    return {"raw": raw, "in [0, 1]": scaled, "unit variance": standard, "five bins": bins}


def best(score: Floats) -> list[int]:
    chosen: list[int] = np.argsort(-score, kind="stable")[:K].tolist()
    return chosen


def choices(raw: Floats, sign: NDArray[np.int8]) -> Chosen:
    """What every reading selects; sign is +1, -1 or 0 for rows without label."""
    for values, X in views(raw).items():
        edges = sp.csr_array(kneighbors_graph(X, NEIGHBOURS, mode="distance"))
        width = (edges.data**2).mean() or 1.0
        weights = {
            "mean heat": lambda q, width=width: np.exp(-q / width),
            "exp(-d^2)": lambda q: np.exp(-q),
            "0/1": np.ones_like,
        }
        for weighting, weight in weights.items():
            graph = edges.copy()
            graph.data = weight(graph.data**2) + TINY
            near = sp.csr_array(graph.maximum(graph.T))
            yield from _cls(
                X, sign, {"neighbours": near, "must-links": _linked(X, sign, near, weight)}, values, weighting
            )
            yield from _semifs(X, sign, near, values, weighting)


def _linked(X: Floats, sign: NDArray[np.int8], near: Any, weight: Any) -> Any:
    for value in (1, -1):
        rows = np.flatnonzero(sign == value)
        links = weight(cdist(X[rows], X[rows], "sqeuclidean")) + TINY
        np.fill_diagonal(links, 0)
        one, other = np.meshgrid(rows, rows, indexing="ij")
        near = sp.csr_array(near.maximum(sp.csr_array((links.ravel(), (one.ravel(), other.ravel())), near.shape)))
    return near


def _cls(X: Floats, sign: NDArray[np.int8], graphs: dict[str, Any], values: str, weighting: str) -> Chosen:
    one, other, free = sign == 1, sign == -1, sign == 0
    for links, S in graphs.items():
        d = np.asarray(S.sum(axis=1)).ravel()
        Z = X - d @ X / d.sum()
        rough = np.einsum("ij,ij->j", Z, d[:, None] * Z - S @ Z)
        spread = d[free] @ Z[free] ** 2
        apart = _squared_gaps(X[one], d[one], X[other]) + _squared_gaps(X[other], d[other], X[one])
        below = {"whole": spread + apart, "no cannot-links": spread, "cannot-links only": apart, "Laplacian": d @ Z**2}
        scores = {name: rough / np.maximum(amount, TINY) for name, amount in below.items()}
        for name, score in (scores | {"numerator only": rough}).items():
            reading = f"{values}, {weighting}, {links}, {name}"
            yield "CLS", f"{reading}, smallest", best(-score)
            yield "CLS", f"{reading}, largest", best(score)


def _semifs(X: Floats, sign: NDArray[np.int8], near: Any, values: str, weighting: str) -> Chosen:
    for reach in (0.5, 0.9, 0.99, 0.999):
        F = propagate(near, np.column_stack([sign == 1, sign == -1]), reach)
        for classes, members in (("three classes", F), ("two classes", F[:, :2])):
            share = between_share(X, members)
            reading = f"{values}, {weighting}, reach {reach}, {classes}"
            yield "SemiFS", f"{reading}, share of variance", best(share)
            yield "SemiFS", f"{reading}, variance between", best(share * X.var(axis=0))


def errors_of(data: str, name: str, repeat: int) -> Iterator[tuple[str, str, float]]:
    """(method, reading, share misclassified by 3-NN) on one split, as the study selection_error draws it."""
    table, positive = read_set(data, name)
    X = table.to_numpy(np.float64)
    order = np.random.default_rng(seed_of(0, "split", name, repeat)).permutation(len(X))
    train, test = order[: len(X) // 2], order[len(X) // 2 :]
    prior = float(positive[train].mean())
    seed = seed_of(0, "labels", name, "0", repeat)
    label = labelled_as(pd.DataFrame(X[train]), positive[train], biased(prior, 0.25, prior), seed).label
    sign = ((label == LABELLED_POSITIVE).astype(np.int8) - (label == LABELLED_NEGATIVE)).astype(np.int8)
    known: dict[tuple[int, ...], float] = {}
    for method, reading, chosen in choices(X[train], sign):
        key = tuple(sorted(chosen))
        if key not in known:
            model = KNeighborsClassifier(3).fit(X[train][:, chosen], positive[train])
            known[key] = float((model.predict(X[test][:, chosen]) != positive[test]).mean())
        yield method, reading, known[key]


def cls_table(data: str, repeats: int) -> str:
    """The readings nearest to the published means, and how many were tried."""
    rows = [
        (method, reading, name, error)
        for name in SETS
        for repeat in range(repeats)
        for method, reading, error in errors_of(data, name, repeat)
    ]
    means = pd.DataFrame(rows, columns=["method", "reading", "set", "error"]).pivot_table(
        index=["method", "reading"], columns="set", values="error"
    )
    parts = []
    for method, table in means.groupby(level="method"):
        published = pd.Series({name: ERRORS["0", name, str(method)].mean for name in SETS})
        gap = (table[list(SETS)] - published).abs().mean(axis=1).sort_values(kind="stable")
        lines = [["*published*", *(f"{published[name]:.3f}" for name in SETS), ""]]
        lines += [
            [key[1], *(f"{table.loc[key, name]:.3f}" for name in SETS), f"{gap[key]:.3f}"] for key in gap.index[:SHOWN]
        ]
        parts.append(
            f"{method}: {len(table)} readings, {repeats} splits\n\n"
            + markdown_table(["reading", *SETS, "mean gap"], lines)
        )
    return "\n".join(parts)
