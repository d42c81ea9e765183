"""PUlasso: logistic regression with a group lasso under the PU model (Song & Raskutti 2020).

Labelled rows are drawn from the positives, unlabelled rows from all; where the share of positives is known, a row of
the two samples together is labelled with probability c / (1 + exp(-eta)), c being the share of positives that are
labelled. The likelihood has no closed maximum and is not concave. Each step replaces it by a quadratic bound from
above: the expected class of unlabelled rows first (EM), then a curvature of 1/4 for the logistic loss. The
bound has one and the same matrix at every step, so that groups of columns are updated from products of columns alone. A
lower curvature is tried first, and doubled wherever the objective would rise.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, log_expit

__all__ = ["Path", "PuLoss", "Solver", "orthonormal", "penalty_path"]

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]

CURVATURE = 0.25  # of the logistic loss, at most
FIRST_CURVATURE = 0.02  # tried first: where positives are rare the loss is hardly bent
MOST_STEPS = 200  # of one penalty
SWEEPS = 5  # over the groups in one step
STILL = 1e-7  # moves of coefficients that end them
ROUNDING = 1e-13  # of an objective
RANK = 1e-8  # singular values below this share of the largest are rounding


@dataclass(frozen=True)
class PuLoss:
    """The mean negative log-likelihood of rows ``positive``, ``negative`` (n,), the others unlabelled.

    ``labelled``: the share c of the positives among these rows that are labelled.
    """

    positive: Bools
    negative: Bools
    labelled: float

    def value(self, eta: Floats) -> float:
        """At log-odds (n,) of being positive."""
        unlabelled = np.log1p(-self.labelled * expit(eta)) if self.labelled < 1 else log_expit(-eta)
        own = np.where(self.positive, log_expit(eta), np.where(self.negative, log_expit(-eta), unlabelled))
        return -float(own.mean())

    def slope(self, eta: Floats) -> Floats:
        """Its derivative (n,) by each row's log-odds, times n: less the expected class, plus the fitted one."""
        fitted = expit(eta)
        hidden = (1 - self.labelled) * fitted / (1 - self.labelled * fitted) if self.labelled < 1 else 0.0
        expected = np.where(self.positive, 1.0, np.where(self.negative, 0.0, hidden))
        found: Floats = fitted - expected
        return found

    def start(self) -> float:
        """The log-odds that all rows have in common without any column."""
        low, high = -30.0, 30.0
        for _ in range(80):
            middle = (low + high) / 2
            if self.slope(np.full(len(self.positive), middle)).sum() > 0:
                high = middle
            else:
                low = middle
        return (low + high) / 2


def orthonormal(columns: Floats) -> Floats:
    """Columns (n, r) of mean 0 that span those (n, c) given, with products of n for equal and 0 for different ones.

    >>> orthonormal(np.array([[1.0, 1.0], [2.0, 2.0], [6.0, 6.0]])).shape
    (3, 1)
    """
    centred = columns - columns.mean(axis=0)
    left, size, _ = np.linalg.svd(centred, full_matrices=False)
    kept = size > RANK * max(float(size.max(initial=0.0)), RANK)
    found: Floats = left[:, kept] * np.sqrt(len(columns))
    return found


