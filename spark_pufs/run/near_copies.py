"""Features that nearly repeat another one: proposed by the profile's sample, decided by counts of all rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from spark_pufs.core.counting.agreement import (
    NEAR,
    AgreementKernel,
    NamePair,
    Names,
    RankPair,
    Ranks,
    name_pair,
    rank_pairs,
)
from spark_pufs.core.counting.profile import NULL, Profile
from spark_pufs.engines.base import Engine
from spark_pufs.table.pu_table import NearCopy, Plan
from spark_pufs.values import number_text

__all__ = ["near_copies"]

FEW = 64  # values of a number that may be codes for the levels of a text
MOST_NAMES = 200  # columns of names that are compared in pairs


@dataclass(frozen=True)
class Alike:
    """Two features that may be near copies; ``pair`` has their places among all columns of their kind."""

    one: str
    other: str
    pair: RankPair | NamePair


@dataclass(frozen=True)
class Proposal:
    """One of two features that are alike stands for the other."""

    stands: str
    copy: str
    alike: Alike


def near_copies(plan: Plan, engine: Engine, order: Sequence[str], kept: set[str]) -> dict[str, NearCopy]:
    """Features that one earlier in ``order`` can stand for; those ``kept`` stay features. One pass where there are any.

    Who stands for whom is settled by the sample; all rows decide whether it holds.
    """
    proposals = _grouped([*_by_rank(plan), *_by_name(plan)], order, kept)
    if not proposals:
        return {}
    numeric, named = (_named_in(proposals, kind) for kind in (RankPair, NamePair))
    kernel = AgreementKernel(
        tuple(_ranks(name, plan) for name in numeric),
        tuple(_names(name, plan) for name in named),
        tuple(_placed(one.alike, numeric if isinstance(one.alike.pair, RankPair) else named) for one in proposals),
        plan.states,
    )
    source = engine.source(numeric, named, plan.schema.label)
    agreements = kernel.agreements(source.scan(kernel, "near copies"))
    found = zip(proposals, agreements.tolist(), strict=True)
    return {one.copy: NearCopy(one.stands, round(value, 4)) for one, value in found if value >= NEAR}


def _grouped(alike: Sequence[Alike], order: Sequence[str], kept: set[str]) -> list[Proposal]:
    """Each feature in turn stands for all that are like it and not spoken for."""
    partners: dict[str, list[tuple[str, Alike]]] = {}
    for one in alike:
        partners.setdefault(one.one, []).append((one.other, one))
        partners.setdefault(one.other, []).append((one.one, one))
    taken: set[str] = set()
    proposals = []
    for name in order:
        if name not in taken:
            taken.add(name)
            own = [(other, one) for other, one in partners.get(name, ()) if other not in taken and other not in kept]
            proposals += [Proposal(name, other, one) for other, one in own]
            taken |= {other for other, _ in own}
    return proposals


def _by_rank(plan: Plan) -> list[Alike]:
    numeric = _numeric(plan)
    pairs = rank_pairs(plan.profile.sample[:, list(numeric.values())]) if len(numeric) > 1 else []
    names = list(numeric)
    return [Alike(names[pair.one], names[pair.other], pair) for pair in pairs]


def _by_name(plan: Plan) -> list[Alike]:
    """Pairs of text features, and of a text feature with a number that has a few values."""
    text = [name for name in plan.features if name in plan.schema.text]
    few = [name for name, i in _numeric(plan).items() if plan.profile.distinct[i] <= FEW] if text else []
    columns = [*text, *few][:MOST_NAMES]
    codes = {name: _codes(name, plan) for name in columns}
    found = []
    for i, j in combinations(range(len(columns)), 2):
        if columns[i] in text:
            (one, levels), (other, other_levels) = codes[columns[i]], codes[columns[j]]
            pair = name_pair((i, j), (one, other), (levels, other_levels), plan.profile.sample_weight)
            found += [Alike(columns[i], columns[j], pair)] if pair else []
    return found


def _numeric(plan: Plan) -> dict[str, int]:
    """Numeric features with their places among the profile's columns."""
    place = {name: i for i, name in enumerate(plan.schema.numeric)}
    return {name: place[name] for name in plan.features if name in place}


def _named_in(proposals: Sequence[Proposal], kind: type[RankPair | NamePair]) -> list[str]:
    """Features of the proposals of one kind, each once."""
    own = [one.alike for one in proposals if isinstance(one.alike.pair, kind)]
    return list(dict.fromkeys(name for one in own for name in (one.one, one.other)))


def _placed(alike: Alike, columns: Sequence[str]) -> RankPair | NamePair:
    return replace(alike.pair, one=columns.index(alike.one), other=columns.index(alike.other))


def _ranks(name: str, plan: Plan) -> Ranks:
    profile = plan.profile
    return Ranks.of(name, profile.sample[:, plan.schema.numeric.index(name)], profile.sample_weight)


def _names(name: str, plan: Plan) -> Names:
    if name in plan.schema.text:
        return Names(tuple(sorted(plan.profile.text_counts[plan.schema.text.index(name)] or ())))
    return Names(tuple(number_text(value) for value in _values(plan.profile, plan.schema.numeric.index(name))))


def _codes(name: str, plan: Plan) -> tuple[NDArray[np.int64], int]:
    """Levels (n,) of the sample's rows, and how many there are."""
    names, profile = _names(name, plan), plan.profile
    if name in plan.schema.text:
        return names.of_hashes(profile.text_sample[:, plan.schema.text.index(name)], NULL), names.levels
    column = plan.schema.numeric.index(name)
    own, values = profile.sample[:, column], _values(profile, column)
    return np.where(np.isnan(own), len(values) + 1, np.searchsorted(values, own)).astype(np.int64), names.levels


def _values(profile: Profile, column: int) -> NDArray[np.float64]:
    own = profile.sample[:, column]
    return np.unique(own[~np.isnan(own)])
