"""Near copies: columns of numbers whose rows stand in nearly the same order, and texts that name each other's levels.

Pairs are proposed by a sample of rows and decided by integer sums over all of them. Two columns of numbers agree as far
as the squared distance of their ranks is small: 1 less its mean over twice their variance, which over all rows is the
rank correlation. Two columns of names agree in the share of rows in which each tells the other, beyond what chance
would give (Cohen's kappa). Both must hold among the labelled rows too: columns that differ there alone, such as
balances before and after a fraud, are no copies.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from spark_pufs.core.counting.bins import code_numeric
from spark_pufs.core.counting.equal_frequency import equal_frequency_edges
from spark_pufs.core.counting.hashing import text_hashes
from spark_pufs.core.counting.row_sample import label_codes
from spark_pufs.types import LABELLED_POSITIVE, Bins, RawBatch, Text

__all__ = ["NEAR", "AgreementKernel", "NamePair", "Names", "RankPair", "Ranks", "name_pair", "rank_pairs"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

NEAR = 0.99  # agreement from which columns are near copies (docs/choosing.md)
SLACK = 0.01  # a sample proposes pairs that agree less by so much
HIGHEST = 4096  # ranks as whole numbers
BINS = 64


@dataclass(frozen=True)
class Ranks:
    """The rank (levels,) of every level of a column's bins, from 0 to HIGHEST; missing values stand in the middle."""

    bins: Bins
    rank: Ints

    @classmethod
    def of(cls, name: str, values: Floats, weight: Floats) -> Ranks:
        """From a sample of the column."""
        bins = Bins(name, "numeric", edges=equal_frequency_edges(values, weight, BINS), missing=True)
        rows = np.bincount(code_numeric(values, bins), weight, bins.levels)[:-1]
        middle = (np.cumsum(rows) - rows / 2) / max(float(rows.sum()), 1e-300)
        return cls(bins, np.append(np.rint(HIGHEST * middle), HIGHEST // 2).astype(np.int64))


@dataclass(frozen=True)
class Names:
    """The levels of a column of names: its values in order, then one for all others, then one for missing ones."""

    values: tuple[str, ...]

    @property
    def levels(self) -> int:
        return len(self.values) + 2

    def codes(self, text: Text) -> Ints:
        """The level (n,) of every row."""
        place = {value: code for code, value in enumerate(self.values)}
        own = [place.get(value, len(self.values)) for value in text.values]
        found: Ints = np.array([*own, len(self.values) + 1], np.int64)[text.codes]  # -1 picks the last one
        return found

    def of_hashes(self, hashes: NDArray[np.uint64], null: str) -> Ints:
        """The level (n,) of rows whose texts have these hashes, that of a missing one being the hash of ``null``."""
        known = text_hashes([*self.values, null])
        order = np.argsort(known)
        place = order[np.minimum(np.searchsorted(known, hashes, sorter=order), len(known) - 1)]
        code = np.where(place == len(self.values), len(self.values) + 1, place)
        return np.where(known[place] == hashes, code, len(self.values)).astype(np.int64)


@dataclass(frozen=True)
class RankPair:
    """Two numeric columns by their places; ``turned``: one rises where the other falls."""

    one: int
    other: int
    turned: bool


@dataclass(frozen=True)
class NamePair:
    """Two columns of names by their places; ``partner``, ``back``: the level of the other that each level goes with,
    -1 where none is known. ``by_chance``: share of rows that would be apart if the columns were independent."""

    one: int
    other: int
    partner: Ints
    back: Ints
    by_chance: float


def rank_pairs(X: Floats) -> list[RankPair]:
    """Pairs of columns of X (n, D) that may be near copies, by their rank correlation.

    >>> rank_pairs(np.array([[1.0, 9.0, 5.0], [2.0, 7.0, 1.0], [3.0, 1.0, 9.0]]))
    [RankPair(one=0, other=1, turned=True)]
    """
    ranks = np.zeros(X.shape)
    for column, values in enumerate(X.T):
        present = ~np.isnan(values)
        own = rankdata(values[present])
        ranks[present, column] = own - own.mean() if len(own) else own
    ranks /= np.maximum(np.sqrt((ranks**2).sum(axis=0)), 1e-300)
    alike = ranks.T @ ranks
    near = np.argwhere(np.triu(np.abs(alike) >= NEAR - SLACK, 1))
    return [RankPair(int(i), int(j), bool(alike[i, j] < 0)) for i, j in near]


def name_pair(
    places: tuple[int, int], codes: tuple[Ints, Ints], levels: tuple[int, int], weight: Floats
) -> NamePair | None:
    """The pair of two columns with codes (n,) below ``levels``, if it may be near copies; rows count by ``weight``.

    >>> pair = name_pair((0, 1), (np.array([0, 1, 0, 2]), np.array([2, 0, 2, 1])), (4, 4), np.ones(4))
    >>> pair.partner.tolist(), pair.by_chance
    ([2, 0, 1, -1], 0.625)
    """
    one, other = codes
    if abs(len(np.unique(one)) - len(np.unique(other))) > SLACK * len(one):
        return None
    partner, back = _partners(one, other, levels), _partners(other, one, levels[::-1])
    shares = [np.bincount(own, weight, count) / weight.sum() for own, count in zip(codes, levels, strict=True)]
    mutual = [level for level in np.unique(one) if back[partner[level]] == level]
    pair = NamePair(*places, partner, back, float(1 - shares[0][mutual] @ shares[1][partner[mutual]]))
    apart = np.average(_names_apart(pair, one, other), weights=weight)
    return pair if apart <= (1 - NEAR + SLACK) * pair.by_chance else None


def _partners(one: Ints, other: Ints, levels: tuple[int, ...]) -> Ints:
    """The commonest level of ``other`` for each level of ``one``; the first of equally common ones."""
    found, rows = np.unique(one * levels[1] + other, return_counts=True)
    order = np.lexsort((-found, rows))  # the last one to be set counts
    partner = np.full(levels[0], -1, np.int64)
    partner[found[order] // levels[1]] = found[order] % levels[1]
    return partner


def _names_apart(pair: NamePair, one: Ints, other: Ints) -> Ints:
    apart: NDArray[np.bool_] = (pair.partner[one] != other) | (pair.back[other] != one)
    return apart.astype(np.int64)


@dataclass(frozen=True)
class Distances:
    """How far P pairs are apart: ``apart`` (P, 2), in squared ranks or in rows of names, over all and labelled ``rows``
    (2,); ``sums`` (P, 4): ranks of one, of the other, and their squares."""

    rows: Ints
    apart: Ints
    sums: Ints

    def merge(self, other: Distances) -> Distances:
        return Distances(self.rows + other.rows, self.apart + other.apart, self.sums + other.sums)


@dataclass(frozen=True)
class AgreementKernel:
    """How far pairs are apart; ``ranks``, ``names``: how the numeric and the text columns of a batch are read."""

    ranks: tuple[Ranks, ...]
    names: tuple[Names, ...]
    pairs: tuple[RankPair | NamePair, ...]
    states: Mapping[str, int]

    def start(self) -> Distances:
        count = len(self.pairs)
        return Distances(np.zeros(2, np.int64), np.zeros((count, 2), np.int64), np.zeros((count, 4), np.int64))

    def add(self, state: Distances, batch: RawBatch) -> Distances:
        known = label_codes(batch, self.states) == LABELLED_POSITIVE
        ranks = [own.rank[code_numeric(batch.numeric[:, i], own.bins)] for i, own in enumerate(self.ranks)]
        codes = [own.codes(text) for text, own in zip(batch.text, self.names, strict=True)]
        state.rows[:] += [batch.rows, int(known.sum())]
        for number, pair in enumerate(self.pairs):
            if isinstance(pair, NamePair):
                apart = _names_apart(pair, codes[pair.one], codes[pair.other])
            else:
                one, other = ranks[pair.one], ranks[pair.other]
                other = HIGHEST - other if pair.turned else other
                apart = (one - other) ** 2
                state.sums[number] += [one.sum(), other.sum(), (one**2).sum(), (other**2).sum()]
            state.apart[number] += [apart.sum(), apart[known].sum()]
        return state

    def agreements(self, state: Distances) -> Floats:
        """Of every pair (P,): the lower one of all rows and of the labelled rows."""
        first, second = (part / max(int(state.rows[0]), 1) for part in np.hsplit(state.sums, 2))
        unlike = 2 * (second - first**2).mean(axis=1)  # squared distance of ranks by chance
        for number, pair in enumerate(self.pairs):
            unlike[number] = pair.by_chance if isinstance(pair, NamePair) else unlike[number]
        apart = state.apart / np.maximum(state.rows, 1)
        return np.asarray(1 - apart.max(axis=1) / np.where(unlike > 0, unlike, 1e-300))
