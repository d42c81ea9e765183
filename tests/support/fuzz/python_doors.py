"""The doors of Python that take a table: every function, the scikit-learn transformer, and what a selection can do."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

import pandas as pd
import pyarrow as pa
from hypothesis import strategies as st

import spark_pufs
from spark_pufs.local import PUSelector
from support.fuzz.places import Door, Place, selected
from support.fuzz.values import labels_of, names, numbers, odd, options, tables, texts

__all__ = ["LIKELY", "PYTHON_DOORS", "SETTINGS", "TABLE_DOORS", "checks", "common", "comparisons", "plain"]

_CHECKED = ("label", "features", "exclude", "keep", "positive", "unlabelled", "clusters", "seed")
_JUDGED = ("label", "features", "exclude", "keep", "categorical", "positive", "negative", "unlabelled", "seed")


def _only(known: tuple[str, ...]) -> st.SearchStrategy[dict[str, Any]]:
    return options().map(lambda given: {name: value for name, value in given.items() if name in known})


plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | texts.filter(str.isprintable),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts.filter(str.isprintable), inner, max_size=3),
    max_leaves=4,
)
checks, judged = _only(_CHECKED), _only(_JUDGED)
common = options(without=("method", "features", "stability")).map(
    lambda given: {name: value for name, value in given.items() if name in ("label", "k", "costs", "never", "bins")}
)
comparisons = st.dictionaries(
    st.sampled_from(["methods", "folds", "repeats", "rows", "classifier"]),
    odd | st.sampled_from([["k-best", "mim"], 2, 3, [{"method": "semi-mim", "k": 1}]]),
    max_size=2,
)
_RATES = numbers | odd | st.sampled_from([0.1, 0.5, 1])
LIKELY = st.tuples(
    st.sampled_from(["fscpu", "semi-mim"]),
    st.lists(texts | names, max_size=2) | odd | st.sampled_from([(), ["b1"]]),
    st.none() | numbers | odd | st.sampled_from([0.5, 0.8]),
)
SETTINGS = st.tuples(
    st.sampled_from(["fdr", "expected_false", "labelled_by", "check_labels"]),
    _RATES | st.sampled_from([True, "b1", ["b1"], ["*"]]),
)


def answer(table: Any, given: dict[str, Any]) -> str:
    found = spark_pufs.select(table, **given)
    return str(found) + json.dumps([str(found.table()), found.to_json()])  # what users print, and what they may look at


def _select(case: Any, place: Place) -> str:
    return answer(*case)


def _arrow(case: Any, place: Place) -> str:
    table, given = case
    with suppress(Exception):  # where pyarrow takes no such table it goes in as it is
        table = pa.Table.from_pandas(table)
    found = spark_pufs.select(table, **given)
    return str(found) + str(len(found.apply(table)))


def _setting(case: Any, place: Place) -> str:
    table, (name, value) = case
    how_many = {} if name in ("fdr", "expected_false") else {"k": 1}
    return answer(table, {"label": "label", "method": "semi-mim", name: value, **how_many})


def _compare(case: Any, place: Place) -> str:
    table, given, own = case
    return str(spark_pufs.compare(table, **{"methods": ["mim"], "folds": 2, "repeats": 1, **given, **own}))


def _check(case: Any, place: Place) -> str:
    table, given = case
    return str(spark_pufs.check_clusters(table, **given))


def _check_labels(case: Any, place: Place) -> str:
    table, given = case
    return str(spark_pufs.check_labels(table, **given))


def _prior(case: Any, place: Place) -> str:
    table, given = case
    return str(spark_pufs.estimate_prior(table, **given))


def _likely(case: Any, place: Place) -> str:
    table, (method, keep, recall) = case
    return str(list(spark_pufs.likely_positives(selected(method), table, keep, recall).columns))


# Doors that take a table of any kind: the first of their case, and settings.
TABLE_DOORS = (
    Door("select", st.tuples(tables(), options()), _select, 6),
    Door("settings", st.tuples(tables(), SETTINGS), _setting, 3),
    Door("compare", st.tuples(tables(), common, comparisons), _compare),
    Door("check", st.tuples(tables(), checks), _check, 2),
    Door("check labels", st.tuples(tables(), judged), _check_labels),
    Door("prior", st.tuples(tables(), judged), _prior),
    Door("likely positives", st.tuples(tables(), LIKELY), _likely, 2),
)


@st.composite
def _estimated(draw: st.DrawFn) -> Any:
    table = draw(tables())
    rows = len(table) if isinstance(table, pd.DataFrame) else 3
    X = table.drop(columns="label", errors="ignore") if isinstance(table, pd.DataFrame) else table
    y = draw(labels_of(draw(st.sampled_from([rows, rows, rows, rows + 1]))))
    params = draw(options(without=("label", "features", "exclude", "keep")))
    known = {name: value for name, value in params.items() if name in PUSelector().get_params()}
    return X, y, known | {"options": {name: value for name, value in params.items() if name not in known}}


def _estimator(case: Any, place: Place) -> str:
    X, y, params = case
    found = PUSelector(**params).fit(X, y)
    return str(found.get_feature_names_out()) + str(found.transform(X).shape)


_keywords = st.dictionaries(
    st.sampled_from(["alpha", "levels", "prior", "effect", "labelled", "rows"]), odd | plain, max_size=2
)
_functions = st.tuples(st.sampled_from(["power", "sample_size", "power_report"]), _keywords)


def _power(case: Any, place: Place) -> str:
    usual = {"prior": 0.1, "labelled": 100, "rows": 1000, "effect": 0.01}
    return str(getattr(spark_pufs, case[0])(**{**usual, **case[1]}))


_judgements = st.tuples(
    st.lists(st.sampled_from([0, 1, 2, -1, None, True, 0.5]), max_size=6) | odd | st.just([1, 0, 0, 1]),
    st.lists(st.sampled_from([0, 1, 0.5, float("nan"), "x"]), max_size=6) | odd | st.just([1, 0, 1, 1]),
    st.none() | numbers | odd,
    numbers | odd | st.just(1.0),
)


def _scores(case: Any, place: Place) -> str:
    labels, found, rho, beta = case
    return str(spark_pufs.scores(labels, found, rho=rho, beta=beta))


_uses = st.tuples(
    st.sampled_from(["apply", "plot", "diff", "likely_positives"]),
    odd | tables() | st.sampled_from(["ranking", "distributions", "redundancy", "search", "sizes", "run", "user"]),
)


def _used(case: Any, place: Place) -> str:
    how, value = case
    if how == "diff":
        found = spark_pufs.diff(selected("semi-mim"), value)
        return str(found) + json.dumps([found.to_json(), found.to_html()])
    made = getattr(selected("fscpu"), how)(value)
    return type(made).__name__


PYTHON_DOORS = (
    *TABLE_DOORS,
    Door("Arrow", st.tuples(tables(), options()), _arrow, 2),
    Door("scikit-learn", _estimated(), _estimator, 4),
    Door("power", _functions, _power, 2),
    Door("scores", _judgements, _scores),
    Door("a selection", _uses, _used, 2),
)
