"""Only what is ours is replaced: folders that are no run directory, files written whole, holders that wake up late."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from spark_pufs.errors import ConfigError, PufsError
from spark_pufs.rundir import atomic, lock
from spark_pufs.rundir.atomic import write_file
from spark_pufs.rundir.folder import MANIFEST, MARK, RunFolder
from spark_pufs.rundir.lock import LOCK, held

FACTS = {"fingerprint": "f"}


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir()) if path.is_file()}


@pytest.mark.parametrize(
    "names",
    [["config.yaml"], ["report.html", "thesis.txt"], ["manifest.json"], list("abcd"), [".bashrc"], [".thesis.partial"]],
)
def test_a_folder_with_files_of_the_user_is_refused_and_stays(tmp_path: Path, names: list[str]) -> None:
    for name in names:
        (tmp_path / name).write_text('{"mine": true}')
    before = contents(tmp_path)
    with pytest.raises(ConfigError, match=r"holds .*, and is not a run directory\. Name a folder that is empty"):
        held(RunFolder(tmp_path)).__enter__()
    assert contents(tmp_path) == before


@pytest.mark.parametrize("there", [{}, {".gitkeep": b""}, {"checkpoint.npz": b"x", "config.pending.yaml": b""}])
def test_an_empty_folder_and_one_of_a_stopped_run_are_taken(tmp_path: Path, there: dict[str, bytes]) -> None:
    for name, data in there.items():
        (tmp_path / name).write_bytes(data)
    with held(folder := RunFolder(tmp_path)):
        assert (tmp_path / MARK).exists()
    assert contents(tmp_path).keys() - {MARK} == there.keys()
    with held(folder):
        folder.write_all({"report.html": b"ours"}, FACTS)
    (tmp_path / MARK).unlink()  # as runs were left before folders were marked
    with held(folder):
        assert (tmp_path / MARK).exists()


def test_a_folder_that_stays_empty_is_left_unmarked(tmp_path: Path) -> None:
    with held(RunFolder(tmp_path)):
        pass
    assert not list(tmp_path.iterdir())


def test_what_killed_runs_left_half_written_goes(tmp_path: Path) -> None:
    with held(folder := RunFolder(tmp_path)):
        folder.write_all({"report.html": b"ours"}, FACTS)
    (tmp_path / ".report.html.partial").write_text("half")
    (tmp_path / ".likely.partial").mkdir()
    with held(folder):
        pass
    assert set(os.listdir(tmp_path)) == {"report.html", MANIFEST, MARK}


@pytest.mark.parametrize("path", ["", "  ", "runs/\0x", "~nobody-of-that-name/x"])
def test_paths_that_are_none(path: str) -> None:
    with pytest.raises(ConfigError, match="Output"):
        RunFolder(path)


def test_home_is_expanded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    assert RunFolder("~/run").local == tmp_path / "run"
    assert RunFolder("~/run").address("x") == f"{tmp_path}/run/x"


@pytest.mark.parametrize("name", ["report.html", ".report.html.partial", LOCK, MANIFEST])
def test_a_pipe_in_the_folder_does_not_hang(tmp_path: Path, name: str) -> None:
    with held(folder := RunFolder(tmp_path)):
        folder.write_all({"report.html": b"old"}, FACTS)
    (tmp_path / name).unlink(missing_ok=True)
    os.mkfifo(tmp_path / name)
    with held(folder):
        folder.check("f", overwrite=False)
        folder.write_all({"report.html": b"new"}, FACTS)
    assert (tmp_path / "report.html").read_bytes() == b"new"


@pytest.mark.parametrize("step", ["fsync", "replace", "open"])
def test_a_file_is_replaced_whole_or_not_at_all(tmp_path: Path, step: str, monkeypatch: pytest.MonkeyPatch) -> None:
    place = tmp_path / "report.html"
    write_file(place, b"old")

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(atomic.os, step, full)
        with pytest.raises(OSError, match="No space left"):
            write_file(place, b"new")
    assert place.read_bytes() == b"old"
    write_file(place, b"new")
    assert contents(tmp_path) == {"report.html": b"new"}


def test_a_file_keeps_its_rights_and_a_link_its_target(tmp_path: Path) -> None:
    place, link = tmp_path / "real.html", tmp_path / "link.html"
    place.write_text("old")
    place.chmod(0o600)
    link.symlink_to(place)
    write_file(link, b"new")
    assert (link.is_symlink(), place.read_bytes(), stat.S_IMODE(place.stat().st_mode)) == (True, b"new", 0o600)


def test_devices_and_pipes_are_not_replaced(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for place in (Path("/dev/null"), tmp_path / "pipe"):
        with pytest.raises(OSError, match="not a file"):
            write_file(place, b"x")
    assert not Path("/dev/null").is_file()


def test_a_holder_that_was_taken_over_changes_nothing_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sleeper, heir = RunFolder(tmp_path), RunFolder(tmp_path)
    with held(sleeper):
        sleeper.write("checkpoint.npz", b"1")
        monkeypatch.setattr(lock.Holder, "gone", lambda self, age: True)
        with held(heir):
            heir.write_all({"report.html": b"heir"}, FACTS)
            before = contents(tmp_path)
            late = (
                lambda: sleeper.write("report.html", b"late"),
                lambda: sleeper.write_all({"report.html": b"late"}, FACTS),
                lambda: sleeper.inner("parts").write("x", b"late"),
                lambda: sleeper.delete(MANIFEST),
            )
            for change in late:
                with pytest.raises(PufsError, match=r"has taken it over while this run gave no sign of life"):
                    change()
            assert {k: v for k, v in contents(tmp_path).items() if not k.endswith(".partial")} == before
    assert (tmp_path / "report.html").read_bytes() == b"heir"


def test_a_foreign_lock_from_the_future_expires(tmp_path: Path) -> None:
    other = lock.Holder("elsewhere", "another machine", 1, "1", "now", "t")
    assert [other.gone(age) for age in (0, 599, -599, 601, -601, -1e9)] == [False, False, False, True, True, True]


ASLEEP = """
import sys
from spark_pufs.rundir import lock
from spark_pufs.rundir.folder import RunFolder
lock._machine = lambda: "another machine"
folder = RunFolder(sys.argv[1])
with lock.held(folder):
    print("held", flush=True)
    sys.stdin.readline()
    folder.write_all({"report.html": b"late"}, {"fingerprint": "late"})
"""


@pytest.mark.integration
def test_stopped_taken_over_and_woken(tmp_path: Path) -> None:
    command = [sys.executable, "-c", ASLEEP, str(tmp_path)]
    child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert child.stdout is not None
        assert child.stdout.readline() == "held\n"
        child.send_signal(signal.SIGSTOP)
        long_ago = time.time() - 2 * lock.GONE
        os.utime(tmp_path / LOCK, (long_ago, long_ago))
        with held(folder := RunFolder(tmp_path)):
            folder.write_all({"report.html": b"heir"}, FACTS)
            child.send_signal(signal.SIGCONT)
            _, said = child.communicate("\n")
        assert child.returncode
        assert "has taken it over while this run gave no sign of life" in said
    finally:
        child.kill()
        child.communicate()
    assert (tmp_path / "report.html").read_bytes() == b"heir"
    assert not RunFolder(tmp_path).changed(RunFolder(tmp_path).finished() or {})
