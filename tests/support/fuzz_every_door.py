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


@st.composite
def _days(draw: st.DrawFn) -> Any:
    """A table cut by a column, and what is asked of its memory."""
    table = draw(tables())
    if isinstance(table, pd.DataFrame):
        made = draw(st.sampled_from(_DAYS))(len(table))
        table["day"] = made[: len(table)] if isinstance(made, list) else made
    asked = draw(
        st.dictionaries(
            st.sampled_from(["partition", "window", "refit", "memory", "late_labels"]),
            odd | st.sampled_from(["day", "a", 1, "now", "auto", "out", "user", "run"]),
            max_size=2,
        )
    )
    given = draw(options(without=("label", "method", "stability")))
    usual = {
        name: value for name, value in given.items() if name in ("k", "bins", "features", "never", "prior", "seed")
    }
    return table, draw(st.booleans()), COUNTING | usual | {"memory": "state", "partition": "day"} | asked


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
