"""From values to small integer codes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from spark_pufs.types import Bins, Text

__all__ = ["MAX_LEVELS", "categories_by_count", "code_columns", "code_numeric", "code_text", "equal_width_edges"]

MAX_LEVELS = 255  # codes are uint8
FEW_EDGES = 16
COLUMNS = 128  # coded at a time, so that they stay in the cache


def equal_width_edges(low: float, high: float, bins: int) -> tuple[float, ...]:
    """Inner edges of ``bins`` equal intervals of [low, high].

    >>> equal_width_edges(0.0, 10.0, 5)
    (2.0, 4.0, 6.0, 8.0)
    """
    share = np.arange(1, bins) / bins
    edges = low * (1 - share) + high * share  # this form cannot overflow where high - low would
    return tuple(float(e) for e in np.unique(edges) if low < e <= high)


def code_numeric(values: NDArray[np.float64], bins: Bins) -> NDArray[np.uint8]:
    """Codes (n,) of values (n,); NaN takes the level after the last interval.

    >>> code_numeric(np.array([-9.0, 2.0, 3.0, np.nan]), Bins("x", "numeric", edges=(2.0,), missing=True))
    array([0, 1, 1, 2], dtype=uint8)
    """
    codes = np.searchsorted(np.asarray(bins.edges), values, side="right")
    if bins.missing:
        codes[np.isnan(values)] = len(bins.edges) + 1
    return codes.astype(np.uint8)


def code_columns(values: NDArray[np.float64], bins: Sequence[Bins]) -> NDArray[np.uint8]:
    """Codes (D, n) of values (n, D), as ``code_numeric`` gives them column by column.

    >>> few, none = Bins("x", "numeric", edges=(2.0, 4.0)), Bins("y", "numeric")
    >>> code_columns(np.array([[1.0, 9.0], [2.0, 9.0], [9.0, 9.0]]), [few, none])
    array([[0, 1, 2],
           [0, 0, 0]], dtype=uint8)
    """
    codes = np.zeros(values.shape[::-1], np.uint8)
    for first in range(0, len(bins), COLUMNS):
        own, part = bins[first : first + COLUMNS], slice(first, first + COLUMNS)
        _code_some(np.ascontiguousarray(values[:, part].T), own, codes[part])
    return codes


def _code_some(columns: NDArray[np.float64], bins: Sequence[Bins], codes: NDArray[np.uint8]) -> None:
    """Add the codes of columns (D, n) to zeros (D, n): for few edges a comparison with each beats a search."""
    most = max(len(one.edges) for one in bins)
    if most > FEW_EDGES:
        for column, one, row in zip(columns, bins, codes, strict=True):
            row[:] = code_numeric(column, one)
        return
    edges = np.array([(*one.edges, *[np.nan] * (most - len(one.edges))) for one in bins]).reshape(len(bins), most)
    for edge in edges.T:  # no value is at or above NaN
        codes += columns >= edge[:, None]
    absent = np.isnan(columns)
    if absent.any():
        last = np.array([len(one.edges) + one.missing for one in bins], np.uint8)
        np.copyto(codes, last[:, None], where=absent)


def categories_by_count(counts: Mapping[str, int], most: int) -> tuple[tuple[str, ...], bool]:
    """The ``most`` commonest values (ties by name) and whether others are pooled; those seen once are the first to be.

    >>> categories_by_count({"b": 2, "a": 2, "c": 9, "d": 1}, most=2)
    (('c', 'a'), True)
    >>> categories_by_count({"b": 1, "a": 1, "c": 9, "d": 1}, most=2)
    (('c',), True)
    """
    ranked = sorted(counts, key=lambda value: (-counts[value], value))
    # Pooling a single value would rename it and save nothing.
    if len(ranked) <= most + 1:
        return tuple(ranked), False
    # Which of the values seen once come first by name is no reason to tell them from the others.
    return tuple(value for value in ranked[:most] if counts[value] > 1), True


def code_text(text: Text, bins: Bins) -> NDArray[np.uint8]:
    """Codes (n,) of a dictionary-encoded column.

    >>> bins = Bins("x", "text", categories=("c", "a"), pooled=True, missing=True)
    >>> code_text(Text(np.array([0, 1, 2, -1], np.int32), ["a", "zz", "c"]), bins)
    array([1, 2, 0, 3], dtype=uint8)
    """
    position = {value: code for code, value in enumerate(bins.categories)}
    other = len(bins.categories)
    lookup = np.array([position.get(value, other) for value in text.values] + [bins.levels - 1], np.uint8)
    codes: NDArray[np.uint8] = lookup[text.codes]  # -1 picks the last entry: the missing level
    return codes
