"""Every door of the package as a case to draw and a call to make; and what must hold after any of them.

A call ends with an answer or with a PufsError. After it the process is as it was, the user's files beside the outputs
are as they were, and a secret that was given is in no file, message or log.
"""

from __future__ import annotations

import io
import json
import logging
import os
import re
import shutil
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pandas as pd
import yaml
from hypothesis import strategies as st

import spark_pufs
from spark_pufs.cli import commands
from spark_pufs.errors import EnvironmentFault, Fault, PufsError
from spark_pufs.local import PUSelector
from support.fuzz_values import SECRET, labels_of, odd, options, paths, tables, texts
from support.host import changes, files_in, host_state

__all__ = ["DOORS", "Door", "Place", "checked", "spark_doors"]

GIVEN = ("given.yaml", "run/config.yaml")  # settings as the user wrote them
OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")  # by a terminal, if printed
RAW = "(--verbose shows all)"  # how the command line tells of an error that is none of ours


@dataclass(frozen=True)
class Place:
    """A working directory: ``user`` holds files that are not ours, ``source.parquet`` a table, ``run`` a run."""

    folder: Path

    @classmethod
    def made(cls, folder: Path) -> Place:
        (folder / "user" / "deep").mkdir(parents=True)
        (folder / "user" / "thesis.txt").write_text("years of work")
        (folder / "user" / "config.yaml").write_text("mine: true\n")
        (folder / "user" / "deep" / "report.html").write_text("<p>mine</p>")
        (folder / "notes.txt").write_text("mine too")
        example().to_parquet(folder / "source.parquet")
        for name, data in finished_run().items():
            (folder / "run").mkdir(exist_ok=True)
            (folder / "run" / name).write_bytes(data)
        return cls(folder)

    def users(self) -> dict[str, bytes]:
        """What belongs to the user; outputs may lie anywhere else."""
        return {
            name: data
            for name, data in files_in(self.folder).items()
            if name.split("/")[0] in ("user", "notes.txt", "source.parquet")
        }


def example() -> pd.DataFrame:
    n = np.arange(60)
    return pd.DataFrame({"a": n % 7.0, "b1": n % 2, "c": np.where(n % 3, "x", "y"), "label": (n % 3 == 0).astype(int)})


@cache
def finished_run() -> dict[str, bytes]:
    """The files of a run directory."""
    import tempfile

    with tempfile.TemporaryDirectory() as name:
        _selected().write(name)
        return {path.name: path.read_bytes() for path in Path(name).iterdir()}


@cache
def _selected() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return spark_pufs.select(
            example(), label="label", method="fscpu", k=2, keep=["c"], generations=1, generation_size=16, clusters=2
        )


@dataclass(frozen=True)
class Door:
    """``call(case, place)`` returns what was said; ``weight``: how often it is tried in a longer run."""

    name: str
    cases: st.SearchStrategy[Any]
    call: Callable[[Any, Place], str]
    weight: int = 1


def checked(door: Door, case: Any, folder: Path) -> str:
    """Try one case; "answer" or the name of the error. Fails on anything that is not allowed."""
    shutil.rmtree(folder, ignore_errors=True)
    place = Place.made(folder)
    before, users, here = host_state(), place.users(), os.getcwd()
    os.chdir(folder)
    try:
        with _heard() as said, warnings.catch_warnings(), patch.dict(os.environ, HOME=str(folder / "user")):
            warnings.simplefilter("ignore")
            outcome = _outcome(door, case, place, said)
    finally:
        os.chdir(here)
    found = changes(before, host_state())
    assert not found, f"the host has changed: {found}"
    assert place.users() == users, f"files of the user have changed: {_differ(users, place.users())}"
    seen = [name for name, data in files_in(folder).items() if SECRET.encode() in data and name not in GIVEN]
    assert not seen, f"the secret is in {seen}"
    assert SECRET not in said.getvalue(), f"the secret was shown: {said.getvalue()}"
    obeyed = OBEYED.search(said.getvalue())
    assert not obeyed, f"a terminal would obey {obeyed and said.getvalue()[obeyed.start() - 20 : obeyed.end() + 20]!r}"
    return outcome


