"""The last word on a mask: its mixture over every row of the table, one pass, integer counts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from spark_pufs.core.clusters.mixture import Frame, Mixture, assign
from spark_pufs.core.counting.counts import CountTable
from spark_pufs.core.counting.row_sample import label_codes
from spark_pufs.core.information.level_numbers import LevelNumbers
from spark_pufs.types import LABELLED_POSITIVE, UNLABELLED, Json, RawBatch

__all__ = ["ClusterModel", "VerdictKernel"]


@dataclass(frozen=True)
class ClusterModel:
    """A mixture together with what makes table values fit for it; ``names`` are its columns, in order.

    Infinities become the finite extremes ``low`` and ``high`` (d,), missing values ``fill`` (d,). ``positive`` (K,)
    tells which clusters the best set holds. ``text``: the numbers of text columns' levels, by name.
    """

    column: ClassVar[str] = "cluster"
    whole: ClassVar[bool] = True

    names: tuple[str, ...]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    fill: NDArray[np.float64]
    mixture: Mixture
    positive: NDArray[np.bool_]
    text: Mapping[str, LevelNumbers] = field(default_factory=dict)

    @property
    def numeric(self) -> tuple[str, ...]:
        """The columns that are read as numbers; all others are read as text, in the order of ``text``."""
        return tuple(name for name in self.names if name not in self.text)

    def numbers(self, batch: RawBatch) -> NDArray[np.float64]:
        """Rows (n, d) in the order of ``names`` from a batch of the ``numeric`` columns and those of ``text``."""
        columns = dict(zip(self.numeric, batch.numeric.T, strict=True))
        columns |= {name: own.of(text) for (name, own), text in zip(self.text.items(), batch.text, strict=True)}
        # By rows, whatever the batch: a product of matrices in another layout may round otherwise.
        return np.ascontiguousarray(np.column_stack([columns[name] for name in self.names]))

    def clusters(self, X: NDArray[np.float64]) -> NDArray[np.int64]:
        """The cluster (n,) of rows X (n, d) in the units of the table."""
        clean = np.clip(X, self.low, self.high)
        clean = np.where(np.isnan(clean), self.fill, clean)
        return assign(self.mixture, clean) if self.mixture.covariance.ndim == 3 else _likeliest(self.mixture, clean)

    def listed(self, rows: RawBatch, labels: NDArray[np.uint8]) -> tuple[NDArray[np.bool_], NDArray[np.int32]]:
        """Which rows (n,) are unlabelled and in positive clusters, and every row's cluster."""
        cluster = self.clusters(self.numbers(rows))
        return self.positive[cluster] & (labels == UNLABELLED), cluster.astype(np.int32)

    def as_dict(self) -> dict[str, Json]:
        """Plain lists, so that the model can be kept in selection.json and used on other tables."""
        frame = {name: getattr(self.mixture.frame, name).tolist() for name in _FRAME}
        own = {name: getattr(self, name).tolist() for name in ("low", "high", "fill", "positive")}
        parts = {name: getattr(self.mixture, name).tolist() for name in ("weight", "mean", "covariance")}
        text = {name: _levels_dict(levels) for name, levels in self.text.items()}
        return {"names": list(self.names), **own, "frame": frame, **parts, **({"text": text} if text else {})}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> ClusterModel:
        """The model behind ``as_dict``."""
        frame = Frame(*(np.array(values["frame"][name], np.float64) for name in _FRAME))
        parts = [np.array(values[name], np.float64) for name in ("weight", "mean", "covariance")]
        low, high, fill = (np.array(values[name], np.float64) for name in ("low", "high", "fill"))
        mixture = Mixture(np.arange(len(values["names"])), frame, *parts)
        text = {name: _levels(own) for name, own in values.get("text", {}).items()}
        return cls(tuple(values["names"]), low, high, fill, mixture, np.array(values["positive"], np.bool_), text)


def _levels_dict(levels: LevelNumbers) -> dict[str, Json]:
    own = {name: None if np.isnan(value := getattr(levels, name)) else value for name in ("other", "missing")}
    return {"categories": list(levels.categories), "numbers": levels.numbers.tolist(), **own}


def _levels(values: Mapping[str, Any]) -> LevelNumbers:
    other, missing = (np.nan if values[name] is None else float(values[name]) for name in ("other", "missing"))
    return LevelNumbers(tuple(values["categories"]), np.array(values["numbers"], np.float64), other, missing)


def _likeliest(mixture: Mixture, X: NDArray[np.float64]) -> NDArray[np.int64]:
    """The likeliest diagonal component (n,) of rows X (n, d).

    Sums run along each row alone: a product over all rows would round differently with their number, and a row's
    cluster must not depend on the batch it came in.
    """
    rows = mixture.frame.apply(X).astype(np.float64)
    density = np.empty((len(mixture.weight), len(rows)))
    for k, (weight, mean, variance) in enumerate(zip(mixture.weight, mixture.mean, mixture.covariance, strict=True)):
        constant = np.log(max(weight, 1e-300)) - 0.5 * np.log(variance).sum()
        density[k] = constant - 0.5 * ((rows - mean) ** 2 / variance).sum(axis=1)
    best: NDArray[np.int64] = np.argmax(density, axis=0)
    return best


_FRAME = tuple(field.name for field in fields(Frame))


@dataclass(frozen=True)
class VerdictKernel:
    """Counts (2, K): all rows and labelled rows of every cluster; a raw batch holds the model's columns alone."""

    model: ClusterModel
    states: Mapping[str, int]

    def start(self) -> CountTable:
        return CountTable(np.zeros((2, len(self.model.mixture.weight)), np.int64))

    def add(self, state: CountTable, batch: RawBatch) -> CountTable:
        cluster = self.model.clusters(self.model.numbers(batch))
        labelled = label_codes(batch, self.states) == LABELLED_POSITIVE
        size = state.counts.shape[1]
        state.counts[0] += np.bincount(cluster, minlength=size)
        state.counts[1] += np.bincount(cluster[labelled], minlength=size)
        return state
