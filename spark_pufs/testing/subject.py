"""A method under test: how it is run, on what table, and what its answer looks like."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any
from unittest.mock import patch
from warnings import catch_warnings, simplefilter

import numpy as np
import pandas as pd

from spark_pufs.api import select
from spark_pufs.errors import DataError, PufsWarning
from spark_pufs.selection import Selection
from spark_pufs.selectors.base import Method
from spark_pufs.selectors.registry import METHODS
from spark_pufs.types import Json

__all__ = ["NAMES", "Subject", "example_table", "lines_of", "require", "scores_of"]

NAMES = ["a", "b", "c", "d", "e"]


@dataclass(frozen=True)
class Subject:
    """A method and what is known of it.

    - ``settings``: keywords of ``select`` for every run, such as options that cut its work down.
    - ``may_choose_fewer``: its own tests decide how many features there are; k is then the most.
    - ``draws_by_column``: chance enters by the place of a column, so that another order gives other scores.
    - ``draws_by_value``: chance enters by the values of rows, so that a column on another scale gives other scores.
    - ``tolerance``: how far scores may differ between two orders of the columns.
    """

    method: Method
    settings: Mapping[str, Json] = field(default_factory=dict)
    may_choose_fewer: bool = False
    draws_by_column: bool = False
    draws_by_value: bool = False
    tolerance: float = 1e-9

    def run(self, table: pd.DataFrame, **more: Any) -> Selection:
        """A selection by this method, installed or not; ``more`` goes before its settings."""
        given = {"label": "label", "negative": -1, "method": self.method.name, "seed": 1, **self.settings, **more}
        with _registered(self.method), catch_warnings():
            simplefilter("ignore", PufsWarning)
            return select(table, **given)

    def run_or_fault(self, table: pd.DataFrame, **more: Any) -> Selection | DataError:
        """Two features, or why the table does not allow it."""
        try:
            return self.run(table, k=2, **more)
        except DataError as error:
            return error

    @cached_property
    def two_of_five(self) -> Selection:
        """The answer that others are compared with."""
        return self.run(example_table(), k=2)


@contextmanager
def _registered(method: Method) -> Iterator[None]:
    with patch.dict(METHODS, {method.name: method}):
        yield


def example_table(rows: int = 150, positives: int = 25, negatives: int = 20) -> pd.DataFrame:
    """``a`` and ``d`` tell of the class, ``b`` follows ``a``, the others are noise; labels 1, -1, 0 for none."""
    rng = np.random.default_rng(3)
    y = np.arange(rows) % 2
    X = rng.normal(size=(rows, 5)).round(3)
    X[:, 0] += 2 * y
    X[:, 3] -= 1.5 * y
    X[:, 1] = (X[:, 0] + 0.8 * X[:, 1]).round(3)
    label = np.zeros(rows, np.int64)
    label[np.flatnonzero(y == 1)[:positives]] = 1
    label[np.flatnonzero(y == 0)[:negatives]] = -1
    return pd.DataFrame(X, columns=NAMES).assign(label=label)


def require(held: bool, owed: str, found: object = "") -> None:
    """An AssertionError that says what a method owes and what was found instead."""
    if not held:
        raise AssertionError(f"{owed}; found {found!r}" if found != "" else owed)


def lines_of(selection: Selection) -> list[tuple[object, ...]]:
    """The ranking as values to compare."""
    return [(f.name, f.rank, f.score, f.standard_error, f.selected) for f in selection.features]


def scores_of(selection: Selection) -> dict[str, float]:
    """Scores by name."""
    return {f.name: f.score for f in selection.features}