def _outcome(door: Door, case: Any, place: Place, said: io.StringIO) -> str:
    try:
        said.write(door.call(case, place))
    except PufsError as error:
        said.write(str(error))
        return _of_ours(error)
    assert RAW not in said.getvalue(), said.getvalue()
    return "answer"


def _of_ours(error: PufsError) -> str:
    """The name of an error that tells where, what and what to do, and can be read."""
    assert error.faults
    assert all(part.strip() for fault in error.faults for part in (fault.where, fault.found, fault.fix)), str(error)
    assert len(str(error)) < 20_000, str(error)
    return type(error).__name__


def _differ(before: dict[str, bytes], after: dict[str, bytes]) -> list[str]:
    return sorted(name for name in {**before, **after} if before.get(name) != after.get(name))


@contextmanager
def _heard() -> Iterator[io.StringIO]:
    """Everything that is printed or logged."""
    said, log = io.StringIO(), logging.getLogger("spark_pufs")
    handler = logging.StreamHandler(said)
    log.addHandler(handler)
    try:
        with redirect_stdout(said), redirect_stderr(said):
            yield said
    finally:
        log.removeHandler(handler)


def no_session(*_: Any) -> Any:
    """In place of a session: all that is checked before Spark starts has been checked."""
    raise EnvironmentFault(Fault("Java", "is not started here", "None."))


def command(*arguments: Any) -> str:
    with patch("spark_pufs.spark.session.open_session", no_session):
        return f"exit {commands.run([str(one) for one in arguments])}"


# The command line cannot be given every text: arguments of a process hold no NUL and no lone surrogates.
_words = texts.filter(lambda text: "\0" not in text and text.isprintable())
_PLACES = ("out", "user", "user/thesis.txt", "run", "source.parquet", "user/deep/report.html", "out/deep")


def _select(case: Any, place: Place) -> str:
    table, given = case
    found = spark_pufs.select(table, **given)
    return str(found) + json.dumps([str(found.table()), found.to_json()])  # what users print, and what they may look at


def _written(case: Any, place: Place) -> str:
    target, overwrite = case
    _selected().write(target, overwrite=overwrite)
    return ""


def _reported(case: Any, place: Place) -> str:
    _selected().write_report(case)
    return ""


def _checkpointed(case: Any, place: Place) -> str:
    where, damage = case
    folder = place.folder / "out"
    folder.mkdir()
    (folder / "checkpoint.npz").write_bytes(damage)
    given = {"method": "fscpu-mi", "k": 1, "generations": 1, "generation_size": 16, "clusters": 2}
    return str(spark_pufs.select(example(), label="label", checkpoint=where, **given))


def _compare(case: Any, place: Place) -> str:
    table, given, own = case
    return str(spark_pufs.compare(table, **{"methods": ["mim"], "folds": 2, "repeats": 1, **given, **own}))


def _check(case: Any, place: Place) -> str:
    table, given = case
    return str(spark_pufs.check_clusters(table, **given))


def _likely(case: Any, place: Place) -> str:
    table, keep = case
    return str(spark_pufs.likely_positives(_selected(), table, keep))


def _estimator(case: Any, place: Place) -> str:
    X, y, params = case
    found = PUSelector(**params).fit(X, y)
    return str(found.get_feature_names_out()) + str(found.transform(X).shape)


def _power(case: Any, place: Place) -> str:
    usual = {"prior": 0.1, "labelled": 100, "rows": 1000, "effect": 0.01}
    return str(getattr(spark_pufs, case[0])(**{**usual, **case[1]}))


def _power_command(case: Any, place: Place) -> str:
    return command("power", *case)


def _yaml(case: Any, place: Place) -> str:
    (place.folder / "given.yaml").write_text(yaml.safe_dump(case[1]) if case[2] is None else case[2])
    return command(case[0], "--config", "given.yaml")


def _set(case: Any, place: Place) -> str:
    (place.folder / "given.yaml").write_text(yaml.safe_dump(CONFIG))
    return command("select", "--config", "given.yaml", *(part for one in case for part in ("--set", one)))


