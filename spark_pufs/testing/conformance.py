"""What every method owes, whatever it computes: finite scores, budgets kept, the same bits for any order of rows.

>>> from spark_pufs.selectors.registry import METHODS
>>> check_method(METHODS["semi-mim"])
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any
from unittest.mock import patch

import numpy as np
import pandas as pd

from spark_pufs.errors import ConfigError, DataError
from spark_pufs.selection import Selection
from spark_pufs.selectors.base import Method, read_options
from spark_pufs.selectors.registry import METHODS
from spark_pufs.testing.subject import NAMES, Subject, example_table, lines_of, require, scores_of
from spark_pufs.testing.travelling import TravellingEngine
from spark_pufs.types import Json

__all__ = ["CHECKS", "Subject", "check_method"]

COSTS = {"a": 3.0, "b": 1.0, "c": 2.0, "d": 1.5, "e": 0.5}


def check_method(method: Method, settings: Mapping[str, Json] | None = None, **known: Any) -> None:
    """Run every check; an AssertionError names all that failed, each with what is owed and what was found.

    ``settings`` and ``known`` are those of ``Subject``. Some two dozen selections on 150 rows: seconds for most
    methods, and ``settings`` can cut the work of slow ones down. With pytest, a test for each of ``CHECKS`` tells more.
    """
    subject, failed = Subject(method, settings or {}, **known), []
    for check in CHECKS:
        try:
            check(subject)
        except Exception as error:  # a method that breaks down in one check is still asked the others
            failed.append(f"{check.__name__}: {type(error).__name__}: {error}")
    if failed:
        raise AssertionError("\n".join([f"Method '{method.name}' fails {len(failed)} checks:", *failed]))


def says_what_it_is(subject: Subject) -> None:
    """Words that help to choose the method, and options whose defaults keep their own rules."""
    method = subject.method
    require(METHODS.get(method.name, method) is method, "a name that no method of spark_pufs has", method.name)
    for words in (method.summary, method.assumes, method.cost, method.use_when):
        require(8 < len(words) < 140 and not words.endswith("."), "words of 9 to 139 characters, no full stop", words)
    for name, option in method.options.items():
        require(option.ok(option.default) and bool(option.what), f"the default of '{name}' keeps its rule")
    read_options(method, method.trial_options)


def ranks_all_features(subject: Subject) -> None:
    """The chosen first, then the others by score, ties in the order of the columns."""
    found = subject.two_of_five
    names = [f.name for f in found.features]
    require(sorted(names) == NAMES, "every feature once", names)
    require([f.rank for f in found.features] == [1, 2, 3, 4, 5], "ranks from 1 on")
    require(found.names == [f.name for f in found.features if f.selected], "chosen features are marked", found.names)
    require(found.names == names[: len(found.names)], "chosen features come first", names)
    _finite(found)
    left = [(-f.score, NAMES.index(f.name)) for f in found.features if not f.selected]
    require(left == sorted(left), "others by score, ties in the order of the columns", left)
    require(found.method == subject.method.name, "the method's name", found.method)
    clustering = found.findings.clustering
    told = clustering is not None and clustering.model is not None
    require(told or not subject.method.makes_clusters, "a cluster model in the findings")


def chooses_as_many_as_asked_for(subject: Subject) -> None:
    """k features for k of 1, 2 and all; at most k where the method's own tests decide."""
    found = [len(subject.run(example_table(), k=k).names) for k in (1, 5)]
    sizes = (found[0], len(subject.two_of_five.names), found[1])
    if subject.may_choose_fewer:
        require(sizes[0] <= 1 and sizes[1] <= 2, "at most as many as asked for", sizes)
    else:
        require(sizes == (1, 2, 5), "as many as asked for", sizes)


def takes_all_where_more_are_asked_for(subject: Subject) -> None:
    """All of the features, and a warning."""
    found = subject.run(example_table(), k=50)
    require(len(found.names) == 5 or subject.may_choose_fewer, "all five features", found.names)
    told = any(w.startswith("Asked for 50 features, 5 can be chosen") for w in found.warnings)
    require(told, "a warning", found.warnings)


def gives_the_same_for_any_order_of_rows(subject: Subject) -> None:
    """The same bits."""
    turned, plain = subject.run(example_table().sample(frac=1.0, random_state=4), k=2), subject.two_of_five
    require(lines_of(turned) == lines_of(plain), "the same bits", lines_of(turned))
    require(turned.fingerprint == plain.fingerprint, "the same fingerprint")


def gives_the_same_where_all_travels(subject: Subject) -> None:
    """As on a cluster: states, rows, units of work and results go through bytes and come back the same."""
    with patch("spark_pufs.api.engine_for", TravellingEngine):
        found = subject.run(example_table(), k=2)
    require(lines_of(found) == lines_of(subject.two_of_five), "the same where all travels", lines_of(found))
    told = [replace(one.findings, comparison=None) for one in (found, subject.two_of_five)]  # which has seconds
    require(told[0] == told[1], "the same findings where all travels")


