"""How many features may be chosen, at what cost, and which of them only together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from spark_pufs.core.schema import Name, match, patterns
from spark_pufs.errors import ConfigError, Fault
from spark_pufs.request import Request

__all__ = ["Limits", "asked_for_more", "groups_of", "limits_of"]

_ROUNDING = 1e-12  # costs of 0.1, 0.1 and 0.1 fit a budget of 0.3


@dataclass(frozen=True)
class Limits:
    """How many features, at what cost, which ones in any case and which ones never.

    ``units`` (D,): features of one number are chosen together or not at all; ``k`` counts units, and a unit costs what
    its features cost together. None: every feature by itself.
    """

    k: int
    costs: NDArray[np.float64]
    budget: float
    must: tuple[int, ...]
    never: NDArray[np.bool_]
    units: NDArray[np.intp] | None = None

    def of(self, places: list[int]) -> Limits:
        """The same on some of the features, those at ``places``."""
        own = {place: i for i, place in enumerate(places)}
        must = tuple(own[place] for place in self.must if place in own)
        units = None if self.units is None else _renumbered(self.units[places])
        part = replace(self, costs=self.costs[places], must=must, never=self.never[places], units=units)
        return replace(part, k=min(self.k, part.available))

    @property
    def available(self) -> int:
        """How many units can be chosen at all."""
        return self.count(np.flatnonzero(~self.never))

    def open(self, chosen: list[int]) -> NDArray[np.bool_]:
        """Features (D,) that may be chosen next: those that have to be, then what the budget still pays for."""
        waiting = self._waiting(chosen)
        if waiting.any():
            return waiting
        free: NDArray[np.bool_] = ~self.never
        free[chosen] = False
        if self.count(chosen) >= self.k:
            return np.zeros_like(free)
        affordable: NDArray[np.bool_] = self.costs[chosen].sum() + self.unit_costs <= self.ceiling
        return free & affordable

    def has_to_go_on(self, chosen: list[int]) -> bool:
        """Whether some features have to be chosen next, whatever they tell."""
        return bool(self._waiting(chosen).any())

    def _waiting(self, chosen: list[int]) -> NDArray[np.bool_]:
        """Features (D,) of ``must`` and of units that were begun, which are not chosen yet."""
        waiting = np.zeros_like(self.never)
        waiting[list(self.must)] = True
        if self.units is not None:
            waiting |= np.isin(self.units, self.units[chosen])
        waiting[chosen] = False
        return waiting & ~self.never

    @property
    def unit(self) -> NDArray[np.intp]:
        """The unit (D,) of each feature."""
        return np.arange(len(self.never)) if self.units is None else self.units

    @property
    def unit_costs(self) -> NDArray[np.float64]:
        """What the unit of each feature (D,) costs."""
        if self.units is None:
            return self.costs
        costs = np.zeros(len(self.costs))
        np.add.at(costs, self.units, self.costs)
        return costs[self.units]

    def count(self, features: Sequence[int] | NDArray[np.intp]) -> int:
        """How many units these features are."""
        return len(features) if self.units is None else len(np.unique(self.units[features]))

    def split(self, features: Sequence[int]) -> list[list[int]]:
        """The features by their units, each where its first one stands."""
        found: dict[int, list[int]] = {}
        for feature, unit in zip(features, self.unit[list(features)], strict=True):
            found.setdefault(int(unit), []).append(feature)
        return list(found.values())

    def in_features(self, units: int) -> int:
        """About how many features so many units hold."""
        if self.units is None:
            return units
        free = np.flatnonzero(~self.never)
        return min(len(free), -(-units * len(free) // max(self.count(free), 1)))

    @property
    def ceiling(self) -> float:
        """What costs may sum to: the budget, and what their sum may be off by rounding."""
        return self.budget * (1 + _ROUNDING)

    def most(self) -> int:
        """As many units as can be chosen together: those of ``must``, then the cheapest."""
        unit, first = np.unique(self.unit, return_index=True)
        wanted = np.isin(unit, self.unit[list(self.must)])
        costs = self.unit_costs[first]
        totals = np.cumsum([*costs[wanted], *np.sort(costs[~wanted & ~self.never[first]])])
        return min(self.k, int((totals <= self.ceiling).sum()))


def limits_of(request: Request, names: tuple[str, ...], table: tuple[str, ...]) -> Limits:
    """The request's bounds in terms of the features there are.

    ``table``: all its columns, for what is one of them is no glob.
    """
    place = {name: i for i, name in enumerate(names)}
    groups = groups_of(request, names, table)

    def named(texts: Iterable[str]) -> list[int]:
        return [place[name] for name in match(names, patterns(texts, table))]

    never = np.zeros(len(names), bool)
    never[_whole(named(request.never), groups)] = True
    available = int((~never).sum()) - sum(len(own) - 1 for own in groups.values() if not never[own[0]])
    limits = Limits(
        k=available if request.k is None else min(request.k, available),
        costs=_costs(request, names, table, groups),
        budget=np.inf if request.budget is None else request.budget,
        must=tuple(sorted(_whole(named(request.must), groups))),
        never=never,
        units=_units(len(names), groups),
    )
    _check(limits, names)
    return limits


def asked_for_more(request: Request, limits: Limits) -> tuple[str, ...]:
    """A warning where more features are asked for than can be chosen."""
    if request.k is None or request.k <= limits.available:
        return ()
    what = "features" if limits.units is None else "groups and single features"
    return (f"Asked for {request.k} {what}, {limits.available} can be chosen: all of them are.",)


def groups_of(request: Request, names: Sequence[str], table: Sequence[str]) -> dict[str, list[int]]:
    """The features of each group that has some."""
    place = {name: i for i, name in enumerate(names)}
    found = {
        group: [place[name] for name in match(names, patterns(own, table))] for group, own in request.groups.items()
    }
    first: dict[int, str] = {}
    for group, members in found.items():
        for member in members:
            if member in first:
                twice = f"'{names[member]}' is in '{first[member]}' and in '{group}'"
                raise ConfigError(Fault("Option 'groups'", twice, "Put each column into one group."))
            first[member] = group
    return {group: members for group, members in found.items() if members}


def _units(features: int, groups: Mapping[str, Sequence[int]]) -> NDArray[np.intp] | None:
    """The unit (D,) of each feature: the place of the first one in its group."""
    if all(len(members) == 1 for members in groups.values()):
        return None
    units = np.arange(features)
    for members in groups.values():
        units[list(members)] = members[0]
    return units


def _renumbered(units: NDArray[np.intp]) -> NDArray[np.intp] | None:
    """The units (D,) of some features, each by the place of its first feature; None where every one is by itself."""
    _, first, own = np.unique(units, return_index=True, return_inverse=True)
    return None if len(first) == len(units) else first[own]


def _whole(features: Sequence[int], groups: Mapping[str, Sequence[int]]) -> list[int]:
    """The features and all that are in a group with one of them."""
    mates = [mate for own in groups.values() if not set(own).isdisjoint(features) for mate in own]
    return list({*features, *mates})


def _costs(
    request: Request, names: Sequence[str], table: Sequence[str], groups: Mapping[str, Sequence[int]]
) -> NDArray[np.float64]:
    """The cost (D,) of each feature; what is the cost of a group is shared out among its features."""
    costs = np.ones(len(names))
    place = {name: i for i, name in enumerate(names)}
    # A name counts for more than any glob: names come last, and of them those of groups.
    single = [name for name in request.costs if name not in request.groups]
    for pattern in sorted(patterns(single, table), key=lambda one: isinstance(one, Name)):
        costs[[place[name] for name in match(names, [pattern])]] = request.costs[pattern.text]
    for group, members in groups.items():
        if group in request.costs:
            costs[list(members)] = request.costs[group] / len(members)
    return costs


def _check(limits: Limits, names: tuple[str, ...]) -> None:
    """Bounds that leave nothing to choose, or that contradict each other."""
    must = list(limits.must)
    both = ", ".join(f"'{names[i]}'" for i in must if limits.never[i])
    if both:
        raise ConfigError(Fault("Options 'must' and 'never'", f"both name {both}", "Name a feature in one of them."))
    if limits.never.all():
        raise ConfigError(Fault("Option 'never'", "names every feature", "Leave some to choose from."))
    if limits.count(must) > limits.k:
        what = "features" if limits.units is None else "groups and single features"
        found = f"names {limits.count(must)} {what}, k is {limits.k}"
        raise ConfigError(Fault("Option 'must'", found, "Raise k or name fewer."))
    total = float(limits.costs[must].sum())
    if total > limits.ceiling:
        found = f"its features cost {total:g}, the budget is {limits.budget:g}"
        raise ConfigError(Fault("Option 'must'", found, "Raise the budget or name fewer."))
    costs = limits.unit_costs
    cheapest = int(np.argmin(np.where(limits.never, np.inf, costs)))
    if costs[cheapest] > limits.ceiling:
        fix = f"'{names[cheapest]}' costs {costs[cheapest]:g}."
        raise ConfigError(Fault("Option 'budget'", f"{limits.budget:g} pays for no feature", fix))
