"""What a user asks for, checked as far as it can be without looking at the table."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any, Literal, get_args

import numpy as np
import pandas as pd

from spark_pufs.core.counting.bins import MAX_LEVELS
from spark_pufs.core.records import read
from spark_pufs.errors import ConfigError, Fault, warn
from spark_pufs.types import LabelRule, column_name
from spark_pufs.values import LARGEST, is_plain, plain, several, shown

__all__ = [
    "DEFAULT_METHOD",
    "Binning",
    "Copies",
    "Missing",
    "Prior",
    "Request",
    "is_positive",
    "is_whole",
    "options_read",
]

Binning = Literal["auto", "equal-width", "equal-frequency"]  # auto: as the method does best
Copies = Literal["one", "exact", "all"]  # choose from one of copies and near copies, of exact ones, or from all
Missing = Literal["value", "error"]
Prior = float | tuple[float, float]

DEFAULT_METHOD = "distil"
GIVEN_METHOD = "semi-mim"  # where rows were labelled by some columns

# What may say how many features, instead of k.
_HOW_MANY = ("budget", "fdr", "expected_false")
# Fields that hold names or patterns, of which a user may give one or many.
_NAMES = ("include", "exclude", "keep", "categorical", "must", "never", "labelled_by")


@dataclass(frozen=True)
class Request:
    """One selection, complete: equal requests on equal tables give equal answers."""

    label: LabelRule
    method: str
    include: tuple[str, ...] = ("*",)
    exclude: tuple[str, ...] = ()
    keep: tuple[str, ...] = ()
    categorical: tuple[str, ...] = ()
    k: int | None = None
    propose_k: bool = False
    budget: float | None = None
    costs: Mapping[str, float] = field(default_factory=dict)
    must: tuple[str, ...] = ()
    never: tuple[str, ...] = ()
    groups: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    weights: str | None = None
    prior: Prior | None = None
    estimate_prior: bool = False
    seed: int = 0
    bins: int = 5
    binning: Binning = "auto"
    max_categories: int = 32
    missing: Missing = "value"
    copies: Copies = "one"
    pair_memory_mb: int = 256
    stability: int = 0
    check_labels: bool = False
    labelled_by: tuple[str, ...] = ()
    fdr: float | None = None
    expected_false: float | None = None
    distinct: bool = False
    options: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        faults = list(_faults(self))
        if faults:
            raise ConfigError(faults)

    def binning_or(self, own: Binning) -> Binning:
        """How numbers are cut, by a method whose own way is ``own``."""
        return own if self.binning == "auto" else self.binning

    @classmethod
    def of(cls, label: LabelRule, *, method: str, **given: Any) -> Request:
        """A request from values as users type them: one name or several, lists, numpy numbers.

        ``k`` may be "all", or "auto" for a number proposed from held-out evidence, which is also what comes of giving
        nothing that says how many.

        >>> Request.of(LabelRule("label"), method="mim", must="age", prior=[0.1, 0.2]).must
        ('age',)
        >>> [Request.of(LabelRule("label"), method="mim", k=k).propose_k for k in (5, "all", "auto", None)]
        [False, False, True, True]
        """
        method = plain(method)
        read = {name: _read(name, value) for name, value in given.items()}
        if read.get("labelled_by") and method == DEFAULT_METHOD:
            method = GIVEN_METHOD  # the default gives way to a method that ranks given columns
            warn([f"Option 'labelled_by': ranked by {GIVEN_METHOD}, since {DEFAULT_METHOD} cannot rank given columns."])
        for option in ("must", "never"):
            if option in read:
                read[option] = _without_names_of_groups(read[option], read.get("groups"))
        for option in ("exclude", "keep"):  # weights are no feature whether that is said or not
            if option in read and read.get("weights") is not None:
                read[option] = tuple(one for one in read[option] if one != read["weights"])
        k = read.get("k")
        propose = k == "auto" or all(read.get(name) is None for name in ("k", *_HOW_MANY))
        estimate = read.get("prior") == "estimate"
        own = {"k": None if k in ("auto", "all") else k, "propose_k": propose, "estimate_prior": estimate}
        return cls(label, method, **read | own | ({"prior": None} if estimate else {}))

    def as_dict(self) -> dict[str, Any]:
        """Plain values, for JSON and for the fingerprint."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Request:
        """What ``as_dict`` gave, also by an earlier version, which knew fewer fields; ``ValueError`` where a field is
        not known."""
        unknown = sorted({*values} - {one.name for one in fields(cls)})
        if unknown:
            raise ValueError(f"request: '{unknown[0]}' is not a field of a request")
        return read(cls, values, "request")


