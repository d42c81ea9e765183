"""Readings of methods of Table 6 of Sechidis & Brown 2017 on their sets: every combination of how values, weights and
score may have been taken, and the means of each set beside the published ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.spatial.distance import cdist
from sklearn.neighbors import KNeighborsClassifier, kneighbors_graph

from spark_pufs.core.baselines.graph import propagate
from spark_pufs.core.baselines.laplacian_scores import _squared_gaps
from spark_pufs.core.baselines.trace_ratio import between_share
from spark_pufs.core.counting.bins import equal_width_edges
from spark_pufs.studies.published import markdown_table
from spark_pufs.studies.sechidis_brown.data_sets import SETS, read_set
from spark_pufs.studies.sechidis_brown.published_errors import ERRORS
from spark_pufs.studies.sechidis_brown.selection_error import SelectionError
from spark_pufs.types import LABELLED_NEGATIVE, LABELLED_POSITIVE, UNLABELLED

Floats = NDArray[np.float64]
K, NEIGHBOURS, SHOWN, TINY = 5, 5, 8, 1e-12
Chosen = Iterator[tuple[str, list[int]]]  # reading, features


def views(raw: Floats) -> dict[str, Floats]:
    span, deviation, length = np.ptp(raw, axis=0), raw.std(axis=0), np.linalg.norm(raw, axis=1, keepdims=True)
    scaled = (raw - raw.min(axis=0)) / np.where(span > 0, span, 1)
    standard = (raw - raw.mean(axis=0)) / np.where(deviation > 0, deviation, 1)
    bins = np.digitize(scaled, equal_width_edges(0.0, 1.0, 5)).astype(float)
    rows = raw / np.where(length > 0, length, 1)
    return {
        "raw": raw,
        "in [0, 1]": scaled,
        "unit variance": standard,
        "five bins": bins,
        "rows of length 1": rows,
    }


def best(score: Floats) -> list[int]:
    chosen: list[int] = np.argsort(-score, kind="stable")[:K].tolist()
    return chosen


def choices(
    method: str, raw: Floats, label: NDArray[np.uint8], positive: NDArray[np.bool_], classes: NDArray[Any]
) -> Chosen:
    """What every reading selects; classes are the set's own, of which one or some are positive."""
    sign = ((label == LABELLED_POSITIVE).astype(np.int8) - (label == LABELLED_NEGATIVE)).astype(np.int8)
    if method == "MINT":
        yield from _mint(views(raw)["five bins"], label)
        return
    if method == "SemiFS":
        yield "true classes of all rows, two", best(between_share(raw, _members(positive)))
        yield "true classes of all rows, as many as the set has", best(between_share(raw, _members(classes)))
    for values, X in views(raw).items():
        for neighbours in (NEIGHBOURS, 2 * NEIGHBOURS):
            edges = sp.csr_array(kneighbors_graph(X, neighbours, mode="distance"))
            width = (edges.data**2).mean() or 1.0
            weights: dict[str, Callable[..., Floats]] = {
                "mean heat": lambda q, width=width: np.exp(-q / width),
                "exp(-d^2)": lambda q: np.exp(-q),
                "0/1": np.ones_like,
            }
            for weighting, weight in weights.items():
                graph = edges.copy()
                graph.data = weight(graph.data**2) + TINY
                near = sp.csr_array(graph.maximum(graph.T))
                reading = f"{values}, {neighbours} neighbours, {weighting}"
                if method == "SemiFS":
                    yield from _semifs(X, sign, near, reading)
                else:
                    linked = _linked(X, sign, near, weight)
                    yield from _cls(X, sign, {"neighbours": near, "must-links": linked}, reading)


def _linked(X: Floats, sign: NDArray[np.int8], near: Any, weight: Any) -> Any:
    for value in (1, -1):
        rows = np.flatnonzero(sign == value)
        links = weight(cdist(X[rows], X[rows], "sqeuclidean")) + TINY
        np.fill_diagonal(links, 0)
        one, other = np.meshgrid(rows, rows, indexing="ij")
        near = sp.csr_array(near.maximum(sp.csr_array((links.ravel(), (one.ravel(), other.ravel())), near.shape)))
    return near


def _cls(X: Floats, sign: NDArray[np.int8], graphs: dict[str, Any], taken: str) -> Chosen:
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
            reading = f"{taken}, {links}, {name}"
            yield f"{reading}, smallest", best(-score)
            yield f"{reading}, largest", best(score)


