"""What a method is, what it is given and what it owes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from spark_pufs.engines.base import Engine, InProcess, Keeper, NoKeeper
from spark_pufs.errors import ConfigError, Fault, did_you_mean
from spark_pufs.findings import Findings
from spark_pufs.request import Binning, Request
from spark_pufs.selectors.by_score import whole_units
from spark_pufs.selectors.options import Option, Options, options_of
from spark_pufs.table.counter import Counter
from spark_pufs.table.limits import Limits
from spark_pufs.table.pu_table import PUTable
from spark_pufs.types import Json
from spark_pufs.values import shown

__all__ = ["COMMON", "Method", "Outcome", "Task", "read_options"]

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
    "feature_groups": "groups",
    "generation": "generation_size",
    "include": "features",
    "n_features": "k",
    "n_features_to_select": "k",
    "random_state": "seed",
    "target": "label",
}
COMMON = tuple(name for field in fields(Request) for name in _RENAMED.get(field.name, (field.name,)))

Own = TypeVar("Own", bound=Options)


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

    def select(self, task: Task) -> Outcome:
        """What the method chooses; of features that belong together all, where it chose one."""
        outcome = self.run(task)
        chosen = whole_units(outcome.chosen, outcome.order(), task.limits)
        return outcome if chosen == outcome.chosen else replace(outcome, chosen=chosen)

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
