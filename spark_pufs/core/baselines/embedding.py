"""JELSR and NDFS: a graph embedding and a row-sparse regression on it, learnt together. Both leave labels alone."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh

from spark_pufs.core.baselines.graph import neighbour_graph, normalised_laplacian
from spark_pufs.core.baselines.l21 import row_sizes, weighted_ridge
from spark_pufs.core.baselines.scored import Floats, Labels, Scored, converged

__all__ = ["fit_jelsr", "fit_ndfs", "jelsr", "ndfs", "start_clusters"]

TOLERANCE = 1e-6
DIGITS = 6  # of values in [0, 1]: k-means cannot tell rows apart whose squared distance is rounding


def jelsr(
    X: Floats,
    label: Labels,
    rng: np.random.Generator,
    *,
    neighbours: int = 10,
    dimensions: int = 5,
    alpha: float = 0.1,
    beta: float = 0.1,
    iterations: int = 20,
) -> Scored:
    """min tr(Y'LY) + beta (|XW - Y|^2 + alpha |W|_2,1) over W and Y'Y = I, scores |w_j| (Hou, Nie, Yi & Wu 2011).

    L is the normalised Laplacian of the heat-weighted neighbour graph, k = 10 as in Han & Shen (2016); the first paper
    builds it from locally linear weights. X is centred, for the bias.
    """
    L = normalised_laplacian(neighbour_graph(X, neighbours)).toarray()
    W, objective = fit_jelsr(X - X.mean(axis=0), L, min(dimensions, len(X)), alpha, beta, iterations)
    return Scored(np.sqrt((W**2).sum(axis=1)), objective)


def fit_jelsr(
    X: Floats, L: Floats, dimensions: int, alpha: float, beta: float, iterations: int
) -> tuple[Floats, tuple[float, ...]]:
    """W (D, m) and the objective after each step; W for given Y is a ridge fit, so Y has a problem of its own."""
    sizes = np.full(X.shape[1], 0.5)
    objective: list[float] = []
    W = np.zeros((X.shape[1], dimensions))
    for _ in range(iterations):
        _, Y = eigh(L + beta * _left_over(X, sizes, alpha), subset_by_index=[0, dimensions - 1])
        W = weighted_ridge(X, Y, sizes, alpha)
        sizes = row_sizes(W)
        fit = ((X @ W - Y) ** 2).sum() + alpha * sizes.sum()
        objective.append(float(np.sum(Y * (L @ Y)) + beta * fit))
        if converged(objective, TOLERANCE):
            break
    return W, tuple(objective)


def ndfs(
    X: Floats,
    label: Labels,
    rng: np.random.Generator,
    *,
    neighbours: int = 10,
    clusters: int = 5,
    alpha: float = 1.0,
    beta: float = 0.1,
    gamma: float = 1e8,
    iterations: int = 50,
) -> Scored:
    """min tr(F'LF) + alpha (|XW - F|^2 + beta |W|_2,1) + gamma/2 |F'F - I|^2 over W and F >= 0, scores |w_j|.

    Li, Yang, Liu, Zhou & Lu (2012), started from k-means. X is centred, for the bias.
    """
    L = normalised_laplacian(neighbour_graph(X, neighbours)).toarray()
    F = start_clusters(X, min(clusters, len(X)), int(rng.integers(2**31)))
    W, _, objective = fit_ndfs(X - X.mean(axis=0), L, F, (alpha, beta, gamma), iterations)
    return Scored(np.sqrt((W**2).sum(axis=1)), objective)


def start_clusters(X: Floats, clusters: int, seed: int) -> Floats:
    """Indicators of k-means clusters with orthonormal columns, plus 0.02: a product update never leaves 0, (n, c)."""
    from sklearn.cluster import KMeans

    found = len(np.unique(np.round(X, DIGITS), axis=0))
    member: NDArray[np.intp] = KMeans(min(clusters, found), n_init=10, random_state=seed).fit(X).labels_
    member = np.unique(member, return_inverse=True)[1]  # none may be empty
    indicator = (member[:, None] == np.arange(member.max() + 1)).astype(np.float64)
    start: Floats = indicator / np.sqrt(indicator.sum(axis=0)) + 0.02
    return start


def fit_ndfs(
    X: Floats, L: Floats, F: Floats, weights: tuple[float, float, float], iterations: int
) -> tuple[Floats, Floats, tuple[float, ...]]:
    """W (D, c), F (n, c) and the objective after each step; ``weights`` are alpha, beta and gamma.

    The paper multiplies F by the plain quotient. M has entries of both signs, so that step may raise the objective; the
    fourth root of the quotient split by sign, as in semi-NMF (Ding, Li & Jordan 2010), has its fixed points and cannot.
    """
    alpha, beta, gamma = weights
    sizes = np.full(X.shape[1], 0.5)
    objective: list[float] = []
    W = np.zeros((X.shape[1], F.shape[1]))
    for _ in range(iterations):
        M = L + alpha * _left_over(X, sizes, beta)
        up, down = np.maximum(M, 0) @ F, np.maximum(-M, 0) @ F
        F = F * ((down + gamma * F) / (up + gamma * (F @ (F.T @ F)) + 1e-300)) ** 0.25
        W = weighted_ridge(X, F, sizes, beta)
        sizes = row_sizes(W)
        fit = ((X @ W - F) ** 2).sum() + beta * sizes.sum()
        bent = ((F.T @ F - np.eye(F.shape[1])) ** 2).sum()
        objective.append(float(np.sum(F * (L @ F)) + alpha * fit + gamma / 2 * bent))
        if converged(objective, TOLERANCE):
            break
    return W, F, tuple(objective)


def _left_over(X: Floats, sizes: Floats, strength: float) -> Floats:
    """I - X (X'X + strength diag(1/2 sizes))^-1 X': what the best W for an embedding leaves unexplained, (n, n)."""
    B = X * np.sqrt(2 * sizes)
    hat = B @ np.linalg.solve(B.T @ B + strength * np.eye(X.shape[1]), B.T)
    left: Floats = np.eye(len(X)) - (hat + hat.T) / 2
    return left