def _read(name: str, value: Any) -> Any:
    if name in _NAMES:
        return tuple(map(column_name, several(value, lambda one: one)))
    if name == "costs":
        return {} if value is None else _by_name(value)
    if name == "groups":
        return _groups_read(value)
    if name == "weights":
        return column_name(value)
    if name == "options":
        return options_read(value)
    many = isinstance(value, list | tuple | pd.Series | pd.Index) or (isinstance(value, np.ndarray) and value.ndim > 0)
    return several(value) if many else plain(value)


def options_read(given: Any) -> Any:
    """A method's settings: plain values, or lists of them."""
    if not isinstance(given, Mapping):
        return plain(given)
    return {
        name: list(several(value)) if isinstance(value, list) else _read("", value) for name, value in given.items()
    }


def _groups_read(groups: Any) -> Any:
    """Patterns of columns by the name of their group; a pattern alone is a group of its own name."""
    if groups is None:
        return {}
    if isinstance(groups, Mapping):
        return {column_name(name): _read("must", own) for name, own in groups.items()}
    own = _read("must", groups)
    return {text: (text,) for text in own} if _are_texts(own) else plain(groups)


def _without_names_of_groups(texts: Any, groups: Any) -> Any:
    """Names of columns, where a group is named the patterns of its columns."""
    if not isinstance(groups, Mapping) or not _are_texts(texts):
        return texts
    return tuple(one for text in texts for one in groups.get(text, (text,)))


def _by_name(costs: Any) -> Any:
    """A mapping, such as a dict or a Series, as a dict of plain numbers; anything else is strange."""
    if not isinstance(costs, Mapping | pd.Series):
        return plain(costs)
    return {column_name(feature): plain(cost) for feature, cost in costs.items()}


def _faults(request: Request) -> list[Fault]:
    faults = [
        Fault(f"Option '{name}'", f"must be {what}, got {shown(got)}", f"For example {example}.")
        for name, what, ok, example in _RULES
        if not ok(got := _value(request, name))
    ]
    faults += [
        Fault(
            "Option 'costs'",
            f"the cost of '{name}' must be a number above 0, got {shown(cost)}",
            "Give a positive cost.",
        )
        for name, cost in (request.costs.items() if isinstance(request.costs, Mapping) else ())
        if not is_positive(cost)
    ]
    if request.weights is not None and request.weights == request.label.column:
        faults.append(Fault("Option 'weights'", "names the label", "Name the column that says how often rows count."))
    faults += [*_how_many_faults(request), *_group_faults(request)]
    both = [name for name in request.must if name in request.never]
    if both:
        faults.append(
            Fault("Options 'must' and 'never'", f"both name {_names(both)}", "Name a feature in one of them.")
        )
    return faults


def _how_many_faults(request: Request) -> list[Fault]:
    """Error rates say how many features, and nothing else may."""
    rates = [name for name in ("fdr", "expected_false") if getattr(request, name) is not None]
    if request.distinct is True and not rates:
        return [Fault("Option 'distinct'", "is for what an error rate finds", "Add fdr=0.1, for example.")]
    if request.distinct is True and request.labelled_by:
        return [Fault("Option 'distinct'", "cannot go with labelled_by", "Leave one of them out.")]
    others = ["k"] if request.k is not None or request.propose_k else []
    others += ["budget"] if request.budget is not None else []
    if not rates or len(rates) + len(others) == 1:
        return []
    named = ", ".join(f"'{name}'" for name in (*rates, *others))
    return [Fault(f"Options {named}", "each say how many features are chosen", "Give one of them.")]


def _group_faults(request: Request) -> list[Fault]:
    """Groups hold patterns, and go with what counts them."""
    if not isinstance(request.groups, Mapping):
        return []
    faults = [
        Fault("Option 'groups'", f"'{name}' must be names of columns or patterns of them, got {shown(own)}", _EXAMPLE)
        for name, own in request.groups.items()
        if not (isinstance(own, tuple) and own and _are_texts(own))
    ]
    rate = next((name for name in ("fdr", "expected_false") if getattr(request, name) is not None), None)
    if request.groups and rate is not None:
        found = "an error rate is kept for columns one by one, groups are chosen whole"
        faults.append(Fault(f"Options 'groups' and '{rate}'", found, "Give k or a budget, or leave groups out."))
    return faults


