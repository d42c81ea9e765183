"""What a method is, what it is given and what it owes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from typing import Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from spark_pufs.core.schema import Name, match, patterns
from spark_pufs.engines.base import Engine, InProcess, Keeper, NoKeeper
from spark_pufs.errors import ConfigError, Fault, did_you_mean
from spark_pufs.findings import Findings
from spark_pufs.request import Binning, Request
from spark_pufs.selectors.options import Option, Options, options_of
from spark_pufs.table.counter import Counter
from spark_pufs.table.pu_table import PUTable
from spark_pufs.types import Json
from spark_pufs.values import shown

__all__ = ["COMMON", "Limits", "Method", "Outcome", "Task", "limits_of", "read_options"]

# What a user may give besides a method's own options: fields of a request by the names they have in ``select``.
_RENAMED = {
    "include": ("features",),
    "label": ("label", "positive", "negative", "unlabelled"),
    "propose_k": (),
    "estimate_prior": (),
    "options": (),
}
# What other libraries, our own configuration and earlier versions call an option.
_ELSEWHERE = {
    "generation": "generation_size",
    "include": "features",
    "n_features": "k",
    "n_features_to_select": "k",
    "random_state": "seed",
    "target": "label",
}
COMMON = tuple(name for field in fields(Request) for name in _RENAMED.get(field.name, (field.name,)))

Own = TypeVar("Own", bound=Options)

_ROUNDING = 1e-12  # costs of 0.1, 0.1 and 0.1 fit a budget of 0.3


@dataclass(frozen=True)
class Limits:
    """How many features, at what cost, which ones in any case and which ones never."""

    k: int
    costs: NDArray[np.float64]
    budget: float
    must: tuple[int, ...]
    never: NDArray[np.bool_]

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


@dataclass(frozen=True)
class Task:
    """All that a method is given."""

    table: PUTable
    counter: Counter
    limits: Limits
    request: Request
    options: Options
    engine: Engine
    in_process: InProcess
    keeper: Keeper = field(default_factory=NoKeeper)
    note: Callable[[str], None] = lambda what: None

    def options_as(self, kind: type[Own]) -> Own:
        """The options as the class that the method declared, or a base of it."""
        if not isinstance(self.options, kind):
            raise TypeError(f"expected options of {kind.__name__}, got {type(self.options).__name__}")
        return self.options


@dataclass(frozen=True)
class Outcome:
    """What a method owes: the features chosen, best first; a score and its standard error for every feature (D,).

    ``summed``: a score sums over the features chosen before, so that those chosen later have larger ones.
    ``beyond_chance``: a score of 0 or below is no more than chance gives. ``relevance``
    (D,): the scores on a scale of 0 (chance) to 1 (the best feature), with ``relevance_errors``, where the method
    knows them; else they are made of the scores.
    """

    chosen: list[int]
    scores: NDArray[np.float64]
    errors: NDArray[np.float64]
    surrogate: Mapping[str, Json] = field(default_factory=dict)
    notes: Mapping[int, str] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    findings: Findings = field(default_factory=Findings)
    summed: bool = False
    beyond_chance: bool = False
    relevance: NDArray[np.float64] | None = None
    relevance_errors: NDArray[np.float64] | None = None

    def order(self) -> list[int]:
        """Every feature: those chosen as chosen, then the others by score, ties in column order."""
        left = sorted(set(range(len(self.scores))) - set(self.chosen), key=lambda i: (-self.scores[i], i))
        return [*self.chosen, *left]


@dataclass(frozen=True)
class Method:
    """A way to select features, with the words a user needs to choose it."""

    name: str
    summary: str
    assumes: str
    cost: str
    use_when: str
    run: Callable[[Task], Outcome]
    options_class: type[Options] = Options
    given_columns: bool = False  # can rank features given columns by which rows were labelled
    own_size: bool = False  # decides the number of features itself where none is asked for
    stepwise: bool = False  # a score is given the features chosen before
    makes_clusters: bool = False  # its findings hold a cluster model, from which likely positives are listed
    needs_negatives: bool = False  # cannot do without rows labelled negative
    needs_prior: bool = False  # has to be told the share of positives
    counts: Literal["features", "pairs"] | None = None  # of features or of their pairs: all it asks for, never for rows
    from_sample: bool = False  # of rows it sees a drawn sample only, and counts besides
    binning: Binning = "equal-frequency"  # where none is asked for
    trial_options: Mapping[str, Json] = field(default_factory=dict)  # short work, where folds only rank the methods

    def __post_init__(self) -> None:
        options_of(self.options_class)  # an option without a rule is found where the method is declared

    @property
    def options(self) -> Mapping[str, Option]:
        """What each option may be, by name."""
        return options_of(self.options_class)


def read_options(method: Method, given: Mapping[str, Json]) -> Options:
    """The method's options with defaults filled in; unknown names and bad values are one error."""
    options = method.options
    known = {*options, *COMMON}
    faults = [
        Fault(
            f"Option '{name}'",
            f"is not an option of method '{method.name}'",
            did_you_mean(_ELSEWHERE.get(name.lower(), name.lower()), known),
        )
        for name in given
        if name not in options
    ]
    faults += [
        Fault(
            f"Option '{name}'",
            f"must be {option.what}, got {shown(given[name])}",
            f"The default is {option.default!r}.",
        )
        for name, option in options.items()
        if name in given and not option.ok(given[name])
    ]
    if faults:
        raise ConfigError(faults)
    return method.options_class(**given)  # type: ignore[arg-type]  # the rules of its fields have just held


def limits_of(request: Request, names: tuple[str, ...], table: tuple[str, ...]) -> tuple[Limits, tuple[str, ...]]:
    """The request's bounds in terms of the features there are, and warnings about what they cannot mean.

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
    if request.k is not None and request.k > available:
        return limits, (f"Asked for {request.k} features, {available} can be chosen: all of them are.",)
    return limits, ()


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