@dataclass
class Solver:
    """Coefficients ``b`` (p,) of orthonormal groups of columns X (n, p), and an intercept, at falling penalties.

    ``group`` (p,): the group of each column, in order; a group without columns is never chosen. ``tolerance``: what
    a last step may gain, as a share of the objective.
    """

    X: Floats
    group: Ints
    groups: int
    loss: PuLoss
    tolerance: float = 1e-6
    b: Floats = field(init=False)
    intercept: float = field(init=False)

    def __post_init__(self) -> None:
        self.b = np.zeros(self.X.shape[1])
        self.intercept = self.loss.start()
        self._curvature = FIRST_CURVATURE
        self._first = np.searchsorted(self.group, np.arange(self.groups + 1))
        self._weight = np.sqrt(np.maximum(np.diff(self._first), 1))

    def entries(self) -> Floats:
        """The penalty (groups,) at which each group would come in, the others being as they are."""
        slope = self.X.T @ self.loss.slope(self._eta()) / len(self.X)
        size = np.sqrt(np.bincount(self.group, slope**2, self.groups))
        return np.asarray(size / self._weight)

    def sizes(self) -> Floats:
        """The size (groups,) of each group's coefficients."""
        return np.asarray(np.sqrt(np.bincount(self.group, self.b**2, self.groups)))

    def objective(self, penalty: float) -> float:
        return self.loss.value(self._eta()) + penalty * float((self._weight * self.sizes()).sum())

    def fit(self, penalty: float, open_: Bools) -> bool:
        """Descend at one penalty, groups ``open_`` (groups,) alone; whether it settled."""
        active = np.flatnonzero(open_ | (self.sizes() > 0))
        columns = np.flatnonzero(np.isin(self.group, active))
        own = self.X[:, columns]
        product = own.T @ own / len(own)
        spans = self._spans(active)
        value = self.objective(penalty)
        for _ in range(MOST_STEPS):
            before = self.b.copy(), self.intercept
            slope = self.loss.slope(self._eta())
            self.intercept -= float(slope.mean()) / self._curvature
            self.b[columns] = self._swept(own.T @ slope / len(own), product, columns, spans, penalty)
            lower = self.objective(penalty)
            if lower > value + ROUNDING and self._curvature < CURVATURE:
                (self.b, self.intercept), self._curvature = before, min(2 * self._curvature, CURVATURE)
                continue
            if value - lower < self.tolerance * abs(lower):
                return True
            value = lower
        return False

    def _spans(self, active: NDArray[np.intp]) -> list[tuple[int, int, float]]:
        """First and last column of each active group among those of all active ones, and its weight."""
        sizes = np.diff(self._first)[active]
        ends = np.cumsum(sizes)
        return list(zip((ends - sizes).tolist(), ends.tolist(), self._weight[active].tolist(), strict=True))

    def _swept(
        self,
        slope: Floats,
        product: Floats,
        columns: NDArray[np.intp],
        spans: Sequence[tuple[int, int, float]],
        penalty: float,
    ) -> Floats:
        """Coefficients of these columns that lower the quadratic bound, group by group."""
        b, slope = self.b[columns].copy(), slope / self._curvature  # slope of the bound at b, in units of a step
        for _ in range(SWEEPS):
            largest = 0.0
            for first, last, weight in spans:
                new = _shrunk(b[first:last] - slope[first:last], penalty * weight / self._curvature)
                step = new - b[first:last]
                moved = float(np.abs(step).max(initial=0.0))
                if moved > 0:
                    slope += product[:, first:last] @ step
                    b[first:last] = new
                    largest = max(largest, moved)
            if largest < STILL:
                break
        return b

    def _eta(self) -> Floats:
        used = np.flatnonzero(self.b)
        found: Floats = self.intercept + self.X[:, used] @ self.b[used]
        return found


def _shrunk(values: Floats, bound: float) -> Floats:
    """Values towards 0 by ``bound`` of their size."""
    size = abs(float(values[0])) if len(values) == 1 else float(np.sqrt(values @ values))
    return values * (1 - bound / size) if size > bound else np.zeros_like(values)


@dataclass(frozen=True)
class Path:
    """``entered`` (groups,): the penalty at which each group came in, or would come in beyond the last one.

    ``coefficients``: sizes (groups,) at the last penalty. ``objective``: at each penalty. ``settled``: at all of them.
    """

    entered: Floats
    coefficients: Floats
    objective: tuple[float, ...]
    settled: bool


def penalty_path(solver: Solver, steps: int, ratio: float, most: int | None = None) -> Path:
    """Fits at ``steps`` penalties from the one that lets the first group in down to ``ratio`` of it.

    Ends early with ``most`` groups in the model.
    """
    entries = solver.entries()
    entered, inside = entries.copy(), np.zeros(solver.groups, np.bool_)
    before = top = float(entries.max(initial=0.0))
    objective: list[float] = []
    settled = True
    for penalty in top * np.geomspace(1, ratio, steps)[1:] if top > 0 else ():
        settled &= _fitted(solver, float(penalty), entries >= 2 * penalty - before)
        new = (solver.sizes() > 0) & ~inside
        entered[new] = np.clip(entries[new], penalty, before)
        inside |= new
        entries = solver.entries()
        entered[~inside] = np.minimum(entries[~inside], penalty)
        objective.append(solver.objective(float(penalty)))
        before = float(penalty)
        if most is not None and inside.sum() >= most:
            break
    return Path(entered, solver.sizes(), tuple(objective), settled)


def _fitted(solver: Solver, penalty: float, likely: Bools) -> bool:
    """A fit on groups that are likely to matter, and again with those that were left out by mistake."""
    for _ in range(10):
        settled = solver.fit(penalty, likely)
        missed = (solver.entries() > penalty * (1 + 1e-3)) & (solver.sizes() == 0) & ~likely
        if not missed.any():
            return settled
        likely = likely | missed
    return settled
