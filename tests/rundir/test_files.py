from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import spark_pufs
from spark_pufs.errors import ConfigError, DataError, PufsError
from spark_pufs.rundir.files import RunFolder, write_selection
from spark_pufs.rundir.folder import MARK


def small(seed: int = 0, **options: object) -> spark_pufs.Selection:
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(rng.normal(size=(300, 4)), columns=["a", "b", "c", "d"])
    table["label"] = np.where(table["a"] > 0.8, 1, 0)
    return spark_pufs.select(table, label="label", method="semi-mim", k=2, **options)


def test_every_file_is_listed_with_its_hash(tmp_path: Path) -> None:
    small().write(tmp_path / "run")
    manifest = json.loads((tmp_path / "run" / "manifest.json").read_text())
    assert set(manifest["files"]) == {"selection.json", "ranking.parquet", "report.html", "report.md"}
    for name, facts in manifest["files"].items():
        data = (tmp_path / "run" / name).read_bytes()
        assert facts == {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}


def test_written_answer_is_the_answer(tmp_path: Path) -> None:
    selection = small()
    selection.write(tmp_path)
    written = json.loads((tmp_path / "selection.json").read_text())
    assert written["names"] == selection.names
    assert written["scores"] == selection.scores
    ranking = pd.read_parquet(tmp_path / "ranking.parquet")
    assert list(ranking["name"]) == list(selection.table()["name"])
    assert list(ranking[ranking["selected"]]["name"]) == selection.names


def test_same_selection_again_changes_nothing(tmp_path: Path) -> None:
    selection = small()
    selection.write(tmp_path)
    before = {path.name: path.stat().st_mtime_ns for path in tmp_path.iterdir()}
    selection.write(tmp_path)
    assert {path.name: path.stat().st_mtime_ns for path in tmp_path.iterdir()} == before


def test_other_results_are_not_replaced_unasked(tmp_path: Path) -> None:
    small().write(tmp_path)
    with pytest.raises(
        ConfigError, match=r"holds the results of another table, request or version\. .*Set `overwrite=True`"
    ):
        small(seed=1).write(tmp_path)
    small(seed=1).write(tmp_path, overwrite=True)
    assert json.loads((tmp_path / "selection.json").read_text())["names"] == small(seed=1).names


def failing(method: str, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make one step of RunFolder fail at one file."""
    step = getattr(RunFolder, method)

    def fail(self: RunFolder, given: str, *more: bytes) -> None:
        if given == name:
            raise PufsError([])
        step(self, given, *more)

    monkeypatch.setattr(RunFolder, method, fail)


def test_a_failure_to_write_leaves_earlier_results_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    small().write(tmp_path)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    for name in before.keys() - {MARK}:
        with monkeypatch.context() as patch:
            failing("_stage", name, patch)
            with pytest.raises(PufsError):
                write_selection(small(seed=1), tmp_path, overwrite=True)
        assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_a_failure_while_files_are_shown_leaves_nothing_that_looks_finished(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    small().write(tmp_path)
    failing("_show", "report.html", monkeypatch)
    with pytest.raises(PufsError):
        write_selection(small(seed=1), tmp_path, overwrite=True)
    assert not (tmp_path / "manifest.json").exists()
    assert RunFolder(tmp_path).finished() is None


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match=r"Output '.*file/run': '.*/file' is a file, not a folder"):
        small().write(tmp_path / "file" / "run")


def test_addresses_go_through_arrow(tmp_path: Path) -> None:
    small().write((tmp_path / "uri").as_uri())
    assert (tmp_path / "uri" / "manifest.json").exists()
    with pytest.raises(ConfigError, match="Output 'nonsense://x': cannot be used"):
        RunFolder("nonsense://x")


def test_apply_keeps_chosen_features_and_columns_that_are_none() -> None:
    table = pd.DataFrame({"id": range(100), "a": [0.0, 1.0] * 50, "b": [1.0, 2.0, 3.0, 4.0] * 25, "c": 1.0})
    table["label"] = [0, 1] * 50
    selection = spark_pufs.select(table, label="label", keep=["id"], k=1)
    assert selection.names == ["a"]
    assert list(selection.apply(table).columns) == ["id", "a", "label"]


def test_apply_asks_for_every_chosen_feature() -> None:
    found, table = small(), pd.DataFrame({"aa": [1.0], "label": [1]})
    assert found.names
    with pytest.raises(DataError) as caught:
        found.apply(table)
    assert [fault.where for fault in caught.value.faults] == [f"Column '{name}'" for name in found.names]
    assert str(caught.value.faults[0]) == "Column 'a': not found in the table. Did you mean 'aa'?"


@pytest.mark.spark
def test_apply_asks_for_every_chosen_feature_on_spark(spark: Any) -> None:
    with pytest.raises(DataError, match="Column 'a': not found in the table"):
        small().apply(spark.createDataFrame([(1.0, 1)], ["aa", "label"]))


def test_columns_with_numbers_for_names() -> None:
    table = pd.DataFrame({3: [0.0, 1.0] * 50, 4: [1.0, 2.0, 3.0, 4.0] * 25, 9: [0, 1] * 50})
    selection = spark_pufs.select(table, label=9, features=[3, 4], must=[3], k=1)  # type: ignore[arg-type, list-item]
    assert selection.names == ["3"]
    assert list(selection.apply(table)) == [3, 9]


def test_a_selection_shows_itself_in_a_line() -> None:
    assert repr(small()) == str(small())
    assert len(repr(small())) < 200


def test_a_report_that_cannot_be_written(tmp_path: Path) -> None:
    for path, why in ((tmp_path / "none" / "r.html", "No such file or directory"), (tmp_path, "Is a directory")):
        with pytest.raises(ConfigError) as caught:
            small().write_report(path)
        fix = "Name a file in a folder that is there and may be written."
        assert str(caught.value) == f"Report '{path}': cannot be written: {why}. {fix}"


def test_the_package_lists_what_it_has() -> None:
    assert set(spark_pufs.__all__) <= set(dir(spark_pufs))