def _damaged(case: Any, place: Place) -> None:
    """Change files of the finished run."""
    for name, how, data in case:
        path = place.folder / "run" / name
        whole = path.read_bytes()
        at = int(how * len(whole))
        path.write_bytes({0: data, 1: whole[:at], 2: whole[:at] + data + whole[at:]}[len(data) % 3])


def _resume(case: Any, place: Place) -> str:
    settings, damage, run = case
    (place.folder / "run" / "config.yaml").write_text(yaml.safe_dump(settings))
    _damaged(damage, place)
    return command("resume", run)


def _diff(case: Any, place: Place) -> str:
    damage, first, second, html = case
    _damaged(damage, place)
    extra = [] if html is None else ["--html", html]
    return command("diff", first, second, *extra)


def _diff_fields(case: Any, place: Place) -> str:
    """A stored selection with fields changed, and a manifest that says it is whole."""
    import hashlib

    values = json.loads(finished_run()["selection.json"])
    for name, value in case:
        values[name] = value
    data = json.dumps(values, default=str).encode()
    manifest = json.loads(finished_run()["manifest.json"])
    manifest["files"]["selection.json"] = {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
    (place.folder / "run" / "selection.json").write_bytes(data)
    (place.folder / "run" / "manifest.json").write_text(json.dumps(manifest))
    found = spark_pufs.diff("run", _selected())
    return str(found) + json.dumps([found.to_json(), found.to_html()])


def _make(case: Any, place: Place) -> str:
    return command("make", *case)


CONFIG: dict[str, Any] = {
    "source": {"path": "source.parquet"},
    "label": {"column": "label"},
    "select": {"method": "semi-mim", "k": 1},
    "output": {"path": "out"},
}
_secret_places = st.sampled_from(
    [
        {"source": {"path": f"s3a://AKIA:{SECRET}@bucket/x"}},
        {"source": {"path": "x", "options": {"password": SECRET}}},
        {"spark": {"conf": {"spark.hadoop.fs.s3a.secret.key": SECRET}}},
        {"output": {"path": f"s3://key:{SECRET}@bucket/run"}},
        {},
    ]
)
_plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | texts.filter(str.isprintable),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts.filter(str.isprintable), inner, max_size=3),
    max_leaves=4,
)
_sections = st.sampled_from(["source", "label", "features", "select", "output", "spark", "compare", "engine", "x"])


@st.composite
def _configs(draw: st.DrawFn) -> dict[str, Any]:
    found: dict[str, Any] = {**CONFIG, **draw(_secret_places)}
    found |= draw(st.dictionaries(_sections, _plain, max_size=1))
    if isinstance(found.get("output"), dict) and draw(st.booleans()):
        found["output"] = {"path": draw(paths(*_PLACES)), **draw(st.dictionaries(_words, _plain, max_size=1))}
    if isinstance(found.get("select"), dict):
        found["select"] = found["select"] | draw(st.dictionaries(st.sampled_from(["k", "seed", "bins"]), _plain))
    return found


