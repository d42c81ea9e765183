"""A pandas table brought to kernels in slices."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray
from pandas.api import types as kinds

from spark_pufs.core.clusters.diagonal_em import MixtureSettings
from spark_pufs.core.counting.kernel import Batch, Held, Kernel
from spark_pufs.core.counting.row_sample import RowSample, label_codes
from spark_pufs.core.process_state import single_thread, undisturbed
from spark_pufs.core.schema import label_states
from spark_pufs.engines.arrow_batches import plain_text, raw_batch
from spark_pufs.engines.base import Packer, Result, RowLister, Shared, Unit, raw_width, record
from spark_pufs.engines.thread_scorer import ThreadScorer
from spark_pufs.errors import DataError, Fault
from spark_pufs.findings.run_facts import Pass, Reading
from spark_pufs.masking.texts import gist
from spark_pufs.types import Block, Column, Kind, LabelRule, RawBatch

__all__ = ["LocalEngine", "LocalSource", "Series", "each_in_threads"]

SLICE = 32_768
Series: TypeAlias = "pd.Series[Any]"  # of whatever a column of pandas holds


class LocalEngine:
    """The reference engine; the answer does not depend on ``threads``."""

    name = "local"

    def __init__(self, frame: pd.DataFrame, threads: int | None = None) -> None:
        self._frame = frame
        self._threads = threads
        self.passes: list[Pass] = []
        self.reading = Reading()

    def columns(self) -> list[Column]:
        columns = []
        for position, name in enumerate(self._frame.columns):
            series = _column(self._frame, position)
            columns.append(Column(_name(name), _kind(series), str(series.dtype)))
        return columns

    def source(self, numeric: Sequence[str], text: Sequence[str], label: str) -> LocalSource:
        frame = self._frame.set_axis([_name(name) for name in self._frame.columns], axis=1)
        numbers = np.column_stack([_numbers(frame[name]) for name in numeric]) if numeric else None
        absent = np.array([int(frame[name].isna().sum()) - _nans(frame[name]) for name in numeric], np.int64)
        texts = [_text(frame[name]) for name in text]
        return LocalSource(numbers, absent, texts, _text(frame[label]), self.passes)

    def likely_positives(self, model: RowLister, rule: LabelRule, keep: Sequence[str]) -> pd.DataFrame:
        frame = self._frame.set_axis([_name(name) for name in self._frame.columns], axis=1)
        X = np.column_stack([np.empty((len(frame), 0)), *(_numbers(frame[name]) for name in model.numeric)])
        text = [_text(frame[name]) for name in model.text]
        rows = raw_batch(pa.array(X.ravel()), len(model.numeric), text, _text(frame[rule.column]))
        states, _ = label_states(dict.fromkeys(rows.label.values, 0), rule)
        likely, told = model.listed(rows, label_codes(rows, states))
        found: pd.DataFrame = frame[list(keep)].assign(**{model.column: told}).loc[likely]
        return found

    def each(
        self, function: Callable[[Shared, Unit], Result], shared: Shared, units: Sequence[Unit], result: type[Result]
    ) -> list[Result]:
        return each_in_threads(function, shared, units, self._threads)

    def mask_scorer(self, sample: RowSample, settings: MixtureSettings) -> ThreadScorer:
        return ThreadScorer(sample, settings, self._threads)


def each_in_threads(
    function: Callable[[Shared, Unit], Result], shared: Shared, units: Sequence[Unit], threads: int | None = None
) -> list[Result]:
    """``function(shared, unit)`` for every unit, in the order of ``units``."""
    # OpenMP keeps its limit per thread, so that each of the pool's sets its own.
    workers = ThreadPoolExecutor(threads or os.cpu_count(), initializer=single_thread)
    with undisturbed(), workers as pool:
        return list(pool.map(partial(function, shared), units))


class LocalSource:
    """Chosen columns as arrays; nulls of numeric columns are NaN and counted apart."""

    def __init__(
        self,
        numbers: NDArray[np.float64] | None,
        nulls: NDArray[np.int64],
        texts: list[pa.Array],
        label: pa.Array,
        passes: list[Pass],
    ) -> None:
        rows = len(label)
        self._numbers = np.empty((rows, 0)) if numbers is None else numbers
        self._nulls = nulls
        self._texts = texts
        self._label = label
        self._passes = passes

    def scan(self, kernel: Kernel[RawBatch, Held], what: str) -> Held:
        return _scan(kernel, self._batches(), what, self._passes, self._volume)

    def pack(self, packer: Packer) -> LocalBlocks:
        began = time.perf_counter()
        blocks = [packer.pack(batch) for batch in self._batches()]
        record(self._passes, "pack", began, *self._volume)
        return LocalBlocks(blocks, self._passes)

    @property
    def _volume(self) -> tuple[int, int]:
        return len(self._label), raw_width(self._numbers.shape[1], len(self._texts))

    def _batches(self) -> Iterator[RawBatch]:
        for first in range(0, len(self._label), SLICE):
            part = slice(first, first + SLICE)
            numbers = self._numbers[part]
            batch = raw_batch(
                pa.array(numbers.ravel()),
                numbers.shape[1],
                [text[part] for text in self._texts],
                self._label[part],
            )
            yield RawBatch(batch.numeric, self._nulls if not first else 0 * self._nulls, batch.text, batch.label)


class LocalBlocks:
    """Packed rows in memory."""

    def __init__(self, blocks: list[Block], passes: list[Pass]) -> None:
        self._blocks = blocks
        self._passes = passes

    def scan(self, kernel: Kernel[Block, Held], what: str) -> Held:
        volume = sum(len(block.label) for block in self._blocks), max((len(b.codes) for b in self._blocks), default=0)
        return _scan(kernel, iter(self._blocks), what, self._passes, volume)

    def release(self) -> None:
        self._blocks = []


def _scan(
    kernel: Kernel[Batch, Held], batches: Iterator[Batch], what: str, passes: list[Pass], volume: tuple[int, int]
) -> Held:
    """``volume``: rows, and bytes of each."""
    began = time.perf_counter()
    state = kernel.start()
    for batch in batches:
        state = kernel.add(state, batch)
    record(passes, what, began, *volume)
    return state


def _kind(series: Series) -> Kind:
    if kinds.is_bool_dtype(series) or kinds.is_numeric_dtype(series):
        return "unsupported" if kinds.is_complex_dtype(series) else "numeric"
    if kinds.is_datetime64_any_dtype(series):
        return "numeric"
    if isinstance(series.dtype, pd.CategoricalDtype) or kinds.is_string_dtype(series.dtype):
        inferred = kinds.infer_dtype(series, skipna=True)
        if inferred in ("string", "empty", "categorical"):
            return "text"
        return (
            "numeric"
            if inferred in ("decimal", "boolean", "date", "datetime", "integer", "floating")
            else "unsupported"
        )
    return "unsupported"


def _column(frame: pd.DataFrame, position: int) -> Series:
    try:
        return frame.iloc[:, position]
    except Exception as error:  # pandas builds frames with names that no values belong to: frame[range(3)] = 0
        found = f"column {position + 1} of {len(frame.columns)} cannot be read: {gist(error)}"
        raise DataError(Fault("Table", found, "Build the DataFrame again.")) from error


def _name(name: object) -> str:
    try:
        return str(name)
    except Exception as error:  # names of pandas may be any object
        found = f"a column's name cannot be shown: {gist(error)}"
        raise DataError(Fault("Table", found, "Rename it.")) from error


def _numbers(series: Series) -> NDArray[np.float64]:
    """float64 (n,): booleans 0/1, dates in days, timestamps in seconds, null as NaN."""
    if kinds.infer_dtype(series, skipna=True) == "date":
        days = pa.array(series, pa.date32(), from_pandas=True).cast(pa.int32())
        return np.asarray(days.cast(pa.float64()).to_numpy(zero_copy_only=False))
    if _is_moment(series):
        micros = pa.array(series, pa.timestamp("us", tz="UTC"), from_pandas=True, safe=False).cast(pa.int64())
        return np.asarray(micros.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)) / 1e6
    try:
        return pd.to_numeric(series.astype("float64") if series.dtype == object else series).to_numpy(
            dtype="float64", na_value=np.nan
        )
    except Exception as error:  # of pandas, Arrow and objects of users
        fix = "Give the column one type."
        raise DataError(Fault(f"Column '{series.name}'", f"cannot be read as numbers: {gist(error)}", fix)) from error


def _is_moment(series: Series) -> bool:
    return kinds.is_datetime64_any_dtype(series) or kinds.infer_dtype(series, skipna=True) == "datetime"


def _nans(series: Series) -> int:
    """A float column of pandas cannot tell null from NaN: all are NaN."""
    return int(series.isna().sum()) if series.dtype in (np.float64, np.float32, np.float16) else 0


def _text(series: Series) -> pa.Array:
    # A timestamp as text would hang on a zone and on the digits shown: its seconds do not.
    try:
        codes, values = pd.factorize(_numbers(series) if _is_moment(series) else series)
        dictionary = pa.array([plain_text(value) for value in values], pa.string())
    except Exception as error:  # objects of users may do anything when they are shown or compared
        fix = "Give the column values that are numbers or text."
        raise DataError(Fault(f"Column '{series.name}'", f"cannot be read as values: {gist(error)}", fix)) from error
    return pa.DictionaryArray.from_arrays(pa.array(codes, mask=codes < 0), dictionary).cast(pa.string())
