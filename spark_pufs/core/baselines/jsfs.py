"""JSFS: a sparse Bayesian classifier with a weight for every unlabelled row (Jiang, Wu, Yu & Chen 2019)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.special import expit, log_expit

from spark_pufs.core.baselines.classes import SecondClass, known_classes
from spark_pufs.core.baselines.graph import Sparse, laplacian, neighbour_graph
from spark_pufs.core.baselines.scored import Floats, Labels, Scored, converged

__all__ = ["fit_jsfs", "jsfs"]

TOLERANCE = 1e-7
BIAS_PRECISION = 1e-3


def jsfs(
    X: Floats,
    label: Labels,
    rng: np.random.Generator,
    *,
    neighbours: int = 5,
    eta: float = 9.95e-3,
    gamma: float = 1e-11,
    second_class: SecondClass = "plausible",
    iterations: int = 100,
) -> Scored:
    """Scores |E w_j| of a linear classifier p(y = 1 | x) = sigmoid(w'x + b), learnt with the features' relevance.

    From the paper's abstract and Uchikoshi & Akimoto's settings (five neighbours, eta, gamma): a Gaussian prior on each
    w_j with its own precision, gamma the rate of that precision's Gamma prior, turns irrelevant features off; each
    unlabelled row i has a weight v_i >= 0 with a Gaussian prior truncated at 0, which turns unreliable rows off. Read
    here as: row i asks f to be smooth, eta v_i sum_j S_ij (f_i - f_j)^2 / 2, with v_i ~ N(1, 1) left-truncated, and the
    whole is fitted by variational EM with the bound of Jaakkola & Jordan (2000), so that the evidence never falls.
    """
    sign = known_classes(X, label, second_class)
    A = np.column_stack([X, np.ones(len(X))])
    mean, _, objective = fit_jsfs(A, sign.astype(np.float64), neighbour_graph(X, neighbours), eta, gamma, iterations)
    return Scored(np.abs(mean[:-1]), objective)


@dataclass
class _Posterior:
    """q(w) = N(mean, cov) and the parameters set in turn."""

    mean: Floats
    cov: Floats
    precision: Floats  # of the features, (D + 1,); the bias's, the last, stays
    bound: Floats  # Jaakkola & Jordan's xi, one per row of known class
    trust: Floats  # v, one per row


def fit_jsfs(
    A: Floats, sign: Floats, S: Sparse, eta: float, gamma: float, iterations: int
) -> tuple[Floats, Floats, tuple[float, ...]]:
    """E w (D + 1,), row weights v (n,) and less the evidence bound after each step."""
    known = np.flatnonzero(sign)
    D = A.shape[1]
    precision = np.append(np.ones(D - 1), BIAS_PRECISION)
    q = _Posterior(np.zeros(D), np.eye(D), precision, np.ones(len(known)), np.ones(len(A)))
    edges = sp.coo_array(S)
    gaps = A[edges.row] - A[edges.col]
    objective: list[float] = []
    for _ in range(iterations):
        _update_weights(q, A, known, sign[known] / 2, S, eta)
        q.bound = np.sqrt(_second_moment(q, A[known]))
        q.precision[:-1] = 1 / (q.mean**2 + np.diag(q.cov) + 2 * gamma)[:-1]
        rough = np.bincount(edges.row, edges.data * _second_moment(q, gaps) / 2, len(A)).astype(np.float64)
        q.trust = np.where(sign == 0, np.maximum(0.0, 1 - eta * rough), 1.0)
        objective.append(-_evidence(q, A[known], sign[known] / 2, rough, eta, gamma))
        if converged(objective, TOLERANCE):
            break
    return q.mean, q.trust, tuple(objective)


def _update_weights(q: _Posterior, A: Floats, known: NDArray[np.intp], half: Floats, S: Sparse, eta: float) -> None:
    """q(w) given the rest: Gaussian, its precision the sum of prior, bounded likelihood and smoothness."""
    T = sp.diags_array(q.trust) @ S
    smooth = A.T @ (laplacian(sp.csr_array((T + T.T) / 2)) @ A)
    seen = A[known]
    inverse = np.diag(q.precision) + 2 * (seen.T * _curvature(q.bound)) @ seen + 2 * eta * smooth
    q.cov = np.linalg.inv((inverse + inverse.T) / 2)
    q.mean = q.cov @ (half @ seen)


def _curvature(xi: Floats) -> Floats:
    """(sigmoid(xi) - 1/2) / (2 xi), 1/8 at 0."""
    safe = np.maximum(xi, 1e-8)
    curve: Floats = (expit(safe) - 0.5) / (2 * safe)
    return curve


def _second_moment(q: _Posterior, B: Floats) -> Floats:
    """E (b'w)^2 of every row b."""
    moment: Floats = (B @ q.mean) ** 2 + np.einsum("ij,ij->i", B @ q.cov, B)
    return np.maximum(moment, 0.0)


def _evidence(q: _Posterior, seen: Floats, half: Floats, rough: Floats, eta: float, gamma: float) -> float:
    """The evidence bound up to a constant."""
    moment = _second_moment(q, seen)
    likelihood = log_expit(q.bound) - q.bound / 2 - _curvature(q.bound) * (moment - q.bound**2) + half * (seen @ q.mean)
    square = q.mean**2 + np.diag(q.cov)
    prior = 0.5 * (np.log(q.precision) - q.precision * square).sum() - gamma * q.precision[:-1].sum()
    rows = -eta * q.trust @ rough - ((q.trust - 1) ** 2).sum() / 2
    return float(likelihood.sum() + prior + rows + 0.5 * np.linalg.slogdet(q.cov)[1])
