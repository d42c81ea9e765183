"""Pages replace nothing, or an earlier page of ours."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

import spark_pufs
from spark_pufs.cli.commands import run
from spark_pufs.errors import ConfigError
from spark_pufs.rundir.pages import write_page

TABLE = pd.DataFrame({"a": [1, 2] * 50, "b": [3, 3, 4, 4] * 25, "label": [1, 0] * 50})


def chosen() -> spark_pufs.Selection:
    return spark_pufs.select(TABLE, label="label", method="semi-mim", k=1)


@pytest.mark.parametrize("name", ["report.html", "report.md"])
def test_a_report_replaces_a_report(tmp_path: Path, name: str) -> None:
    (tmp_path / name).touch()
    for _ in range(2):
        chosen().write_report(tmp_path / name)
    assert "semi-mim" in (tmp_path / name).read_text()


@pytest.mark.parametrize("name", ["thesis.txt", "report.md", "page.html"])
def test_a_file_of_the_user_stays(tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    mine = "<!doctype html><title>spark_pufs</title>years of work"
    (tmp_path / name).write_text(mine)
    with pytest.raises(ConfigError, match=r"is there already, and is no page of spark_pufs\. Name another file"):
        chosen().write_report(tmp_path / name)
    chosen().write(tmp_path / "run")
    for words in (["diff", str(tmp_path / "run"), str(tmp_path / "run")], ["history", str(tmp_path)]):
        assert run([*words, "--html", str(tmp_path / name)]) == 2
    assert "is no page of spark_pufs" in capsys.readouterr().err
    assert (tmp_path / name).read_text() == mine


def test_a_place_that_is_none() -> None:
    for path in ("a\0b", "~no-one-of-that-name/x.html"):
        with pytest.raises(ConfigError, match="cannot be written"):
            write_page(path, "")
