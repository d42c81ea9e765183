"""The folder of a memory: what is in it is what was put there, or an error."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

import spark_pufs
from spark_pufs.errors import Busy, ConfigError, DataError
from spark_pufs.memory.store import INDEX
from spark_pufs.rundir.folder import RunFolder
from spark_pufs.rundir.lock import held
from support.memory_days import OPTIONS, day, days


@pytest.fixture
def memory(tmp_path: Path) -> Path:
    spark_pufs.select(days(1, 2), memory=tmp_path, partition="day", **OPTIONS)
    return tmp_path


def read_again(memory: Path) -> tuple[str, ...]:
    found = spark_pufs.select(days(1, 2), memory=memory, partition="day", **OPTIONS).findings.memory
    assert found is not None
    return found.read


def test_an_unknown_format_is_refused(memory: Path) -> None:
    values = json.loads((memory / INDEX).read_text())
    (memory / INDEX).write_text(json.dumps({**values, "format": 99}))
    with pytest.raises(ConfigError, match=r"has format 99, made by version '.*'; known is 1"):
        read_again(memory)


def test_a_changed_index_is_refused(memory: Path) -> None:
    text = (memory / INDEX).read_text()
    (memory / INDEX).write_text(text.replace("2026-01-02", "2026-01-03"))
    with pytest.raises(DataError, match=r"memory.json is damaged .its checksum is wrong"):
        read_again(memory)


@pytest.mark.parametrize("damage", ["gone", "flipped"])
def test_damaged_counts_are_made_again_from_the_table(damage: str, memory: Path) -> None:
    file = memory / json.loads((memory / INDEX).read_text())["index"]["partitions"]["2026-01-01"]["file"]
    whole = file.read_bytes()
    file.unlink()
    if damage == "flipped":
        file.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
    with pytest.raises(DataError, match=r"its file counts-.* is damaged"):
        spark_pufs.select(day(2), memory=memory, partition="day", **OPTIONS)
    assert read_again(memory) == ("2026-01-01",)
    assert file.read_bytes() == whole


def test_files_of_stopped_runs_go(memory: Path) -> None:
    stray = memory / f"counts-{'0' * 32}.bin"
    stray.write_bytes(b"left by a run that was killed")
    spark_pufs.select(day(3), memory=memory, partition="day", **OPTIONS)
    assert not stray.exists()
    assert len(list(memory.glob("counts-*"))) == 3
    stray.write_bytes(b"left by one that had written its index")
    spark_pufs.select(day(3), memory=memory, partition="day", **OPTIONS)
    assert not stray.exists()


def test_a_folder_of_the_user_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(ConfigError, match="is not a run directory"):
        spark_pufs.select(day(1), memory=tmp_path, partition="day", **OPTIONS)


def test_a_copied_memory_goes_on(memory: Path, tmp_path: Path) -> None:
    place = tmp_path.parent / f"{tmp_path.name}-copy"
    shutil.copytree(memory, place)
    found = spark_pufs.select(day(3), memory=place, partition="day", **OPTIONS).findings.memory
    assert found is not None
    assert found.partitions == 3


def test_one_run_at_a_time(memory: Path) -> None:
    before = (memory / INDEX).read_bytes()
    with held(RunFolder(memory)), pytest.raises(Busy, match="is in use by process"):
        spark_pufs.select(day(3), memory=memory, partition="day", **OPTIONS)
    assert (memory / INDEX).read_bytes() == before


def test_an_address_will_do(tmp_path: Path) -> None:
    place = f"file://{tmp_path}/state"
    for number in (1, 2):
        found = spark_pufs.select(day(number), memory=place, partition="day", **OPTIONS).findings.memory
    assert found is not None
    assert found.partitions == 2
