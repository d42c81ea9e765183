"""Values and tables that no one would type, and some that are nearly right."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from hypothesis import strategies as st

from spark_pufs.selectors.registry import METHODS
from support.quick_options import quick

__all__ = ["SECRET", "labels_of", "names", "numbers", "odd", "options", "paths", "tables", "texts"]

SECRET = "c4n4ry" + "S3cr3tV4lue"  # must be seen nowhere

texts = st.text(max_size=6) | st.sampled_from(
    ["", " ", "a", "b[1]", "b1", "*", "[", "A", "label", "row", "\0", "\ud800", "\x1b[31m", "../x", "`", "a.b", "null"]
)
names = st.sampled_from(["a", "b[1]", "b1", "A", "c.d", "x y", "é", "*", "label2", "`q`", "\x1b[2J", "@you"]) | texts
numbers = st.sampled_from(
    [0, 1, -1, 2, 5, 2**63, 2**64, 10**400, -(10**30), 0.1, 0.5, 1.0, 1e16, 1e308, float("nan"), float("inf"), -0.0]
)
_STRANGE: list[Any] = [
    None,
    True,
    b"bytes",
    pd.NA,
    pd.NaT,
    np.float32(0.5),
    np.int8(3),
    np.array(3),
    np.array([1, 2]),
    np.array([[1]]),
    np.bool_(True),
    np.datetime64("2026-01-01"),
    pd.Series([1, 0]),
    pd.Timestamp("2026-01-01"),
    pd.DataFrame({"a": [1]}),
    Decimal("0.1"),
    Decimal("NaN"),
    Fraction(1, 3),
    1j,
    object(),
    len,
    int,
    Path("x"),
    dt.date(2026, 1, 1),
    range(3),
    {1},
    frozenset("ab"),
    slice(1),
    Ellipsis,
]
scalars = st.sampled_from(_STRANGE) | numbers | texts
odd = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.tuples(inner)
        | st.dictionaries(texts | st.sampled_from([None, 1, True, ("a",)]), inner, max_size=2)
    ),
    max_leaves=4,
)


def paths(*known: str) -> st.SearchStrategy[str]:
    """Places that exist, nearly exist, or are none."""
    return st.sampled_from(
        [*known, "", ".", "..", "~", "~no-one-of-that-name/x", "\0", "a/../b", "x" * 300, "/proc/x", "file:x"]
    )


_COLUMNS: list[Any] = [
    lambda n: np.arange(n, dtype=float),
    lambda n: np.arange(n) % 3,
    lambda n: np.where(np.arange(n) % 4, 1.5, np.nan),
    lambda n: np.where(np.arange(n) % 4, 1e308, -np.inf),
    lambda n: np.zeros(n),
    lambda n: np.full(n, np.nan),
    lambda n: [None] * n,
    lambda n: ["x", "y\ud800", "", "\x1b[31m"] * n,
    lambda n: [f"text {i}" for i in range(n)],
    lambda n: [1, "1", 1.0, None, True] * n,
    lambda n: [[1], {"a": 1}, ()] * n,
    lambda n: [Decimal("0.1"), Decimal("1e30"), None] * n,
    lambda n: [10**30, 1, 2] * n,
    lambda n: [dt.date(2026, 1, 1), dt.date(1, 1, 1)] * n,
    lambda n: pd.date_range("1700-01-01", periods=max(n, 1), tz="UTC")[:n],
    lambda n: pd.timedelta_range("1s", periods=max(n, 1))[:n],
    lambda n: pd.Categorical((["p", "q", None] * n)[:n]),
    lambda n: pd.array(([1, None, 2**62] * n)[:n], "Int64"),
    lambda n: pd.array(([True, None] * n)[:n], "boolean"),
    lambda n: pd.arrays.SparseArray((np.arange(n) % 5 == 0).astype(float)),
    lambda n: pd.period_range("2026", periods=max(n, 1), freq="D")[:n],
    lambda n: np.arange(n) * 1j,
    lambda n: [b"a", b"\xff"] * n,
    lambda n: np.arange(n).astype("uint64") + np.uint64(2**63),
    lambda n: np.arange(n).astype("float16"),
]
_LABELS: list[Any] = [
    lambda n: (np.arange(n) % 3 == 0).astype(int),
    lambda n: (np.arange(n) % 3 == 0).astype(int),
    lambda n: (np.arange(n) % 2 == 0).astype(int),
    lambda n: np.where(np.arange(n) % 3 == 0, 1.0, np.nan),
    lambda n: np.arange(n) % 3 == 0,
    lambda n: np.arange(n) % 3 - 1,
    lambda n: [1, None, 0] * n,
    lambda n: ["1", "0", None] * n,
    lambda n: [Decimal(1), Decimal("0.1")] * n,
    lambda n: [0.1, 1e16, 0] * n,
    lambda n: [[1], {}, 1] * n,
    lambda n: [pd.NA, 1, 0] * n,
    lambda n: ["\ud800", 1, 0] * n,
    lambda n: np.ones(n),
    lambda n: np.arange(n),
    lambda n: pd.Categorical((["yes", "no"] * n)[:n]),
    lambda n: pd.array(([1, None, 0] * n)[:n], "Int64"),
]


_ARROW = pa.table({"a": [1.0, 2.0, 3.0], "day": ["x", "x", "y"], "label": [1, 0, 0]})


def _made(kind: Any, rows: int) -> Any:
    made = kind(rows)
    return made[:rows] if isinstance(made, list) else made


def labels_of(rows: int) -> st.SearchStrategy[Any]:
    return st.sampled_from(_LABELS).map(lambda kind: _made(kind, rows))


@st.composite
def tables(draw: st.DrawFn) -> Any:
    """A DataFrame of odd columns, names and index, or something that is none; most with a plain label, to get far."""
    mild = draw(st.integers(0, 2)) > 0
    if not mild and draw(st.integers(0, 9)) == 0:
        return draw(st.sampled_from([None, {}, [], "x", np.zeros((3, 3)), pd.Series([1]), 3, _ARROW]))
    rows = draw(st.sampled_from([60, 40] if mild else [60, 60, 60, 40, 13, 2, 1, 0]))
    plain = {"a": np.arange(rows) % 7.0, "b1": np.arange(rows) % 2}
    frame = pd.DataFrame(plain)
    for kind in draw(st.lists(st.sampled_from(_COLUMNS), max_size=4)):
        frame[draw(names)] = _made(kind, rows)
    frame["label"] = _LABELS[0](rows) if mild else draw(labels_of(rows))
    change = draw(st.integers(0, 99 if mild else 9))
    if change == 0:
        frame = frame.set_axis([draw(st.sampled_from(["a", 1, None, ("t",), np.nan, 1.5])) for _ in frame], axis=1)
    elif change == 1:
        frame.index = pd.Index([0] * rows)
    elif change == 2:
        frame = pd.concat([frame, frame[["a"]]], axis=1)
    return frame


_USUAL: dict[str, st.SearchStrategy[Any]] = {
    "label": st.just("label"),
    "k": st.sampled_from([1, 2, 5, 1000, "all", "auto", None]),
    "positive": st.sampled_from([1, "1", True, [1, "yes"], 0.1]),
    "negative": st.sampled_from([(), -1, "no", "*"]),
    "unlabelled": st.sampled_from([0, "*", [0, -1], False]),
    "features": st.lists(names, max_size=3),
    "exclude": st.lists(names, max_size=2),
    "keep": st.lists(names, max_size=2),
    "categorical": st.lists(names, max_size=2),
    "must": st.lists(names, max_size=2),
    "never": st.lists(names, max_size=2),
    "budget": numbers,
    "costs": st.dictionaries(names, numbers, max_size=2),
    "prior": st.sampled_from([0.1, 0.5, (0.1, 0.3), 0, 1, 2]),
    "seed": numbers,
    "bins": st.sampled_from([2, 5, 256, 10**6]),
    "binning": st.sampled_from(["auto", "equal-width", "equal-frequency"]),
    "max_categories": st.sampled_from([1, 2, 32, 300]),
    "missing": st.sampled_from(["value", "error"]),
    "copies": st.sampled_from(["one", "all"]),
    "pair_memory_mb": st.sampled_from([1, 256, 10**9]),
    "stability": st.sampled_from([0, 2]),
}
_VALID: dict[str, st.SearchStrategy[Any]] = {
    "k": st.sampled_from([1, 2, "all", "auto"]),
    "features": st.sampled_from([["a", "b1"], ["*"]]),
    "exclude": st.sampled_from([["b1"], ["x*"]]),
    "keep": st.just(["b1"]),
    "categorical": st.just(["b1"]),
    "must": st.just(["a"]),
    "never": st.just(["b1"]),
    "costs": st.just({"a": 2.5}),
    "prior": st.sampled_from([0.4, (0.35, 0.5)]),
    "seed": st.integers(0, 9),
    **{
        name: _USUAL[name] for name in ("binning", "max_categories", "missing", "copies", "pair_memory_mb", "stability")
    },
}
_SLOW = ("auto", "consensus", "lgbm-opt", "es-mcrfs", "distil")
_QUICK_METHODS = [name for name in METHODS if name not in _SLOW]


@st.composite
def options(draw: st.DrawFn, without: tuple[str, ...] = ()) -> dict[str, Any]:
    """Keywords of ``select``: most as usual, some odd, the method's own among them."""
    method = draw(st.sampled_from(_QUICK_METHODS * 3 + list(_SLOW)))
    known = _VALID if draw(st.booleans()) else _USUAL  # one in two gets behind what is checked first
    usual = draw(st.lists(st.sampled_from(sorted(set(known) - set(without))), max_size=4, unique=True))
    chosen: dict[str, Any] = {"label": "label", "method": method, **quick(method)}
    chosen |= {name: draw(known[name]) for name in usual}
    strange = draw(st.lists(st.sampled_from([*_USUAL, *METHODS[method].options, "method"]), max_size=2))
    if draw(st.integers(0, 3)) == 0:
        chosen |= {name: draw(odd) for name in strange}
    return {name: value for name, value in chosen.items() if name not in without}
