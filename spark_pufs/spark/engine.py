"""A Spark DataFrame brought to kernels, one task per partition; classic Spark and Spark Connect alike."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING, Literal, get_args

import pyarrow as pa

from spark_pufs.core.clusters.diagonal_em import MixtureSettings
from spark_pufs.core.counting.kernel import Held, Kernel
from spark_pufs.core.counting.row_sample import RowSample
from spark_pufs.engines.arrow_batches import raw_batch
from spark_pufs.engines.base import Blocks, MaskScorer, Packer, Result, RowLister, Shared, Unit
from spark_pufs.engines.parquet.footers import Unfit
from spark_pufs.engines.thread_scorer import ThreadScorer
from spark_pufs.errors import ConfigError, EnvironmentFault, Fault
from spark_pufs.findings.run_facts import Pass, Reading
from spark_pufs.spark import scan
from spark_pufs.spark.blocks import CachedBlocks, LaterCachedBlocks, Raw, UncachedBlocks, block_rows
from spark_pufs.spark.io import plan_errors, spark_errors
from spark_pufs.spark.likely import likely_rows
from spark_pufs.spark.own_session import in_own_session
from spark_pufs.spark.parquet.files import ParquetFiles
from spark_pufs.spark.parquet.label_files import check_files, check_label_files
from spark_pufs.spark.scorer import SparkScorer
from spark_pufs.spark.shipping import each
from spark_pufs.spark.versions import check_release, no_answer
from spark_pufs.spark.watch import FirstPass, Watch
from spark_pufs.types import Column, Kind, LabelRule, RawBatch

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["ReaderChoice", "SparkEngine", "reader_choice"]

log = logging.getLogger("spark_pufs")

ReaderChoice = Literal["auto", "arrow", "spark"]
READER = "spark.pufs.reader"
_READERS = {"arrow": "the tasks, with pyarrow", "spark": "Spark"}

# Values in a sample below which scoring a generation costs less than a Spark job.
SMALL_SAMPLE = 1_000_000
NUMBERS = ("tinyint", "smallint", "int", "bigint", "float", "double", "boolean", "decimal")
MOMENTS = ("date", "timestamp", "timestamp_ntz")
TEXTS = ("string", "char", "varchar")


class SparkEngine:
    """One DataFrame; its columns are addressed by position, so names may be anything."""

    name = "spark"
    in_columns = True  # each feature is a column of the frame

    def __init__(
        self, frame: DataFrame, cache: bool = True, reader: ReaderChoice | None = None, from_path: bool = False
    ) -> None:
        """``reader`` is the session's ``spark.pufs.reader`` where none is given: "arrow" reads Parquet files in the
        tasks or raises, "spark" leaves them to Spark, "auto" takes the first that is possible. ``from_path``: the frame
        is what was read from a path, which Spark Connect cannot tell.
        """
        check_release()
        self.frame = frame
        self._types = [(field.name, field.dataType.simpleString()) for field in frame.schema.fields]
        self._theirs = frame.toDF(*[f"c{i}" for i in range(len(self._types))])
        self._cache = cache
        self._reader = reader_choice(frame.sparkSession, reader)
        self._from_path = from_path
        self.reading = Reading()
        self.passes: list[Pass] = []
        self._checked: set[str] = set()  # labels that no file lacks
        self._first_pass = FirstPass()

    @cached_property
    def _frame(self) -> DataFrame:
        """The table to work on."""
        return in_own_session(self._theirs)

    @cached_property
    def _files(self) -> ParquetFiles:
        return ParquetFiles(self._frame, self._types, self._from_path)

    def columns(self) -> list[Column]:
        return [Column(name, _kind(type_), type_) for name, type_ in self._types]

    def source(self, numeric: Sequence[str], text: Sequence[str], label: str) -> SparkSource:
        files = self._by_tasks(numeric, [*text, label])
        self._check_label(label, files is not None)
        raw = self._by_spark(numeric, text, label) if files is None else files
        return SparkSource(raw, self.passes, self._cache)

    def _check_label(self, label: str, by_tasks: bool) -> None:
        """Before the first pass, and once: what follows reads the same files."""
        if label in self._checked:
            return
        position = [name for name, _ in self._types].index(label)
        if by_tasks:
            check_files(self._files.holding(position), label)
        else:
            with worker_errors():
                check_label_files(self._theirs, position, label, self._from_path)
        self._checked.add(label)

    def _by_spark(self, numeric: Sequence[str], text: Sequence[str], label: str) -> Raw:
        packed, width = self._frame.selectExpr(*self._columns(numeric, text, label)), len(numeric)
        return Raw(packed, RawReader(width), block_rows(width), width, len(text), Watch(self._first_pass))

    def _by_tasks(self, numeric: Sequence[str], text: Sequence[str]) -> Raw | None:
        """The columns read from their files by the tasks themselves; None where Spark has to read them."""
        width, position = len(numeric), {name: i for i, (name, _) in enumerate(self._types)}
        try:
            if self._reader == "spark":
                raise Unfit("it was asked for")
            if not self.in_columns:
                raise Unfit("features are elements of vectors")
            numbers, words = ([position[name] for name in names] for names in (numeric, text))
            reader = self._files.reader(numbers, words, block_rows(width))
        except Unfit as reason:
            self._told("spark", str(reason))
            if self._reader == "arrow":
                raise ConfigError(no_files(str(reason))) from reason
            return None
        self._told("arrow", "")
        units = self._files.units(reader)
        return Raw(units, reader, reader.rows, width, len(text), Watch(self._first_pass), len(reader.tasks))

    def _told(self, reader: str, reason: str) -> None:
        """Say who reads the rows, once, and keep it for the facts of the run."""
        told = Reading(reader, reason or None)
        if told != self.reading:
            log.info("rows are read by %s%s", _READERS[reader], f": {reason}" if reason else "")
        self.reading = told

    def _columns(self, numeric: Sequence[str], text: Sequence[str], label: str) -> list[str]:
        """SQL for one array of doubles ``x``, then the text columns and the label."""
        words = [self._text(name) for name in [*text, label]]
        numbers = f"cast({self._numbers(numeric)} as array<double>) as x"
        return [numbers, *[f"{word} as t{i}" for i, word in enumerate(words)]]

    def _numbers(self, names: Sequence[str]) -> str:
        position = {name: i for i, (name, _) in enumerate(self._types)}
        return f"array({', '.join(_as_double(position[name], self._types[position[name]][1]) for name in names)})"

    def _text(self, name: str) -> str:
        position = [known for known, _ in self._types].index(name)
        return _as_text(position, self._types[position][1])

    def likely_positives(self, model: RowLister, rule: LabelRule, keep: Sequence[str]) -> DataFrame:
        position = {name: i for i, (name, _) in enumerate(self._types)}
        rows = self._theirs.selectExpr(  # a table for the user, in the session of the user
            *[f"c{position[name]}" for name in keep], *self._columns(model.numeric, tuple(model.text), rule.column)
        )
        return likely_rows(rows, len(keep), model, rule).toDF(*keep, model.column)

    def each(
        self, function: Callable[[Shared, Unit], Result], shared: Shared, units: Sequence[Unit], result: type[Result]
    ) -> list[Result]:
        return each(self._frame.sparkSession, function, shared, units, result)

    def mask_scorer(self, sample: RowSample, settings: MixtureSettings) -> MaskScorer:
        spark = self._frame.sparkSession
        if sample.X.size < SMALL_SAMPLE and scan.one_machine(spark):
            return ThreadScorer(sample, settings, scan.slots(spark))
        return SparkScorer(spark, sample, settings)


def reader_choice(spark: SparkSession, given: str | None = None) -> str:
    """Who may read the rows: as ``given``, else as the session's setting says."""
    found = given or str(spark.conf.get(READER, "auto"))
    if found not in get_args(ReaderChoice):
        known = ", ".join(get_args(ReaderChoice))
        raise ConfigError(
            Fault(f"Setting '{READER}'", f"must be one of {known}, got {found!r}", "The default is auto.")
        )
    return found


