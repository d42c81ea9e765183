"""Cluster a sample once per mask and count the labelled rows; the mixture of one mask for a whole table.

The unit of evaluation is a chunk of at most ``CHUNK`` masks: BLAS may round differently for another shape, so a chunk's
bits depend only on the sample, its masks, the settings and the seed, never on who computes it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from spark_pufs.core.clusters.dense_em import Dense, clusters_of, dense_log_density, fit_dense, fit_sklearn
from spark_pufs.core.clusters.diagonal_em import (
    COVARIANCES,
    Columns,
    Components,
    Draws,
    MixtureSettings,
    draws_of,
    fit_components,
    likeliest,
    log_density,
)
from spark_pufs.core.clusters.mixture_sample import SCALES, Frame, MixtureSample, make_sample
from spark_pufs.core.clusters.objective import recall_precision
from spark_pufs.core.search.mask_draws import CHUNK

__all__ = [
    "CHUNK",
    "COVARIANCES",
    "DENSE",
    "SCALES",
    "STARTS",
    "Frame",
    "Judge",
    "Mixture",
    "MixtureSample",
    "MixtureSettings",
    "assign",
    "choose_components",
    "chunks",
    "concentration",
    "fit_mask",
    "generation_draws",
    "likelihood",
    "log_likelihood",
    "make_sample",
    "score_chunk",
]

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]
Mask = NDArray[np.bool_]
Seed = int | Sequence[int]
Judge = Callable[["MixtureSample", "Mixture"], float]

BLOCK_VALUES = 2**18  # of the masks' columns, taken at once to assign rows: they stay in the cache
STARTS = 8  # fits of the mask that the search ends with
LONGER = 40  # and their steps
DENSE = ("full", "tied", "sklearn")  # fitted mask by mask


@dataclass(frozen=True)
class Mixture:
    """The mixture of one mask: ``columns`` (d,) and their ``frame``; ``weight`` (K,), ``mean`` (K, d) and
    ``covariance`` (K, d) or (K, d, d) of the columns as the frame gives them."""

    columns: NDArray[np.intp]
    frame: Frame
    weight: Floats
    mean: Floats
    covariance: Floats


def chunks(masks: Mask) -> Iterator[Mask]:
    """Split masks (M, D) into chunks of at most ``CHUNK`` in order: the units that may travel.

    >>> [len(chunk) for chunk in chunks(np.ones((40, 3), bool))]
    [16, 16, 8]
    """
    for start in range(0, len(masks), CHUNK):
        yield masks[start : start + CHUNK]


def generation_draws(sample: MixtureSample, settings: MixtureSettings, seed: Seed) -> Draws | None:
    """What all chunks of a generation share, drawn once; None where masks are fitted one by one."""
    if settings.covariance in DENSE:
        return None
    return draws_of(sample.Z, sample.weight, settings, np.random.default_rng(seed))


def score_chunk(
    sample: MixtureSample, masks: Mask, settings: MixtureSettings, seed: Seed, draws: Draws | None = None
) -> tuple[Floats, Floats]:
    """Cluster the sample once per mask; ``masks`` (m, D) bool with m <= CHUNK.

    Returns the weighted ``labelled`` (m, K) and ``rows`` (m, K) of every cluster, ready for ``recall_precision``.
    All masks that get the same seed share batches and random numbers, which takes much of the noise out of their
    comparison; ``draws`` are those of ``generation_draws`` for this seed, where they are at hand.

    >>> X = np.random.default_rng(0).normal(size=(100, 3))
    >>> labelled, rows = score_chunk(make_sample(X, X[:, 0] > 1), np.eye(3, dtype=bool), MixtureSettings(), seed=1)
    >>> labelled.shape, rows.sum(axis=1).tolist()
    ((3, 10), [100.0, 100.0, 100.0])
    """
    if not 0 < len(masks) <= CHUNK:
        raise ValueError(f"a chunk has 1 to {CHUNK} masks, got {len(masks)}")
    shared = draws or generation_draws(sample, settings, seed)
    if shared is None:
        return _score_one_by_one(sample, masks, settings, seed)
    columns = Columns.of(masks)
    return _count(columns, fit_components(columns, shared, settings), sample)


def _count(columns: Columns, found: Components, sample: MixtureSample) -> tuple[Floats, Floats]:
    """Assign every row to its likeliest component; weighted sums (M, K) of labelled and of all rows."""
    total, components = found.log_weight.shape
    labelled, rows = np.zeros(total * components), np.zeros(total * components)
    block = min(max(BLOCK_VALUES // columns.index.size, 128), 2048)
    for first in range(0, len(sample.weight), block):
        part = slice(first, first + block)
        density = log_density(columns.take(sample.Z.T[:, part]), columns.used, found)
        cluster = likeliest(density.swapaxes(0, 1)) + components * np.arange(total)[:, None]
        weight = np.broadcast_to(sample.weight[part], cluster.shape)
        flag = sample.labelled[part]
        rows += np.bincount(cluster.ravel(), weight.ravel(), len(rows))
        labelled += np.bincount(cluster[:, flag].ravel(), weight[:, flag].ravel(), len(rows))
    return labelled.reshape(total, components), rows.reshape(total, components)


def _score_one_by_one(
    sample: MixtureSample, masks: Mask, settings: MixtureSettings, seed: Seed
) -> tuple[Floats, Floats]:
    """Full, tied and scikit-learn: every mask on its own columns, each from the same random numbers."""
    labelled, rows = (np.zeros((len(masks), settings.components)) for _ in range(2))
    for m, mask in enumerate(masks):
        cluster = clusters_of(sample.X[:, mask], sample.weight, settings, np.random.default_rng(seed))
        labelled[m], rows[m] = _sums(cluster, sample, settings.components)
    return labelled, rows


def _sums(cluster: NDArray[np.int64], sample: MixtureSample, components: int) -> tuple[Floats, Floats]:
    """Weighted labelled and all rows (K,) of one mask's clusters (N,)."""
    flag = sample.labelled
    counted = (cluster[flag], sample.weight[flag]), (cluster, sample.weight)
    labelled, rows = (np.asarray(np.bincount(*part, components), np.float64) for part in counted)
    return labelled, rows


