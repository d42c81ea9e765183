"""Neighbour graphs and what is read off them."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from spark_pufs.core.baselines.scored import Floats

__all__ = ["degrees", "heat_width", "laplacian", "laplacian_score", "neighbour_graph", "normalised_laplacian", "ratio"]

Sparse = Any  # scipy.sparse.csr_array: its stubs have no useful arithmetic


def neighbour_graph(X: Floats, k: int, width: float | None = None) -> Sparse:
    """Heat weights exp(-|xi - xj|^2 / width) where one row is among the other's ``k`` nearest; symmetric, (n, n).

    ``width`` is the mean squared distance of neighbours unless given.
    """
    from sklearn.neighbors import kneighbors_graph

    edges = sp.csr_array(kneighbors_graph(X, min(k, len(X) - 1), mode="distance"))
    edges.data = np.exp(-(edges.data**2) / (width or heat_width(edges.data**2)))
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
