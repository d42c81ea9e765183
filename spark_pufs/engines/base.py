"""What a selector may ask of the place where the rows are.

An engine knows how to bring rows to a kernel and nothing of what the kernel counts. Contract: ``scan`` gives the same
state for any order and partitioning of the rows; it never brings rows to the caller.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from spark_pufs.core.counting.bins import code_columns, code_text
from spark_pufs.core.counting.grouped_counts import row_groups
from spark_pufs.core.counting.kernel import Held, Kernel
from spark_pufs.core.counting.row_sample import RowSample, label_codes
from spark_pufs.core.search.saved_state import State
from spark_pufs.engines.at_work import METRICS, method_at_work
from spark_pufs.findings.run_facts import Pass, Reading
from spark_pufs.types import Bins, Block, Column, LabelRule, RawBatch

if TYPE_CHECKING:  # tasks of a pass need none of these, and pandas and scipy take as long to load as thousands of rows
    import pandas as pd

    from spark_pufs.core.clusters.diagonal_em import MixtureSettings
    from spark_pufs.core.search.mask_draws import MaskDraws

__all__ = [
    "Blocks",
    "Engine",
    "Grader",
    "InProcess",
    "Keeper",
    "MaskScorer",
    "NoKeeper",
    "Packer",
    "Result",
    "Shared",
    "Source",
    "Unit",
    "log_generation",
    "raw_width",
    "record",
]

Shared = TypeVar("Shared")
Unit = TypeVar("Unit")
Result = TypeVar("Result")
InProcess = Callable[["pd.DataFrame"], "Engine"]  # an engine for a table that one task holds

log = logging.getLogger("spark_pufs")


def record(passes: list[Pass], what: str, began: float, rows: int, width: int) -> None:
    """Note a pass that started at ``began`` (perf_counter) and has just ended; ``width``: bytes of a row."""
    done = Pass(what, time.perf_counter() - began, rows, rows * width)
    passes.append(done)
    told = {"event": "pass", "method": method_at_work(), "pass": len(passes), **asdict(done)}
    log.info("pass %d: %s (%.1f s, %s rows)", len(passes), what, done.seconds, f"{rows:,}", extra={METRICS: told})


def log_generation(number: int, masks: int, rows: int, began: float) -> None:
    """Tell of a generation of masks that was scored on ``rows`` rows of a sample, since ``began``."""
    seconds = time.perf_counter() - began
    told = {"event": "generation", "method": method_at_work(), "generation": number, "masks": masks, "rows": rows}
    log.info("generation %d: %d masks (%.1f s)", number, masks, seconds, extra={METRICS: {**told, "seconds": seconds}})


def raw_width(numbers: int, texts: int) -> int:
    """Bytes of a row as it was read."""
    return 8 * numbers + 4 * texts


class Grader(Protocol):
    """Gives rows soft labels."""

    def grades(self, batch: RawBatch, label: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """Grades (n,) of rows with ``label`` (n,) states; a row's grade depends on the row alone."""


@dataclass(frozen=True)
class Packer:
    """Turns raw batches into blocks: ``numeric`` and ``text`` pair the batch's columns with bins and block rows.

    With a ``grader`` the labels of blocks are grades; ``grouped`` blocks say which group each row is in.
    """

    numeric: tuple[tuple[int, int, Bins], ...]  # (column of the batch, row of the block, bins)
    text: tuple[tuple[int, int, Bins], ...]
    states: Mapping[str, int]
    grader: Grader | None = None
    grouped: bool = False

    @property
    def features(self) -> int:
        return len(self.numeric) + len(self.text)

    def pack(self, batch: RawBatch) -> Block:
        codes = np.empty((self.features, batch.rows), np.uint8)
        if self.numeric:
            columns, rows, own = zip(*self.numeric, strict=True)
            every = columns == tuple(range(batch.numeric.shape[1]))
            codes[list(rows)] = code_columns(batch.numeric if every else batch.numeric[:, columns], own)
        for column, row, bins in self.text:
            codes[row] = code_text(batch.text[column], bins)
        label = label_codes(batch, self.states)
        group = row_groups(batch) if self.grouped else None
        return Block(codes, label if self.grader is None else self.grader.grades(batch, label), group=group)


class Blocks(Protocol):
    """Packed rows, kept near to hand until released."""

    def scan(self, kernel: Kernel[Block, Held], what: str) -> Held: ...

    def release(self) -> None: ...


class Source(Protocol):
    """The raw rows of the chosen columns."""

    def scan(self, kernel: Kernel[RawBatch, Held], what: str) -> Held: ...

    def pack(self, packer: Packer) -> Blocks: ...


class MaskScorer(Protocol):
    """Clusters one sample of rows under many masks.

    Contract: the same draws, seed and rows give the same counts, whoever computes them and in whatever grouping.
    """

    def score(
        self, draws: MaskDraws, seed: Sequence[int], rows: int
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Labelled rows (M, K) and all rows (M, K) of every cluster of every mask, on about ``rows`` of the sample."""

    def close(self) -> None: ...


class RowLister(Protocol):
    """Says which rows of a table are listed, from the columns ``numeric`` and ``text``.

    ``column``: the value given for each, a whole number or a double.
    """

    column: ClassVar[str]
    whole: ClassVar[bool]

    @property
    def numeric(self) -> tuple[str, ...]: ...

    @property
    def text(self) -> Iterable[str]: ...

    def listed(self, rows: RawBatch, labels: NDArray[np.uint8]) -> tuple[NDArray[np.bool_], NDArray[Any]]:
        """Which rows (n,) of a batch with these label states (n,) are listed, and the value of every row."""


class Engine(Protocol):
    """One table in one place."""

    name: str
    passes: list[Pass]
    reading: Reading  # how the rows were read, for the facts of a run

    def columns(self) -> list[Column]: ...

    def source(self, numeric: Sequence[str], text: Sequence[str], label: str) -> Source: ...

    def likely_positives(self, model: RowLister, rule: LabelRule, keep: Sequence[str]) -> Any:
        """Rows that the model lists: the ``keep`` columns and the model's own, as a table of the same kind."""

    def each(
        self, function: Callable[[Shared, Unit], Result], shared: Shared, units: Sequence[Unit], result: type[Result]
    ) -> list[Result]:
        """``function(shared, unit)`` for every unit, side by side where there is room, in the order of ``units``.

        All three are records, dataclasses of arrays and plain values: they may have to travel. The function is one of a
        module; it leaves its arguments as they are and draws random numbers by the unit only.
        """

    def mask_scorer(self, sample: RowSample, settings: MixtureSettings) -> MaskScorer: ...


class Keeper(Protocol):
    """Where a search leaves its state. ``where`` is None if nothing is kept."""

    where: str | None

    def load(self) -> State | None: ...

    def save(self, state: State) -> None: ...


class NoKeeper:
    """Keeps nothing."""

    where: str | None = None

    def load(self) -> None:
        return None

    def save(self, state: State) -> None:
        """Nothing to keep it in."""
