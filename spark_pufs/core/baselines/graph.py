"""Neighbour graphs and what is read off them."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from spark_pufs.core.baselines.scored import Bools, Floats

__all__ = [
    "degrees",
    "heat_width",
    "laplacian",
    "laplacian_score",
    "neighbour_graph",
    "normalised_laplacian",
    "propagate",
    "ratio",
]

LEAST_WEIGHT = 1e-12  # a row far from all others still hangs on its neighbours
Sparse = Any  # scipy.sparse.csr_array: its stubs have no useful arithmetic


def neighbour_graph(X: Floats, k: int, width: float | None = None) -> Sparse:
    """Heat weights exp(-|xi - xj|^2 / width) where one row is among the other's ``k`` nearest; symmetric, (n, n).

    ``width`` is the mean squared distance of neighbours unless given.
    """
    from sklearn.neighbors import kneighbors_graph

    edges = sp.csr_array(kneighbors_graph(X, min(k, len(X) - 1), mode="distance"))
    heat = np.exp(-(edges.data**2) / (width or heat_width(edges.data**2)))
    edges.data = np.maximum(heat, LEAST_WEIGHT)
    return sp.csr_array(edges.maximum(edges.T))


def heat_width(squared: NDArray[np.float64]) -> float:
    """The mean of squared distances, 1 if all are 0."""
    return float(squared.mean()) or 1.0


def degrees(S: Sparse) -> Floats:
    """Row sums (n,)."""
    return np.asarray(S.sum(axis=1), np.float64).ravel()


def laplacian(S: Sparse) -> Sparse:
    """diag(S 1) - S."""
    return sp.csr_array(sp.diags_array(degrees(S)) - S)


def normalised_laplacian(S: Sparse) -> Sparse:
    """I - D^-1/2 S D^-1/2."""
    scale = sp.diags_array(1 / np.sqrt(np.maximum(degrees(S), 1e-300)))
    return sp.csr_array(sp.eye_array(S.shape[0]) - scale @ S @ scale)


def ratio(numerator: Floats, denominator: Floats, otherwise: float) -> Floats:
    """Elementwise quotient; ``otherwise`` where there is nothing to divide by: a constant column."""
    some = denominator > 1e-12
    return np.where(some, numerator / np.where(some, denominator, 1.0), otherwise)


def laplacian_score(X: Floats, S: Sparse) -> Floats:
    """g'Lg / g'Dg of every column, g the column less its degree-weighted mean (He, Cai & Niyogi 2005)."""
    d = degrees(S)
    G = X - d @ X / d.sum()
    return ratio(np.einsum("ij,ij->j", G, laplacian(S) @ G), d @ G**2, otherwise=2.0)


def propagate(S: Sparse, labelled: Bools, reach: float) -> Floats:
    """F = (I - A P)^-1 (I - A) Y, P = D^-1 S, A = ``reach`` on unlabelled rows and 0 on labelled ones, (n, c + 1).

    Y is the label, or the last class for rows without. A row's F is where a random walk from it ends that gives up with
    probability 1 - reach at every step. Solved as (D - reach S) F = reach S Y on unlabelled rows: positive definite.
    """
    from scipy.sparse.linalg import cg, spsolve

    known = labelled.any(axis=1)
    F = np.column_stack([labelled, ~known]).astype(np.float64)
    u, d = np.flatnonzero(~known), degrees(S)
    if not len(u) or not known.any():
        return F
    A = sp.csr_array(sp.diags_array(d[u]) - reach * S[u][:, u])
    inverse = sp.diags_array(1 / d[u])
    for c in range(labelled.shape[1]):
        target = reach * (S[u][:, np.flatnonzero(known)] @ F[known, c])
        F[u, c], failed = cg(A, target, rtol=1e-10, M=inverse)
        if failed:
            F[u, c] = spsolve(A, target)
    F[u, -1] = 1 - F[u, :-1].sum(axis=1)
    return F
