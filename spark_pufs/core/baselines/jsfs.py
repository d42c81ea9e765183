"""JSFS: a sparse Bayesian classifier with a weight for every unlabelled row (Jiang, Wu, Yu & Chen 2019)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, log_expit

from spark_pufs.core.baselines.classes import SecondClass, known_classes
from spark_pufs.core.baselines.graph import Sparse, laplacian, neighbour_graph, propagate
from spark_pufs.core.baselines.scored import Floats, Labels, Scored, converged

__all__ = ["fit_jsfs", "jsfs", "pseudo_signs"]

TOLERANCE = 1e-7
BIAS_PRECISION = 1e-3
REACH = 0.99  # of label propagation
STEEP = 5.0  # sigmoid(5 v) stands for the step at 0 of the row weights' truncated prior


def jsfs(
    X: Floats,
    label: Labels,
    rng: np.random.Generator,
    *,
    neighbours: int = 5,
    mu: float = 9.95e-3,
    gamma: float = 1e-11,
    second_class: SecondClass = "plausible",
    iterations: int = 100,
) -> Scored:
    """Scores |E w_j| of a linear classifier p(y = 1 | x) = sigmoid(w'x + b), learnt with the features' relevance.

    After the paper's abstract, a public implementation and Uchikoshi & Akimoto's settings (five neighbours, mu, gamma).
    Rows without a label get one by propagation along the neighbour graph and count ``mu`` times, as sigmoid(v_i w'x_i):
    v_i >= 0 says how far the row is believed. Features and rows have a Gaussian prior with a precision of their own
    each, which turns off the irrelevant; ``gamma`` w'X'LXw asks for smoothness on the graph.
    """
    sign = known_classes(X, label, second_class)
    S = neighbour_graph(X, neighbours)
    A = np.column_stack([X, np.ones(len(X))])
    mean, _, objective = fit_jsfs(A, pseudo_signs(S, sign), sign == 0, S, mu, gamma, iterations)
    return Scored(np.abs(mean[:-1]), objective)


def pseudo_signs(S: Sparse, sign: NDArray[np.int8]) -> Floats:
    """The known signs, and for other rows the sign of the class whose labels reach them more, 0 where none does."""
    F = propagate(S, np.column_stack([sign == 1, sign == -1]), REACH)
    return np.where(sign == 0, np.sign(F[:, 0] - F[:, 1]), sign).astype(np.float64)


@dataclass
class _Posterior:
    """q(w) = N(mean, cov), q(v_i) = N(trust_i, spread_i), and the parameters set in turn."""

    mean: Floats  # of w, (D + 1,); the last is the bias
    cov: Floats
    precision: Floats  # of the prior of w; the bias's stays
    trust: Floats  # mean of v, 1 for labelled rows, (n,)
    spread: Floats  # variance of v, 0 for labelled rows
    row_precision: Floats  # of the prior of v
    bound: Floats  # Jaakkola & Jordan's xi of sigmoid(v w'x)
    step_bound: Floats  # and of sigmoid(STEEP v)

    def weight_squares(self) -> Floats:
        squares: Floats = self.mean**2 + np.diag(self.cov)
        return squares

    def trust_squares(self) -> Floats:
        return self.trust**2 + self.spread

    def output_squares(self, A: Floats) -> Floats:
        """E (w'a)^2 of every row a."""
        squares: Floats = (A @ self.mean) ** 2 + np.einsum("ij,ij->i", A @ self.cov, A)
        return np.maximum(squares, 0.0)


def fit_jsfs(
    A: Floats, sign: Floats, free: NDArray[np.bool_], S: Sparse, mu: float, gamma: float, iterations: int
) -> tuple[Floats, Floats, tuple[float, ...]]:
    """E w (D + 1,), E v (n,) and less the evidence bound after each step.

    Variational EM with the bound of Jaakkola & Jordan (2000) on both sigmoids: every update is in closed form, and the
    evidence never falls. ``sign`` is the label of a row or, where it is ``free``, what stands for it.
    """
    n, D = A.shape
    counts = np.where(free, mu, 1.0)
    smooth = gamma * (A.T @ (laplacian(S) @ A))
    precision = np.append(np.ones(D - 1), BIAS_PRECISION)
    one = np.ones(n)
    q = _Posterior(np.zeros(D), np.eye(D), precision, one, np.where(free, 1.0, 0.0), one, one.copy(), STEEP * one)
    objective: list[float] = []
    for _ in range(iterations):
        _update_weights(q, A, sign, counts, smooth)
        _update_trust(q, A, sign, counts, free)
        q.bound = np.sqrt(q.trust_squares() * q.output_squares(A))
        q.step_bound = STEEP * np.sqrt(q.trust_squares())
        q.precision[:-1] = 1 / np.maximum(q.weight_squares()[:-1], 1e-12)
        q.row_precision = 1 / np.maximum(q.trust_squares(), 1e-12)
        objective.append(-_evidence(q, A, sign, counts, smooth, free))
        if converged(objective, TOLERANCE):
            break
    return q.mean, q.trust, tuple(objective)


def _update_weights(q: _Posterior, A: Floats, sign: Floats, counts: Floats, smooth: Floats) -> None:
    """q(w) given the rest: its precision is the sum of prior, bounded likelihood and smoothness."""
    curve = 2 * counts * _curvature(q.bound) * q.trust_squares()
    inverse = np.diag(q.precision) + (A.T * curve) @ A + smooth
    q.cov = np.asarray(np.linalg.inv((inverse + inverse.T) / 2), np.float64)
    q.mean = q.cov @ ((counts * sign * q.trust / 2) @ A)


def _update_trust(q: _Posterior, A: Floats, sign: Floats, counts: Floats, free: NDArray[np.bool_]) -> None:
    """q(v) given the rest, row by row, of the free rows."""
    likelihood = 2 * counts * _curvature(q.bound) * q.output_squares(A)
    inverse = q.row_precision + likelihood + 2 * STEEP**2 * _curvature(q.step_bound)
    pull = (counts * sign * (A @ q.mean) + STEEP) / 2
    q.trust = np.where(free, pull / inverse, 1.0)
    q.spread = np.where(free, 1 / inverse, 0.0)


def _curvature(xi: Floats) -> Floats:
    """(sigmoid(xi) - 1/2) / (2 xi), 1/8 at 0."""
    safe = np.maximum(xi, 1e-8)
    curve: Floats = (expit(safe) - 0.5) / (2 * safe)
    return curve


def _bounded(xi: Floats, mean: Floats, square: Floats) -> Floats:
    """Jaakkola & Jordan's bound of E log sigmoid(z) by E z and E z^2."""
    return log_expit(xi) + (mean - xi) / 2 - _curvature(xi) * (square - xi**2)


def _evidence(q: _Posterior, A: Floats, sign: Floats, counts: Floats, smooth: Floats, free: NDArray[np.bool_]) -> float:
    """The evidence bound up to a constant."""
    square, trust = q.weight_squares(), q.trust_squares()
    rows = counts @ _bounded(q.bound, sign * q.trust * (A @ q.mean), trust * q.output_squares(A))
    weights = 0.5 * (np.log(q.precision) - q.precision * square).sum() + 0.5 * np.linalg.slogdet(q.cov)[1]
    graph = -0.5 * (q.mean @ smooth @ q.mean + np.sum(smooth * q.cov))
    step = _bounded(q.step_bound, STEEP * q.trust, STEEP**2 * trust)
    spread = np.log(np.where(free, q.spread, 1.0))
    beliefs = (step + 0.5 * (np.log(q.row_precision) - q.row_precision * trust + spread))[free].sum()
    return float(rows + weights + graph + beliefs)
