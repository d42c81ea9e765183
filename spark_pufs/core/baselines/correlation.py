"""RRPC and MRMR-UFS: relevance against redundancy, both by correlation."""

from __future__ import annotations

from typing import Literal

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from spark_pufs.core.baselines.classes import SecondClass, known_classes
from spark_pufs.core.baselines.graph import laplacian_score, neighbour_graph, normalised_laplacian
from spark_pufs.core.baselines.scored import Floats, Free, Labels, Scored, forward, settled

__all__ = ["correlations", "feature_clusters", "mrmr_ufs", "rrpc"]


def correlations(X: Floats, Y: Floats) -> Floats:
    """Pearson's r of every column of X with every column of Y, (D, E); 0 where one is constant."""
    A, B = (_standard(M) for M in (X, Y))
    r: Floats = np.clip(A.T @ B, -1.0, 1.0)
    return r


def _standard(M: Floats) -> Floats:
    """Columns of mean 0 and length 1; constant ones are 0."""
    Z = M - M.mean(axis=0)
    length = np.sqrt((Z**2).sum(axis=0))
    unit: Floats = Z / np.where(length > 1e-9, length, np.inf)
    return unit


def rrpc(
    X: Floats,
    label: Labels,
    rng: np.random.Generator,
    *,
    free: Free,
    second_class: SecondClass = "unlabelled",
    correlation: Literal["absolute", "signed"] = "absolute",
) -> Scored:
    """Forward search for |r(x_k, y)| on rows of known class less the mean over chosen j of |r(x_k, x_j)| on all rows.

    Xu, Tang, He & Man (2016), with absolute values: a strong negative correlation is as relevant. With ``signed`` ones,
    which Sechidis & Brown (2017) must have used by their figures, it is not. On PU data y is the label itself, because
    the correlation with it and with the hidden class order the features alike when positives are labelled at random.
    """
    sign = known_classes(X, label, second_class)
    known = sign != 0
    relevance = correlations(X[known], (sign[known, None] == 1).astype(np.float64))[:, 0]
    redundancy = correlations(X, X)
    if correlation == "absolute":
        relevance, redundancy = np.abs(relevance), np.abs(redundancy)

    def score(chosen: list[int]) -> Floats:
        return relevance - redundancy[:, chosen].mean(axis=1) if chosen else relevance

    return forward(score, free)


def mrmr_ufs(
    X: Floats,
    label: Labels,
    rng: np.random.Generator,
    *,
    select: int,
    neighbours: int = 5,
) -> Scored:
    """One feature of each of ``select`` spectral clusters of features, the most relevant; then the others by relevance.

    What Uchikoshi & Akimoto say of MRMR-UFS2: unsupervised, spectral clustering, relevance and redundancy, five
    neighbours, as many feature clusters as features to select. The paper behind it was not at hand. Read here as:
    relevance is 1 less half the Laplacian score on the rows' neighbour graph, redundancy is to share a cluster.
    Scores: relevance in [0, 1], plus 1 for the first of its cluster.
    """
    relevance = settled(1 - laplacian_score(X, neighbour_graph(X, neighbours)) / 2)
    cluster = feature_clusters(X, min(select, X.shape[1]), neighbours, int(rng.integers(2**31)))
    best = np.lexsort((np.arange(len(cluster)), -relevance, cluster))
    first = best[np.unique(cluster[best], return_index=True)[1]]
    scores = relevance.copy()
    scores[first] += 1
    return Scored(scores)


def feature_clusters(X: Floats, clusters: int, neighbours: int, seed: int) -> NDArray[np.intp]:
    """The spectral cluster of every feature, (D,), on the graph of each feature's most correlated others."""
    from scipy.linalg import eigh
    from sklearn.cluster import KMeans

    D = X.shape[1]
    if clusters >= D:
        return np.arange(D)
    similar = np.abs(correlations(X, X))
    np.fill_diagonal(similar, 0.0)
    near = np.argsort(-similar, axis=1, kind="stable")[:, : min(neighbours, D - 1)]
    keep = np.zeros((D, D), bool)
    keep[np.arange(D)[:, None], near] = True
    S = np.where(keep | keep.T, similar + 1e-6, 0.0)  # a feature like no other still has a place in the graph
    L = normalised_laplacian(sp.csr_array(S)).toarray()
    _, embedding = eigh(L, subset_by_index=[0, clusters - 1])
    unit = embedding / np.maximum(np.linalg.norm(embedding, axis=1, keepdims=True), 1e-12)
    member: NDArray[np.intp] = KMeans(clusters, n_init=10, random_state=seed).fit(np.round(unit, 9)).labels_
    return member.astype(np.intp)
