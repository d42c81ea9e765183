"""An Arrow table in this process, with the values and types that Spark would give it: the same answer without a JVM."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pyarrow as pa

from spark_pufs.core.clusters.diagonal_em import MixtureSettings
from spark_pufs.core.counting.row_sample import RowSample, label_codes
from spark_pufs.core.schema import label_states
from spark_pufs.engines.arrow_batches import raw_batch
from spark_pufs.engines.arrow_columns import NotAlike, as_doubles, as_words, check_values, kind_of, spark_type
from spark_pufs.engines.base import Result, RowLister, Shared, Unit
from spark_pufs.engines.local import LocalSource, each_in_threads
from spark_pufs.engines.thread_scorer import ThreadScorer
from spark_pufs.findings.run_facts import Pass, Reading
from spark_pufs.types import Column, LabelRule

__all__ = ["MemoryEngine"]


class MemoryEngine:
    """Raises ``NotAlike`` at a table that Spark might read otherwise."""

    name = "memory"

    def __init__(self, table: pa.Table) -> None:
        _check_names(table.column_names)
        self.table = table
        self._columns = [Column(field.name, kind_of(field.type), spark_type(field.type)) for field in table.schema]
        self._arrays = {name: _whole(table.column(name)) for name in table.column_names}
        for array in self._arrays.values():
            check_values(array)
        self._rows = table.num_rows
        self.passes: list[Pass] = []
        self.reading = Reading()

    def columns(self) -> list[Column]:
        return list(self._columns)

    def source(self, numeric: Sequence[str], text: Sequence[str], label: str) -> LocalSource:
        numbers, nulls = np.empty((self._rows, len(numeric))), np.zeros(len(numeric), np.int64)
        for place, name in enumerate(numeric):
            numbers[:, place] = as_doubles(self._arrays[name])
            nulls[place] = self._arrays[name].null_count
        words = [as_words(self._arrays[name]) for name in (*text, label)]
        return LocalSource(numbers, nulls, words[:-1], words[-1], self.passes)

    def likely_positives(self, model: RowLister, rule: LabelRule, keep: Sequence[str]) -> pa.Table:
        X = np.column_stack([np.empty((self._rows, 0)), *(as_doubles(self._arrays[name]) for name in model.numeric)])
        text = [as_words(self._arrays[name]) for name in model.text]
        rows = raw_batch(pa.array(X.ravel()), X.shape[1], text, as_words(self._arrays[rule.column]))
        states, _ = label_states(dict.fromkeys(rows.label.values, 0), rule)
        likely, told = model.listed(rows, label_codes(rows, states))
        kept = {name: self._arrays[name] for name in keep}
        return pa.table({**kept, model.column: pa.array(told)}).filter(pa.array(likely))

    def each(
        self, function: Callable[[Shared, Unit], Result], shared: Shared, units: Sequence[Unit], result: type[Result]
    ) -> list[Result]:
        return each_in_threads(function, shared, units)

    def mask_scorer(self, sample: RowSample, settings: MixtureSettings) -> ThreadScorer:
        return ThreadScorer(sample, settings)


def _check_names(names: Sequence[str]) -> None:
    """Spark takes names that differ by case alone for one, and has rules of its own for names that repeat."""
    if not names:
        raise NotAlike("no columns")
    if len({name.lower() for name in names}) < len(names) or not all(names):
        raise NotAlike("column names that are empty or differ by case alone")


def _whole(column: pa.ChunkedArray) -> pa.Array:
    array = column.combine_chunks()
    array = pa.concat_arrays(array.chunks) if isinstance(array, pa.ChunkedArray) else array
    return array.dictionary_decode() if pa.types.is_dictionary(array.type) else array
