"""What differs between what was asked for in a run directory and what is asked for now."""

from __future__ import annotations

from collections.abc import Mapping

from spark_pufs.types import Json
from spark_pufs.values import shown

__all__ = ["differences"]


def differences(there: Mapping[str, Json], here: Mapping[str, Json], path: str = "") -> list[str]:
    """What differs, in words.

    >>> differences({"request": {"seed": 7}}, {"request": {"seed": 8}})
    ['request.seed is 7 there and 8 here']
    """
    found = []
    for key in sorted({*there, *here}):
        a, b = there.get(key), here.get(key)
        if isinstance(a, Mapping) and isinstance(b, Mapping):
            found += differences(a, b, f"{path}{key}.")
        elif a != b:
            found.append(f"{path}{key} is {shown(a)} there and {shown(b)} here")
    return found
