"""What a method's settings may be."""

from __future__ import annotations

from typing import Any

import numpy as np

from spark_pufs.request import is_whole
from spark_pufs.selectors.base import Option

__all__ = ["CORRECTION", "number", "one_of", "whole"]


def whole(default: int, least: int = 1, most: int | None = None) -> Option:
    """A whole number of at least ``least``, or from it to ``most``.

    >>> whole(5, 2, 20).what, whole(5, 2, 20).ok(21)
    ('a whole number from 2 to 20', False)
    """
    what = f"a whole number of at least {least}" if most is None else f"a whole number from {least} to {most}"
    return Option(default, what, lambda value: is_whole(value, least, most))


def number(default: float, low: float = 0.0, high: float = np.inf, *, open_low: bool = True) -> Option:
    """A number above ``low`` (or from it), up to ``high``."""
    what = f"a number {'above' if open_low else 'from'} {low:g}" + (f" up to {high:g}" if high < np.inf else "")

    def ok(value: Any) -> bool:
        number = isinstance(value, int | float) and not isinstance(value, bool)
        return number and value <= high and (value > low if open_low else value >= low) and bool(np.isfinite(value))

    return Option(default, what, ok)


def one_of(default: str, *values: str) -> Option:
    """One of some words."""
    return Option(default, f"one of {', '.join(values)}", lambda value: value in values)


CORRECTION = one_of("chance", "chance", "none")  # what is taken off information; none: as papers have it