def no_files(reason: str) -> Fault:
    """What to tell where tasks must read the files, but cannot."""
    return Fault("Reader 'arrow'", f"cannot read this table: {reason}", "Set the reader to auto.")


class SparkSource:
    """The chosen columns: one array of doubles and the text columns, label last."""

    def __init__(self, raw: Raw, passes: list[Pass], cache: bool) -> None:
        self._raw = raw
        self._passes = passes
        self._cache = cache

    def scan(self, kernel: Kernel[RawBatch, Held], what: str) -> Held:
        with worker_errors():  # a table is scanned before anything else: this is where they show
            return self._raw.scan(kernel, what, self._passes)

    def pack(self, packer: Packer) -> Blocks:
        if not self._cache:
            return UncachedBlocks(self._raw, packer, self._passes)
        return (CachedBlocks if self._raw.tasks is None else LaterCachedBlocks)(self._raw, packer, self._passes)


class RawReader:
    """Arrow batches of a source as raw batches."""

    def __init__(self, width: int) -> None:
        self._width = width

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[RawBatch]:
        for batch in batches:
            *text, label = batch.columns[1:]
            yield raw_batch(batch.column(0).flatten(), self._width, text, label)


@contextmanager
def worker_errors() -> Iterator[None]:
    """Workers without this package, or with another Python, told as such: nobody checked a session that users bring."""
    try:
        yield
    except spark_errors() as error:
        if not any(mark in str(error) for mark in _NOT_ALIKE):
            with plan_errors():
                raise
        raise EnvironmentFault(no_answer(str(error))) from error


_NOT_ALIKE = ("No module named", "has different version", "Cannot run program")


def _kind(type_: str) -> Kind:
    base = type_.split("(")[0]
    if base in NUMBERS or base in MOMENTS:
        return "numeric"
    return "text" if base.split(" ")[0] in TEXTS else "unsupported"


def _as_double(position: int, type_: str) -> str:
    column = f"c{position}"
    if type_ == "date":
        return f"cast(unix_date({column}) as double)"
    if type_ == "timestamp":
        return f"cast(unix_micros({column}) as double) / 1e6D"
    if type_ == "timestamp_ntz":  # a cast to timestamp would read it in the session's zone
        seconds = f"cast(cast({column} - timestamp_ntz'1970-01-01 00:00:00' as interval second) as decimal(20,6))"
        return f"cast(cast({seconds} * 1000000 as bigint) as double) / 1e6D"
    return f"cast({column} as double)"


def _as_text(position: int, type_: str) -> str:
    # Fractions and timestamps travel as doubles and become text in Python, as in the local engine.
    fraction = type_ in ("float", "double", "timestamp", "timestamp_ntz") or type_.startswith("decimal")
    return _as_double(position, type_) if fraction else f"cast(c{position} as string)"
