"""The l2,1 norm, smoothed so that reweighting is a majorisation and no objective can rise."""

from __future__ import annotations

import numpy as np

from spark_pufs.core.baselines.scored import Floats

__all__ = ["SMOOTH", "row_sizes", "weighted_ridge"]

SMOOTH = 1e-12


def row_sizes(W: Floats) -> Floats:
    """sqrt(|w|^2 + 1e-12) of every row; their sum is the smoothed l2,1 norm."""
    sizes: Floats = np.sqrt((W**2).sum(axis=1) + SMOOTH)
    return sizes


def weighted_ridge(A: Floats, Y: Floats, sizes: Floats, strength: float, loss: Floats | None = None) -> Floats:
    """argmin sum_i loss_i |a_i W - y_i|^2 + strength * sum_j |w_j|^2 / (2 sizes_j), (D, c).

    The second sum majorises strength * sum_j |w_j| where sizes are the rows' present ones. Solved in
    V = W / sqrt(2 sizes) because the penalties differ by many orders of magnitude.
    """
    scale = np.sqrt(2 * sizes)
    B = A * scale
    left = B if loss is None else B * loss[:, None]
    V = np.linalg.solve(B.T @ left + strength * np.eye(A.shape[1]), left.T @ Y)
    W: Floats = scale[:, None] * V
    return W
