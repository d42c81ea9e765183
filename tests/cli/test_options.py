"""--set-file: what --set takes, without standing on the command line."""

from __future__ import annotations

import io
from pathlib import Path

import pandas as pd
import pytest
import yaml

from spark_pufs.cli import run


@pytest.fixture
def config(tmp_path: Path) -> str:
    pd.DataFrame({"a": [1, 2] * 50, "b": [3, 3, 4, 4] * 25, "label": [1, 0] * 50}).to_parquet(tmp_path / "t.parquet")
    settings = {
        "source": {"path": str(tmp_path / "t.parquet")},
        "label": {"column": "label"},
        "select": {"method": "semi-mim", "k": 2},
        "output": {"path": str(tmp_path / "run")},
    }
    (tmp_path / "c.yaml").write_text(yaml.safe_dump(settings))
    return str(tmp_path / "c.yaml")


def chosen(out: Path) -> int:
    return int(pd.read_parquet(out / "ranking.parquet")["selected"].sum())


def test_lines_of_a_file_are_overrides(config: str, tmp_path: Path) -> None:
    (tmp_path / "more.txt").write_text("\ufeff# of this machine\n\n  select.k=1\r\n", encoding="utf-8")
    assert run(["select", "--config", config, "--set-file", str(tmp_path / "more.txt")]) == 0
    assert chosen(tmp_path / "run") == 1


def test_the_command_line_counts_before_files(config: str, tmp_path: Path) -> None:
    (tmp_path / "more.txt").write_text("select.k=1")
    word = ["--set", "select.k=2", "--set-file", str(tmp_path / "more.txt")]
    assert run(["select", "--config", config, *word]) == 0
    assert chosen(tmp_path / "run") == 2


def test_standard_input(config: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"select.k=1\n")))
    assert run(["select", "--config", config, "--set-file", "-"]) == 0
    assert chosen(tmp_path / "run") == 1


@pytest.mark.parametrize(
    ("held", "told"),
    [
        (None, "cannot be read: No such file or directory. Check the path."),
        (b"\xff\xfe", "are not text in UTF-8. Write the file again."),
        (b"#" * (2**20 + 1), "hold over 1,048,576 characters. Put them into the configuration."),
        (b"hunter2", "Override number 1: expected section.key=value."),
        (b"select.k=1\naHVudGVyMg==", "Override number 2: expected section.key=value."),
    ],
    ids=["absent", "bytes", "large", "word", "base64"],
)
def test_files_that_are_none(
    config: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], held: bytes | None, told: str
) -> None:
    if held is not None:
        (tmp_path / "more.txt").write_bytes(held)
    assert run(["select", "--config", config, "--set-file", str(tmp_path / "more.txt")]) == 2
    printed = "".join(capsys.readouterr())
    assert told in printed
    assert "hunter2" not in printed
    assert "aHVudGVyMg" not in printed
