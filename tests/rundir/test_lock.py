"""One run at a time in a run directory, whatever ended the one before."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import spark_pufs
from spark_pufs.errors import Busy, ConfigError, PufsError
from spark_pufs.jobs.compare_job import CompareConfig, run_compare
from spark_pufs.jobs.config import parse
from spark_pufs.jobs.select_job import resume, run_select
from spark_pufs.rundir import lock
from spark_pufs.rundir.folder import RunFolder
from spark_pufs.rundir.lock import LOCK, Holder, held
from spark_pufs.studies.reproduce import ReproduceConfig, run_reproduce

# A suite started in the background of a shell ignores Ctrl-C, and hands that on to what it starts.
CHILD = """
import signal, sys, time
signal.signal(signal.SIGINT, signal.default_int_handler)
from spark_pufs.rundir.folder import RunFolder
from spark_pufs.rundir.lock import held
with held(RunFolder(sys.argv[1])):
    print("held", flush=True)
    time.sleep(600)
"""


@contextmanager
def another(folder: Path) -> Iterator[subprocess.Popen[str]]:
    """A process that holds the folder; it is killed and reaped at the end."""
    child = subprocess.Popen([sys.executable, "-c", CHILD, str(folder)], stdout=subprocess.PIPE, text=True)
    try:
        assert child.stdout is not None
        assert child.stdout.readline() == "held\n"
        yield child
    finally:
        child.kill()
        child.communicate()


def left_by(folder: Path, holder: Holder) -> None:
    folder.mkdir(exist_ok=True)
    (folder / LOCK).write_text(json.dumps(asdict(holder)))


def table() -> pd.DataFrame:
    X = np.random.default_rng(0).normal(size=(300, 4))
    return pd.DataFrame(X, columns=list("abcd")).assign(label=np.where(X[:, 0] > 0.8, 1, 0))


@pytest.mark.integration
def test_the_second_run_stops_and_says_who_is_at_work(tmp_path: Path) -> None:
    with another(tmp_path) as child, pytest.raises(Busy) as caught, held(RunFolder(tmp_path)):
        pass
    host = re.escape(socket.gethostname())
    assert re.fullmatch(
        rf"Run directory '{tmp_path}': is in use by process {child.pid} on {host} since "
        r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC\. "
        r"Wait until it has ended and run the same command again, or name another path\.",
        str(caught.value),
    )
    assert caught.value.exit_code == 1  # a scheduler tries again


@pytest.mark.parametrize("how", [None, ValueError, KeyboardInterrupt, SystemExit])
def test_the_lock_goes_however_the_run_ends(tmp_path: Path, how: type[BaseException] | None) -> None:
    def work() -> None:
        with held(RunFolder(tmp_path)):
            assert (tmp_path / LOCK).exists()
            if how is not None:
                raise how

    if how is None:
        work()
    else:
        with pytest.raises(how):
            work()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.integration
def test_ctrl_c_releases_it(tmp_path: Path) -> None:
    with another(tmp_path) as child:
        child.send_signal(signal.SIGINT)
        child.wait(timeout=30)
        assert not (tmp_path / LOCK).exists()


@pytest.mark.integration
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_a_killed_process_holds_nothing_even_before_it_is_buried(tmp_path: Path, how: signal.Signals) -> None:
    with another(tmp_path) as child:
        child.send_signal(how)
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)  # dead, and still in the table of processes
        assert (tmp_path / LOCK).exists()
        with held(RunFolder(tmp_path)):
            assert json.loads((tmp_path / LOCK).read_text())["pid"] == os.getpid()
    assert not (tmp_path / LOCK).exists()


def test_a_number_that_another_process_has_now_does_not_mislead(tmp_path: Path) -> None:
    own = Holder.here()
    left_by(tmp_path, replace(own, started="1"))  # this process's number, another start
    with held(RunFolder(tmp_path)):
        pass
    left_by(tmp_path, own)
    with pytest.raises(Busy), held(RunFolder(tmp_path)):
        pass


def test_of_a_process_elsewhere_only_its_sign_of_life_tells(tmp_path: Path) -> None:
    left_by(tmp_path, Holder("far", "far away", 7, "1", "2026-01-01 00:00:00 UTC", "x"))
    with pytest.raises(Busy) as caught, held(RunFolder(tmp_path)):
        pass
    assert str(caught.value).endswith(
        "is in use by process 7 on far since 2026-01-01 00:00:00 UTC. Wait until it has ended and run the same command "
        "again, or name another path. If it is gone: after 10 minutes without a sign of life it is passed over; or "
        "delete .lock."
    )
    old = time.time() - lock.GONE - 1
    os.utime(tmp_path / LOCK, (old, old))
    with held(RunFolder(tmp_path)):
        pass


def test_a_lock_that_says_nothing_is_respected_until_it_is_old(tmp_path: Path) -> None:
    (tmp_path / LOCK).write_bytes(b"\0\xff{")
    with (
        pytest.raises(Busy, match="by a process that left no readable name since an unknown time"),
        held(RunFolder(tmp_path)),
    ):
        pass
    os.utime(tmp_path / LOCK, (0, 0))
    with held(RunFolder(tmp_path)):
        pass


def test_a_running_process_gives_signs_of_life_and_notices_a_take_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lock, "BEAT", 0.01)
    other = Holder("far", "far away", 7, "1", "then", "x")
    with held(RunFolder(tmp_path)):
        os.utime(tmp_path / LOCK, (0, 0))
        until = time.monotonic() + 30
        while (tmp_path / LOCK).stat().st_mtime == 0 and time.monotonic() < until:
            time.sleep(0.01)
        assert (tmp_path / LOCK).stat().st_mtime > 0
        monkeypatch.setattr(lock, "BEAT", 600.0)
        time.sleep(0.05)  # the beat under way ends
        left_by(tmp_path, other)
    assert json.loads((tmp_path / LOCK).read_text()) == asdict(other)  # what is another's is not taken away


def test_of_many_that_start_at_once_one_goes_on(tmp_path: Path) -> None:
    left_by(tmp_path, replace(Holder.here(), started="1"))  # a stale lock, which all of them see
    holding, refused, all_tried = [], [], threading.Barrier(16)

    def work() -> None:
        try:
            with held(RunFolder(tmp_path)):
                holding.append(1)
                all_tried.wait(60)
        except Busy:
            refused.append(1)
            all_tried.wait(60)

    threads = [threading.Thread(target=work) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(holding), len(refused)) == (1, 15)


def settings(out: Path) -> dict[str, Any]:
    return {"source": {"path": "nowhere"}, "label": {"column": "label"}, "output": {"path": str(out)}}


def stored(out: Path) -> str:
    out.mkdir(exist_ok=True)
    (out / "config.yaml").write_text(json.dumps(settings(out)))
    return str(out)


ENTRIES: dict[str, Callable[[Path], Any]] = {
    "select": lambda out: run_select(parse(settings(out))),
    "resume": lambda out: resume(stored(out)),
    "compare": lambda out: run_compare(CompareConfig.model_validate(settings(out))),
    "reproduce": lambda out: run_reproduce(
        ReproduceConfig.model_validate({"artificial_conditions": {}, "output": {"path": str(out)}})
    ),
    "checkpoint": lambda out: spark_pufs.select(table(), label="label", k=2, checkpoint=out),
    "write": lambda out: spark_pufs.select(table(), label="label", k=2).write(out),
}


@pytest.mark.parametrize("entry", ENTRIES.values(), ids=list(ENTRIES))
def test_all_that_writes_into_a_run_directory_holds_it(tmp_path: Path, entry: Callable[[Path], Any]) -> None:
    out = tmp_path / "run"
    with held(RunFolder(out)):
        before = sorted(path.name for path in out.iterdir())
        with pytest.raises(Busy):
            entry(out)
        assert sorted(path.name for path in out.iterdir() if path.name != "config.yaml") == before


def test_a_dry_run_writes_nothing_and_needs_no_lock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_table(*_: object) -> None:
        raise PufsError([])

    monkeypatch.setattr("spark_pufs.jobs.select_job.opened", no_table)
    with pytest.raises(PufsError) as caught:
        run_select(parse(settings(tmp_path / "run")), dry_run=True)
    assert not isinstance(caught.value, ConfigError)
    assert not (tmp_path / "run").exists()
