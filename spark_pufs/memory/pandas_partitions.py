"""A pandas table cut by a column."""

from __future__ import annotations

from functools import cached_property

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.api import types as kinds

from spark_pufs.engines.arrow_batches import plain_text
from spark_pufs.engines.local import LocalEngine, Series
from spark_pufs.errors import DataError, Fault, did_you_mean
from spark_pufs.masking.texts import gist
from spark_pufs.memory.partitions import Partition, no_value
from spark_pufs.types import Column

__all__ = ["PandasPartitions"]


class PandasPartitions:
    """Only the rows themselves tell whether a partition has changed: they are looked at, and not counted again."""

    def __init__(self, frame: pd.DataFrame, partition: str) -> None:
        self._place, self._name = _place(frame, partition), partition
        self._frame = frame
        self._rest = frame.drop(columns=frame.columns[self._place])

    def columns(self) -> list[Column]:
        return self._columns

    def partitions(self) -> list[Partition]:
        return [Partition(key) for key in self._keys[1]]

    def engine(self, key: str) -> LocalEngine:
        codes, keys = self._keys
        return _Slice(self._rest[codes == keys.index(key)], self._columns)

    @cached_property
    def _columns(self) -> list[Column]:
        return LocalEngine(self._rest).columns()

    @cached_property
    def _keys(self) -> tuple[NDArray[np.intp], list[str]]:
        return _keys_of(self._frame.iloc[:, self._place], self._name)


class _Slice(LocalEngine):
    """Some rows; their columns are what the whole table says they are."""

    def __init__(self, frame: pd.DataFrame, columns: list[Column]) -> None:
        super().__init__(frame)
        self._known = columns

    def columns(self) -> list[Column]:
        return self._known


def _place(frame: pd.DataFrame, partition: str) -> int:
    names = [str(name) for name in frame.columns]
    if names.count(partition) != 1:
        found = f"'{partition}' is the name of {names.count(partition)} columns"
        raise DataError(Fault("Option 'partition'", found, did_you_mean(partition, names)))
    return names.index(partition)


def _keys_of(column: Series, name: str) -> tuple[NDArray[np.intp], list[str]]:
    """The partition of each row, as a number, and the keys; of moments the day, in UTC where they have a zone."""
    if kinds.is_datetime64_any_dtype(column):
        moments = column.dt.tz_convert("UTC") if isinstance(column.dtype, pd.DatetimeTZDtype) else column
        column = moments.dt.strftime("%Y-%m-%d")
    try:
        codes, values = pd.factorize(column)
        texts = [plain_text(value) for value in values]
    except Exception as error:  # objects of users may do anything when they are shown or compared
        fix = "Give the column values that are numbers or text."
        raise DataError(Fault(f"Column '{name}'", f"cannot be read as partitions: {gist(error)}", fix)) from error
    if (codes < 0).any():
        raise no_value(name, int((codes < 0).sum()))
    numbers = {text: number for number, text in enumerate(dict.fromkeys(texts))}  # 1 and "1" are one partition
    return np.array([numbers[text] for text in texts], np.intp)[codes], list(numbers)
