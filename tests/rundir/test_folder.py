"""A run directory that is damaged, full, read-only, linked elsewhere or no folder at all: one message, nothing lost."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import fs

import spark_pufs
from spark_pufs.errors import ConfigError, PufsError
from spark_pufs.rundir.folder import MANIFEST, RunFolder
from spark_pufs.rundir.stores import Store

LEADING_OUT = ["..", ".", "", "../x", "a/../../x", "/etc/passwd", "a/b", "a\\..\\b", "x\0", "x\n", "n" * 201]


def small(seed: int = 0) -> spark_pufs.Selection:
    X = np.random.default_rng(seed).normal(size=(300, 4))
    table = pd.DataFrame(X, columns=list("abcd")).assign(label=np.where(X[:, 0] > 0.8, 1, 0))
    return spark_pufs.select(table, label="label", method="semi-mim", k=2)


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


@pytest.mark.parametrize("name", LEADING_OUT)
def test_names_that_lead_out_are_refused(tmp_path: Path, name: str) -> None:
    folder = RunFolder(tmp_path / "run")
    for use in (folder.read, folder.delete, folder.inner, folder.address, lambda name: folder.write(name, b"x")):
        with pytest.raises(ConfigError) as caught:
            use(name)
        shown = name.replace("\0", r"\x00").replace("\n", r"\n")
        assert str(caught.value) == (
            f"Run directory '{tmp_path}/run': '{shown}' is not the name of a file in it. "
            "A run directory holds plain files only: correct the name, or remove the link."
        )
    assert sorted(path.name for path in tmp_path.rglob("*")) in ([], ["run"])


@given(st.text(max_size=8))
def test_no_name_gives_a_place_outside(name: str) -> None:
    folder = RunFolder("runs/here")
    try:
        place = folder.at(name)
    except ConfigError:
        return
    assert Path(os.path.normpath(place)).parent == Path("runs/here").absolute()


def test_links_that_lead_out_are_refused_and_their_targets_stay(tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "file").write_text("kept")
    run = tmp_path / "run"
    run.mkdir()
    for name in ("linked", ".new.partial"):
        (run / name).symlink_to(tmp_path / "outside" / "file")
    (run / "parts").symlink_to(tmp_path / "outside")
    folder = RunFolder(run)
    uses = {
        "linked": lambda: folder.read("linked"),
        "parts": lambda: folder.inner("parts"),
        ".new.partial": lambda: folder.write("new", b"lost"),
    }
    for name, use in uses.items():
        with pytest.raises(ConfigError, match=rf"'{name}' is a link to '.*outside.*', outside\. A run directory holds"):
            use()
    assert (tmp_path / "outside" / "file").read_text() == "kept"


def test_a_link_to_the_run_directory_itself_and_links_within_it_are_fine(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "latest").symlink_to(tmp_path / "run")
    folder = RunFolder(tmp_path / "latest")
    folder.write("a", b"1")
    (tmp_path / "run" / "b").symlink_to(tmp_path / "run" / "a")
    assert folder.read("b") == b"1"


def with_manifest(run: Path, **files: object) -> None:
    manifest = json.loads((run / MANIFEST).read_text())
    manifest["files"] |= files
    (run / MANIFEST).write_text(json.dumps(manifest))


def test_a_manifest_that_names_files_outside_is_refused(tmp_path: Path) -> None:
    small().write(tmp_path / "run")
    with_manifest(tmp_path / "run", **{"../../etc/passwd": {"sha256": "x"}})
    before = contents(tmp_path / "run")
    with pytest.raises(ConfigError, match=r"'\.\./\.\./etc/passwd' is not the name of a file in it"):
        small().write(tmp_path / "run")
    assert contents(tmp_path / "run") == before


def test_a_damaged_manifest_is_named_and_results_stay_until_they_may_go(tmp_path: Path) -> None:
    small().write(tmp_path)
    whole = (tmp_path / MANIFEST).read_bytes()
    broken = [whole[:length] for length in (0, 1, 2, len(whole) // 2, len(whole) - 2)]
    broken += [b"[]", b"null", b'{"files": []}', b"\0" * 50, b"[" * 100_000]
    for data in broken:
        (tmp_path / MANIFEST).write_bytes(data)
        before = contents(tmp_path)
        with pytest.raises(PufsError) as caught:
            small().write(tmp_path)
        assert str(caught.value).startswith(f"File 'manifest.json' in '{tmp_path}': is damaged (")
        assert str(caught.value).endswith("Set `overwrite=True` to replace what is there, or name another path.")
        assert caught.value.exit_code == 3
        assert contents(tmp_path) == before
    small().write(tmp_path, overwrite=True)
    small().write(tmp_path)


def test_changed_replaces_the_results_of_others_alone(tmp_path: Path) -> None:
    small().write(tmp_path)
    folder = RunFolder(tmp_path)
    assert folder.check(small().fingerprint, overwrite="changed") is True
    assert folder.check(small(seed=1).fingerprint, overwrite="changed") is False
    assert folder.check(small().fingerprint, overwrite=True) is False


@pytest.mark.parametrize("facts", [None, 1, [], {}, {"sha256": 3}])
def test_a_manifest_that_says_too_little_of_a_file_is_not_believed(tmp_path: Path, facts: object) -> None:
    small().write(tmp_path)
    with_manifest(tmp_path, **{"report.md": facts})
    assert RunFolder(tmp_path).check(small().fingerprint, overwrite=False) is False
    small().write(tmp_path)
    assert RunFolder(tmp_path).check(small().fingerprint, overwrite=False) is True


@pytest.mark.parametrize("harm", ["gone", "cut", "flipped"])
@pytest.mark.parametrize("name", ["selection.json", "ranking.parquet", "report.html", "report.md"])
def test_a_run_whose_files_are_not_its_own_is_not_done(tmp_path: Path, name: str, harm: str) -> None:
    selection = small()
    selection.write(tmp_path)
    whole, file = contents(tmp_path), tmp_path / name
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 1
    file.unlink() if harm == "gone" else file.write_bytes(data if harm == "flipped" else data[:-1])
    selection.write(tmp_path)
    assert contents(tmp_path) == whole


@pytest.mark.parametrize("moves", [True, False], ids=["folders move", "files are copied"])
def test_a_table_of_many_files_is_shown_with_the_manifest(tmp_path: Path, moves: bool) -> None:
    folder = RunFolder(tmp_path / "run")
    if not moves:  # as in a store of objects
        folder._store, folder._base = Store(fs.SubTreeFileSystem(str(tmp_path), fs.LocalFileSystem())), "run"
    shown = tmp_path / "run" / "found.parquet"
    for rows in (3, 5):
        before = sorted(path.name for path in shown.glob("*"))
        staged = Path(folder.staged_table("found.parquet"))
        staged.mkdir()
        pd.DataFrame({"x": range(rows)}).to_parquet(staged / f"part-{rows}.parquet")
        assert folder.staged_rows("found.parquet") == rows
        assert sorted(path.name for path in shown.glob("*")) == before
        folder.write_all({"a.txt": b"a"}, {"fingerprint": "f"}, {"found.parquet": rows})
        assert [path.name for path in shown.iterdir()] == [f"part-{rows}.parquet"]
        assert not staged.exists()
    assert folder.check("f", False, ["found.parquet"])
    assert not folder.check("f", False, ["other.parquet"])


def test_a_path_that_is_a_file_is_a_setting_to_mend(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("kept")
    with pytest.raises(ConfigError) as caught:
        small().write(tmp_path / "file")
    assert (
        str(caught.value)
        == f"Output '{tmp_path}/file': '{tmp_path}/file' is a file, not a folder. Name another output.path."
    )
    assert (tmp_path / "file").read_text() == "kept"


def test_a_link_to_nothing_is_named(tmp_path: Path) -> None:
    (tmp_path / "disk").symlink_to(tmp_path / "unmounted")
    with pytest.raises(ConfigError, match=f"Output '{tmp_path}/disk/run': '{tmp_path}/disk' is a link to nothing."):
        RunFolder(tmp_path / "disk" / "run").check_place()


def test_a_place_is_tried_without_writing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    RunFolder(tmp_path / "new" / "deep").check_place()
    assert not (tmp_path / "new").exists()
    monkeypatch.setattr("os.access", lambda place, mode: False)  # root may write anywhere
    with pytest.raises(PufsError, match=f"Output '{tmp_path}/new': '{tmp_path}' may not be written."):
        RunFolder(tmp_path / "new").check_place()


def fill(volume: Path) -> None:
    with suppress(OSError), (volume / "filler").open("wb", buffering=0) as filler:
        while filler.write(b"x" * 4096):
            pass


def test_a_full_disk_costs_nothing_that_was_there(volume: Path) -> None:
    small().write(volume / "run")
    before = contents(volume / "run")
    fill(volume)
    with pytest.raises(PufsError) as caught:
        small(seed=1).write(volume / "run", overwrite=True)
    assert str(caught.value).startswith(f"Output '{volume}/run': cannot be written: ")
    assert "No space left on device" in str(caught.value)
    assert caught.value.exit_code == 1
    assert contents(volume / "run") == before  # nothing half-written beside it either
    (volume / "filler").unlink()
    small(seed=1).write(volume / "run", overwrite=True)
    assert json.loads((volume / "run" / "selection.json").read_text())["names"] == small(seed=1).names


def test_a_disk_that_fills_up_between_two_files_costs_nothing_either(volume: Path) -> None:
    small().write(volume / "run")
    before = contents(volume / "run")
    room = os.statvfs(volume)
    sizes = {name: len(data) for name, data in before.items()}
    keep = sizes["selection.json"] + 8192  # room for the lock and the first file, not for the report
    (volume / "filler").write_bytes(b"x" * (room.f_bavail * room.f_frsize - keep))
    assert sizes["report.html"] > 16384
    with pytest.raises(PufsError, match="No space left on device"):
        small(seed=1).write(volume / "run", overwrite=True)
    assert contents(volume / "run") == before


def test_a_read_only_place_is_named(volume: Path) -> None:
    small().write(volume / "run")
    before = contents(volume / "run")
    subprocess.run(["mount", "-o", "remount,ro", str(volume)], check=True)
    for path in (volume / "run", volume / "other"):
        with pytest.raises(PufsError) as caught:
            small(seed=1).write(path, overwrite=True)
        assert str(caught.value).startswith(f"Output '{path}': cannot be written: ")
        assert "Read-only file system" in str(caught.value)
    assert contents(volume / "run") == before


LIMITED = """
import sys
from pathlib import Path
from spark_pufs.errors import PufsError
from spark_pufs.rundir.folder import RunFolder

folder = RunFolder(sys.argv[1])
try:
    folder.write_all({"small": b"new", "large": b"x" * 100_000}, {})
except PufsError as error:
    print(error)
    sys.exit(error.exit_code)
"""


@pytest.mark.integration
def test_a_limit_on_the_size_of_files_costs_nothing_that_was_there(tmp_path: Path) -> None:
    RunFolder(tmp_path).write_all({"small": b"old", "large": b"old"}, {})
    before = contents(tmp_path)

    def limit() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))

    command = [sys.executable, "-B", "-c", LIMITED, str(tmp_path)]
    done = subprocess.run(command, preexec_fn=limit, capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stderr
    assert done.stdout.startswith(f"Output '{tmp_path}': cannot be written: ")
    assert "File too large" in done.stdout
    assert contents(tmp_path) == before
