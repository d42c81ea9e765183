"""PUFS: a projection that keeps neighbours together and labelled rows apart from plausible negatives.

Han & Shen 2016. With L the normalised Laplacian of the graph of mutual neighbours, minimise over w (D,)

    w'X'LXw + alpha Dhat(w) + beta |w|_1 + gamma (w'w - 1)^2                                     (eq. 7)

Dhat sums, over must-links x = exp(-d^2/theta_M^2) - 1 and over cannot-links x = exp(-d^2/theta_C^2), d the distance of
the two projections, delta^2 (1 - exp(-x^2/delta^2)): this is eq. 5 up to a factor and a constant, and the function that
the weights g of eq. 9 descend. Each outer step fixes g and the weights of the reweighted L1 term (eq. 10) and minimises
what is left. That is no work for plain gradient descent: gamma = 1e5 makes the valley of unit length so steep that any
stable step is useless along it, so each outer step runs L-BFGS with its line search.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import logsumexp

from spark_pufs.core.pu.neighbours import CHUNK_BYTES, RowBlock, squared_distances

__all__ = [
    "Links",
    "PufsSettings",
    "Solution",
    "laplacian_block",
    "objective",
    "plausible_negatives",
    "solve",
    "step_value",
]

Floats = NDArray[np.float64]
Weights = tuple[Floats, Floats, Floats]

SMALL = 1e-6  # |w| below this counts as this much in the reweighted L1 term
SETTLED = 1e-9  # an outer step that gains less, relative to what was gained first, is the last
INNER = 500


@dataclass(frozen=True)
class PufsSettings:
    """Penalties and widths of eq. 7; the paper's values where it gives one (beta it tuned by cross-validation)."""

    alpha: float = 1.0
    beta: float = 1.0
    gamma: float = 1e5
    delta: float = 1e3
    theta_m: float = 10.0
    theta_c: float = 40.0
    steps: int = 15


@dataclass(frozen=True)
class Links:
    """Rows that must lie together: ``positive`` (m, D) among themselves, ``negative`` (r, D) too; the two apart."""

    positive: Floats
    negative: Floats


@dataclass(frozen=True)
class Solution:
    """w (D,), the objective before each outer step and at the end, and whether it had settled."""

    w: Floats
    values: tuple[float, ...]
    settled: bool


@dataclass(frozen=True)
class TiedRows:
    """X (n, D); the normalised similarities D^-1/2 S D^-1/2 as the arrays of a sparse matrix, ``data``, ``indices``,
    ``indptr``; ``positive`` the labelled rows; ``theta``."""

    X: Floats
    positive: NDArray[np.intp]
    theta: float
    data: Floats
    indices: NDArray[np.integer]
    indptr: NDArray[np.integer]


@dataclass(frozen=True)
class LaplacianPart:
    """A block's share of X'LX (D, D), and the log of each row's mean ``similarity`` (b,) to the labelled rows."""

    product: Floats
    similarity: Floats


def laplacian_block(shared: TiedRows, unit: RowBlock) -> LaplacianPart:
    """What one block of rows adds. A row without neighbours has no part in L."""
    X, first, last = shared.X, unit.first, unit.last
    own, ends = X[first:last], shared.indptr[first : last + 1]
    edges = slice(ends[0], ends[-1])
    # The sum over edges as a product: rows of the block, weighted, against the rows they are tied to.
    source = np.repeat(np.arange(last - first), np.diff(ends))
    tied = (own[source] * shared.data[edges, None]).T @ X[shared.indices[edges]]
    connected = own[np.diff(ends) > 0]
    return LaplacianPart(connected.T @ connected - tied, _similarity(own, X[shared.positive], shared.theta))


