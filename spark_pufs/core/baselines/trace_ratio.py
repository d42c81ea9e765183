"""SemiFS: the noise-insensitive trace ratio on propagated labels (Liu, Nie, Wu & Chen 2013)."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from spark_pufs.core.baselines.graph import Sparse, degrees, neighbour_graph, ratio
from spark_pufs.core.baselines.scored import Bools, Floats, Labels, Scored
from spark_pufs.types import LABELLED_NEGATIVE, LABELLED_POSITIVE

__all__ = ["between_share", "propagate", "semifs"]


def semifs(
    X: Floats,
    label: Labels,
    rng: np.random.Generator,
    *,
    neighbours: int = 5,
    reach: float = 0.99,
) -> Scored:
    """The share of a column's variance that lies between soft classes.

    The trace ratio tr(W'S_b W) / tr(W'S_w W) favours columns of tiny variance; on columns rescaled to unit variance
    the best subset of any size are the largest diagonal entries of S_b, so the ratio needs no search. Soft classes come
    from label propagation with one class more than is labelled, for rows that no label reaches (Nie, Xiang, Liu & Zhang
    2010): on PU data that is the negative class, and none has to be guessed.
    """
    labelled = np.column_stack([label == LABELLED_POSITIVE, label == LABELLED_NEGATIVE])
    labelled = labelled[:, labelled.any(axis=0)]
    return Scored(between_share(X, propagate(neighbour_graph(X, neighbours), labelled, reach)))


def propagate(S: Sparse, labelled: Bools, reach: float) -> Floats:
    """F = (I - A P)^-1 (I - A) Y, P = D^-1 S, A = ``reach`` on unlabelled rows and 0 on labelled ones, (n, c + 1).

    Y is the label, or the last class for rows without. A row's F is where a random walk from it ends that gives up with
    probability 1 - reach at every step. Solved as (D - reach S) F = reach S Y on unlabelled rows: positive definite.
    """
    from scipy.sparse.linalg import cg

    known = labelled.any(axis=1)
    F = np.column_stack([labelled, ~known]).astype(np.float64)
    u, d = np.flatnonzero(~known), degrees(S)
    if not len(u) or not known.any():
        return F
    A = sp.csr_array(sp.diags_array(d[u]) - reach * S[u][:, u])
    inverse = sp.diags_array(1 / d[u])
    for c in range(labelled.shape[1]):
        target = reach * (S[u][:, np.flatnonzero(known)] @ F[known, c])
        F[u, c] = cg(A, target, rtol=1e-10, M=inverse)[0]
    F[u, -1] = 1 - F[u, :-1].sum(axis=1)
    return F


def between_share(X: Floats, F: Floats) -> Floats:
    """sum_c n_c (mean_c - mean)^2 / sum_i (x_i - mean)^2 per column, for soft members F (n, c); 0 for a constant."""
    size = F.sum(axis=0)
    Z = X - X.mean(axis=0)
    means = F.T @ Z / np.maximum(size, 1e-12)[:, None]
    return ratio(size @ means**2, (Z**2).sum(axis=0), otherwise=0.0)
