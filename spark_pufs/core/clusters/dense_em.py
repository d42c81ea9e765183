"""Mixtures with full or tied covariance, and scikit-learn's as the reference: one mask at a time.

The quadratic form of a full covariance is linear in the products x_i x_j, so the E step is one matrix product here
too, with Q = [X, products] (d + d(d+1)/2, N); slower than diagonal components because Q is so wide.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spark_pufs.core.clusters.diagonal_em import MixtureSettings, draw_rows, likeliest, spread_rows
from spark_pufs.core.process_state import without_warnings

__all__ = ["Dense", "clusters_of", "dense_log_density", "fit_dense", "fit_sklearn"]

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]

FIT_ROWS = 8192  # a full covariance needs many rows per component: far more than a diagonal batch


@dataclass(frozen=True)
class Dense:
    """``weight`` (K,), ``mean`` (K, d), ``covariance`` (K, d, d), all float64."""

    weight: Floats
    mean: Floats
    covariance: Floats


def fit_dense(X: Singles, weight: Floats, settings: MixtureSettings, rng: np.random.Generator) -> Dense:
    """EM with full or tied covariance on X (N, d) standardised, from the rows nearest to spread-out seeds.

    k-means before EM, as in scikit-learn's, would order masks better where few features are right, but f then stands
    still at two thirds of them; the published figures are those of a start like this one (docs/results/fscpu.md).
    """
    rows = X[draw_rows(weight, 1, FIT_ROWS, rng)[0]]
    Q = _products(rows)
    ones = np.ones((1, rows.shape[1]), np.float32)
    table = np.vstack([rows.T, rows.T**2])[None]
    seeds = spread_rows(table, ones, rng.random(settings.components))[:, 0]
    density = _nearest(rows, rows[seeds])
    current = _m_step(density, Q, rows.shape[1], settings)
    for _ in range(settings.steps):
        density = _log_products(Q, current)
        density -= density.max(axis=0)
        np.exp(density, out=density)
        density /= density.sum(axis=0)
        current = _m_step(density, Q, rows.shape[1], settings)
    return current


def dense_log_density(X: Singles, mixture: Dense) -> Singles:
    """log(weight * density): (K, N)."""
    return _log_products(_products(X), mixture)


def fit_sklearn(
    X: Singles, weight: Floats, settings: MixtureSettings, rng: np.random.Generator
) -> tuple[NDArray[np.int64], Dense]:
    """scikit-learn's GaussianMixture with its defaults (full covariance, k-means start): clusters (N,), parameters.

    It knows no row weights: where they differ, the rows it sees are drawn by weight.
    """
    from sklearn.mixture import GaussianMixture

    rows = np.arange(len(X)) if np.ptp(weight) == 0 else draw_rows(weight, 1, len(X), rng)[0]
    model = GaussianMixture(min(settings.components, len(X)), random_state=int(rng.integers(2**31)))
    data = X.astype(np.float64)
    if len(data) < 2:  # it refuses a single row
        return np.zeros(len(data), np.int64), Dense(np.ones(1), data, np.eye(X.shape[1])[None])
    with without_warnings():  # "did not converge", "fewer distinct points than clusters"
        model.fit(data[rows])
    return model.predict(data).astype(np.int64), Dense(model.weights_, model.means_, model.covariances_)


def clusters_of(X: Singles, weight: Floats, settings: MixtureSettings, rng: np.random.Generator) -> NDArray[np.int64]:
    """Hard clusters (N,) of one mask's columns X (N, d)."""
    if not X.shape[1]:
        return np.zeros(len(X), np.int64)
    if settings.covariance == "sklearn":
        return fit_sklearn(X, weight, settings, rng)[0]
    return likeliest(dense_log_density(X, fit_dense(X, weight, settings, rng)))


def _products(X: Singles) -> Singles:
    """[X, x_i x_j for i <= j] (d + d(d+1)/2, N): a row per product, so that making them runs along memory."""
    size = X.shape[1]
    Q = np.empty((size + size * (size + 1) // 2, len(X)), np.float32)
    Q[:size] = X.T
    first = size
    for i in range(size):
        np.multiply(Q[i], Q[i:size], out=Q[first : first + size - i])
        first += size - i
    return Q


def _log_products(Q: Singles, current: Dense) -> Singles:
    size = current.mean.shape[1]
    lower = np.linalg.cholesky(current.covariance)
    inverse = np.linalg.inv(lower)
    precision = np.swapaxes(inverse, 1, 2) @ inverse
    linear = np.einsum("kij,kj->ki", precision, current.mean)
    upper = np.triu_indices(size)
    quadratic = -precision[:, upper[0], upper[1]]
    quadratic[:, upper[0] == upper[1]] *= 0.5  # off the diagonal each product stands for two entries
    log_root = np.log(np.diagonal(lower, axis1=1, axis2=2)).sum(axis=1)
    constant = np.log(current.weight) - log_root - 0.5 * (linear * current.mean).sum(axis=1)
    W = np.hstack([linear, quadratic]).astype(np.float32)
    density: Singles = W @ Q
    density += constant.astype(np.float32)[:, None]
    return density


def _nearest(X: Singles, seeds: Singles) -> Singles:
    """Hard responsibilities (K, N)."""
    closeness = seeds @ X.T - 0.5 * (seeds**2).sum(axis=1)[:, None]
    hard: Singles = (likeliest(closeness) == np.arange(len(seeds))[:, None]).astype(np.float32)
    return hard


def _m_step(responsibility: Singles, Q: Singles, size: int, settings: MixtureSettings) -> Dense:
    """Besides its rows every component sees ``prior`` rows with mean 0 and unit covariance; ``floor`` on top."""
    moment = (responsibility @ Q.T).astype(np.float64)
    share = responsibility.sum(axis=1, dtype=np.float64)
    total = share + settings.prior
    mean = moment[:, :size] / total[:, None]
    upper = np.triu_indices(size)
    second = np.zeros((len(share), size, size))
    second[:, upper[0], upper[1]] = moment[:, size:]
    second[:, upper[1], upper[0]] = moment[:, size:]
    scatter = (second + settings.prior * np.eye(size)) - total[:, None, None] * mean[:, :, None] * mean[:, None, :]
    if settings.covariance == "tied":
        covariance = np.repeat(scatter.sum(axis=0)[None] / total.sum(), len(share), axis=0)
    else:
        covariance = scatter / total[:, None, None]
    return Dense(total / total.sum(), mean, covariance + settings.floor * np.eye(size))
