"""Parts of a reproduction that were damaged: named, never read; the others count."""

from __future__ import annotations

from pathlib import Path

import pytest

from spark_pufs.errors import PufsError
from spark_pufs.rundir.folder import RunFolder
from spark_pufs.studies.result_parts import UNIT, KeptResults
from spark_pufs.studies.study import key_of, long_form

SETTINGS = {"squares": {"numbers": [1]}}


def opened(path: Path) -> KeptResults:
    kept = KeptResults(RunFolder(path).inner("parts"))
    kept.open(SETTINGS, overwrite=False)
    return kept


@pytest.fixture
def run(tmp_path: Path) -> Path:
    kept = opened(tmp_path)
    for number in range(3):
        row = {"repeat": number, "measure": "square", "value": float(number**2)}
        kept.add([{UNIT: key_of({"repeat": number}), **long_form("squares", row, 0.0)}])
    return tmp_path


def parts(run: Path) -> list[Path]:
    return sorted((run / "parts").glob("part-*.parquet"))


def test_any_bit_flipped_and_any_cut_is_told(run: Path) -> None:
    part = parts(run)[1]
    whole = part.read_bytes()
    damaged = [whole[:length] for length in range(0, len(whole), 97)]
    for place in range(0, len(whole), 41):
        data = bytearray(whole)
        data[place] ^= 1 << place % 8
        damaged.append(bytes(data))
    for data in damaged:
        part.write_bytes(data)
        with pytest.raises(PufsError) as caught:
            opened(run)
        assert str(caught.value) == (
            f"Part '{part.name}' in '{run}/parts': is damaged (its checksum is wrong). Delete it: its units run again."
        )
    assert len(damaged) > 50


def test_a_part_that_is_taken_away_hides_no_other_and_is_not_written_over(run: Path) -> None:
    before = {path.name: path.read_bytes() for path in parts(run)}
    parts(run)[1].unlink()
    kept = opened(run)
    assert kept.rows["value"].tolist() == [0.0, 4.0]
    row = {"repeat": 1, "measure": "square", "value": 1.0}
    kept.add([{UNIT: key_of({"repeat": 1}), **long_form("squares", row, 0.0)}])
    after = {path.name: path.read_bytes() for path in parts(run)}
    assert len(after) == 3
    assert all(after[name] == data for name, data in before.items() if name in after)
    assert sorted(opened(run).rows["value"]) == [0.0, 1.0, 4.0]


def test_parts_of_before_checksums_are_read(run: Path) -> None:
    for number, part in enumerate(parts(run)):
        part.rename(part.with_name(f"part-{number:05d}.parquet"))
    assert opened(run).rows["value"].tolist() == [0.0, 1.0, 4.0]


def test_damaged_settings_are_told(run: Path) -> None:
    (run / "parts" / "settings.json").write_text("{")
    with pytest.raises(PufsError, match=r"File 'settings\.json' in '.*parts': is damaged \("):
        opened(run)


def test_parts_may_not_lie_elsewhere(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "parts").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(PufsError, match=r"'parts' is a link to '.*elsewhere', outside\."):
        opened(tmp_path / "run")
    assert list((tmp_path / "elsewhere").iterdir()) == []
