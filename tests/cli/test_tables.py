"""One line without a configuration, in memory: the answer, the words of its errors, the settings it stands for."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml

import spark_pufs.spark.session
from spark_pufs.cli import run, terminal
from spark_pufs.history.stored import read_selection

QUICK = ("--method", "semi-mim")


@pytest.fixture(autouse=True)
def no_spark(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def refuse(*arguments: object) -> None:
        raise AssertionError("a session was asked for")

    monkeypatch.setattr(spark_pufs.spark.session, "open_session", refuse)
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def flows(tmp_path: Path) -> str:
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(400, 4)), columns=["a", "b", "c", "d"]).round(3)
    table.insert(0, "id_row", [f"r{i}" for i in range(400)])
    table["kind"] = np.where((table["b"] > 0.7) & (rng.random(400) < 0.6), "attack", "other")
    table["seen"] = pd.date_range("2026-01-01", periods=400, freq="min").strftime("%Y-%m-%d %H:%M:%S")
    table.assign(confirmed=(table["kind"] == "attack") * 1).drop(columns="kind").to_csv("flows.csv", index=False)
    table.to_csv("words.csv", index=False, sep=";")
    return "flows.csv"


def test_a_csv_with_its_label_is_enough(flows: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["select", flows, "--label", "confirmed", "-k", "2", "--exclude", "id*", *QUICK]) == 0
    said = capsys.readouterr().out
    assert said.startswith("semi-mim: 2 of 5 features: b, ")
    assert "    1  b        ████████████████████████  1.00" in said
    assert "Report:  runs/flows-semi-mim-k2/report.html" in said
    printed = said.partition("keeps it):\n")[2]
    assert yaml.safe_load(printed)["select"] == {"method": "semi-mim", "k": 2, "judge": True}
    assert read_selection("runs/flows-semi-mim-k2").names[0] == "b"


def test_the_saved_settings_give_the_same_answer(flows: str, capsys: pytest.CaptureFixture[str]) -> None:
    line = ["select", "words.csv", "--label", "kind", "--positive", "attack", "--unlabelled", "*", "-k", "2", *QUICK]
    assert run([*line, "--keep", "id_row", "--out", "runs/x", "--save-config", "job.yaml"]) == 0
    assert "The same as a job: --config job.yaml" in capsys.readouterr().out
    assert run(["select", "--config", "job.yaml"]) == 0
    assert "Already done: runs/x" in capsys.readouterr().out
    assert run([*line, "--keep", "id_row", "--out", "runs/x", "--set", "select.k=3"]) == 2
    said = capsys.readouterr().err
    assert "another table, request or version. What differs: k is 2 there and 3 here. Set --overwrite, or" in said
    assert run([*line, "--keep", "id_row", "--out", "runs/x", "--set", "select.k=3", "--overwrite"]) == 0


def test_errors_name_what_was_typed(flows: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["select", "words.csv", "--label", "kind", *QUICK]) == 3
    assert "Add the values to --positive, --negative or --unlabelled" in capsys.readouterr().err
    run(["select", flows, "--label", "confirmed", "--dry-run", *QUICK, "--save-config", "job.yaml"])
    assert run(["select", "--config", "job.yaml", "--set", "label.positive=[2]"]) == 3
    assert "Add the values to label.positive, label.negative or label.unlabelled" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        ([], 2, "Give a table and its label, or --config"),
        (["flows.csv"], 2, "Say which column is the label: --label NAME."),
        (["--config", "job.yaml", "-k", "3"], 2, "-k goes with a table; with --config use --set."),
        (["--config", "job.yaml", "--features", "a"], 2, "--features goes with a table"),
        (["flow.csv", "--label", "confirmed"], 3, "Table 'flow.csv': does not exist. Did you mean 'flows.csv'?"),
        (["flows.csv", "--label", "confimed"], 3, "Column 'confimed': not found among 7 columns. Did you mean"),
    ],
)
def test_usage(flows: str, capsys: pytest.CaptureFixture[str], words: list[str], code: int, message: str) -> None:
    assert run(["select", *words]) == code
    assert message in capsys.readouterr().err


@pytest.mark.parametrize("engine", ["auto", "spark"])
def test_a_path_that_is_not_there_is_told_before_spark_starts(capsys: pytest.CaptureFixture[str], engine: str) -> None:
    Path("job.yaml").write_text("{source: {path: no.parquet}, label: {column: s}, output: {path: runs/x}}")
    assert run(["select", "--config", "job.yaml", "--engine", engine, "--dry-run"]) == 3
    assert "Source 'no.parquet': does not exist. Check source.path" in capsys.readouterr().err


def test_compare_and_check_take_a_table(flows: str, capsys: pytest.CaptureFixture[str]) -> None:
    asked = [flows, "--label", "confirmed", "--exclude", "id*"]
    assert run(["compare", *asked, "-k", "2", *QUICK, "--set", "compare.repeats=1"]) == 0
    said = capsys.readouterr().out
    assert said.startswith("method ")
    assert yaml.safe_load(said.partition("keeps it):\n")[2])["compare"] == {"methods": ["semi-mim"], "repeats": 1}
    assert run(["check", *asked, "--exclude", "seen"]) == 0
    assert capsys.readouterr().out.startswith("cluster assumption: ")


def test_feather_is_read_here(flows: str, capsys: pytest.CaptureFixture[str]) -> None:
    pd.read_csv(flows, parse_dates=["seen"]).to_feather("flows.feather")
    assert run(["select", "flows.feather", "--label", "confirmed", "-k", "1", *QUICK]) == 0
    assert capsys.readouterr().out.startswith("semi-mim: 1 of 5 features: b\n")
    pd.DataFrame({"a": [[1], [2]], "s": [1, 0]}).to_feather("lists.feather")
    assert run(["select", "lists.feather", "--label", "s"]) == 2
    assert "Write it as Parquet." in capsys.readouterr().err


def test_the_report_is_opened(flows: str, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    monkeypatch.setattr("click.launch", opened.append)
    assert run(["select", flows, "--label", "confirmed", "-k", "1", *QUICK, "--out", "runs/x", "--open"]) == 0
    assert opened == ["runs/x/report.html"]


def test_bars_are_of_signs_that_the_output_has(monkeypatch: pytest.MonkeyPatch) -> None:
    class Plain:
        encoding = "ascii"

    monkeypatch.setattr("sys.stdout", Plain())
    assert terminal.block() == "#"
