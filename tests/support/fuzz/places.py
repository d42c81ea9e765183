"""A door, a case of it, and what must hold after any of them.

A call ends with an answer or with a PufsError. After it the process is as it was, and so is the Spark session; the
user's files beside the outputs are as they were, and a secret that was given is in no file, message or log.
"""

from __future__ import annotations

import io
import logging
import os
import re
import shutil
import tempfile
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
from hypothesis import strategies as st

import spark_pufs
from spark_pufs.errors import PufsError
from support.fuzz.values import SECRET
from support.host import changes, files_in, host_state, session_state

__all__ = ["Door", "Place", "checked", "example", "finished_run", "load_libraries", "selected"]

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


def load_libraries() -> None:
    """Libraries that change a process, or write a file of their own, when they are first used are used."""
    spark_pufs.compare(example(), label="label", methods=["k-best"], k=1, folds=2, repeats=1)
    selected("semi-mim").plot()


@cache
def finished_run() -> dict[str, bytes]:
    """The files of a run directory."""
    with tempfile.TemporaryDirectory() as name:
        selected().write(name)
        return {path.name: path.read_bytes() for path in Path(name).iterdir()}


@cache
def selected(method: str = "fscpu") -> Any:
    """What was chosen from the example."""
    own = {"generations": 1, "generation_size": 16, "clusters": 2} if method == "fscpu" else {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return spark_pufs.select(example(), label="label", method=method, k=2, exclude=["c"], **own)


@dataclass(frozen=True)
class Door:
    """``call(case, place)`` returns what was said; ``weight``: how often it is tried in a longer run; ``session``: the
    user's Spark session, where it has one."""

    name: str
    cases: st.SearchStrategy[Any]
    call: Callable[[Any, Place], str]
    weight: int = 1
    session: Any = None

    def host(self) -> dict[str, Any]:
        """What a case must leave as it is."""
        return host_state() | (session_state(self.session) if self.session is not None else {})


def checked(door: Door, case: Any, folder: Path) -> str:
    """Try one case; "answer" or the name of the error. Fails on anything that is not allowed."""
    shutil.rmtree(folder, ignore_errors=True)
    place = Place.made(folder)
    before, users, here = door.host(), place.users(), os.getcwd()
    os.chdir(folder)
    try:
        with _heard() as said, warnings.catch_warnings(), patch.dict(os.environ, HOME=str(folder / "user")):
            warnings.simplefilter("ignore")
            outcome = _outcome(door, case, place, said)
    finally:
        os.chdir(here)
    found = changes(before, door.host())
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
