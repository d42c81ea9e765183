"""How many features, at what cost, which in any case and which never: a request in terms of the columns there are."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from spark_pufs.core.schema import Name, match, patterns
from spark_pufs.errors import ConfigError, Fault
from spark_pufs.request import Request

__all__ = ["Limits", "asked_for_more", "limits_of"]

_ROUNDING = 1e-12  # costs of 0.1, 0.1 and 0.1 fit a budget of 0.3


@dataclass(frozen=True)
class Limits:
    """How many features, at what cost, which ones in any case and which ones never."""

    k: int
    costs: NDArray[np.float64]
    budget: float
    must: tuple[int, ...]
    never: NDArray[np.bool_]

    def of(self, places: list[int]) -> Limits:
        """The same on some of the features, those at ``places``."""
        own, never = {place: i for i, place in enumerate(places)}, self.never[places]
        must = tuple(own[place] for place in self.must if place in own)
        return replace(self, k=min(self.k, int((~never).sum())), costs=self.costs[places], must=must, never=never)

    def open(self, chosen: list[int]) -> NDArray[np.bool_]:
        """Features (D,) that may be chosen next: those of ``must`` first, then what the budget still pays for."""
        free: NDArray[np.bool_] = ~self.never
        free[chosen] = False
        waiting = [feature for feature in self.must if free[feature]]
        if waiting:
            first = np.zeros_like(free)
            first[waiting] = True
            return first
        if len(chosen) >= self.k:
            return np.zeros_like(free)
        affordable: NDArray[np.bool_] = self.costs[chosen].sum() + self.costs <= self.ceiling
        return free & affordable

    @property
    def ceiling(self) -> float:
        """What costs may sum to: the budget, and what their sum may be off by rounding."""
        return self.budget * (1 + _ROUNDING)

    def most(self) -> int:
        """As many features as can be chosen together: those of ``must``, then the cheapest."""
        free: NDArray[np.bool_] = ~self.never
        free[list(self.must)] = False
        totals = np.cumsum([*self.costs[list(self.must)], *np.sort(self.costs[free])])
        return min(self.k, int((totals <= self.ceiling).sum()))


def limits_of(request: Request, names: tuple[str, ...], table: tuple[str, ...]) -> Limits:
    """The request's bounds in terms of the features there are.

    ``table``: all its columns, for what is one of them is no glob.
    """
    costs = np.ones(len(names))
    place = {name: i for i, name in enumerate(names)}
    # A name counts for more than any glob: names come last.
    for pattern in sorted(patterns(request.costs, table), key=lambda one: isinstance(one, Name)):
        costs[[place[name] for name in match(names, [pattern])]] = request.costs[pattern.text]
    must = tuple(place[name] for name in match(names, patterns(request.must, table)))
    never = np.zeros(len(names), bool)
    never[[place[name] for name in match(names, patterns(request.never, table))]] = True
    available = int((~never).sum())
    limits = Limits(
        k=available if request.k is None else min(request.k, available),
        costs=costs,
        budget=np.inf if request.budget is None else request.budget,
        must=must,
        never=never,
    )
    _check(limits, names)
    return limits


def asked_for_more(request: Request, limits: Limits) -> tuple[str, ...]:
    """A warning where more features are asked for than can be chosen."""
    available = int((~limits.never).sum())
    if request.k is None or request.k <= available:
        return ()
    return (f"Asked for {request.k} features, {available} can be chosen: all of them are.",)


def _check(limits: Limits, names: tuple[str, ...]) -> None:
    """Bounds that leave nothing to choose, or that contradict each other."""
    must = list(limits.must)
    both = ", ".join(f"'{names[i]}'" for i in must if limits.never[i])
    if both:
        raise ConfigError(Fault("Options 'must' and 'never'", f"both name {both}", "Name a feature in one of them."))
    if limits.never.all():
        raise ConfigError(Fault("Option 'never'", "names every feature", "Leave some to choose from."))
    if len(must) > limits.k:
        found = f"names {len(must)} features, k is {limits.k}"
        raise ConfigError(Fault("Option 'must'", found, "Raise k or name fewer."))
    total = float(limits.costs[must].sum())
    if total > limits.ceiling:
        found = f"its features cost {total:g}, the budget is {limits.budget:g}"
        raise ConfigError(Fault("Option 'must'", found, "Raise the budget or name fewer."))
    cheapest = int(np.argmin(np.where(limits.never, np.inf, limits.costs)))
    if limits.costs[cheapest] > limits.ceiling:
        fix = f"'{names[cheapest]}' costs {limits.costs[cheapest]:g}."
        raise ConfigError(Fault("Option 'budget'", f"{limits.budget:g} pays for no feature", fix))
