"""Mixtures with full or tied covariance, and scikit-learn's as the reference: one mask at a time.

The quadratic form of a full covariance is linear in the products x_i x_j, so the E step is one matrix product here
too, with Q = [X, products] (N, d + d(d+1)/2); slower than diagonal components because Q is so wide.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spark_pufs.core.mixture_batch import MixtureSettings, draw_rows, likeliest, starting_rows

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
    """EM with full or tied covariance on X (N, d) standardised, from random rows and unit covariance."""
    size = X.shape[1]
    start = starting_rows(weight, settings.components, rng)
    Q = _products(X[draw_rows(weight, 1, FIT_ROWS, rng)[0]])
    components = settings.components
    current = Dense(
        np.full(components, 1 / components),
        X[start].astype(np.float64),
        np.tile(np.eye(size), (components, 1, 1)),
    )
    for _ in range(settings.steps):
        density = _log_products(Q, current)
        density -= density.max(axis=0)
        np.exp(density, out=density)
        density /= density.sum(axis=0)
        current = _m_step(
            density.sum(axis=1, dtype=np.float64), (density @ Q).astype(np.float64), size, settings
        )
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
    data = X.astype(np.float64) if X.shape[1] else np.zeros((len(X), 1))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # "did not converge", "fewer distinct points than clusters"
        model.fit(data[rows])
    return model.predict(data).astype(np.int64), Dense(model.weights_, model.means_, model.covariances_)


def clusters_of(
    X: Singles, weight: Floats, settings: MixtureSettings, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Hard clusters (N,) of one mask's columns X (N, d)."""
    if not X.shape[1]:
        return np.zeros(len(X), np.int64)
    if settings.covariance == "sklearn":
        return fit_sklearn(X, weight, settings, rng)[0]
    return likeliest(dense_log_density(X, fit_dense(X, weight, settings, rng)))


def _products(X: Singles) -> Singles:
    """[X, x_i x_j for i <= j] (N, d + d(d+1)/2)."""
    upper = np.triu_indices(X.shape[1])
    return np.hstack([X, X[:, upper[0]] * X[:, upper[1]]])


def _log_products(Q: Singles, current: Dense) -> Singles:
    components, size = current.mean.shape
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
    return (W @ Q.T).astype(np.float32, copy=False) + constant.astype(np.float32)[:, None]


def _m_step(share: Floats, moment: Floats, size: int, settings: MixtureSettings) -> Dense:
    """Besides the batch every component sees ``prior`` rows with mean 0 and unit covariance; ``floor`` goes on top."""
    total = share + settings.prior
    mean = moment[:, :size] / total[:, None]
    upper = np.triu_indices(size)
    second = np.zeros((len(share), size, size))
    second[:, upper[0], upper[1]] = moment[:, size:]
    second[:, upper[1], upper[0]] = moment[:, size:]
    scatter = (second + settings.prior * np.eye(size)) - total[:, None, None] * mean[:, :, None] * mean[
        :, None, :
    ]
    if settings.covariance == "tied":
        covariance = np.repeat(scatter.sum(axis=0)[None] / total.sum(), len(share), axis=0)
    else:
        covariance = scatter / total[:, None, None]
    return Dense(total / total.sum(), mean, covariance + settings.floor * np.eye(size))
