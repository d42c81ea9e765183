"""The tables of the open benchmark: a folder that describes itself, and the sets that other studies read.

The folder holds NAME.parquet with the truth in ``is_positive``, and a README.md with a Markdown table that has the
columns ``table``, ``labelled`` (share of the training positives that is labelled) and ``k`` (columns to select).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from spark_pufs.errors import DataError, Fault
from spark_pufs.masking.texts import gist
from spark_pufs.studies.sechidis_brown.data_sets import read_set
from spark_pufs.studies.uchikoshi_akimoto.open_sets import SETS as OPEN_SETS
from spark_pufs.studies.uchikoshi_akimoto.open_sets import load_set

__all__ = ["CHOICES", "GROUPS", "OTHER_SETS", "REPORTED", "SEEN", "Asked", "Table", "catalogue", "groups", "load_table"]

TRUTH = "is_positive"
CATALOGUE = "README.md"
_COLUMNS = ("table", "labelled", "k")

# Which tables may guide choices in the code, which are only reported, and which earlier work has long looked at.
CHOICES, REPORTED, SEEN = GROUPS = ("choices", "reported", "seen before")


@dataclass(frozen=True)
class Asked:
    """The share of training positives that is labelled, and how many columns to select."""

    labelled: float
    k: int


@dataclass(frozen=True)
class Table:
    """Columns as they are (text is text, missing is missing), the truth (n,), and what is asked of it."""

    X: pd.DataFrame
    positive: NDArray[np.bool_]
    asked: Asked


@dataclass(frozen=True)
class OtherSet:
    """A set of another study: how it is read from the data folder."""

    read: Callable[[str], tuple[pd.DataFrame, NDArray[np.bool_]]]
    asked: Asked


def _open(name: str) -> OtherSet:
    """As the FSCPU paper asks of it: half of its columns from its share of labels."""
    given = OPEN_SETS[name]
    return OtherSet(lambda data: load_set(name, data), Asked(given.label_rate, given.select))


def _sechidis(name: str, labelled: float, k: int) -> OtherSet:
    return OtherSet(lambda data: read_set(data, name), Asked(labelled, k))


# Labels are as scarce as in the catalogue: some fifty rows.
OTHER_SETS: Mapping[str, OtherSet] = {
    "spam": _open("spam"),
    "iono": _open("iono"),
    "rt-iot": _open("rt-iot"),
    "krvskp": _sechidis("krvskp", 0.05, 8),
    "landsat": _sechidis("landsat", 0.05, 8),
    "musk2": _sechidis("musk2", 0.08, 20),
    "semeion": _sechidis("semeion", 0.10, 30),
    "splice": _sechidis("splice", 0.10, 10),
    "waveform": _sechidis("waveform", 0.05, 8),
}


@lru_cache(maxsize=4)
def catalogue(folder: str) -> Mapping[str, Asked]:
    """What the folder's README asks of each table, in alphabetical order; empty where there is none.

    >>> catalogue("no such folder")
    {}
    """
    path = Path(folder) / CATALOGUE
    if not path.is_file():
        return {}
    lines = [_cells(line) for line in path.read_text(encoding="utf-8").splitlines() if line.startswith("|")]
    head = next((line for line in lines if set(_COLUMNS) <= set(line)), None)
    if head is None:
        found = f"has no Markdown table with the columns {', '.join(_COLUMNS)}"
        raise DataError(Fault(f"File '{path.name}'", found, "See docs/results/real_tables.md."))
    rows = [dict(zip(head, line, strict=False)) for line in lines[lines.index(head) + 2 :]]
    return {
        row["table"]: Asked(float(row["labelled"]), int(row["k"])) for row in sorted(rows, key=lambda r: r["table"])
    }


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def groups(folder: str) -> dict[str, str]:
    """The group of each table: of the catalogue every second one guides choices, beginning with the first."""
    listed = {name: GROUPS[place % 2] for place, name in enumerate(catalogue(folder))}
    return {**dict.fromkeys(OTHER_SETS, SEEN), **listed}


@lru_cache(maxsize=2)
def load_table(name: str, folder: str, data: str) -> Table:
    """A table of the catalogue in ``folder``, or a set in the folder ``data``; kept for the units that follow."""
    known = catalogue(folder)
    if name not in known:
        X, positive = OTHER_SETS[name].read(data)
        return Table(X.reset_index(drop=True), positive, OTHER_SETS[name].asked)
    try:
        table = pd.read_parquet(Path(folder) / f"{name}.parquet")
    except OSError as error:
        raise DataError(Fault(f"Table '{name}'", f"cannot be read: {gist(error)}", "Leave the table out.")) from error
    positive = table.pop(TRUTH).to_numpy(np.bool_)
    return Table(table, positive, known[name])
