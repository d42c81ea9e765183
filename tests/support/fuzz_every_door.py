"""The doors of fuzz_doors and those of one line, of a memory of counts and of the share of positives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import yaml
from hypothesis import strategies as st

import spark_pufs
from support.fuzz_doors import CONFIG, DOORS, Door, Place, command, example
from support.fuzz_values import SECRET, names, numbers, odd, options, paths, tables, texts

__all__ = ["EVERY_DOOR"]

COUNTING = {"label": "label", "method": "semi-mim", "k": 1}
_words = texts.filter(lambda text: "\0" not in text and text.isprintable())
_places = paths("out", "user", "user/thesis.txt", "run", "source.parquet", "notes.txt", "out/deep").filter(
    lambda path: "\0" not in path
)


@st.composite
def _lines(draw: st.DrawFn) -> tuple[str, ...]:
    """A command, a table, and some options of both."""
    table = draw(
        st.sampled_from(["source.parquet"] * 6 + ["run", "user", "notes.txt", "", "a.b", "~", f"s3://k:{SECRET}@b/t"])
    )
    values: dict[str, st.SearchStrategy[str]] = {
        "--features": names.filter(lambda name: "\0" not in name and name.isprintable()),
        "--exclude": _words,
        "--keep": st.sampled_from(["c", "a", "*", "label"]),
        "--categorical": _words,
        "--positive": st.sampled_from(["1", "0", "yes", "", "1.0", "nan"]),
        "--unlabelled": st.sampled_from(["0", "*", "1"]),
        "--negative": st.sampled_from(["0", "*", "-1"]),
        "-k": st.sampled_from(["1", "all", "auto", "0", "-1", "x", "1e9"]),
        "--out": _places,
        "--save-config": _places,
        "--format": st.sampled_from(["parquet", "csv", "x", ""]),
        "--method": st.sampled_from(["semi-mim", "k-best", "x"]),
        "--set": st.sampled_from(
            ["select.k=1", "output.path=user", f"spark.conf.a.password={SECRET}", "x", "memory.path=m"]
        ),
        "--set-file": st.sampled_from(["notes.txt", "run", "user/config.yaml", "source.parquet", "x"]),
    }
    usual = ["--method", "semi-mim", "-k", "1"]
    chosen = draw(st.lists(st.sampled_from(sorted(values)), max_size=4))
    given = [word for name in chosen for word in (name, draw(values[name]))]
    what = draw(st.sampled_from(["select", "select", "select", "check"]))
    more = usual if what == "select" else []
    return (what, table, "--label", draw(st.sampled_from(["label", "label", "a", "x"])), *more, *given)


def _line(case: tuple[str, ...], place: Place) -> str:
    return command(*case)


def _set_file(case: bytes, place: Place) -> str:
    (place.folder / "given.yaml").write_text(yaml.safe_dump(CONFIG))
    (place.folder / "lines.txt").write_bytes(case)
    return command("select", "--config", "given.yaml", "--set-file", "lines.txt", "--dry-run")


def _history(case: Any, place: Place) -> str:
    runs, page = case
    return command("history", runs, *([] if page is None else ["--html", page]))


_DAYS: list[Any] = [
    lambda n: np.where(np.arange(n) % 2, "2026-01-01", "2026-01-02"),
    lambda n: np.arange(n) % 3,
    lambda n: pd.date_range("2026-01-01", periods=max(n, 1), freq="h")[:n],
    lambda n: ["1", 1, 1.0] * n,
    lambda n: [None, "a"] * n,
    lambda n: [[1]] * n,
    lambda n: ["\ud800", "../x", "\x1b[2J"] * n,
    lambda n: np.where(np.arange(n) % 2, np.nan, 1.5),
]


_CHANGES: list[Any] = [
    lambda table: table,
    lambda table: table.iloc[:30],
    lambda table: table.iloc[::-1],
    lambda table: table.drop(columns="a"),
    lambda table: table.assign(a=table["a"] * 1e6),
    lambda table: table.assign(a="text"),
    lambda table: table.assign(c=table["c"].where(table["a"] > 2)),
    lambda table: table.assign(c="new " + table["c"]),
    lambda table: table.assign(new=np.arange(len(table))),
    lambda table: table.assign(label=0),
    lambda table: table.assign(label=2),
]


@st.composite
def _days(draw: st.DrawFn) -> Any:
    """A table cut by a column, most as a user's next day, and what is asked of its memory."""
    odd_table = draw(st.integers(0, 3)) == 0
    table = draw(tables()) if odd_table else draw(st.sampled_from(_CHANGES))(example())
    if isinstance(table, pd.DataFrame):
        made = draw(st.sampled_from(_DAYS if odd_table else _DAYS[:4]))(len(table))
        table["day"] = made[: len(table)] if isinstance(made, list) else made
    usual: dict[str, Any] = {
        "window": st.sampled_from([1, 2, 30]),
        "refit": st.sampled_from(["now", "auto", "propose"]),
        "method": st.sampled_from(["semi-jmi", "mim", "mrmr", "pucfs", "lasso"]),
        "features": st.lists(names, max_size=2),
        "partition": odd | st.sampled_from(["a", "label"]),
        "memory": odd | st.sampled_from(["out", "user", "run"]),
        "late_labels": odd | st.just(pd.DataFrame({"b1": [0, 1], "label": [1, 1]})),
        "k": odd,
    }
    rare = draw(st.integers(0, 3)) == 0
    asked = draw(st.lists(st.sampled_from([*usual][: 8 if rare else 3]), max_size=2, unique=True))
    given = {name: draw(usual[name]) for name in asked}
    return table, draw(st.booleans()), COUNTING | {"memory": "state", "partition": "day"} | given


def _remembered(case: Any, place: Place) -> str:
    table, before, given = case
    if before:
        known = example().assign(day=np.where(np.arange(60) % 2, "2026-01-01", "2026-01-03"))
        spark_pufs.select(known, memory="state", partition="day", **COUNTING)
    return str(spark_pufs.select(table, **given))


def _prior(case: Any, place: Place) -> str:
    table, given = case
    known = ("label", "features", "exclude", "keep", "categorical", "positive", "negative", "unlabelled", "seed")
    return str(spark_pufs.estimate_prior(table, **{name: given[name] for name in known if name in given}))


def _controlled(case: Any, place: Place) -> str:
    table, how, value = case
    return str(spark_pufs.select(table, label="label", method="semi-mim", **{how: value}))


_runs = st.sampled_from(["run", ".", "user", "x", "notes.txt", "~"])
_pages = st.none() | st.sampled_from(["out.html", "x/y.html", "run", "user"])
_rates = numbers | odd | st.sampled_from([0.1, 0.5, 1])

EVERY_DOOR = (
    *DOORS,
    Door("one line", _lines(), _line, 3),
    Door("--set-file", st.binary(max_size=40) | _words.map(lambda text: f"select.k={text}".encode()), _set_file),
    Door("history", st.tuples(_runs, _pages), _history),
    Door("memory", _days(), _remembered, 4),
    Door("prior", st.tuples(tables(), options()), _prior),
    Door("false discoveries", st.tuples(tables(), st.sampled_from(["fdr", "expected_false"]), _rates), _controlled, 2),
)
