"""What the chosen features look like: labelled rows against unlabelled ones, and how far features repeat each other.

Everything comes from counts of packed rows, so both engines tell the same to the last bit.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from spark_pufs.core.information.mutual_information import between_features, entropy, mutual_information
from spark_pufs.findings.parts import Distribution, FeatureSummary, Level, NearCopies, Redundancy
from spark_pufs.table.counter import Counter
from spark_pufs.table.pu_table import PUTable
from spark_pufs.types import LABELLED_NEGATIVE, LABELLED_POSITIVE, UNLABELLED, Bins, Layout

__all__ = ["distributions", "interval_names", "near_copies", "redundancy", "summarise", "symmetric_uncertainty"]

Counts = NDArray[np.int64]
SHOWN = 12  # features with a distribution
COMPARED = 25  # features compared in pairs
MOST_LEVELS = 12  # levels of a distribution; neighbours and rare categories beyond are pooled
MOST_CHARACTERS = 60  # of a category's name
NEAR = 0.95  # symmetric uncertainty from which two features are near copies
LEAST_ENTROPY = 0.1  # nats, of a feature that may be a near copy: a fiftieth of the rows in a second level


def summarise(table: PUTable, counter: Counter, order: Sequence[int], chosen: int) -> FeatureSummary:
    """What the report shows of features, the chosen ones first in ``order``.

    ``distributions`` of the first chosen ones by ``binning``; where counts fit in memory, their ``redundancy``; and
    ``near_copies``: groups of features that share nearly all, among all of them where all pairs were counted anyway.
    """
    found = FeatureSummary(table.plan.binning, distributions(table, counter, order[:chosen][:SHOWN]))
    among = tuple(order[:chosen][:COMPARED])
    pairs = counter.among(among) if len(among) > 1 else None
    if pairs is not None:
        values = redundancy(pairs, _part(table.layout, among))
        rows = tuple(map(tuple, np.round(values, 6).tolist()))
        found = replace(found, redundancy=Redundancy(tuple(table.names[i] for i in among), rows))
    known = counter.known_pairs()
    if known is not None:
        return replace(found, near_copies=near_copies(known.sum(axis=0), table.layout, order, table.names))
    if pairs is not None:
        own = [table.names[i] for i in among]
        return replace(found, near_copies=near_copies(pairs, _part(table.layout, among), range(len(among)), own))
    return found


def near_copies(pairs: Counts, layout: Layout, order: Sequence[int], names: Sequence[str]) -> tuple[NearCopies, ...]:
    """Features that share at least NEAR of their information with one that stands before them in ``order``.

    ``pairs`` (L, L) of all rows. A feature with nearly all rows in one level is left out: what its bins share says
    little of its values.
    """
    rows = np.diagonal(pairs)
    share = rows / max(int(rows[layout.span(0)].sum()), 1)
    own = np.add.reduceat(-share * np.log(np.where(share > 0, share, 1.0)), layout.offsets[:-1])
    open_ = own >= LEAST_ENTROPY
    groups = []
    for i in order:
        if not open_[i]:
            continue
        open_[i] = False
        shared = 2 * between_features(pairs[layout.span(i)], layout)[0] / (own + own[i])
        near = [j for j in order if open_[j] and shared[j] >= NEAR]
        open_[near] = False
        if near:
            least = round(min(1.0, float(shared[near].min())), 4)
            groups.append(NearCopies(names[i], tuple(names[j] for j in near), least))
    return tuple(groups)


def _part(layout: Layout, features: Sequence[int]) -> Layout:
    return Layout(tuple(layout.levels[i] for i in features))


def distributions(table: PUTable, counter: Counter, features: Sequence[int]) -> tuple[Distribution, ...]:
    """Rows per level of each feature: labelled positive, unlabelled and labelled negative."""
    labels = counter.labels()
    return tuple(
        Distribution(table.names[i], _levels(table, i, labels[:, table.layout.span(i)])) for i in features
    )  # fmt: skip


def redundancy(pairs: Counts, layout: Layout) -> NDArray[np.float64]:
    """Symmetric uncertainty (D, D) of every two features from counts of level pairs (L, L) of all rows."""
    spans = [layout.span(i) for i in range(layout.features)]
    values = np.eye(layout.features)
    for i, j in zip(*np.triu_indices(layout.features, 1), strict=True):
        values[i, j] = values[j, i] = symmetric_uncertainty(pairs[spans[i], spans[j]])
    return values


def symmetric_uncertainty(counts: Counts) -> float:
    """2 I(X;Y) / (H(X) + H(Y)) of a table (X, Y): 0 for independent features, 1 where each tells the other.

    >>> symmetric_uncertainty(np.array([[5, 0], [0, 5]])), symmetric_uncertainty(np.array([[5, 5], [5, 5]]))
    (1.0, 0.0)
    """
    total = entropy(counts.sum(axis=1)) + entropy(counts.sum(axis=0))
    return min(1.0, 2 * mutual_information(counts) / total) if total else 0.0


def interval_names(edges: Sequence[float], low: float, high: float, whole: bool = False) -> list[str]:
    """Words for the intervals that inner ``edges`` cut; those that can hold no whole number are called "".

    >>> interval_names((0.25, 0.5), 0, 1)
    ['below 0.25', '0.25 to 0.5', '0.5 and up']
    >>> interval_names((0.2, 0.4, 2.5), 0, 9, whole=True)
    ['0', '', '1 to 2', '3 and up']
    >>> interval_names((5, float("inf")), 0, 9, whole=True)
    ['up to 4', '5 and up', 'infinite']
    """
    if not edges:
        return ["any value"]
    if edges[-1] == math.inf:
        return [*interval_names(edges[:-1], low, high, whole), "infinite"]
    if whole:
        cuts = [math.ceil(edge) for edge in edges]
        return [_whole_range(a, b, low, high) for a, b in zip([-math.inf, *cuts], [*cuts, math.inf], strict=True)]
    words = _distinct(edges)
    middle = [f"{a} to {b}" for a, b in pairwise(words)]
    return [f"below {words[0]}", *middle, f"{words[-1]} and up"]


def _whole_range(start: float, stop: float, low: float, high: float) -> str:
    """The whole numbers from ``start`` to below ``stop`` that lie between ``low`` and ``high``."""
    first, last = max(start, low), min(stop - 1, high)
    if first > last:
        return ""
    if first == last:
        return f"{int(first):,}"
    if start == -math.inf:
        return f"up to {int(last):,}"
    return f"{int(first):,} and up" if stop == math.inf else f"{int(first):,} to {int(last):,}"


def _distinct(edges: Sequence[float]) -> list[str]:
    """As few digits as tell the edges apart, three or more."""
    for digits in range(3, 18):
        words = [_number(edge, digits) for edge in edges]
        if len(set(words)) == len(edges):
            break
    return words


def _number(value: float, digits: int) -> str:
    rounded = float(f"{value:.{digits}g}")
    if rounded and not 1e-4 <= abs(rounded) < 1e12:
        return f"{value:.{digits}g}"
    if abs(rounded) >= 1e6:
        return f"{rounded / 1e6:,.{max(digits, 9)}g}M"
    return f"{rounded:,.0f}" if rounded.is_integer() else f"{rounded:,.{max(digits, 9)}g}"


def _levels(table: PUTable, feature: int, counts: Counts) -> tuple[Level, ...]:
    bins = table.bins[feature]
    names, pooled = _numeric(table, bins, counts) if bins.kind == "numeric" else _text(bins, counts)
    states = [LABELLED_POSITIVE, UNLABELLED, LABELLED_NEGATIVE]
    return tuple(
        Level(name, *map(int, rows[states])) for name, rows in zip(names, pooled.T, strict=True) if name or rows.any()
    )


def _numeric(table: PUTable, bins: Bins, counts: Counts) -> tuple[list[str], Counts]:
    """Neighbouring intervals are pooled beyond MOST_LEVELS of them."""
    profile, column = table.plan.profile, table.plan.schema.numeric.index(bins.name)
    intervals = len(bins.edges) + 1
    starts = np.arange(0, intervals, -(-intervals // MOST_LEVELS))
    edges = [bins.edges[start - 1] for start in starts[1:]]
    unbounded = bool(profile.infinite[column])
    low, high = (-math.inf, math.inf) if unbounded else (float(profile.low[column]), float(profile.high[column]))
    names = interval_names(edges, low, high, bool(profile.whole[column]))
    return names + ["missing"] * bins.missing, np.add.reduceat(counts, [*starts, *[intervals] * bins.missing], axis=1)


def _text(bins: Bins, counts: Counts) -> tuple[list[str], Counts]:
    """Categories stand in order of their rows; the rarest share a level beyond MOST_LEVELS of them."""
    known = len(bins.categories)
    kept = known if known + bins.pooled <= MOST_LEVELS else MOST_LEVELS - 1
    others = kept < known + bins.pooled
    starts = [*range(kept + others), *[known + bins.pooled] * bins.missing]
    names = [_cut(category) for category in bins.categories[:kept]]
    return names + ["all others"] * others + ["missing"] * bins.missing, np.add.reduceat(counts, starts, axis=1)


def _cut(text: str) -> str:
    if not text.strip():
        return "(blank)"
    return text if len(text) <= MOST_CHARACTERS else text[: MOST_CHARACTERS - 1] + "…"
