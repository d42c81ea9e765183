"""A method's options: a frozen dataclass whose fields say what they may be.

Each field is declared once, with its type, its default and its rule; messages, configuration files and the API page
read the same declaration.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, TypeVar

import numpy as np

from spark_pufs.request import is_whole

__all__ = ["Option", "Options", "chance_correction", "flag", "number", "one_of", "option", "options_of", "whole"]

T = TypeVar("T")
Word = TypeVar("Word", bound=str)

_RULE = "option"  # the key of a field's metadata that holds its ``Option``


@dataclass(frozen=True)
class Option:
    """What is known of one option: its default, what it may be, and a test of that."""

    default: Any
    what: str
    ok: Callable[[object], bool]


def option(default: T, what: str, ok: Callable[[object], bool]) -> T:
    """A field that is ``what`` it says wherever ``ok`` holds. For type checkers it is a value of its default's type."""
    return field(default=default, metadata={_RULE: Option(default, what, ok)})


def whole(default: int, least: int = 1, most: int | None = None) -> int:
    """A field that is a whole number of at least ``least``, or from it to ``most``."""
    what = f"a whole number of at least {least}" if most is None else f"a whole number from {least} to {most}"
    return option(default, what, lambda value: is_whole(value, least, most))


def number(default: float, low: float = 0.0, high: float = np.inf, *, open_low: bool = True) -> float:
    """A field that is a number above ``low`` (or from it), up to ``high``."""
    what = f"a number {'above' if open_low else 'from'} {low:g}" + (f" up to {high:g}" if high < np.inf else "")

    def ok(value: object) -> bool:
        if not isinstance(value, int | float) or isinstance(value, bool):
            return False
        return value <= high and (value > low if open_low else value >= low) and math.isfinite(value)

    return option(default, what, ok)


def one_of(default: Word, *values: Word) -> Word:
    """A field that is one of some words."""
    return option(default, f"one of {', '.join(values)}", lambda value: value in values)


def flag(default: bool) -> bool:
    """A field that is true or false."""
    return option(default, "true or false", lambda value: isinstance(value, bool))


def chance_correction() -> str:
    """The field ``correction``: what is taken off information; none: as papers have it."""
    return one_of("chance", "chance", "none")


@dataclass(frozen=True, kw_only=True)
class Options:
    """The options of one method, with every default filled in; a method without options takes this class itself.

    ``judge``, which every method has: let rows that were held out judge the choice, beside all features and chance.

    >>> @dataclass(frozen=True)
    ... class Forest(Options):
    ...     trees: int = whole(100, least=1)
    ...     criterion: str = one_of("gini", "gini", "entropy")
    >>> Forest(trees=5)
    Forest(judge=False, trees=5, criterion='gini')
    """

    judge: bool = flag(False)


def options_of(kind: type[Options]) -> Mapping[str, Option]:
    """The options that a class declares, by name, in the order of its fields.

    >>> @dataclass(frozen=True)
    ... class Forest(Options):
    ...     trees: int = whole(5, 2, 20)
    >>> trees = options_of(Forest)["trees"]
    >>> trees.default, trees.what, trees.ok(21)
    (5, 'a whole number from 2 to 20', False)
    """
    bare = [one.name for one in fields(kind) if _RULE not in one.metadata]
    if bare:
        raise TypeError(f"{kind.__name__}: no rule for {', '.join(bare)}. Declare it with whole, number or option.")
    return {one.name: one.metadata[_RULE] for one in fields(kind)}
