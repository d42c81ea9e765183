"""Jobs that are killed, or find the disk full, at each of their file operations in turn, and are then run again.

Each try is a fork of this process. An audit hook counts what the job opens for writing, renames, removes and makes in
its own folder, and strikes before the n-th of these; n grows until the job gets through.
"""

from __future__ import annotations

import errno
import json
import os
import re
import shutil
import signal
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pandas as pd

import spark_pufs
from spark_pufs.cli import commands
from spark_pufs.engines.local import LocalEngine
from spark_pufs.errors import PufsError
from spark_pufs.jobs import compare_job, select_job
from spark_pufs.jobs.compare_job import CompareConfig, run_compare
from spark_pufs.jobs.config import RunConfig
from spark_pufs.jobs.select_job import run_select
from spark_pufs.memory.store import INDEX
from spark_pufs.studies import reproduce
from spark_pufs.studies.reproduce import Nothing, ReproduceConfig, UnitRunner, Work, run_reproduce
from support.memory_days import OPTIONS, day

__all__ = ["JOBS", "Job", "Tally", "strike_everywhere"]

CHANGES = {"os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.link", "os.truncate"}
WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC
DONE, REFUSED, BROKEN = 0, 7, 9


@dataclass(frozen=True)
class Job:
    """``begin`` makes what was there before, ``run`` does the work, ``answer`` reads what came of it."""

    name: str
    begin: Callable[[Path], None]
    run: Callable[[Path], object]
    answer: Callable[[Path], Any]


@dataclass
class Tally:
    """What was tried and found: strikes, answers that differ, files of the user that changed, files left over."""

    strikes: int = 0
    different: int = 0
    lost: int = 0
    left: int = 0
    raw: int = 0

    @property
    def clean(self) -> bool:
        return not (self.different or self.lost or self.left or self.raw)


def strike_everywhere(job: Job, folder: Path, full: bool = False, most: int = 10**6, every: int = 1) -> Tally:
    """Strike before every operation, or every so manyth; ``full``: the disk is full there, else it is a SIGKILL."""
    found, usual = Tally(), undisturbed(job, folder / "usual")
    for n in range(1, most + 1, every):
        place = folder / "struck"
        shutil.rmtree(place, ignore_errors=True)
        begun(job, place)
        ended = forked(lambda own=place: job.run(own), place, n, full)  # type: ignore[misc]
        if ended == DONE:
            break
        found.strikes += 1
        found.raw += ended == BROKEN
        found.lost += (place / "mine.txt").read_text() != "mine"
        again = forked(lambda own=place: job.run(own), place, 0, full)  # type: ignore[misc]
        found.raw += again != DONE
        found.different += again == DONE and job.answer(place / "out") != usual
        found.left += bool(left_over(place / "out"))
    return found


def undisturbed(job: Job, place: Path) -> Any:
    shutil.rmtree(place, ignore_errors=True)
    begun(job, place)
    assert forked(lambda: job.run(place), place, 0, False) == DONE
    return job.answer(place / "out")


def begun(job: Job, place: Path) -> None:
    place.mkdir(parents=True)
    (place / "mine.txt").write_text("mine")
    table().to_parquet(place / "table.parquet")
    assert forked(lambda: job.begin(place), place, 0, False) == DONE


def left_over(out: Path) -> list[str]:
    if not out.is_dir():
        return []
    return [name for name in os.listdir(out) if name.endswith(".partial") or name in (".lock", "config.pending.yaml")]


def forked(work: Callable[[], object], folder: Path, strike: int, full: bool) -> int:
    """How the work ended in a process of its own: its exit code, or minus the signal that killed it."""
    child = os.fork()
    if not child:
        os._exit(_worked(work, folder, strike, full))
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def _worked(work: Callable[[], object], folder: Path, strike: int, full: bool) -> int:
    try:
        quiet = os.open(os.devnull, os.O_WRONLY)
        os.dup2(quiet, 1)
        os.dup2(quiet, 2)
        warnings.simplefilter("ignore")
        if strike:
            sys.addaudithook(Seam(folder, strike, full))
        work()
        return DONE
    except PufsError:
        return REFUSED
    except BaseException:
        return BROKEN


class Seam:
    """An audit hook that strikes before the n-th change of files below a folder."""

    def __init__(self, folder: Path, strike: int, full: bool) -> None:
        self._folder, self._left, self._full = str(folder), strike, full

    def __call__(self, event: str, arguments: tuple[Any, ...]) -> None:
        if not self._changes(event, arguments):
            return
        self._left -= 1
        if self._left:
            return
        if not self._full:
            os.kill(os.getpid(), signal.SIGKILL)
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def _changes(self, event: str, arguments: tuple[Any, ...]) -> bool:
        if event not in CHANGES and not (event == "open" and isinstance(arguments[2], int) and arguments[2] & WRITES):
            return False
        if self._full and event != "open":  # a full disk takes renames and removals
            return False
        return isinstance(arguments[0], str | os.PathLike) and os.fspath(arguments[0]).startswith(self._folder)