def takes_any_seed(subject: Subject) -> None:
    """Another seed is another request, and no fault."""
    other = subject.run(example_table(), k=2, seed=2**40)
    require(other.fingerprint != subject.two_of_five.fingerprint, "another fingerprint")
    require(len(other.names) <= 2, "at most two features", other.names)


def leaves_constant_columns_out(subject: Subject) -> None:
    """And gives the same answer as without them."""
    wide = example_table().assign(always=7.0)[[*NAMES[:2], "always", *NAMES[2:], "label"]]
    found = subject.run(wide, k=2)
    require(found.dropped == {"always": "constant"}, "the constant column left out", found.dropped)
    require(lines_of(found) == lines_of(subject.two_of_five), "the same answer as without it", lines_of(found))


def has_falling_relevance(subject: Subject) -> None:
    """From 1 to 0, with finite errors; 0 at once where the first is no better than chance."""
    values, errors = np.array([(f.relevance, f.relevance_error) for f in subject.two_of_five.features]).T
    falling = bool((np.diff(values) <= 0).all() and ((values >= 0) & (values <= 1)).all())
    require(falling and values[0] in (0.0, 1.0), "relevance from 1 to 0", values.tolist())
    require(bool((np.isfinite(errors) & (errors >= 0)).all()), "finite errors of relevance", errors.tolist())


def passes_over_copies(subject: Subject) -> None:
    """A copy of a column comes last and changes nothing."""
    found = subject.run(example_table().assign(copy=example_table()["a"]), k=2)
    last = found.features[-1]
    shown = (last.name, last.selected, last.relevance, last.notes)
    require(shown == ("copy", False, 0, "copy of 'a'"), "the copy last", shown)
    if not subject.draws_by_column:  # the copy is part of the rows, of which chance is made
        require(lines_of(found)[:-1] == lines_of(subject.two_of_five), "the same answer as without it")


def takes_copies_as_features(subject: Subject) -> None:
    """Where copies are asked for, each is a feature like any other; the first of equals comes first."""
    found = subject.run(example_table().assign(copy=example_table()["a"]), k=3, copies="all")
    require(sorted(f.name for f in found.features) == sorted([*NAMES, "copy"]), "every feature once")
    _finite(found)
    rank, score = {f.name: f.rank for f in found.features}, scores_of(found)
    require(score["a"] != score["copy"] or rank["a"] < rank["copy"], "the first of equals first", rank)


def bears_missing_and_infinite_values(subject: Subject) -> None:
    """With finite scores."""
    holes = example_table()
    holes.loc[::7, "a"], holes.loc[::5, "c"], holes.loc[3, "d"], holes.loc[4, "d"] = np.nan, np.nan, np.inf, -np.inf
    _finite(subject.run(holes, k=2))


def bears_a_range_beyond_the_largest_float(subject: Subject) -> None:
    """Scaled by a power of two, ``a`` is the same column but for its range of 7.8 * 2^1022."""
    plain = example_table().assign(a=lambda t: (t["a"] - 1).clip(-3.9, 3.9).mask(t.index % 7 == 0))
    found = subject.run(plain.assign(a=np.ldexp(plain["a"], 1022)), k=2)
    _finite(found)
    if not subject.draws_by_value:
        _alike(scores_of(found), scores_of(subject.run(plain, k=2)), 1e-9, 1e-12)


def bears_a_column_a_third_infinite(subject: Subject) -> None:
    """More than fits one bin of five: the last bin of equal frequency is infinity alone."""
    days = pd.Series(np.arange(150) % 40, dtype=float).mask(np.arange(150) % 3 == 0, np.inf)
    found = subject.run(example_table().assign(days=days), must=["days"], k=3, binning="equal-frequency")
    _finite(found)
    levels = next(one.levels for one in found.findings.features.distributions or () if one.name == "days")
    rows = levels[-1].labelled + levels[-1].unlabelled + levels[-1].negative
    require((levels[-1].level, rows) == ("infinite", 50), "a level of infinities", levels[-1])


def keeps_must_and_never(subject: Subject) -> None:
    """What must be chosen is, what never may is not."""
    found = subject.run(example_table(), k=2, must=["c"], never=["a", "e"]).names
    require("c" in found and not {"a", "e"} & set(found), "c, and neither a nor e", found)
    require(len(found) == 2 or subject.may_choose_fewer, "two features", found)


def lets_must_take_all_the_room(subject: Subject) -> None:
    """Whether k or a budget bounds it."""
    for limit in ({"k": 2}, {"budget": 2.5}):
        found = subject.run(example_table(), must=["a", "c"], **limit).names
        require(set(found) == {"a", "c"}, f"a and c with {limit}", found)


