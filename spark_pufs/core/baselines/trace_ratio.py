"""SemiFS: the noise-insensitive trace ratio on propagated labels (Liu, Nie, Wu & Chen 2013)."""

from __future__ import annotations

import numpy as np

from spark_pufs.core.baselines.graph import neighbour_graph, propagate, ratio
from spark_pufs.core.baselines.scored import Floats, Labels, Scored
from spark_pufs.types import LABELLED_NEGATIVE, LABELLED_POSITIVE

__all__ = ["between_share", "semifs"]


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
    2010). With two labelled classes that class is left out, as in the authors' published code: a row counts by how sure
    its class is. On PU data it is the negative class, and none has to be guessed.
    """
    labelled = np.column_stack([label == LABELLED_POSITIVE, label == LABELLED_NEGATIVE])
    labelled = labelled[:, labelled.any(axis=0)]
    F = propagate(neighbour_graph(X, neighbours), labelled, reach)
    return Scored(between_share(X, F[:, :2]))  # of two columns both, of three those of the labelled classes


def between_share(X: Floats, F: Floats) -> Floats:
    """sum_c n_c (mean_c - mean)^2 / sum_i b_i (x_i - mean)^2 per column, for soft members F (n, c); 0 for a constant.

    Row i weighs b_i = sum_c F_ic, class c has n_c = sum_i F_ic members, means are weighted.
    """
    weight, size = F.sum(axis=1), F.sum(axis=0)
    Z = X - weight @ X / max(weight.sum(), 1e-12)
    means = F.T @ Z / np.maximum(size, 1e-12)[:, None]
    return ratio(size @ means**2, weight @ Z**2, otherwise=0.0)