def likelihood(sample: MixtureSample, mixture: Mixture) -> float:
    """log likelihood of the sample."""
    return float(sample.weight @ log_likelihood(mixture, sample.X[:, mixture.columns]))


def concentration(sample: MixtureSample, mixture: Mixture) -> float:
    """f of the mixture's clusters: what the search goes by. Where many rows are alike a likelihood follows the spikes,
    and the likeliest of several fits is no better at gathering the labelled rows than any other."""
    cluster = likeliest(_densities(mixture, sample.X[:, mixture.columns]))
    labelled, rows = _sums(cluster, sample, len(mixture.weight))
    return float(recall_precision(labelled[None], rows[None], sample.total_labelled)[0])


def fit_mask(
    sample: MixtureSample,
    mask: Mask,
    settings: MixtureSettings,
    seed: Seed,
    judge: Judge = likelihood,
    starts: int = STARTS,
) -> Mixture:
    """The mixture of one mask (D,) for the last word: of ``starts`` longer fits the one that ``judge`` puts highest,
    by default the likeliest, which looks at no label.

    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> fitted = fit_mask(make_sample(X, X[:, 0] > 1), np.array([True, False, True]), MixtureSettings(), seed=1)
    >>> fitted.mean.shape, fitted.columns.tolist(), assign(fitted, X).shape
    ((10, 2), [0, 2], (200,))
    """
    longer = replace(settings, steps=max(LONGER, settings.steps), batch=max(settings.batch, 4096))
    columns = np.flatnonzero(mask)
    fits = [_fit_once(sample, columns, longer, np.random.default_rng([*_words(seed), i])) for i in range(starts)]
    values = [judge(sample, fit) for fit in fits]
    return fits[int(np.argmax(values))]


def assign(mixture: Mixture, X: ArrayLike) -> NDArray[np.int64]:
    """The cluster (B,) of every row of X (B, D), in the units of the table."""
    raw = np.asarray(X, np.float64)[:, mixture.columns]
    return likeliest(_densities(mixture, mixture.frame.apply(raw)))


def choose_components(
    sample: MixtureSample,
    mask: Mask,
    settings: MixtureSettings,
    seed: Seed,
    candidates: Sequence[int] = (2, 4, 6, 8, 10, 15, 20),
) -> tuple[int, Floats]:
    """K with the smallest BIC on one mask, and the BIC of every candidate.

    BIC = (free parameters) * log n - 2 log likelihood, n the rows of the sample. Run it on the mask of a first search
    (or on all features) and search again when K comes out far from the one used.
    """
    columns = np.flatnonzero(mask)
    share = sample.weight / sample.weight.mean()
    bic = []
    for count in candidates:
        fitted = fit_mask(sample, mask, replace(settings, components=count), seed)
        total = float(share @ log_likelihood(fitted, sample.X[:, columns]))
        bic.append(_free_parameters(count, len(columns), settings.covariance) * np.log(len(share)) - 2 * total)
    return candidates[int(np.argmin(bic))], np.array(bic)


def log_likelihood(mixture: Mixture, X: Singles) -> Floats:
    """log density (B,) of standardised rows X (B, d)."""
    density = _densities(mixture, X).astype(np.float64)
    top = density.max(axis=0)
    out: Floats = top + np.log(np.exp(density - top).sum(axis=0)) - 0.5 * X.shape[1] * np.log(2 * np.pi)
    return out


def _fit_once(
    sample: MixtureSample, columns: NDArray[np.intp], settings: MixtureSettings, rng: np.random.Generator
) -> Mixture:
    X = sample.X[:, columns]
    frame = sample.frame.of(columns)
    if settings.covariance in DENSE:
        dense = (
            fit_sklearn(X, sample.weight, settings, rng)[1]
            if settings.covariance == "sklearn"
            else fit_dense(X, sample.weight, settings, rng)
        )
        return Mixture(columns, frame, dense.weight, dense.mean, dense.covariance)
    every = Columns.of(np.ones((1, len(columns)), np.bool_))
    found = fit_components(every, draws_of(np.hstack([X, X * X]), sample.weight, settings, rng), settings)
    weight = np.exp(found.log_weight[0].astype(np.float64))
    return Mixture(columns, frame, weight, found.mean[0].astype(np.float64), found.variance[0].astype(np.float64))


def _densities(mixture: Mixture, X: Singles) -> Singles:
    """(K, B) of standardised rows (B, d)."""
    if mixture.covariance.ndim == 3:
        return dense_log_density(X, Dense(mixture.weight, mixture.mean, mixture.covariance))
    own = (np.log(mixture.weight), mixture.mean, mixture.covariance)
    single = Components(*(part[None].astype(np.float32) for part in own))
    rows = np.vstack([X.T, X.T**2])[None]
    density: Singles = log_density(rows, np.ones((1, X.shape[1]), np.float32), single)[0]
    return density


def _free_parameters(components: int, size: int, covariance: str) -> int:
    square = size * (size + 1) // 2
    spread = {"diag": components * size, "spherical": components, "tied": square}.get(covariance, components * square)
    return components - 1 + components * size + spread


def _words(seed: Seed) -> Sequence[int]:
    return [seed] if isinstance(seed, int) else seed