_damage = st.lists(
    st.tuples(
        st.sampled_from(["selection.json", "manifest.json", "report.html", "ranking.parquet"]),
        st.floats(0, 1),
        st.binary(max_size=8),
    ),
    max_size=2,
)
_switches = st.sampled_from(
    ["--prior", "--labelled", "--rows", "--effect", "--alpha", "--levels", "--target", "--prior-high"]
)
_numbers = st.sampled_from(["0", "1", "-1", "0.05", "0.5", "1e300", "nan", "inf", "x", "100", "10000000000000000000"])
_making = st.sampled_from(["--condition", "--rows", "--out", "--share", "--count", "--seed", "--relevant", "--noise"])
_keywords = st.dictionaries(
    st.sampled_from(["alpha", "levels", "prior", "effect", "labelled", "rows"]), odd | _plain, max_size=2
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


_checks = options().map(
    lambda given: {
        name: value
        for name, value in given.items()
        if name in ("label", "features", "exclude", "keep", "positive", "unlabelled", "clusters", "seed")
    }
)
_comparisons = st.dictionaries(
    st.sampled_from(["methods", "folds", "repeats", "rows", "classifier"]),
    odd | st.sampled_from([["k-best", "mim"], 2, 3, [{"method": "semi-mim", "k": 1}]]),
    max_size=2,
)
_common = options(without=("method", "features", "stability")).map(
    lambda given: {name: value for name, value in given.items() if name in ("label", "k", "costs", "never", "bins")}
)
_FIELDS = ["method", "features", "facts", "details", "columns", "request", "versions", "run", "warnings", "surrogate"]

_functions = st.tuples(st.sampled_from(["power", "sample_size", "power_report"]), _keywords)
_overrides = (
    st.tuples(_words, _words).map("=".join)
    | _words
    | st.sampled_from([f"spark.conf.my.password={SECRET}", "select.k=3", "output.path=user"])
)
_pages = st.none() | st.sampled_from(["out.html", "x/y.html", "run"])


def _arguments(switch: st.SearchStrategy[str], most: int) -> st.SearchStrategy[tuple[str, ...]]:
    return st.lists(st.tuples(switch, _numbers), max_size=most).map(
        lambda own: tuple(word for pair in own for word in pair)
    )


_tables_to_make = st.tuples(st.sampled_from(["artificial", "network", "x"]), _arguments(_making, 5))

DOORS = (
    Door("select", st.tuples(tables(), options()), _select, 6),
    Door("write", st.tuples(paths(*_PLACES), st.booleans()), _written),
    Door("report", paths("out.html", "run/report.md", "out/deep.html", "user"), _reported),  # a file named is replaced
    Door("checkpoint", st.tuples(paths("out", "user", "run") | odd, st.binary(max_size=64)), _checkpointed),
    Door("compare", st.tuples(tables(), _common, _comparisons), _compare),
    Door("check", st.tuples(tables(), _checks), _check, 2),
    Door("likely positives", st.tuples(tables(), st.lists(texts, max_size=2) | odd), _likely),
    Door("scikit-learn", _estimated(), _estimator, 4),
    Door("power", _functions, _power, 2),
    Door("power command", _arguments(_switches, 6), _power_command),
    Door("YAML", st.tuples(st.sampled_from(["select", "check", "compare"]), _configs(), st.none() | _words), _yaml, 3),
    Door("--set", st.lists(_overrides, max_size=3), _set, 2),
    Door("resume", st.tuples(_configs(), _damage, st.sampled_from(["run", "user", "out", "notes.txt"])), _resume, 2),
    Door("diff", st.tuples(_damage, st.sampled_from(["run", "user", "x"]), st.just("run"), _pages), _diff),
    Door("load", st.lists(st.tuples(st.sampled_from(_FIELDS), _plain), min_size=1, max_size=2), _diff_fields, 2),
    Door("make", _tables_to_make.map(lambda own: (own[0], *own[1])), _make),
)


def spark_doors(spark: Any) -> tuple[Door, ...]:
    """The doors of a Spark session: odd tables that Spark accepts."""
    from spark_pufs.spark import PUFeatureSelector

    frames = tables().map(lambda table: _on_spark(spark, table))

    def fit(case: Any, place: Place) -> str:
        frame, params = case
        return str(PUFeatureSelector(**params).fit(frame).transform(frame).columns)

    params = st.fixed_dictionaries(
        {"labelCol": st.just("label"), "method": st.sampled_from(["semi-mim", "k-best", "x"]), "k": st.just(1) | odd},
        optional={"inputCols": st.lists(texts, max_size=2) | odd, "featuresCol": st.just("a") | odd, "seed": odd},
    )
    return (
        Door("select on Spark", st.tuples(frames, options()), _select),
        Door("pyspark.ml", st.tuples(frames, params), fit),
    )


def _on_spark(spark: Any, table: Any) -> Any:
    """As Spark takes it, or a plain table where Spark refuses it itself."""
    try:
        return spark.createDataFrame(table)
    except Exception:
        return spark.createDataFrame(example())
