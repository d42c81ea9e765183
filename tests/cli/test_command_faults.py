"""Faults of the world around a run, each with its message, its exit code, no traceback, and earlier results whole."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import yaml

import spark_pufs.run.remembered
from spark_pufs.cli import run
from spark_pufs.rundir.checkpoint import FolderKeeper
from spark_pufs.rundir.folder import MARK, RunFolder
from spark_pufs.rundir.lock import held

pytestmark = pytest.mark.spark

CONF = str(Path(__file__).parents[2] / "conf" / "select_features.yaml")


@pytest.fixture(scope="module")
def example(spark: object, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("faults")
    table = pd.DataFrame({"row_id": range(400), "a": [i % 7 for i in range(400)], "b": [i % 5 for i in range(400)]})
    table.assign(c=table["a"] * 1.5 + table["b"], label=(table["a"] > 5) * 1).to_parquet(folder / "table.parquet")
    return folder


def select(source: Path, out: Path | str, *settings: str, config: str = CONF, more: tuple[str, ...] = ()) -> int:
    words = [f"source.path={source}", f"output.path={out}", "select.k=2", *settings]
    asked = ["select", "--engine", "spark", "--config", config]
    return run([*asked, *[part for word in words for part in ("--set", word)], *more])


def fails(capsys: pytest.CaptureFixture[str], code: int, expected: int) -> str:
    said = capsys.readouterr().err
    assert code == expected, said
    assert "Traceback" not in said
    assert said.count("error: ") == 1, said
    return said


def results(out: Path) -> dict[str, bytes]:
    return {
        path.name: path.read_bytes() for path in sorted(out.iterdir()) if not path.name.startswith("config.pending")
    }


def cut(data: bytes, share: float) -> bytes:
    return data[: int(len(data) * share)]


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.99])
def test_truncated_parquet(example: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], share: float) -> None:
    (tmp_path / "t.parquet").write_bytes(cut((example / "table.parquet").read_bytes(), share))
    said = fails(capsys, select(tmp_path / "t.parquet", tmp_path / "run"), 3)
    what = "cannot be read: " if share else "holds no files of that format."
    assert f"Source '{tmp_path}/t.parquet': {what}" in said
    assert results(tmp_path / "run") == {}


def test_one_of_several_files_is_truncated_and_earlier_results_stay(
    example: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source, out = tmp_path / "source", tmp_path / "run"
    source.mkdir()
    shutil.copy(example / "table.parquet", source / "a.parquet")
    assert select(source, out) == 0
    before = results(out)
    whole = (example / "table.parquet").read_bytes()
    (source / "b.parquet").write_bytes(cut(whole, 0.5))
    said = fails(capsys, select(source, out, "output.overwrite=true"), 3)
    assert "cannot be read" in said
    assert results(out) == before


def test_truncated_gzip(example: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = pd.concat([pd.read_parquet(example / "table.parquet")] * 200)
    data = gzip.compress(table.to_csv(index=False).encode())
    (tmp_path / "t.csv.gz").write_bytes(cut(data, 0.6))
    said = fails(capsys, select(tmp_path / "t.csv.gz", tmp_path / "run", "source.format=csv"), 3)
    assert f"Source '{tmp_path}/t.csv.gz': cannot be read: " in said
    assert results(tmp_path / "run") == {}


def test_a_source_that_cannot_be_opened(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "loop.parquet").symlink_to(tmp_path / "loop.parquet")
    fails(capsys, select(tmp_path / "loop.parquet", tmp_path / "run"), 3)
    (tmp_path / "empty").mkdir()
    said = fails(capsys, select(tmp_path / "empty", tmp_path / "run"), 3)
    assert "holds no files of that format. Check source.path and source.format." in said


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read any file")
def test_a_source_that_may_not_be_read(example: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shutil.copy(example / "table.parquet", tmp_path / "t.parquet")
    (tmp_path / "t.parquet").chmod(0)
    assert "Permission denied" in fails(capsys, select(tmp_path / "t.parquet", tmp_path / "run"), 3)


def between_passes(monkeypatch: pytest.MonkeyPatch, change: Callable[[], Any]) -> None:
    """Do something after the table was checked and before it is packed."""
    execute = spark_pufs.run.remembered.execute

    def later(*given: Any) -> Any:
        change()
        return execute(*given)

    monkeypatch.setattr(spark_pufs.run.remembered, "execute", later)


@pytest.mark.parametrize(
    ("reader", "told"), [("spark", "Source '{}': cannot be read: "), ("arrow", "Table: changed while it was read: ")]
)
def test_files_that_vanish_between_passes(
    example: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    reader: str,
    told: str,
) -> None:
    source, out = tmp_path / "source", tmp_path / "run"
    source.mkdir()
    for name in "ab":
        shutil.copy(example / "table.parquet", source / f"{name}.parquet")
    setting = f"spark.reader={reader}"
    assert select(source, out, setting) == 0
    before = results(out)
    capsys.readouterr()
    between_passes(monkeypatch, (source / "b.parquet").unlink)
    said = fails(capsys, select(source, out, setting, "select.k=1", "output.overwrite=true"), 3)
    assert told.format(source) in said
    assert "b.parquet" in said
    assert results(out) == before


def test_a_table_that_changes_between_passes(
    tmp_path: Path, example: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    source, out = tmp_path / "t.csv", tmp_path / "run"
    text = pd.read_parquet(example / "table.parquet").to_csv(index=False)
    source.write_text(text)
    assert select(source, out, "source.format=csv") == 0
    before = results(out)
    capsys.readouterr()
    between_passes(monkeypatch, lambda: source.write_text(text.replace("\n7,", "\n8,").replace("\n9,0", "\n9,1")))
    code = select(source, out, "source.format=csv", "select.k=1", "output.overwrite=true", "features.keep=[]")
    said = fails(capsys, code, 3)
    assert "Table: changed while it was read: 400 rows as at first, but other values in pass 'sample'." in said
    assert results(out) == before


def test_an_output_that_is_a_file(example: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").write_text("kept")
    said = fails(capsys, select(example / "table.parquet", tmp_path / "file"), 2)
    assert (
        f"error: Output '{tmp_path}/file': '{tmp_path}/file' is a file, not a folder. Name another output.path." in said
    )
    assert (tmp_path / "file").read_text() == "kept"


def test_a_run_directory_in_use(example: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert select(example / "table.parquet", tmp_path) == 0
    before = results(tmp_path)
    capsys.readouterr()
    with held(RunFolder(tmp_path)):
        code = select(example / "table.parquet", tmp_path, "select.k=1", "output.overwrite=true")
    said = fails(capsys, code, 1)
    assert f"error: Run directory '{tmp_path}': is in use by process {os.getpid()} on " in said
    assert results(tmp_path) == before


def test_full_and_read_only_disks(example: Path, volume: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert select(example / "table.parquet", volume / "run") == 0
    before = results(volume / "run")
    capsys.readouterr()
    room = os.statvfs(volume)
    (volume / "filler").write_bytes(b"x" * (room.f_bavail * room.f_frsize - 16384))  # room to start, none to end
    again = ("select.k=1", "output.overwrite=true")
    said = fails(capsys, select(example / "table.parquet", volume / "run", *again), 1)
    assert f"error: Output '{volume}/run': cannot be written: " in said
    assert "No space left on device" in said
    assert results(volume / "run") == before
    subprocess.run(["mount", "-o", "remount,ro", str(volume)], check=True)
    said = fails(capsys, select(example / "table.parquet", volume / "run", *again), 1)
    assert "Read-only file system" in said
    assert results(volume / "run") == before


def test_damage_in_the_run_directory(example: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert select(example / "table.parquet", tmp_path) == 0
    manifest = (tmp_path / "manifest.json").read_bytes()
    capsys.readouterr()
    (tmp_path / "manifest.json").write_bytes(manifest[:-20])
    said = fails(capsys, select(example / "table.parquet", tmp_path), 3)
    assert f"error: File 'manifest.json' in '{tmp_path}': is damaged (" in said
    (tmp_path / "manifest.json").write_bytes(manifest)
    names = json.loads((tmp_path / "selection.json").read_text())["names"]
    (tmp_path / "selection.json").write_text("{}")
    assert select(example / "table.parquet", tmp_path) == 0
    assert json.loads((tmp_path / "selection.json").read_text())["names"] == names


SECRET = "Zk8-secret-value"
NAME = "spark.hadoop.fs.s3a.secret.key"


def test_secrets_are_not_left_behind_and_resume_asks_for_them(
    example: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert select(example / "table.parquet", tmp_path, f"spark.conf.{NAME}={SECRET}") == 0
    for path in tmp_path.iterdir():
        assert SECRET.encode() not in path.read_bytes()
    assert yaml.safe_load((tmp_path / "config.yaml").read_text())["spark"]["conf"] == {NAME: "***"}
    capsys.readouterr()
    said = fails(capsys, run(["resume", str(tmp_path)]), 2)
    assert f"error: Setting 'spark.conf.{NAME}': *** stands for a secret, which is not kept. Give it again" in said
    assert run(["resume", str(tmp_path), "--set", f"spark.conf.{NAME}={SECRET}"]) == 0
    said = "".join(capsys.readouterr())
    assert "Already done" in said
    assert SECRET not in said


def test_a_run_that_was_moved_goes_on_where_it_is(
    example: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert select(example / "table.parquet", tmp_path / "old") == 0
    (tmp_path / "old").rename(tmp_path / "new")
    assert run(["resume", str(tmp_path / "new")]) == 0
    assert f"Already done: {tmp_path}/new" in capsys.readouterr().out
    assert not (tmp_path / "old").exists()


def test_links_out_of_the_run_directory_are_refused(
    example: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "run"
    assert select(example / "table.parquet", out) == 0
    (out / "config.yaml").rename(tmp_path / "config.yaml")
    (out / "config.yaml").symlink_to(tmp_path / "config.yaml")
    capsys.readouterr()
    said = fails(capsys, run(["resume", str(out)]), 2)
    assert f"error: Run directory '{out}': 'config.yaml' is a link to '{tmp_path}/config.yaml', outside." in said


def stopped_search(out: Path) -> dict[str, bytes]:
    """A folder as a search leaves it that was stopped; its files."""
    FolderKeeper(RunFolder(out), {"request": {"method": "fscpu", "seed": 7}}).save({"generation": 3})
    (out / "config.pending.yaml").write_text("as it was")
    return {path.name: path.read_bytes() for path in out.iterdir()}


@pytest.mark.parametrize("settings", [("select.method=fscpu",), ("select.method=semi-mim",)])
def test_the_work_of_a_stopped_search_is_refused_and_stays_whole(
    example: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], settings: tuple[str, ...]
) -> None:
    before = stopped_search(tmp_path)
    (tmp_path / MARK).write_text("ours")
    before[MARK] = b"ours"
    for more in ((), ("--dry-run",)):
        said = fails(capsys, select(example / "table.parquet", tmp_path, *settings, more=more), 2)
        assert f"error: Checkpoint in '{tmp_path}': belongs to another run: " in said
        assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before
    assert select(example / "table.parquet", tmp_path, "select.method=semi-mim", "output.overwrite=true") == 0
    assert not {"checkpoint.npz", "config.pending.yaml"} & {path.name for path in tmp_path.iterdir()}


def test_a_dry_run_ends_as_the_run_would(example: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").write_text("kept")
    said = fails(capsys, select(example / "table.parquet", tmp_path / "file", more=("--dry-run",)), 2)
    assert (
        f"error: Output '{tmp_path}/file': '{tmp_path}/file' is a file, not a folder. Name another output.path." in said
    )
    for more in ((), ("--dry-run",)):
        said = fails(capsys, select(example / "table.parquet", tmp_path / "file" / "below", more=more), 2)
        assert f"error: Output '{tmp_path}/file/below': '{tmp_path}/file' is a file, not a folder." in said
    assert select(example / "table.parquet", tmp_path / "run") == 0
    before = results(tmp_path / "run")
    capsys.readouterr()
    said = fails(capsys, select(example / "table.parquet", tmp_path / "run", "select.k=1", more=("--dry-run",)), 2)
    assert f"error: Output '{tmp_path}/run': holds the results of another table, request or version." in said
    said = fails(
        capsys, select(example / "table.parquet", tmp_path / "new", "select.method=mint", more=("--dry-run",)), 3
    )
    assert "error: Column 'label': method 'mint' needs rows labelled negative, found none." in said
    assert select(example / "table.parquet", tmp_path / "run", more=("--dry-run",)) == 0
    assert results(tmp_path / "run") == before


@pytest.mark.parametrize(("job", "section"), [("compare", "compare:\n  folds: 5"), ("reproduce", "run:\n  wave: 4")])
def test_resume_names_the_command_of_another_job(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], job: str, section: str
) -> None:
    (tmp_path / "config.yaml").write_text(f"output:\n  path: x\n{section}\n")
    said = fails(capsys, run(["resume", str(tmp_path)]), 2)
    assert f"Run directory '{tmp_path}': holds a run of spark-pufs {job}. " in said
    assert f"Run `spark-pufs {job} --config {tmp_path}/config.yaml` again." in said
