"""The doors of the command line: configurations, one line, files of any bytes, and every command."""

from __future__ import annotations

from typing import Any
from unittest.mock import patch

import yaml
from hypothesis import strategies as st

from spark_pufs.cli import commands
from spark_pufs.errors import EnvironmentFault, Fault
from support.fuzz.places import Door, Place, example
from support.fuzz.python_doors import plain
from support.fuzz.values import SECRET, names, paths, texts

__all__ = ["COMMAND_DOORS", "PLACES", "command", "configs"]

# The command line cannot be given every text: arguments of a process hold no NUL and no lone surrogates.
_words = texts.filter(lambda text: "\0" not in text and text.isprintable())
PLACES = ("out", "user", "user/thesis.txt", "run", "source.parquet", "user/deep/report.html", "out/deep", "notes.txt")
_places = paths(*PLACES).filter(lambda path: "\0" not in path)
CONFIG: dict[str, Any] = {
    "source": {"path": "source.parquet"},
    "label": {"column": "label"},
    "select": {"method": "semi-mim", "k": 1},
    "output": {"path": "out"},
}


def no_session(*_: Any) -> Any:
    """In place of a session: all that is checked before Spark starts has been checked."""
    raise EnvironmentFault(Fault("Java", "is not started here", "None."))


def command(*arguments: Any) -> str:
    with patch("spark_pufs.spark.session.open_session", no_session):
        return f"exit {commands.run([str(one) for one in arguments])}"


_secret_places = st.sampled_from(
    [
        {"source": {"path": f"s3a://AKIA:{SECRET}@bucket/x"}},
        {"source": {"path": "x", "options": {"password": SECRET}}},
        {"spark": {"conf": {"spark.hadoop.fs.s3a.secret.key": SECRET}}},
        {"output": {"path": f"s3://key:{SECRET}@bucket/run"}},
        {"memory": {"path": f"s3://key:{SECRET}@bucket/m", "partition": "b1"}},
        {},
    ]
)
_sections = st.sampled_from(["source", "label", "features", "select", "output", "spark", "compare", "engine", "memory"])
_more = st.sampled_from(
    [
        {"memory": {"path": "state", "partition": "b1"}},
        {"memory": {"path": "user", "partition": "b1", "late_labels": "notes.txt"}},
        {"features": {"labelled_by": ["b1"]}},
        {"engine": "memory"},
        {"x": 1},
        {},
    ]
)


@st.composite
def configs(draw: st.DrawFn) -> dict[str, Any]:
    found: dict[str, Any] = {**CONFIG, **draw(_secret_places), **draw(_more)}
    found |= draw(st.dictionaries(_sections, plain, max_size=1))
    if isinstance(found.get("output"), dict) and draw(st.booleans()):
        found["output"] = {"path": draw(paths(*PLACES)), **draw(st.dictionaries(_words, plain, max_size=1))}
    if isinstance(found.get("select"), dict):
        keys = st.sampled_from(["k", "seed", "bins", "fdr", "check_labels", "judge", "labelled_by"])
        found["select"] = found["select"] | draw(st.dictionaries(keys, plain, max_size=2))
    return found


def _yaml(case: Any, place: Place) -> str:
    (place.folder / "given.yaml").write_text(yaml.safe_dump(case[1]) if case[2] is None else case[2])
    return command(case[0], "--config", "given.yaml", *case[3])


_overrides = (
    st.tuples(_words, _words).map("=".join)
    | _words
    | st.sampled_from([f"spark.conf.my.password={SECRET}", "select.k=3", "output.path=user", "engine=spark"])
)


def _set(case: Any, place: Place) -> str:
    (place.folder / "given.yaml").write_text(yaml.safe_dump(CONFIG))
    return command("select", "--config", "given.yaml", *(part for one in case for part in ("--set", one)))


def _set_file(case: bytes, place: Place) -> str:
    (place.folder / "given.yaml").write_text(yaml.safe_dump(CONFIG))
    (place.folder / "lines.txt").write_bytes(case)
    return command("select", "--config", "given.yaml", "--set-file", "lines.txt", "--dry-run")


_TABLES = ["source.parquet"] * 6 + ["run", "user", "notes.txt", "", "a.b", "~", ".", f"s3://k:{SECRET}@b/t"]
_VALUES: dict[str, st.SearchStrategy[str]] = {
    "--features": names.filter(lambda name: "\0" not in name and name.isprintable()),
    "--exclude": _words,
    "--keep": st.sampled_from(["c", "a", "*", "label"]),
    "--categorical": _words,
    "--positive": st.sampled_from(["1", "0", "yes", "", "1.0", "nan"]),
    "--unlabelled": st.sampled_from(["0", "*", "1"]),
    "--negative": st.sampled_from(["0", "*", "-1"]),
    "--format": st.sampled_from(["parquet", "csv", "x", ""]),
    "--engine": st.sampled_from(["auto", "memory", "spark", "x"]),
    "--set": st.sampled_from(
        ["select.k=1", "output.path=user", f"spark.conf.a.password={SECRET}", "x", "memory.path=m", "select.fdr=0.2"]
    ),
    "--set-file": st.sampled_from(["notes.txt", "run", "user/config.yaml", "source.parquet", "x"]),
}
_RESULTS: dict[str, st.SearchStrategy[str]] = {
    "-k": st.sampled_from(["1", "all", "auto", "0", "-1", "x", "1e9"]),
    "--out": _places,
    "--save-config": _places,
    "--method": st.sampled_from(["semi-mim", "k-best", "x"]),
}
_USUAL = {"select": ("--method", "semi-mim", "-k", "1"), "compare": ("--method", "k-best", "-k", "1")}


