"""RFS: robust regression on the classes with joint l2,1 norms (Nie, Huang, Cai & Ding 2010)."""

from __future__ import annotations

import numpy as np

from spark_pufs.core.baselines.classes import SecondClass, known_classes
from spark_pufs.core.baselines.l21 import row_sizes, weighted_ridge
from spark_pufs.core.baselines.scored import Floats, Labels, Scored, converged

__all__ = ["fit_rfs", "rfs"]

TOLERANCE = 1e-8


def rfs(
    X: Floats,
    label: Labels,
    rng: np.random.Generator,
    *,
    gamma: float = 0.1,
    second_class: SecondClass = "plausible",
    iterations: int = 100,
) -> Scored:
    """min_W |XW - Y|_2,1 + gamma |W|_2,1, scores |w_j|.

    Y has one column per class; the bias is a feature that is always 1. Supervised: on PU data
    the second class are the plausible negatives, as Han & Shen (2016) balanced it. With all unlabelled rows instead, a
    few labelled ones are outliers to the robust loss and every weight goes to 0.
    """
    sign = known_classes(X, label, second_class)
    A = np.column_stack([X, np.ones(len(X))])[sign != 0]
    Y = np.column_stack([sign == 1, sign == -1])[sign != 0].astype(np.float64)
    W, objective = fit_rfs(A, Y, gamma, iterations)
    return Scored(np.sqrt((W[:-1] ** 2).sum(axis=1)), objective)


def fit_rfs(A: Floats, Y: Floats, gamma: float, iterations: int) -> tuple[Floats, tuple[float, ...]]:
    """W (D, c) and the objective after each step.

    The paper's update of U in (A D^-1 A')^-1 Y, n x n, is this weighted least-squares fit, D x D.
    """
    sizes, errors = np.full(A.shape[1], 0.5), np.full(len(A), 0.5)
    objective: list[float] = []
    W = np.zeros((A.shape[1], Y.shape[1]))
    for _ in range(iterations):
        W = weighted_ridge(A, Y, sizes, gamma, loss=0.5 / errors)
        sizes, errors = row_sizes(W), row_sizes(A @ W - Y)
        objective.append(float(errors.sum() + gamma * sizes.sum()))
        if converged(objective, TOLERANCE):
            break
    return W, tuple(objective)
