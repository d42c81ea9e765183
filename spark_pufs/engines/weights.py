"""Rows that count more than once: a row of weight w is w equal rows, so every method and every test counts it so.

Weights are whole numbers, 0 leaves a row out. Repeating rows before anything reads them is what makes all methods
agree on what a weight means; equal rows share a fold wherever rows are held out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray

from spark_pufs.errors import DataError, Fault, did_you_mean

__all__ = ["WeightFacts", "check_weights", "place_of", "repeated_frame", "repeated_table", "repeats"]

MOST = 1_000_000  # of one row
MOST_ROWS = 50_000_000  # in memory, with all that are repeated
_SCALE = "Multiply them and round: only their ratios tell which columns are chosen."


@dataclass(frozen=True)
class WeightFacts:
    """Of the weights of a table: missing ones, those that are no whole number from 0 on, the largest, their sum."""

    missing: int
    odd: int
    largest: float
    total: float


def check_weights(column: str, facts: WeightFacts) -> None:
    """Raises what keeps weights from being repeats."""
    where = f"Weights '{column}'"
    if facts.missing:
        raise DataError(Fault(where, f"{facts.missing:,} values are missing or no numbers", "Give every row one."))
    if facts.odd:
        raise DataError(Fault(where, f"{facts.odd:,} values are no whole numbers from 0 on", _SCALE))
    if facts.largest > MOST:
        found = f"the largest is {facts.largest:,.0f}, at most {MOST:,} is possible"
        raise DataError(Fault(where, found, "Divide them and round."))
    if not facts.total:
        raise DataError(Fault(where, "every weight is zero", "Leave weights out, or give some rows one."))


def repeats(column: str, values: NDArray[np.float64]) -> NDArray[np.intp]:
    """The place of each row, as often as its weight (n,) says; NaN is a missing weight.

    >>> repeats("w", np.array([2.0, 0.0, 1.0])).tolist()
    [0, 0, 2]
    """
    missing = np.isnan(values)
    known = values[~missing]
    odd = int(np.count_nonzero((known < 0) | (known != np.floor(known)) | np.isinf(known)))
    facts = WeightFacts(int(missing.sum()), odd, float(known.max(initial=0.0)), float(known.sum()))
    check_weights(column, facts)
    if facts.total > max(MOST_ROWS, len(values)):
        found = f"they sum to {facts.total:,.0f} rows, more than {MOST_ROWS:,} are not repeated in memory"
        raise DataError(Fault(f"Weights '{column}'", found, "Divide them and round, or give a Spark DataFrame."))
    return np.repeat(np.arange(len(values)), known.astype(np.int64))


def place_of(column: str, names: Sequence[str]) -> int:
    """Where the column of weights stands; it must be there once."""
    places = [place for place, name in enumerate(names) if name == column]
    if len(places) != 1:
        found = "occurs twice in the table" if places else f"not found among {len(names)} columns"
        fix = "Rename one." if places else did_you_mean(column, names)
        raise DataError(Fault(f"Weights '{column}'", found, fix))
    return places[0]


def repeated_frame(frame: pd.DataFrame, column: str) -> pd.DataFrame:
    """The rows as often as their weights say, without the weights.

    >>> repeated_frame(pd.DataFrame({"a": [5, 6], "w": [2, 1]}), "w")["a"].tolist()
    [5, 5, 6]
    """
    place = place_of(column, [str(name) for name in frame.columns])
    values = pd.to_numeric(frame.iloc[:, place], errors="coerce").to_numpy(np.float64, na_value=np.nan)
    rows = repeats(column, values)
    return frame.iloc[rows, [i for i in range(frame.shape[1]) if i != place]]


def repeated_table(table: pa.Table, column: str) -> pa.Table:
    """The same of an Arrow table."""
    place = place_of(column, table.column_names)
    values = pd.to_numeric(table.column(place).to_pandas(), errors="coerce").to_numpy(np.float64, na_value=np.nan)
    return table.remove_column(place).take(pa.array(repeats(column, values)))
