"""Columns that are equal in every row, or nearly: one stands for the others, which come after all other features."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from spark_pufs.engines.base import Engine
from spark_pufs.findings.parts import CopyGroup, NearCopies
from spark_pufs.request import Request
from spark_pufs.run.near_copies import near_copies
from spark_pufs.selection import Feature
from spark_pufs.table.limits import Limits
from spark_pufs.table.pu_table import NearCopy, Plan

__all__ = ["copy_groups", "copy_warning", "near_groups", "one_of_each", "with_copies"]

GROUPS, NAMES = 5, 5  # told in a warning


def one_of_each(plan: Plan, engine: Engine, request: Request) -> Plan:
    """The plan with one feature for each group of copies and near copies.

    The one in ``must`` stands for the group, else the cheapest that may be chosen, else the first; a second one in
    ``must`` stays a feature, since it was asked for.
    """
    if request.copies == "all":
        return plan
    limits, places = plan.limits, range(len(plan.features))
    wanted = set(limits.must)
    order = sorted(places, key=lambda i: (i not in wanted, bool(limits.never[i]), limits.costs[i], i))
    grouped = () if limits.units is None else np.flatnonzero(np.bincount(limits.units)[limits.units] > 1).tolist()
    # A group is chosen whole: none of its features is left to a column outside it.
    preferred, must = [plan.features[i] for i in order], {plan.features[i] for i in {*wanted, *grouped}}
    plan = _without_copies(plan, preferred, must)
    return plan if request.copies == "exact" else _without_near_copies(plan, engine, preferred, must)


def _without_copies(plan: Plan, preferred: Sequence[str], must: set[str]) -> Plan:
    copies: dict[str, str] = {}
    for group in _equal_columns(plan):
        first = min(group, key=preferred.index)
        copies |= {name: first for name in group if name != first and name not in must}
    if not copies:
        return plan
    features = tuple(name for name in plan.features if name not in copies)
    return replace(plan, features=features, copies=copies, warnings=(*plan.warnings, copy_warning(copies)))


def _without_near_copies(plan: Plan, engine: Engine, preferred: Sequence[str], must: set[str]) -> Plan:
    if plan.frozen is None:
        near = near_copies(plan, engine, [name for name in preferred if name in plan.features], must)
    else:
        near = _still_near(plan, plan.frozen.near_copies, must)
    if not near:
        return plan
    features = tuple(name for name in plan.features if name not in near)
    warning = copy_warning({name: near[name].of for name in plan.features if name in near}, "near copies")
    return replace(plan, features=features, near_copies=near, warnings=(*plan.warnings, warning))


def _still_near(plan: Plan, near: Mapping[str, NearCopy], must: set[str]) -> dict[str, NearCopy]:
    """Near copies that were found before, of features that are still chosen from, and may be where the copy may."""
    own = set(plan.features)
    never = {name for name, out in zip(plan.columns, plan.limits.never, strict=True) if out}
    return {
        name: copy
        for name, copy in near.items()
        if name in own - must and copy.of in own and (copy.of not in never or name in never)
    }


def _equal_columns(plan: Plan) -> list[list[str]]:
    """Features of one kind with equal checksums, two or more to a group."""
    profile, schema = plan.profile, plan.schema
    kinds = ((schema.numeric, profile.checksums), (schema.text, profile.text_checksums))
    checksum = {name: (kind, *sums[:, i]) for kind, sums in kinds for i, name in enumerate(kind)}
    groups: dict[tuple[object, ...], list[str]] = {}
    for name in plan.features:
        groups.setdefault(checksum[name], []).append(name)
    return [group for group in groups.values() if len(group) > 1]


def copy_groups(copies: Mapping[str, str]) -> tuple[CopyGroup, ...]:
    """Copies by the column that stands for them, for a report.

    >>> copy_groups({"a2": "a", "a3": "a"})
    (CopyGroup(representative='a', copies=('a2', 'a3')),)
    """
    groups: dict[str, list[str]] = {}
    for copy, representative in copies.items():
        groups.setdefault(representative, []).append(copy)
    return tuple(CopyGroup(name, tuple(found)) for name, found in groups.items())


def near_groups(copies: Mapping[str, NearCopy]) -> tuple[NearCopies, ...]:
    """Near copies by the column that stands for them, with the least that one of them agrees with it.

    >>> near_groups({"a2": NearCopy("a", 0.995), "a3": NearCopy("a", 0.998)})
    (NearCopies(representative='a', copies=('a2', 'a3'), shared=0.995),)
    """
    groups = copy_groups({name: copy.of for name, copy in copies.items()})
    least = [min(copies[name].agreement for name in group.copies) for group in groups]
    return tuple(NearCopies(group.representative, group.copies, own) for group, own in zip(groups, least, strict=True))


def copy_warning(copies: Mapping[str, str], what: str = "copies") -> str:
    """All groups in one sentence.

    >>> copy_warning({"a2": "a"})
    "Columns 'a', 'a2' are copies of each other: 'a' stands for them."
    >>> copy_warning({"a2": "a", "c": "b", "a3": "a"})
    "Some columns are copies of each other: 'a' stands for 'a2', 'a3'; 'b' stands for 'c'."
    """
    groups = copy_groups(copies)
    if len(groups) == 1:
        first = groups[0].representative
        return f"Columns {_quoted([first, *groups[0].copies])} are {what} of each other: '{first}' stands for them."
    told = [f"'{group.representative}' stands for {_quoted(group.copies)}" for group in groups[:GROUPS]]
    more = [f"and {len(groups) - GROUPS:,} groups more"] if len(groups) > GROUPS else []
    return f"Some columns are {what} of each other: {'; '.join(told + more)}."


def _quoted(names: Sequence[str]) -> str:
    more = f" and {len(names) - NAMES:,} more" if len(names) > NAMES else ""
    return ", ".join(f"'{name}'" for name in names[:NAMES]) + more


def with_copies(lines: Sequence[Feature], plan: Plan, wanted: int | None) -> tuple[Feature, ...]:
    """The ranking with the copies behind all other features.

    Copies are chosen where every other feature is and ``wanted`` asks for more; None: never.
    """
    near = {name: copy.of for name, copy in plan.near_copies.items()}
    notes = {name: f"copy of '{of}'" for name, of in plan.copies.items()}
    notes |= {name: f"near copy of '{of}'" for name, of in near.items()}
    if not notes:
        return tuple(lines)
    limits, place = plan.limits, {name: i for i, name in enumerate(plan.columns)}
    rank = {line.name: line.rank for line in lines}
    stands = {**near, **{name: near.get(of, of) for name, of in plan.copies.items()}}
    order = sorted(stands, key=lambda name: (name in plan.copies, rank[stands[name]], place[name]))
    chosen = _affordable(lines, order, place, wanted, limits)
    tested = {line.name: line for line in lines}
    lowest = min(0.0, *(line.score for line in lines))
    copies = [
        replace(
            _copy(name, notes[name], name in chosen, place[name], lowest, limits),
            p_value=tested[stands[name]].p_value,
            q_value=tested[stands[name]].q_value,
        )
        for name in order
    ]
    every = sorted([*lines, *copies], key=lambda line: not line.selected)  # a stable sort
    return tuple(replace(line, rank=rank) for rank, line in enumerate(every, start=1))


def _affordable(
    lines: Sequence[Feature], order: Iterable[str], place: Mapping[str, int], wanted: int | None, limits: Limits
) -> set[str]:
    """Those copies that are chosen because nothing else is left."""
    if wanted is None or any(not line.selected and not limits.never[place[line.name]] for line in lines):
        return set()
    chosen = [place[line.name] for line in lines if line.selected]
    own = replace(limits, k=wanted, must=())
    found = set()
    for name in order:
        if own.open(chosen)[place[name]]:
            chosen.append(place[name])
            found.add(name)
    return found


def _copy(name: str, notes: str, selected: bool, place: int, score: float, limits: Limits) -> Feature:
    """The line of a copy: beside the column that it repeats it has nothing to tell."""
    return Feature(
        name=name,
        rank=0,
        score=score,
        standard_error=0.0,
        selected=selected,
        cost=float(limits.costs[place]),
        notes=f"never; {notes}" if limits.never[place] else notes,
        relevance=0.0,
        relevance_error=0.0,
    )
