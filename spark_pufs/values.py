"""How users' values are read: what they give becomes a plain Python value or a ``Strange`` one, which no rule accepts.

Plain values are None, true and false, numbers, text that a file can hold, and tuples of them. All that takes arguments
reads them here, once, so that rules and methods behind it meet nothing else.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from itertools import islice
from typing import Any

import numpy as np

from spark_pufs.masking.texts import visible

__all__ = [
    "LARGEST",
    "Strange",
    "is_plain",
    "number_text",
    "path_text",
    "plain",
    "plain_label",
    "several",
    "shown",
]

LARGEST = 2**63 - 1  # of whole numbers that are counts
MOST_DIGITS = 100  # of a whole number that is a label; Python neither shows nor keeps numbers of thousands
MOST_VALUES = 1_000_000  # given at once; what never ends would fill the memory
MOST_SHOWN = 200  # characters of a wrong value

_HALVES = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True)
class Strange:
    """A value that is not plain; it is shown as what was given."""

    text: str

    def __repr__(self) -> str:
        return self.text


def shown(value: Any) -> str:
    """A wrong value for a message: one line, not long, whatever it is.

    >>> import pandas as pd
    >>> shown([1, "a"]), shown(10**5000), shown(pd.Series([1, 2]))
    ("[1, 'a']", 'a whole number of over 100 digits', 'a Series of length 2')
    """
    if isinstance(value, int) and abs(int.__int__(value)) >= 10**MOST_DIGITS:
        return f"a whole number of over {MOST_DIGITS} digits"
    if _of_pandas(value, "Series", "Index", "DataFrame"):
        return f"a {type(value).__name__} of length {len(value)}"
    try:
        text = visible(repr(value))
    except Exception:  # objects of users may do anything when they are shown
        text = f"a {type(value).__name__}"
    return text if len(text) <= MOST_SHOWN else f"{text[:MOST_SHOWN]}..."


def plain(value: Any) -> Any:
    """One value as Python's own, or ``Strange``. Missing values of pandas are None.

    >>> import pandas as pd
    >>> plain(np.int64(3)), plain(np.array(0.5)), plain(pd.NA), plain(Decimal("2.50")), plain({"a": 1})
    (3, 0.5, None, 2.5, {'a': 1})
    """
    if isinstance(value, np.generic) or (isinstance(value, np.ndarray) and value.ndim == 0):
        value = value.item()
    if value is None or _missing(value):
        return None
    # Subclasses of users may do anything when they are turned into their base: the base does it.
    if isinstance(value, bool | float):
        return bool(value) if isinstance(value, bool) else float.__float__(value)
    if isinstance(value, int):
        whole = int.__int__(value)
        return whole if abs(whole) < 10**MOST_DIGITS else Strange(shown(whole))
    if isinstance(value, str):
        text = str.__str__(value)
        return text if not _HALVES.search(text) else Strange(shown(text))
    if isinstance(value, Decimal):
        return _number(value)
    return Strange(shown(value))


def _of_pandas(value: Any, *names: str) -> bool:
    """Whether a value is one of these things of pandas. Where pandas is not loaded there are none, and asking does not
    load it: that takes longer than many a task."""
    known = [getattr(sys.modules.get("pandas"), name, ()) for name in names]
    return any(isinstance(value, one) for one in known)


def _missing(value: Any) -> bool:
    """Whether a value is one that pandas has for a missing one."""
    pandas = sys.modules.get("pandas")
    return value is not None and (value is getattr(pandas, "NA", None) or value is getattr(pandas, "NaT", None))


def _number(value: Decimal) -> Any:
    """A decimal as the double that engines read it as; a whole one stays exact."""
    if not value.is_finite():
        return float(value) if not value.is_snan() else float("nan")
    if abs(value.adjusted()) >= MOST_DIGITS:
        return Strange(shown(value))
    return int(value) if value == value.to_integral_value() else float(value)


def number_text(value: Any) -> str:
    """A number as text in one way, whatever its type: the shortest that reads as the same double, whole ones in full.

    >>> [number_text(one) for one in (3.0, 0.1, 1e16, 10**17, 1e300, -0.0, True)]
    ['3', '0.1', '10000000000000000', '100000000000000000', '1e+300', '0', 'true']
    """
    number = plain(value)
    if isinstance(number, bool):
        return str(number).lower()
    if isinstance(number, float):
        whole = number.is_integer() and abs(number) < LARGEST
        return str(int(number)) if whole else repr(number)
    return str(value) if number is None or isinstance(number, Strange) else str(number)


def plain_label(value: Any) -> Any:
    """A label value: as ``plain``, moments as engines read them: seconds for times, text for days.

    >>> import pandas as pd
    >>> plain_label(date(2026, 1, 31)), plain_label(pd.Timestamp("1970-01-01 00:00:10"))
    ('2026-01-31', 10)
    """
    if isinstance(value, np.datetime64 | datetime) and not _missing(value):
        return _seconds(value)
    return value.isoformat() if isinstance(value, date) and not _missing(value) else plain(value)


def _seconds(value: np.datetime64 | datetime) -> Any:
    """Of a moment since 1970, whole ones as whole numbers; None of one that is missing."""
    import pandas as pd  # read to the microsecond and with its zone, as tables hold it

    moment = pd.Timestamp(value)
    if _missing(moment):
        return None
    seconds = (moment.tz_localize("UTC") if moment.tz is None else moment).timestamp()
    return int(seconds) if seconds.is_integer() else seconds


def several(value: Any, read: Any = plain) -> tuple[Any, ...]:
    """One value or many, each as ``read`` has it; a mapping and bytes are neither, and sets come in one order.

    >>> several("ab"), several(["a", "b"]), several(0), several({"b", "a"}), several({"a": 1})
    (('ab',), ('a', 'b'), (0,), ('a', 'b'), ({'a': 1},))
    """
    one = isinstance(value, str | bytes | bytearray | Mapping) or _of_pandas(value, "DataFrame")
    many = isinstance(value, Iterable) and not one
    if not many or (isinstance(value, np.ndarray) and value.ndim == 0):
        return (read(value),)
    try:
        found = tuple(read(one) for one in islice(iter(value), MOST_VALUES + 1))
    except Exception:  # objects of users may do anything when they are gone through
        return (Strange(shown(value)),)
    if len(found) > MOST_VALUES:
        return (Strange(f"over {MOST_VALUES:,} values"),)
    return tuple(sorted(found, key=lambda one: (type(one).__name__, repr(one)))) if isinstance(value, Set) else found


def is_plain(value: Any) -> bool:
    """Whether a value is plain: null, a number, true or false, or text."""
    return value is None or isinstance(value, bool | int | float | str)


def path_text(value: Any) -> str | Strange:
    """A path as text; what cannot name a place is ``Strange``.

    >>> path_text("runs/x"), path_text(5)
    ('runs/x', 5)
    """
    text = os.fspath(value) if isinstance(value, str | os.PathLike) else None
    usable = isinstance(text, str) and text and "\0" not in text and not _HALVES.search(text)
    return str(text) if usable else Strange(shown(value))
