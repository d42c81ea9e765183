"""What counts of different days must share to be added: columns, cut points, levels and the meaning of labels."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from spark_pufs.core.counting.counts import LabelKernel, PairKernel, pair_bytes
from spark_pufs.core.counting.profile import ProfileKernel
from spark_pufs.core.counting.row_sample import Wanted
from spark_pufs.core.records import written
from spark_pufs.core.schema import repeated
from spark_pufs.engines.base import Packer
from spark_pufs.errors import ConfigError, DataError, Fault
from spark_pufs.memory.counts import PartitionKernel
from spark_pufs.memory.kept_rows import SEED
from spark_pufs.request import Binning, Request
from spark_pufs.table.pu_table import NearCopy, Plan
from spark_pufs.types import Bins, Column, LabelRule, Layout

__all__ = ["Reference", "frozen_at"]


@dataclass(frozen=True)
class Reference:
    """Frozen when a memory is made. ``bins`` have a level for missing values and, of text, one for values not seen,
    whether there were any or not. ``pairs``, ``rows``: whether pairs of features are counted, and some rows kept.
    """

    columns: tuple[Column, ...]
    label: LabelRule
    numeric: tuple[str, ...]
    text: tuple[str, ...]
    bins: tuple[Bins, ...]
    near_copies: Mapping[str, NearCopy]
    binning: Binning
    intervals: int
    max_categories: int
    pairs: bool
    rows: bool

    @property
    def layout(self) -> Layout:
        return Layout(tuple(one.levels for one in self.bins))

    @property
    def digest(self) -> str:
        """Of all that decides what is counted; types of columns go by other names on every engine."""
        return hashlib.sha256(json.dumps(written(replace(self, columns=())), sort_keys=True).encode()).hexdigest()

    def kernel(self) -> PartitionKernel:
        """One pass over the rows of a partition."""
        layout = self.layout
        own = {one.name: (row, one) for row, one in enumerate(self.bins)}
        numeric, text = (
            tuple((column, *own[name]) for column, name in enumerate(names) if name in own)
            for names in (self.numeric, self.text)
        )
        profile = ProfileKernel(len(self.numeric), len(self.text), sampled=False)
        counts = PairKernel(layout) if self.pairs else LabelKernel(layout)
        return PartitionKernel(profile, Packer(numeric, text, {}), counts, self.label)

    def wanted(self, states: Mapping[str, int]) -> Wanted:
        """What is kept of a row: all numbers, and the codes of texts."""
        cut = {one.name: one for one in self.bins}
        text = tuple((place, cut[name]) for place, name in enumerate(self.text) if name in cut)
        return Wanted(tuple(range(len(self.numeric))), states, SEED, text)

    def check_request(self, request: Request, binning: Binning, where: str) -> None:
        """Refuse a request whose rows would have been counted otherwise."""
        asked = {
            "label": (self.label, request.label),
            "bins": (self.intervals, request.bins),
            "binning": (self.binning, request.binning_or(binning)),
            "max_categories": (self.max_categories, request.max_categories),
        }
        fix = "Ask for the same, set refit: now to count all partitions again, or name another folder."
        faults = [
            Fault(where, f"was made with {name} = {_told(ours)}, asked for is {_told(theirs)}", fix)
            for name, (ours, theirs) in asked.items()
            if ours != theirs
        ]
        if faults:
            raise ConfigError(faults)

    def check_columns(self, columns: Sequence[Column], where: str) -> None:
        """Refuse a table that lacks a column, or has one of another kind."""
        kinds = {column.name: column.kind for column in columns}
        was = {column.name: column.kind for column in self.columns}
        fix = "Give the column as it was, or set refit: now to count all partitions again."
        own = {*self.numeric, *self.text, self.label.column}
        faults = repeated([column.name for column in columns if column.name in own])
        for name in (*self.numeric, *self.text, self.label.column):
            if name not in kinds:
                faults.append(Fault(f"Column '{name}'", f"not found in {where}; counts are kept of it", fix))
            elif kinds[name] != was[name] and name != self.label.column:
                found = f"holds {kinds[name]} values in {where}, {was[name]} ones are counted"
                faults.append(Fault(f"Column '{name}'", found, fix))
        if faults:
            raise DataError(faults)


def frozen_at(
    plan: Plan, bins: Mapping[str, Bins], columns: Sequence[Column], request: Request, rows: bool
) -> Reference:
    """The reference that a table's plan, before copies were set apart, and its bins make."""
    every = tuple(_open(bins[name]) for name in plan.schema.order if name in bins and bins[name].levels > 1)
    layout = Layout(tuple(one.levels for one in every))
    return Reference(
        columns=tuple(columns),
        label=request.label,
        numeric=plan.schema.numeric,
        text=plan.schema.text,
        bins=every,
        near_copies=dict(plan.near_copies),
        binning=plan.binning,
        intervals=request.bins,
        max_categories=request.max_categories,
        pairs=pair_bytes(layout) <= request.pair_memory_mb * 2**20,
        rows=rows,
    )


def _open(bins: Bins) -> Bins:
    """With room for what may come."""
    return replace(bins, missing=True, pooled=bins.kind == "text")


def _told(value: object) -> str:
    if isinstance(value, LabelRule):
        return ", ".join(f"{name} {list(getattr(value, name))}" for name in ("positive", "negative", "unlabelled"))
    return str(value)