def keeps_the_budget(subject: Subject) -> None:
    """And scaling all costs with it changes nothing."""
    found = subject.run(example_table(), costs=COSTS, budget=3.5, must=["d"]).names
    require(sum(COSTS[name] for name in found) <= 3.5 and "d" in found, "d, and a cost of at most 3.5", found)
    dear = {name: 8 * cost for name, cost in COSTS.items()}
    scaled = subject.run(example_table(), costs=dear, budget=28, must=["d"]).names
    require(scaled == found, "the same features at eight times the costs and the budget", scaled)


def keeps_groups_whole(subject: Subject) -> None:
    """A group is chosen with all of its features or not at all, and counts as one."""
    found = set(subject.run(example_table(), k=2, groups={"pair": ["a", "e"]}).names)
    require({"a", "e"} <= found or not {"a", "e"} & found, "both of a and e, or neither", found)
    units = len(found - {"e"})
    require(units == 2 or (subject.may_choose_fewer and units < 2), "two groups and single features", found)
    dear = set(subject.run(example_table(), budget=2.5, groups={"pair": ["a", "e"]}, costs={"pair": 3}).names)
    require(not {"a", "e"} & dear, "no group that costs more than the budget", dear)


def answers_one_labelled_row(subject: Subject) -> None:
    """Or says in one fault what it lacks."""
    found = subject.run_or_fault(example_table(positives=1))
    if isinstance(found, DataError):
        require("label" in str(found) and len(found.faults) == 1, "one fault that names the label", str(found))
    else:
        _finite(found)


def answers_positives_alone(subject: Subject) -> None:
    """Or asks for negatives, as the method says of itself."""
    found = subject.run_or_fault(example_table(negatives=0), negative=())
    if isinstance(found, DataError):
        require("needs rows labelled negative" in str(found), "a fault that asks for negatives", str(found))
        require(subject.method.needs_negatives, "a method with needs_negatives", str(found))
    else:
        require(not subject.method.needs_negatives, "a fault that asks for negatives", found.names)
        require(len(found.names) == 2 or subject.may_choose_fewer, "two features", found.names)


def answers_one_feature(subject: Subject) -> None:
    """One is enough."""
    found = subject.run(example_table()[["a", "label"]], k=1).names
    require(found == ["a"] or subject.may_choose_fewer, "the only feature", found)


def names_unknown_options(subject: Subject) -> None:
    """A misspelt option is an error that names it."""
    told = f"Option 'neihbors': is not an option of method '{subject.method.name}'."
    require(told in "; ".join(_refused(subject, neihbors=3)), "an error that names the option")


def says_what_options_must_be(subject: Subject) -> None:
    """Bad values of all options come as one error."""
    options = subject.method.options
    told = _refused(subject, **dict.fromkeys(options, object())) if options else []
    require(len(told) == len(options), "one fault for each option", told)
    for (name, option), fault in zip(options.items(), told, strict=True):
        require(f"Option '{name}': must be {option.what}, got <object" in fault, f"what '{name}' must be", fault)


def gives_the_same_for_any_order_of_columns(subject: Subject) -> None:
    """Up to rounding."""
    if subject.draws_by_column:
        return
    turned, plain = subject.run(example_table()[[*reversed(NAMES), "label"]], k=2), subject.two_of_five
    require(set(turned.names) == set(plain.names), "the same features", turned.names)
    _alike(scores_of(turned), scores_of(plain), 1e-5, subject.tolerance)


def _finite(selection: Selection) -> None:
    values = [(f.score, f.standard_error) for f in selection.features]
    held = np.isfinite(values).all() and all(error >= 0 for _, error in values)
    require(bool(held), "finite scores and errors from 0 on", values)


def _alike(found: Mapping[str, float], expected: Mapping[str, float], relative: float, absolute: float) -> None:
    alike = found.keys() == expected.keys() and all(
        abs(found[name] - value) <= max(relative * abs(value), absolute) for name, value in expected.items()
    )
    require(alike, f"scores of {dict(expected)}", dict(found))


def _refused(subject: Subject, **options: object) -> list[str]:
    """The faults of the error that the options must be; none where they are taken."""
    try:
        subject.run(example_table(), k=2, **options)
    except ConfigError as error:
        return list(map(str, error.faults))
    return []


CHECKS: tuple[Callable[[Subject], None], ...] = (
    says_what_it_is,
    ranks_all_features,
    chooses_as_many_as_asked_for,
    takes_all_where_more_are_asked_for,
    gives_the_same_for_any_order_of_rows,
    gives_the_same_where_all_travels,
    takes_any_seed,
    leaves_constant_columns_out,
    has_falling_relevance,
    passes_over_copies,
    takes_copies_as_features,
    bears_missing_and_infinite_values,
    bears_a_range_beyond_the_largest_float,
    bears_a_column_a_third_infinite,
    keeps_must_and_never,
    lets_must_take_all_the_room,
    keeps_the_budget,
    keeps_groups_whole,
    answers_one_labelled_row,
    answers_positives_alone,
    answers_one_feature,
    names_unknown_options,
    says_what_options_must_be,
    gives_the_same_for_any_order_of_columns,
)
