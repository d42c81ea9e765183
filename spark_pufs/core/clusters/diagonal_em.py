"""EM of many masked mixtures with diagonal components as matrix products.

With Z = [X, X*X] in float32, the log density of every row under every component of every mask is one product
W @ Z.T + c, where W holds mu/var and -1/(2 var) and is zero outside the mask; the sums of the M step are one product
R @ Z. Arrays run (component, mask, row), so that sums over components go along memory.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "COVARIANCES",
    "Components",
    "MixtureSettings",
    "draw_rows",
    "fit_components",
    "likeliest",
    "log_density",
    "spread_rows",
    "starting_rows",
]

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]

CANDIDATES = 512  # rows among which starting rows are looked for
COVARIANCES = ("diag", "spherical", "full", "tied", "sklearn")


@dataclass(frozen=True)
class MixtureSettings:
    """How a mask is clustered.

    ``floor`` is the smallest variance, in units of the column's variance over all rows; ``prior`` is the number of
    rows with the column's own mean and variance that every component sees besides the batch, which keeps empty and
    one-row components finite. ``batch`` rows go into each of ``steps`` EM steps; ``forget`` is the power of the step
    sizes t^-forget that mix a batch into the running sums (Cappe & Moulines 2009). ``scale`` says how the columns are
    made comparable: by their deviations, or by their ranges as in the paper.
    """

    components: int = 10
    covariance: str = "diag"
    steps: int = 15
    batch: int = 256
    floor: float = 1e-2
    prior: float = 1.0
    forget: float = 0.6
    scale: str = "deviation"

    def __post_init__(self) -> None:
        if self.covariance not in COVARIANCES:
            raise ValueError(f"covariance must be one of {', '.join(COVARIANCES)}, got {self.covariance!r}")
        if min(self.components, self.steps, self.batch) < 1 or min(self.floor, self.prior) <= 0:
            raise ValueError("components, steps and batch must be at least 1, floor and prior positive")


@dataclass
class Components:
    """Parameters of M mixtures: ``log_weight`` (K, M), ``mean`` and ``variance`` (K, M, d)."""

    log_weight: Singles
    mean: Singles
    variance: Singles


def starting_rows(
    Z: Singles, masks: Singles, weight: Floats, components: int, rng: np.random.Generator
) -> NDArray[np.intp]:
    """Rows (K, M) of Z (N, 2d) that lie far from each other on each mask, out of ``CANDIDATES`` drawn by weight.

    Drawn by weight alone, nearly all would fall into whatever fills the table (a flood of equal packets, say), and
    small groups would be found by luck.
    """
    candidates = draw_rows(weight, 1, CANDIDATES, rng)[0]
    found: NDArray[np.intp] = candidates[spread_rows(Z[candidates], masks, components, rng)]
    return found


def spread_rows(Z: Singles, masks: Singles, components: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """Row numbers (K, M), each drawn by its squared distance on the mask to those already drawn (k-means++, Arthur &
    Vassilvitskii 2007); all masks use the same random numbers."""
    features = masks.shape[1]
    X, square = Z[:, :features], Z[:, features:] @ masks.T
    rows = np.empty((components, len(masks)), np.intp)
    rows[0] = rng.integers(len(Z))
    distance = np.full(square.shape, np.inf, np.float32)
    for k in range(1, components):
        last = X[rows[k - 1]] * masks
        from_last = square - 2 * (X @ last.T) + (last * last).sum(axis=1)
        distance = np.minimum(distance, np.maximum(from_last, 0))
        total = np.cumsum(distance, axis=0, dtype=np.float64)
        rows[k] = np.minimum((total <= rng.random() * total[-1]).sum(axis=0), len(Z) - 1)
    return rows


def fit_components(
    Z: Singles,
    masks: Singles,
    start: NDArray[np.intp],
    weight: Floats,
    settings: MixtureSettings,
    rng: np.random.Generator,
) -> Components:
    """Mini-batch EM of M mixtures from the rows ``start`` (K, M): each batch moves the running sums a bit less."""
    features = masks.shape[1]
    mean = Z[start, :features]
    flat = np.full(start.shape, -np.log(len(start)), np.float32)
    current = Components(flat, mean, np.ones_like(mean))
    share, moment = np.zeros(start.shape, np.float32), np.zeros((*start.shape, 2 * features), np.float32)
    for step, rows in enumerate(draw_rows(weight, settings.steps, settings.batch, rng), start=1):
        batch = Z[rows]
        responsibility = _e_step(batch, masks, current)
        pull = np.float32(step**-settings.forget / len(rows))
        share += pull * (responsibility.sum(axis=1).reshape(share.shape) - len(rows) * share)
        moment += pull * ((responsibility @ batch).reshape(moment.shape) - len(rows) * moment)
        current = _m_step(share, moment, masks, settings, len(rows))
    return current


def log_density(Z: Singles, masks: Singles, current: Components) -> Singles:
    """log(weight * density) of every row under every component of every mask: (K, M, rows)."""
    precision = masks / current.variance
    linear = current.mean * precision
    W = np.concatenate([linear, -0.5 * precision], axis=2).reshape(-1, Z.shape[1])
    spread = (current.mean * linear + masks * np.log(current.variance)).sum(axis=2)
    out: Singles = (W @ Z.T).reshape(*spread.shape, len(Z))
    out += (current.log_weight - 0.5 * spread)[:, :, None]
    return out


def _e_step(batch: Singles, masks: Singles, current: Components) -> Singles:
    """Responsibilities (K*M, rows)."""
    density = log_density(batch, masks, current)
    density -= density.max(axis=0)
    np.exp(density, out=density)
    density /= density.sum(axis=0)
    return density.reshape(-1, len(batch))


def _m_step(share: Singles, moment: Singles, masks: Singles, settings: MixtureSettings, rows: int) -> Components:
    """Parameters from the running sums; the prior rows have mean 0 and variance 1, the columns' own."""
    features = masks.shape[1]
    prior = np.float32(settings.prior / rows)
    total = share + prior
    mean = moment[:, :, :features] / total[:, :, None]
    variance = (moment[:, :, features:] + prior) / total[:, :, None] - mean * mean
    if settings.covariance == "spherical":
        average = (variance * masks).sum(axis=2) / np.maximum(masks.sum(axis=1), 1)
        variance = np.repeat(average[:, :, None], features, axis=2)
    return Components(np.log(total / total.sum(axis=0)), mean, np.maximum(variance, np.float32(settings.floor)))


def draw_rows(weight: Floats, steps: int, batch: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """Row numbers (steps, rows), each row as often as its weight asks.

    One pass of systematic draws over the shuffled rows serves all steps; neighbours go to different steps, so a
    batch repeats a row only where its weight is above a batch's share.
    """
    rows = min(batch, len(weight))
    order = rng.permutation(len(weight))
    edges = np.cumsum(weight[order])
    points = (np.arange(steps * rows) + rng.random()) * (edges[-1] / (steps * rows))
    drawn = order[np.minimum(np.searchsorted(edges, points, side="right"), len(order) - 1)]
    batches: NDArray[np.intp] = drawn.reshape(rows, steps).T
    return batches


def likeliest(density: Singles) -> NDArray[np.int64]:
    """argmax over the first axis of (K, ...), the first of equals; faster than np.argmax across memory."""
    best = density[0].copy()
    cluster = np.zeros(best.shape, np.int64)
    for k in range(1, len(density)):
        np.copyto(cluster, k, where=density[k] > best)
        np.maximum(best, density[k], out=best)
    return cluster
