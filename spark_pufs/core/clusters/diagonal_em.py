"""EM of many masked mixtures with diagonal components as matrix products.

With Z = [X, X*X] in float32, the log density of every row under every component of a mask is one product W @ Z.T + c,
where W holds mu/var and -1/(2 var); the sums of the M step are one product R @ Z. Each mask is multiplied with its own
columns alone: most masks hold a small part of them. Arrays run (mask, component, row), tables (column, row), so that
taking a mask's columns copies whole rows of memory.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "COVARIANCES",
    "Columns",
    "Components",
    "Draws",
    "MixtureSettings",
    "draw_rows",
    "draws_of",
    "fit_components",
    "likeliest",
    "log_density",
    "spread_rows",
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
    """Parameters of M mixtures: ``log_weight`` (M, K), ``mean`` and ``variance`` (M, K, d)."""

    log_weight: Singles
    mean: Singles
    variance: Singles


@dataclass(frozen=True)
class Columns:
    """The columns of M masks: ``index`` (M, 2d) into those of [X, X*X], d being the size of the largest mask; ``used``
    (M, d) is 0 where a smaller mask has been filled up."""

    index: NDArray[np.intp]
    used: Singles

    @classmethod
    def of(cls, masks: NDArray[np.bool_]) -> Columns:
        """Of masks (M, D).

        >>> Columns.of(np.array([[True, False, True], [False, True, False]])).index.tolist()
        [[0, 2, 3, 5], [1, 0, 4, 3]]
        """
        width = max(int(masks.sum(axis=1).max()), 1)
        own = np.argsort(~masks, axis=1, kind="stable")[:, :width]
        used = np.take_along_axis(masks, own, axis=1).astype(np.float32)
        return cls(np.concatenate([own, own + masks.shape[1]], axis=1), used)

    def take(self, table: Singles) -> Singles:
        """(M, 2d, n) of a table (2D, n)."""
        return table.take(self.index, axis=0)


@dataclass(frozen=True)
class Draws:
    """What all masks of a generation share: rows (2D, n) among which mixtures start, random numbers (K,) that choose
    among them, and the rows (2D, n) of each EM step."""

    candidates: Singles
    points: Floats
    batches: tuple[Singles, ...]


def draws_of(Z: Singles, weight: Floats, settings: MixtureSettings, rng: np.random.Generator) -> Draws:
    """Rows of Z (N, 2D) drawn by weight (N,)."""
    candidates = draw_rows(weight, 1, CANDIDATES, rng)[0]
    points = rng.random(settings.components)
    batches = draw_rows(weight, settings.steps, settings.batch, rng)
    return Draws(_table(Z, candidates), points, tuple(_table(Z, rows) for rows in batches))


def _table(Z: Singles, rows: NDArray[np.intp]) -> Singles:
    return np.ascontiguousarray(Z[rows].T)


def spread_rows(rows: Singles, used: Singles, points: Floats) -> NDArray[np.intp]:
    """Numbers (K, M) among the rows (M, 2d, n) of each mask, each drawn by its squared distance on the mask to those
    already drawn (k-means++, Arthur & Vassilvitskii 2007); all masks use the same random numbers ``points`` (K,).

    Drawn by weight alone, nearly all would fall into whatever fills the table (a flood of equal packets, say), and
    small groups would be found by luck.
    """
    masks, features = used.shape
    X, every, count = rows[:, :features] * used[:, :, None], np.arange(masks), rows.shape[2]
    square = (rows[:, features:] * used[:, :, None]).sum(axis=1)
    drawn = np.empty((len(points), masks), np.intp)
    drawn[0] = int(points[0] * count)
    distance = np.full(square.shape, np.inf, np.float32)
    for k in range(1, len(points)):
        last = X[every, :, drawn[k - 1]]
        from_last = square - 2 * (last[:, None] @ X)[:, 0] + (last * last).sum(axis=1)[:, None]
        distance = np.minimum(distance, np.maximum(from_last, 0))
        total = np.cumsum(distance, axis=1, dtype=np.float64)
        drawn[k] = np.minimum((total <= points[k] * total[:, -1:]).sum(axis=1), count - 1)
    return drawn


def fit_components(columns: Columns, draws: Draws, settings: MixtureSettings) -> Components:
    """Mini-batch EM of M mixtures: each batch moves the running sums a bit less."""
    used = columns.used
    candidates = columns.take(draws.candidates)
    masks, features = used.shape
    start = spread_rows(candidates, used, draws.points)
    mean = candidates[np.arange(masks)[:, None], :features, start.T]
    flat = np.full(mean.shape[:2], -np.log(len(start)), np.float32)
    current = Components(flat, mean, np.ones_like(mean))
    share, moment = np.zeros_like(flat), np.zeros((*flat.shape, 2 * features), np.float32)
    for step, table in enumerate(draws.batches, start=1):
        batch = columns.take(table)
        rows = batch.shape[2]
        responsibility = _e_step(batch, used, current)
        pull = np.float32(step**-settings.forget / rows)
        share += pull * (responsibility.sum(axis=2) - rows * share)
        moment += pull * (responsibility @ batch.swapaxes(1, 2) - rows * moment)
        current = _m_step(share, moment, used, settings, rows)
    return current


def log_density(rows: Singles, used: Singles, current: Components) -> Singles:
    """log(weight * density) of the rows (M, 2d, n) of each mask under each of its components: (M, K, n)."""
    precision = used[:, None] / current.variance
    linear = current.mean * precision
    spread = (current.mean * linear + used[:, None] * np.log(current.variance)).sum(axis=2)
    out: Singles = np.concatenate([linear, -0.5 * precision], axis=2) @ rows
    out += (current.log_weight - 0.5 * spread)[:, :, None]
    return out


def _e_step(batch: Singles, used: Singles, current: Components) -> Singles:
    """Responsibilities (M, K, n)."""
    density = log_density(batch, used, current)
    density -= density.max(axis=1, keepdims=True)
    np.exp(density, out=density)
    density /= density.sum(axis=1, keepdims=True)
    return density


def _m_step(share: Singles, moment: Singles, used: Singles, settings: MixtureSettings, rows: int) -> Components:
    """Parameters from the running sums; the prior rows have mean 0 and variance 1, the columns' own."""
    features = used.shape[1]
    prior = np.float32(settings.prior / rows)
    total = share + prior
    mean = moment[:, :, :features] / total[:, :, None]
    variance = (moment[:, :, features:] + prior) / total[:, :, None] - mean * mean
    if settings.covariance == "spherical":
        average = (variance * used[:, None]).sum(axis=2) / np.maximum(used.sum(axis=1), 1)[:, None]
        variance = np.repeat(average[:, :, None], features, axis=2)
    log_weight = np.log(total / total.sum(axis=1, keepdims=True))
    return Components(log_weight, mean, np.maximum(variance, np.float32(settings.floor)))


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