@st.composite
def _lines(draw: st.DrawFn) -> tuple[str, ...]:
    """A command, a table, and some options of both."""
    what = draw(st.sampled_from(["select"] * 5 + ["compare", "check", "check-labels", "estimate-prior"]))
    values = _VALUES | (_RESULTS if what in _USUAL else {})
    chosen = draw(st.lists(st.sampled_from(sorted(values)), max_size=4))
    given = [word for name in chosen for word in (name, draw(values[name]))]
    switches = draw(st.lists(st.sampled_from(["--judge", "--no-judge", "--overwrite", "--dry-run"]), max_size=1))
    label = draw(st.sampled_from(["label", "label", "label", "a", "x"]))
    switches = switches if what == "select" else []
    return (what, draw(st.sampled_from(_TABLES)), "--label", label, *_USUAL.get(what, ()), *given, *switches)


def _line(case: tuple[str, ...], place: Place) -> str:
    return command(*case)


def _whole(suffix: str) -> bytes:
    table = example()
    if suffix == "csv":
        return table.to_csv(index=False).encode()
    return table.to_json(orient="records", lines=True).encode()


@st.composite
def _files(draw: st.DrawFn) -> tuple[str, bytes]:
    """A file that is nearly a table: bytes taken out, put in, or all its own."""
    suffix = draw(st.sampled_from(["csv", "csv", "tsv", "jsonl", "json", "parquet", "arrow", "orc", "csv.gz", "x"]))
    junk = draw(st.binary(max_size=12) | st.sampled_from([b"a,b\n1,2,3\n", b'{"a":', b'"', b"\r", b"\xef\xbb\xbf"]))
    if suffix not in ("csv", "jsonl") or draw(st.integers(0, 4)) == 0:
        return suffix, junk
    whole = _whole(suffix)
    at = draw(st.integers(0, len(whole)))
    return suffix, whole[:at] + junk + whole[at + draw(st.integers(0, 9)) :]


def _file(case: tuple[str, bytes], place: Place) -> str:
    suffix, data = case
    (place.folder / f"given.{suffix}").write_bytes(data)
    return command("select", f"given.{suffix}", "--label", "label", "--method", "semi-mim", "-k", "1")


_switches = st.sampled_from(
    ["--prior", "--labelled", "--rows", "--effect", "--alpha", "--levels", "--target", "--prior-high"]
)
_numbers = st.sampled_from(["0", "1", "-1", "0.05", "0.5", "1e300", "nan", "inf", "x", "100", "10000000000000000000"])
_making = st.sampled_from(["--condition", "--rows", "--out", "--share", "--count", "--seed", "--relevant", "--noise"])


def _arguments(switch: st.SearchStrategy[str], most: int) -> st.SearchStrategy[tuple[str, ...]]:
    return st.lists(st.tuples(switch, _numbers), max_size=most).map(
        lambda own: tuple(word for pair in own for word in pair)
    )


def _power(case: Any, place: Place) -> str:
    usual = ("--prior", "0.1", "--labelled", "50", "--rows", "1000")
    return command("power", *usual, *case)


def _make(case: Any, place: Place) -> str:
    what, own = case
    usual = {"artificial": ("--condition", "1", "--rows", "9", "--out", "out"), "network": ("--bif", "notes.txt")}
    return command("make", what, *usual.get(what, ()), *own)


_jobs = st.sampled_from(["select", "select", "select", "check", "compare", "check-labels", "estimate-prior"])
_engines = st.sampled_from([(), (), ("--engine", "memory"), ("--engine", "spark")])

COMMAND_DOORS = (
    Door("YAML", st.tuples(_jobs | st.just("reproduce"), configs(), st.none() | _words, _engines), _yaml, 3),
    Door("--set", st.lists(_overrides, max_size=3), _set, 2),
    Door("--set-file", st.binary(max_size=40) | _words.map(lambda text: f"select.k={text}".encode()), _set_file),
    Door("one line", _lines(), _line, 3),
    Door("a file", _files(), _file, 2),
    Door("power command", _arguments(_switches, 4), _power),
    Door("make", st.tuples(st.sampled_from(["artificial", "network", "x"]), _arguments(_making, 3)), _make),
)
