"""What a run took, in numbers: in the log a line a pass, in the selection and in the manifest."""

from __future__ import annotations

import json
import logging
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import spark_pufs
from spark_pufs.cli import run

ROWS, NUMBERS = 300, 4


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(ROWS, NUMBERS)), columns=list("abcd"))
    return table.assign(kind=np.where(table["a"] > 0, "x", "y"), label=(table["a"] > 0.8).astype(int))


def test_a_pass_tells_its_rows_and_the_bytes_of_their_values(
    table: pd.DataFrame, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO, "spark_pufs"):
        found = spark_pufs.select(table, label="label", method="semi-jmi", k=2)
    lines = [record.metrics for record in caplog.records if hasattr(record, "metrics")]
    assert [(one["event"], one["method"], one["pass"], one["what"]) for one in lines] == [
        ("pass", "semi-jmi", 1, "profile"),
        ("pass", "semi-jmi", 2, "pack"),
        ("pass", "semi-jmi", 3, "all pairs"),
    ]
    raw, packed = ROWS * (8 * NUMBERS + 4), ROWS * (NUMBERS + 1)  # numbers and a text; a code of each
    assert [(one["rows"], one["bytes"]) for one in lines] == [(ROWS, raw), (ROWS, raw), (ROWS, packed)]
    assert [(one.rows, one.bytes) for one in found.run.passes] == [(ROWS, raw), (ROWS, raw), (ROWS, packed)]


def test_a_search_tells_each_generation_and_the_manifest_sums_up(
    table: pd.DataFrame, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO, "spark_pufs"):
        found = spark_pufs.select(
            table, label="label", method="fscpu", k=2, generations=2, generation_size=64, clusters=2
        )
    lines = [record.metrics for record in caplog.records if hasattr(record, "metrics")]
    rounds = [one for one in lines if one["event"] == "generation"]
    assert [one["generation"] for one in rounds] == list(range(1, len(rounds) + 1))
    found.write(tmp_path / "run")
    told = json.loads((tmp_path / "run" / "manifest.json").read_text())["metrics"]
    passes = [one for one in lines if one["event"] == "pass"]
    assert told == {
        "rows": ROWS,
        "passes": len(passes),
        "bytes": sum(one["bytes"] for one in passes),
        "seconds": found.run.seconds,
        "masks": sum(one["masks"] for one in rounds),
    }
    assert told["masks"] > 0


def log_lines(said: str) -> list[dict[str, object]]:
    """Without the warnings of the command itself, which are no log."""
    return [json.loads(one) for one in said.splitlines() if one.startswith("{")]


def test_the_log_in_json_is_an_object_a_line(
    table: pd.DataFrame, tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    table.to_parquet(tmp_path / "t.parquet")
    line = ["select", str(tmp_path / "t.parquet"), "--label", "label", "-k", "2", "--out", str(tmp_path / "run")]
    assert run(["--log", "json", *line]) == 0
    told = log_lines(capfd.readouterr().err)
    assert {"time", "level", "message"} <= set.intersection(*map(set, told))
    assert {one["rows"] for one in told if one.get("event") == "pass"} == {ROWS}
    monkeypatch.setenv("SPARK_PUFS_LOG", "json")  # as jobs under spark-submit are told
    assert run([*line, "--overwrite", "--method", "mim"]) == 0
    told = log_lines(capfd.readouterr().err)
    assert "mim" in {one["method"] for one in told if one.get("event") == "pass"}
