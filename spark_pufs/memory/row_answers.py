"""What a window answers from the rows that are kept of it, where its counts do not tell.

What is counted to compare rows with each other is counted in rows drawn alike, labelled or not: sums, errors and tests
then are those of so many rows. What compares labelled rows with all others sees all that are kept, since it does not
hang on how many there are of each.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast

import numpy as np
from numpy.typing import NDArray

from spark_pufs.core.clusters.cluster_model import VerdictKernel
from spark_pufs.core.counting.counts import CountTable
from spark_pufs.core.counting.kernel import Held, Kernel
from spark_pufs.core.counting.row_sample import FirstSampleKernel, HeavyKernel, SampleKernel
from spark_pufs.core.information.surrogate import Labels
from spark_pufs.core.pu.prfs import CellKernel, PositiveKernel
from spark_pufs.memory.kept_rows import WindowRows
from spark_pufs.memory.reference import Reference
from spark_pufs.table.numbers import EncodedKernel
from spark_pufs.types import LABEL_STATES, Bins, RawBatch, Text

__all__ = ["KeptSource"]

OTHERS = "\0others"  # in place of texts that have no level of their own
_SAMPLES = (SampleKernel, FirstSampleKernel, HeavyKernel)
_AGAINST_OTHERS = (*_SAMPLES, PositiveKernel, CellKernel)


@dataclass(frozen=True)
class KeptSource:
    """Some columns of the rows that are kept; ``labels``: those of the whole window."""

    reference: Reference
    rows: WindowRows
    labels: Labels
    states: Mapping[str, int]
    numeric: tuple[str, ...]
    text: tuple[str, ...]

    def scan(self, kernel: Kernel[RawBatch, Held]) -> Held:
        inner = kernel.kernel if isinstance(kernel, EncodedKernel) else kernel
        if isinstance(inner, VerdictKernel):
            return cast(Held, self._thinned(inner.add(inner.start(), self.batch(self.rows))))
        rows = self.rows if isinstance(inner, _AGAINST_OTHERS) else self.rows.alike
        return kernel.add(kernel.start(), self.batch(rows))

    def _thinned(self, found: CountTable) -> CountTable:
        """Counts (2, K) of all and of labelled rows per cluster, as of a window thinned until it has as many labelled
        rows as are kept: these are what a test of clusters rests on, the others are many."""
        labelled, kept, window = found.counts[1], self.rows.labels, self.labels
        thinned = kept.positive / max(window.positive, 1)
        weight = thinned * (window.unlabelled + window.negative) / max(kept.unlabelled + kept.negative, 1)
        others = np.rint((found.counts[0] - labelled) * weight).astype(np.int64)
        return CountTable(np.stack([others + labelled, labelled]))

    def batch(self, kept: WindowRows) -> RawBatch:
        """Rows as a source gives them; of texts, those that have a level."""
        reference = self.reference
        cut = {one.name: one for one in reference.bins}
        coded = [name for name in reference.text if name in cut]
        places = [reference.numeric.index(name) for name in self.numeric]
        first = len(reference.numeric)
        text = [
            _text(kept.X[:, first + coded.index(name)], cut[name]) if name in cut else _no_text(len(kept.label))
            for name in self.text
        ]
        numeric = np.ascontiguousarray(kept.X[:, places])
        return RawBatch(numeric, np.zeros(len(places), np.int64), text, _label(kept.label, self.states))


def _text(codes: NDArray[np.float64], bins: Bins) -> Text:
    """Codes as texts again: those without a level of their own become one, and missing ones null."""
    levels = codes.astype(np.int32)
    return Text(np.where(levels == bins.levels - 1, -1, levels).astype(np.int32), [*bins.categories, OTHERS])


def _no_text(rows: int) -> Text:
    return Text(np.full(rows, -1, np.int32), [])


def _label(states: NDArray[np.uint8], meaning: Mapping[str, int]) -> Text:
    """Label states by a value that means each; unlabelled is null."""
    values = [next(value for value in meaning if meaning[value] == state) for state in np.unique(states[states > 0])]
    place = np.full(LABEL_STATES, -1, np.int32)
    place[[meaning[value] for value in values]] = np.arange(len(values))
    return Text(place[states], values)