def _similarity(rows: Floats, positive: Floats, theta: float) -> Floats:
    """log of eq. 3 (b,) without the cut at k neighbours, under which nearly all rows would tie at 0."""
    size = max(1, CHUNK_BYTES // (8 * len(positive)))
    parts = [
        logsumexp(-squared_distances(rows[start : start + size], positive) / theta**2, axis=1)
        for start in range(0, len(rows), size)
    ]
    similarity: Floats = np.concatenate(parts) - np.log(len(positive))
    return similarity


def plausible_negatives(
    open_rows: NDArray[np.bool_], graph: Floats, similarity: Floats, count: int
) -> NDArray[np.intp]:
    """The ``count`` rows of ``open_rows`` (n,) least similar to labelled ones: by the graph (eq. 3), or uncut."""
    order = np.lexsort((similarity, graph))
    return np.sort(order[open_rows[order]][:count])


def solve(A: Floats, links: Links, settings: PufsSettings) -> Solution:
    """Half-quadratic steps from the direction between the two groups' means: no random start, always one answer."""
    w = start(links)
    values = [objective(w, A, links, settings)]
    for _ in range(settings.steps):
        g, phi = link_weights(w, links, settings), 0.5 / np.maximum(np.abs(w), SMALL)
        found = minimize(
            step_value, w, (A, links, settings, g, phi), "L-BFGS-B", jac=True, options={"maxiter": INNER, "maxcor": 20}
        )
        w = found.x
        values.append(objective(w, A, links, settings))
        if values[-2] - values[-1] <= SETTLED * max(values[0] - values[-1], abs(values[-1])):
            return Solution(w, tuple(values), True)
    return Solution(w, tuple(values), False)


def start(links: Links) -> Floats:
    """The unit vector (D,) between the means of the two groups."""
    apart = links.positive.mean(axis=0) - links.negative.mean(axis=0)
    length = float(np.linalg.norm(apart))
    return apart / length if length > 0 else np.full(len(apart), 1 / np.sqrt(len(apart)))


def balanced(A: Floats, links: Links, settings: PufsSettings) -> float:
    """The alpha with which, at the start, the links gain as much as the Laplacian costs; 0 where either has no say.

    w'X'LXw is a sum over rows and Dhat over pairs: which of them rules hangs on how many rows are labelled. Where the
    Laplacian rules, the best w is any direction in which nothing varies, such as the difference of two near copies.
    """
    w = start(links)
    gain = _robust(np.zeros_like(w), links, settings) - _robust(w, links, settings)
    return float(w @ A @ w) / gain if gain > 0 else 0.0


def objective(w: Floats, A: Floats, links: Links, settings: PufsSettings) -> float:
    """Eq. 7, |w| below ``SMALL`` smoothed as the reweighted term has it."""
    size = np.abs(w)
    l1 = float(np.where(size > SMALL, size, (w**2 / SMALL + SMALL) / 2).sum())
    length = settings.gamma * float(w @ w - 1) ** 2
    return float(w @ A @ w) + settings.alpha * _robust(w, links, settings) + settings.beta * l1 + length


def _robust(w: Floats, links: Links, settings: PufsSettings) -> float:
    """Dhat: delta^2 (1 - exp(-x^2/delta^2)) over all links."""
    width = settings.delta**2
    found = _violations(w, links, settings)
    return sum(share * float(-np.expm1(-(x**2) / width).sum()) * width for share, x, _, _ in found)


def link_weights(w: Floats, links: Links, settings: PufsSettings) -> Weights:
    """g of eq. 9 for the must-links of either group and the cannot-links."""
    own, other, between = (np.exp(-((x / settings.delta) ** 2)) for _, x, _, _ in _violations(w, links, settings))
    return own, other, between


def step_value(
    w: Floats, A: Floats, links: Links, settings: PufsSettings, g: Weights, phi: Floats
) -> tuple[float, Floats]:
    """Eq. 10 with weights held, and its gradient (D,)."""
    Aw, excess = A @ w, float(w @ w - 1)
    value = float(w @ Aw) + settings.beta * float(phi @ w**2) + settings.gamma * excess**2
    gradient = 2 * Aw + 2 * settings.beta * phi * w + 4 * settings.gamma * excess * w
    ends = ((links.positive,) * 2, (links.negative,) * 2, (links.positive, links.negative))
    for (left, right), own, (share, x, d, slope) in zip(ends, g, _violations(w, links, settings), strict=True):
        value += settings.alpha * share * float((own * x**2).sum())
        pull = 2 * settings.alpha * share * own * x * slope * d  # derivative by d, pair by pair
        gradient = gradient + left.T @ pull.sum(axis=1) - right.T @ pull.sum(axis=0)
    return value, gradient


def _violations(w: Floats, links: Links, settings: PufsSettings) -> list[tuple[float, Floats, Floats, Floats]]:
    """For must-links of either group and cannot-links: a half where pairs come twice, x, d, and (dx/dd) / d."""
    p, n = links.positive @ w, links.negative @ w
    kinds = ((0.5, p, p, settings.theta_m, 1.0), (0.5, n, n, settings.theta_m, 1.0), (1.0, p, n, settings.theta_c, 0.0))
    found = []
    for share, left, right, theta, target in kinds:
        d = left[:, None] - right
        near = np.exp(-((d / theta) ** 2))
        found.append((share, near - target, d, near * (-2 / theta**2)))
    return found