def table() -> pd.DataFrame:
    rng, rows = np.random.default_rng(3), 120
    X = rng.normal(size=(rows, 5))
    X[:40, :2] += 4
    return pd.DataFrame(X, columns=list("abcde")).assign(label=(np.arange(rows) < 20).astype(int))


@contextmanager
def _in_memory(config: Any, note: Any) -> Iterator[LocalEngine]:
    yield LocalEngine(pd.read_parquet(config.source.path.given))


def _config(place: Path, **more: Any) -> dict[str, Any]:
    return {
        "source": {"path": str(place / "table.parquet")},
        "label": {"column": "label"},
        "output": {"path": str(place / "out"), "overwrite": True},
        **more,
    }


def _fscpu(place: Path, seed: int = 7) -> None:
    own = {"method": "fscpu", "k": 2, "seed": seed, "generations": 2, "generation_size": 16, "clusters": 2}
    with patch.object(select_job, "opened", _in_memory):
        run_select(RunConfig(**_config(place, select=own)))


def _compare(place: Path, methods: tuple[str, ...] = ("mim", "k-best")) -> None:
    own = {"methods": list(methods), "folds": 2, "repeats": 1}
    with patch.object(compare_job, "opened", _in_memory):
        run_compare(CompareConfig(**_config(place, select={"k": 2}, compare=own)))


def _reproduce(place: Path, repeats: int = 3) -> None:
    def wave(spark: Any, studies: Any, units: Any) -> Iterator[Any]:
        for name, unit in units:
            yield from UnitRunner(studies)(Nothing(), Work(name, dict(unit))).rows

    study = {"panels": ["3a"], "effects": [0], "draws": 4 * repeats}
    config = ReproduceConfig(surrogate_tests=study, output={"path": str(place / "out")}, run={"wave": 1})
    with (
        patch.object(reproduce, "_run_wave", wave),
        patch("spark_pufs.spark.session.open_session"),
        patch("spark_pufs.spark.scan.slots", return_value=1),
    ):
        run_reproduce(config)


def _runs(place: Path) -> None:
    for name, k in (("before", 1), ("after", 2)):
        spark_pufs.select(table(), label="label", method="mim", k=k).write(place / name)
    (place / "out").mkdir()
    (place / "out" / "page.html").write_text("an older page")


def _page(place: Path) -> None:
    page = place / "out" / "page.html"
    commands.app.main(["diff", str(place / "before"), str(place / "after"), "--html", str(page)], standalone_mode=False)


def _written(place: Path) -> None:
    found = spark_pufs.select(table(), label="label", method="mim", k=2)
    found.write(place / "out", overwrite=True)
    found.write_report(place / "out" / "alone.html")


def _names(out: Path) -> Any:
    values = json.loads((out / "selection.json").read_text())
    return values["features"], values["fingerprint"], sorted(os.listdir(out))


def _standings(out: Path) -> Any:
    rows = json.loads((out / "comparison.json").read_text())["rows"]
    return [{name: value for name, value in row.items() if name != "seconds"} for row in rows], sorted(os.listdir(out))


def _results(out: Path) -> Any:
    return pd.read_csv(out / "results.csv").drop(columns="seconds", errors="ignore").fillna("").to_dict("list")


def _html(out: Path) -> str:
    return re.sub(r"\d+\.\d+ s", "", (out / "page.html").read_text())


def _remembered(place: Path, first: int = 3, last: int = 3) -> None:
    """Of the window only the last day is in the table: what is lost of the others is lost."""
    rows = pd.concat([day(number, rows=120) for number in range(first, last + 1)])
    spark_pufs.select(rows, memory=place / "out", partition="day", window=2, **OPTIONS)


def _kept(out: Path) -> Any:
    index = json.loads((out / INDEX).read_text())["index"]
    return index, {name: (out / name).read_bytes() for name in os.listdir(out)}


JOBS = (
    Job("fscpu over older results", lambda place: _fscpu(place, 1), _fscpu, _names),
    Job("compare over an older one", lambda place: _compare(place, ("mim",)), _compare, _standings),
    Job("reproduce", lambda place: None, _reproduce, _results),
    Job("diff --html over an older page", _runs, _page, _html),
    Job("Selection.write over an older one", lambda place: _fscpu(place, 1), _written, _names),
    Job("a day more in a memory", lambda place: _remembered(place, 1, 2), _remembered, _kept),
)
