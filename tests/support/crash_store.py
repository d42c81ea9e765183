"""One memory of counts, day after day, whose runs are killed at operations on its folder drawn at random.

Nothing is put back between two kills: what the killed run left is what the next one finds. After each kill the memory
is that of the day before or that of the day, in every byte of every file that it names.
"""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import numpy as np

import spark_pufs
from spark_pufs.memory.store import INDEX
from support.crash_points import BROKEN, DONE, REFUSED, Tally, forked, left_over
from support.memory_days import OPTIONS, day
from support.shared_java import joined

__all__ = ["strike_the_store"]

STORE = "state"
OPERATIONS = 16  # that a run makes in the folder, and one more; a run that gets through is followed by the next day


def add_day(place: Path, number: int, engine: str) -> None:
    """A day more, of a method that has rows kept too."""
    rows = day(number, rows=120)
    table = joined().createDataFrame(rows.replace({np.nan: None})) if engine == "spark" else rows
    own = {**OPTIONS, "method": "lasso"}
    spark_pufs.select(table, memory=place / STORE, partition="day", window=3, **own)


def kept(place: Path) -> Any:
    """What the index names, byte by byte; a file that is not there is an error."""
    index = json.loads((place / STORE / INDEX).read_text())["index"]
    files = [index["reference"], *(entry[name] for entry in index["partitions"].values() for name in ("file", "kept"))]
    return index["partitions"], {name: (place / STORE / name).read_bytes() for name in files}


def strike_the_store(folder: Path, kills: int, rng: random.Random, engine: str = "memory") -> Tally:
    """So many kills on one store, beside an undisturbed one."""
    found, struck, usual = Tally(), folder / "struck", folder / "usual"
    for place in (struck, usual):
        assert forked(lambda own=place: add_day(own, 1, engine), place, 0, False) == DONE  # type: ignore[misc]
    number, before = 1, kept(usual)
    while found.strikes < kills:
        number = number % 28 + 1
        assert forked(lambda own=number: add_day(usual, own, engine), usual, 0, False) == DONE  # type: ignore[misc]
        after = kept(usual)
        _until_done(found, struck, number, (before, after), rng, engine)
        before = after
    assert forked(lambda: add_day(struck, number, engine), struck, 0, False) == DONE
    found.different += kept(struck) != kept(usual)
    found.left += sorted(one.name for one in (struck / STORE).iterdir()) != sorted(
        one.name for one in (usual / STORE).iterdir()
    )
    return found


def _until_done(
    found: Tally, place: Path, number: int, whole: tuple[Any, Any], rng: random.Random, engine: str
) -> None:
    """Strike one day until it gets through."""
    while True:
        strike = rng.randint(1, OPERATIONS)
        ended = forked(lambda: add_day(place, number, engine), place / STORE, strike, False)
        if ended == DONE:
            found.different += kept(place) != whole[1]
            found.left += bool(left_over(place / STORE))
            return
        found.strikes += 1
        found.raw += ended in (BROKEN, REFUSED)
        found.different += kept(place) not in whole
