"""The rows a search looks at, and how a mixture sees their columns."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import ArrayLike, NDArray

from spark_pufs.core.clusters.diagonal_em import draw_rows

__all__ = ["SCALES", "Frame", "MixtureSample", "make_sample", "part_sizes"]

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]
Mask = NDArray[np.bool_]

SCALES = ("deviation", "range")
LARGE = 500  # squares of values between 2**-500 and 2**500 can be summed
FAR = 1e12  # of a standardised value: its square is still a float32


@dataclass(frozen=True)
class Frame:
    """How the mixture sees d columns: asinh(bend (x - middle) / spread) / bend, then standardised; each field (d,).

    ``bend`` is 0, and the first step linear, except for columns with heavy tails (counts, sizes, durations), where
    a few far rows would otherwise hold a component each. x is in multiples of ``unit``, which is 1 but for columns
    whose squares would overflow or vanish.
    """

    unit: Floats
    middle: Floats
    spread: Floats
    bend: Floats
    center: Floats
    scale: Floats

    def apply(self, X: Floats) -> Singles:
        """X (N, d) in the units of the table -> (N, d) float32."""
        with np.errstate(over="ignore"):  # rows may be farther out than any that the frame was made from
            seen = (_bent(X / self.unit, self.middle, self.spread, self.bend) - self.center) / self.scale
        return np.clip(seen, -FAR, FAR).astype(np.float32)

    def of(self, columns: NDArray[np.intp]) -> Frame:
        """The same for some of the columns."""
        return Frame(*(getattr(self, field.name)[columns] for field in fields(self)))


@dataclass(frozen=True)
class MixtureSample:
    """The rows a search looks at.

    Z (N, 2D) float32 = [X, X*X] of the columns as ``frame`` gives them, ``labelled`` (N,) bool, ``weight`` (N,)
    float64 = rows of the table that a row stands for.
    """

    Z: Singles
    labelled: Mask
    weight: Floats
    frame: Frame

    @property
    def X(self) -> Singles:
        """The standardised columns (N, D)."""
        return self.Z[:, : self.features]

    @property
    def features(self) -> int:
        """D."""
        return len(self.frame.center)

    def part(self, rows: int) -> MixtureSample:
        """About so many of the rows, drawn by weight, in the same frame: labelled ones first, up to half of them."""
        groups = np.flatnonzero(self.labelled), np.flatnonzero(~self.labelled)
        if rows >= len(self.weight):
            return self
        rng = np.random.default_rng(len(self.weight))
        sizes = part_sizes(len(groups[0]), len(groups[1]), rows)
        parts = [_drawn(own, self.weight[own], size, rng) for own, size in zip(groups, sizes, strict=True)]
        index, weight = (np.concatenate(side) for side in zip(*parts, strict=True))
        return MixtureSample(np.asfortranarray(self.Z[index]), self.labelled[index], weight, self.frame)

    @property
    def total_labelled(self) -> float:
        """|L|, weighted."""
        return float(self.weight[self.labelled].sum())


def part_sizes(labelled: int, others: int, rows: int) -> tuple[int, int]:
    """How many labelled and how many other rows are among ``rows`` of a sample.

    >>> part_sizes(40, 4000, 1000), part_sizes(4000, 4000, 1000), part_sizes(900, 100, 800)
    ((40, 960), (500, 500), (700, 100))
    """
    few = min(others, rows - min(labelled, rows // 2))
    return min(labelled, rows - few), few


def _drawn(
    rows: NDArray[np.intp], weight: Floats, size: int, rng: np.random.Generator
) -> tuple[NDArray[np.intp], Floats]:
    """``size`` draws from ``rows`` by their weight, a row drawn twice counting twice; their weights sum up alike."""
    if size >= len(rows):
        return rows, weight
    drawn, times = np.unique(draw_rows(weight, 1, size, rng)[0], return_counts=True)
    return rows[drawn], times * (weight.sum() / size)


def make_sample(
    X: ArrayLike,
    labelled: ArrayLike,
    weight: ArrayLike | None = None,
    bend: float = 3.0,
    heavy: float = 6.0,
    scale: str = "deviation",
) -> MixtureSample:
    """Standardise the columns of X (N, D), so that float32 sums of squares keep their digits.

    Columns with a kurtosis above ``heavy`` (a normal has 3) are bent by ``bend`` first; ``bend=0`` leaves all straight.
    With ``scale="range"`` columns are straight and keep the widths they have when each runs from 0 to 1.

    >>> sample = make_sample([[0.0, 5.0], [2.0, 5.0]], [1, 0])
    >>> sample.Z.tolist()
    [[-1.0, 0.0, 1.0, 0.0], [1.0, 0.0, 1.0, 0.0]]
    """
    raw = np.asarray(X, np.float64)
    flag = np.asarray(labelled).astype(np.bool_)
    rows = np.ones(len(flag)) if weight is None else np.asarray(weight, np.float64)
    _check(raw, flag, rows)
    unit = _unit(raw)
    frame = _frame(raw / unit, rows, unit, bend, heavy) if scale == "deviation" else _ranged(raw / unit, rows, unit)
    standard = frame.apply(raw)
    # Column by column in memory: a mask takes whole columns.
    return MixtureSample(np.asfortranarray(np.hstack([standard, standard * standard])), flag, rows, frame)


def _unit(X: Floats) -> Floats:
    """Powers of two (d,), so that dividing by them is exact, which bring the largest of each column within LARGE."""
    largest = np.frexp(np.abs(X).max(axis=0))[1]
    unit: Floats = np.exp2(largest - np.clip(largest, -LARGE, LARGE))
    return unit


def _frame(X: Floats, weight: Floats, unit: Floats, bend: float, heavy: float) -> Frame:
    center, spread = _moments(X, weight)
    kurtosis = np.average(((X - center) / spread) ** 4, axis=0, weights=weight)
    middle = _medians(X, weight)
    bends = np.where(kurtosis > heavy, bend, 0.0)
    return Frame(unit, middle, spread, bends, *_moments(_bent(X, middle, spread, bends), weight))


def _medians(X: Floats, weight: Floats) -> Floats:
    """Of each column the least value up to which half of the weight lies; numpy has this from 2.0 on only.

    >>> _medians(np.array([[3.0, 1.0], [1.0, 2.0], [2.0, 3.0]]), np.array([2.0, 1.0, 1.0]))
    array([2., 1.])
    """
    order = np.argsort(X, axis=0, kind="stable")
    share = np.cumsum(weight[order], axis=0)
    place = np.count_nonzero(share / share[-1] < 0.5, axis=0)
    row = np.take_along_axis(order, place[None], axis=0)
    medians: Floats = np.take_along_axis(X, row, axis=0)[0]
    return medians


def _ranged(X: Floats, weight: Floats, unit: Floats) -> Frame:
    """Columns divided by their ranges, and all by one number, so that their mean variance is 1."""
    center, deviation = _moments(X, weight)
    width = np.ptp(X, axis=0)
    constant = width == 0
    width[constant] = 1.0
    overall = np.sqrt(np.mean(np.where(constant, 0.0, deviation / width) ** 2)) or 1.0
    flat = np.zeros(len(width))
    return Frame(unit, flat, np.ones(len(width)), flat, center, width * overall)


def _moments(X: Floats, weight: Floats) -> tuple[Floats, Floats]:
    """Mean and standard deviation (d,) of the columns; a constant column gets 1, it must not be blown up."""
    center = np.average(X, axis=0, weights=weight)
    scale = np.sqrt(np.average((X - center) ** 2, axis=0, weights=weight))
    scale[scale <= 1e-12 * np.abs(center)] = 1.0  # only rounding around its value
    scale[scale == 0] = 1.0
    return center, scale


def _bent(X: Floats, middle: Floats, spread: Floats, bend: Floats) -> Floats:
    out = (X - middle) / spread
    curved = bend > 0
    out[:, curved] = np.arcsinh(bend[curved] * out[:, curved]) / bend[curved]
    return out


def _check(X: Floats, labelled: Mask, weight: Floats) -> None:
    if X.ndim != 2 or len(X) == 0 or X.shape[0] != len(labelled) or labelled.shape != weight.shape:
        raise ValueError(
            f"X (N, D), labelled (N,) and weight (N,) do not fit: {X.shape}, {labelled.shape}, {weight.shape}"
        )
    if not np.isfinite(X).all():
        raise ValueError(
            f"X has missing or infinite values in columns {np.flatnonzero(~np.isfinite(X).all(0)).tolist()}"
        )
    if not np.isfinite(weight).all() or (weight <= 0).any():
        raise ValueError("weight must be positive and finite")