def _value(request: Request, option: str) -> Any:
    """What an option holds, by the name that users know it by."""
    if option == "label":
        return request.label.column
    if option in ("positive", "negative", "unlabelled"):
        return getattr(request.label, option)
    return getattr(request, "include" if option == "features" else option)


def is_whole(value: Any, least: int, most: int | None = None) -> bool:
    """Whether a value is a whole number in that range; True and False are not."""
    return (
        isinstance(value, int) and not isinstance(value, bool) and least <= value <= (LARGEST if most is None else most)
    )


def is_positive(value: Any) -> bool:
    """Whether a value is a finite number above 0."""
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < float("inf")


def _prior_ok(prior: Any) -> bool:
    if prior is None:
        return True
    ends = prior if isinstance(prior, tuple) else (prior, prior)
    numbers = len(ends) == 2 and all(isinstance(end, int | float) and not isinstance(end, bool) for end in ends)
    return numbers and 0 < ends[0] <= ends[1] < 1


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _are_texts(values: Any) -> bool:
    return not isinstance(values, str) and all(map(_is_text, values))


def _are_plain(values: Any) -> bool:
    return isinstance(values, tuple) and all(map(is_plain, values))


def _names(names: list[str]) -> str:
    return ", ".join(f"'{name}'" for name in names)


_EXAMPLE = "For example {'device_a': ['a_*']}."
# Option, what it must be, the test of that, an example.
_RULES: tuple[tuple[str, str, Callable[[Any], bool], str], ...] = (
    ("label", "the name of a column", _is_text, "confirmed"),
    *((option, "label values: numbers or text", _are_plain, "1") for option in ("positive", "negative", "unlabelled")),
    ("method", "the name of a method", _is_text, DEFAULT_METHOD),
    *(
        (option, "names of columns or patterns of them", _are_texts, "id*")
        for option in ("features", *_NAMES)
        if option != "include"
    ),
    ("k", "a whole number of at least 1, auto or all", lambda v: v is None or is_whole(v, 1), "25"),
    ("budget", "a number above 0", lambda v: v is None or is_positive(v), "40"),
    ("seed", "a whole number of at least 0, of at most 64 bits", lambda v: is_whole(v, 0, 2**64 - 1), "7"),
    ("bins", "a whole number from 2 to 254", lambda v: is_whole(v, 2) and v < MAX_LEVELS, "5"),
    ("binning", f"one of {', '.join(get_args(Binning))}", lambda v: v in get_args(Binning), "equal-width"),
    ("max_categories", "a whole number from 1 to 253", lambda v: is_whole(v, 1) and v < MAX_LEVELS - 1, "32"),
    ("missing", f"one of {', '.join(get_args(Missing))}", lambda v: v in get_args(Missing), "value"),
    ("copies", f"one of {', '.join(get_args(Copies))}", lambda v: v in get_args(Copies), "one"),
    ("stability", "0 or a whole number from 2 to 10000", lambda v: is_whole(v, 0, 10_000) and v != 1, "20"),
    ("check_labels", "true or false", lambda v: isinstance(v, bool), "true"),
    ("fdr", "a share between 0 and 1", lambda v: v is None or (is_positive(v) and v < 1), "0.1"),
    ("expected_false", "a number above 0", lambda v: v is None or is_positive(v), "2"),
    ("distinct", "true or false", lambda v: isinstance(v, bool), "true"),
    ("pair_memory_mb", "a whole number of at least 0", lambda v: is_whole(v, 0), "256"),
    ("costs", "costs by name", lambda v: isinstance(v, Mapping) and all(map(_is_text, v)), "{'age': 2}"),
    ("weights", "the name of a column", lambda v: v is None or _is_text(v), "w"),
    ("groups", "columns by the name of their group", lambda v: isinstance(v, Mapping) and all(map(_is_text, v)), "a_*"),
    ("options", "settings by name", lambda v: isinstance(v, Mapping) and all(map(_is_text, v)), "{'clusters': 20}"),
    ("prior", "a share between 0 and 1, two of them, low and high, or estimate", lambda v: _prior_ok(v), "0.05"),
)
