"""Frozen records that pass between the layers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from spark_pufs.values import Strange, plain, plain_label, several

__all__ = [
    "FULL_GRADE",
    "LABELLED_NEGATIVE",
    "LABELLED_POSITIVE",
    "LABEL_STATES",
    "UNLABELLED",
    "Bins",
    "Block",
    "Column",
    "Json",
    "Kind",
    "LabelRule",
    "Layout",
    "RawBatch",
    "Text",
    "column_name",
]

# The label axis of every count table.
UNLABELLED, LABELLED_POSITIVE, LABELLED_NEGATIVE = 0, 1, 2
LABEL_STATES = 3
FULL_GRADE = 255  # soft labels as whole numbers: the grade of a row that is surely positive

Kind = Literal["numeric", "text", "unsupported"]
# Plain values, as JSON has them.
Json: TypeAlias = "bool | int | float | str | Sequence[Json] | Mapping[str, Json] | None"


@dataclass(frozen=True)
class Column:
    """A column as the source declares it; ``type`` is the source's own word for it."""

    name: str
    kind: Kind
    type: str


def column_name(name: Any) -> Any:
    """A column's name as text, whatever a table of pandas calls it; what cannot be one is strange.

    >>> column_name(3), column_name("a"), column_name(["a"])
    ('3', 'a', ['a'])
    """
    value = plain(name)
    if isinstance(name, tuple | date):  # columns of several levels, or of days
        value = plain(str(name))
    return value if value is None or isinstance(value, Strange) else str(value)


@dataclass(frozen=True)
class LabelRule:
    """Which values of the label column mean what. Null is always unlabelled; ``"*"`` stands for all others."""

    column: str
    positive: tuple[Any, ...] = (1,)
    negative: tuple[Any, ...] = ()
    unlabelled: tuple[Any, ...] = (0,)

    def __post_init__(self) -> None:
        object.__setattr__(self, "column", column_name(self.column))
        for name in ("positive", "negative", "unlabelled"):
            object.__setattr__(self, name, several(getattr(self, name), plain_label))


@dataclass(frozen=True)
class Text:
    """A text column of a batch, dictionary-encoded: ``codes`` (n,) int, -1 for null, into ``values``."""

    codes: NDArray[np.int32]
    values: list[str]


@dataclass(frozen=True)
class RawBatch:
    """Some rows of the source: numeric (n, D1) float64 with NaN where null, nulls (D1,) counted apart.

    In memory numbers lie by rows or by columns, as the source has them.
    """

    numeric: NDArray[np.float64]
    nulls: NDArray[np.int64]
    text: list[Text]
    label: Text

    @property
    def rows(self) -> int:
        return len(self.label.codes)


@dataclass(frozen=True)
class Bins:
    """How one feature becomes small integer codes.

    Numeric: code = number of ``edges`` that are <= x, so there are len(edges) + 1 levels. Text: position in
    ``categories``, then one level for all others if ``pooled``. Null and NaN get the last level if ``missing``.
    """

    name: str
    kind: Kind
    edges: tuple[float, ...] = ()
    categories: tuple[str, ...] = ()
    pooled: bool = False
    missing: bool = False

    @property
    def levels(self) -> int:
        known = len(self.edges) + 1 if self.kind == "numeric" else len(self.categories) + self.pooled
        return known + self.missing


@dataclass(frozen=True)
class Block:
    """Packed rows, column-major: codes (D, n) uint8, label (n,) uint8 of label states, or of grades where rows
    were packed with soft labels.

    ``witness``: of the rows as they were read, where blocks are kept apart from their source. ``group`` (n,): of rows
    that are counted by group.
    """

    codes: NDArray[np.uint8]
    label: NDArray[np.uint8]
    witness: NDArray[np.uint64] | None = None
    group: NDArray[np.uint8] | None = None


@dataclass(frozen=True)
class Layout:
    """Where each feature's levels lie on the level axis of a count table."""

    levels: tuple[int, ...]
    offsets: NDArray[np.int64] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "offsets", np.concatenate([[0], np.cumsum(self.levels)]).astype(np.int64))

    @property
    def features(self) -> int:
        return len(self.levels)

    @property
    def total(self) -> int:
        return int(self.offsets[-1])

    def span(self, feature: int) -> slice:
        return slice(int(self.offsets[feature]), int(self.offsets[feature + 1]))