def _semifs(X: Floats, sign: NDArray[np.int8], near: Any, taken: str) -> Chosen:
    for reach in (0.9, 0.99):
        F = propagate(near, np.column_stack([sign == 1, sign == -1]), reach)
        yield f"{taken}, reach {reach}, labelled classes", best(between_share(X, F[:, :2]))
        yield f"{taken}, reach {reach}, and that of rows no label reaches", best(between_share(X, F))


def _members(classes: NDArray[Any]) -> Floats:
    """Hard members of each class, (n, c): propagation without error, the most that any graph could do."""
    members: Floats = (classes[:, None] == np.unique(classes)).astype(np.float64)
    return members


def _mint(codes: Floats, label: NDArray[np.uint8]) -> Chosen:
    """mRMR with relevance from labelled rows: where redundancy is counted, and how it is set against relevance."""
    known = label != UNLABELLED
    states = (codes[:, :, None] == np.unique(codes)).astype(np.float64)  # (n, D, values)
    relevance = _information(states[known], _members(label[known])[:, None])[:, 0]
    against: dict[str, Callable[[Floats], Floats]] = {
        "less the mean redundancy": lambda redundancy: relevance - redundancy.mean(axis=1),
        "less the sum of redundancies": lambda redundancy: relevance - redundancy.sum(axis=1),
        "divided by the mean redundancy": lambda redundancy: relevance / (redundancy.mean(axis=1) + TINY),
    }
    for rows, part in (("all rows", states), ("labelled rows", states[known])):
        redundancy = _information(part, part)
        for name, score in against.items():
            chosen = best(relevance)[:1]
            while len(chosen) < K:
                scores = score(redundancy[:, chosen])
                scores[chosen] = -np.inf
                chosen += best(scores)[:1]
            yield f"redundancy of {rows}, {name}", chosen


def _information(A: Floats, B: Floats) -> Floats:
    """I(a; b) of every pair of one-hot columns, (n, D, s) and (n, E, t), in nats, (D, E)."""
    joint = np.einsum("nds,net->dset", A, B, optimize=True) / len(A)
    one, other = joint.sum(axis=3, keepdims=True), joint.sum(axis=1, keepdims=True)
    ratio = np.where(joint > 0, joint, 1.0) / np.where(joint > 0, one * other, 1.0)
    information: Floats = (joint * np.log(ratio)).sum(axis=(1, 3))
    return information


def errors_of(method: str, data: str, name: str, repeat: int) -> Iterator[tuple[str, float]]:
    """(reading, share misclassified by 3-NN) on one split, as the study selection_error draws it."""
    table, positive = read_set(data, name)
    X, source = table.to_numpy(np.float64), SETS[name]
    classes = pd.read_csv(Path(data) / source.file)[source.others[0] if source.others else source.column].to_numpy()
    split = SelectionError(data=data).split(name, "0", repeat)
    train, test, label = split.train, split.test, split.data.label
    known: dict[tuple[int, ...], float] = {}
    for reading, chosen in choices(method, X[train], label, positive[train], classes[train]):
        key = tuple(sorted(chosen))
        if key not in known:
            model = KNeighborsClassifier(3).fit(X[train][:, chosen], positive[train])
            known[key] = float((model.predict(X[test][:, chosen]) != positive[test]).mean())
        yield reading, known[key]


def table_6(method: str, data: str, repeats: int) -> str:
    """The readings nearest to the published means, and how many were tried."""
    rows = [
        (reading, name, error)
        for name in SETS
        for repeat in range(repeats)
        for reading, error in errors_of(method, data, name, repeat)
    ]
    found = pd.DataFrame(rows, columns=["reading", "set", "error"])
    means = found.pivot_table(index="reading", columns="set", values="error")[list(SETS)]
    published = pd.Series({name: ERRORS["0", name, method].mean for name in SETS})
    gap = (means - published).abs().mean(axis=1).sort_values(kind="stable")
    near = [*gap.index[:SHOWN], *(reading for reading in gap.index[SHOWN:] if reading.startswith("true"))]
    lines = [["*published*", *(f"{published[name]:.3f}" for name in SETS), ""]]
    lines += [[key, *(f"{means.loc[key, name]:.3f}" for name in SETS), f"{gap[key]:.3f}"] for key in near]
    title = f"{method}: {len(means)} readings, {repeats} splits"
    return f"{title}\n\n{markdown_table(['reading', *SETS, 'mean gap'], lines)}"
