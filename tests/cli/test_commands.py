"""The console command on a real Spark session."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pandas as pd
import pytest

from spark_pufs.cli import run
from spark_pufs.spark.engine import SparkEngine

ROOT = Path(__file__).parents[2]
CONF = str(ROOT / "conf" / "select_features.yaml")

pytestmark = pytest.mark.spark

BRIEFLY = ("--set", "select.trees=10", "--set", "select.judge=false")  # where how the default chooses plays no part


@pytest.fixture(scope="module")
def example(spark: object, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("demo")
    assert run(["demo", "--engine", "spark", "--out", str(folder)]) == 0
    return folder


def select(example: Path, out: Path, *more: str) -> int:
    table = f"source.path={example / 'table.parquet'}"
    return run(["select", "--engine", "spark", "--config", CONF, "--set", table, "--set", f"output.path={out}", *more])


def test_demo_finds_nearly_all_relevant_features_and_leaves_a_report(example: Path) -> None:
    answer = json.loads((example / "semi-jmi" / "selection.json").read_text())
    assert sum(name.startswith("relevant") for name in answer["names"]) >= 22
    assert (example / "semi-jmi" / "report.html").stat().st_size > 1000


def test_select_writes_results_and_the_second_run_is_a_no_op(
    example: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "run"
    assert select(example, out, "--set", "select.k=5", *BRIEFLY) == 0
    first = json.loads((out / "selection.json").read_text())
    assert len(first["names"]) == 5
    assert "config.yaml" in json.loads((out / "manifest.json").read_text())["files"]
    assert select(example, out, "--set", "select.k=5", *BRIEFLY) == 0
    assert "Already done" in capsys.readouterr().out
    assert json.loads((out / "selection.json").read_text()) == first
    assert select(example, out, "--set", "select.k=6", *BRIEFLY) == 2
    assert select(example, out, "--set", "select.k=6", *BRIEFLY, "--set", "output.overwrite=true") == 0


def test_the_next_day_tells_what_changed(example: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    quick = ("--set", "select.method=semi-mim", "--set", "output.previous=latest")
    assert select(example, tmp_path / "2026-01-01", *quick, "--set", "select.k=5") == 0
    assert "Since" not in capsys.readouterr().out
    assert select(example, tmp_path / "2026-01-02", *quick, "--set", "select.k=4") == 0
    assert "Since 2026-01-01: changed within error" in capsys.readouterr().out
    answer = json.loads((tmp_path / "2026-01-02" / "selection.json").read_text())
    assert answer["details"]["since"]["verdict"] == "changed within error"
    assert len(answer["details"]["since"]["went"]) == 1
    assert "changes.html" in json.loads((tmp_path / "2026-01-02" / "manifest.json").read_text())["files"]


def test_dry_run_prints_the_plan_and_writes_nothing(
    example: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert select(example, tmp_path / "none", "--dry-run") == 0
    plan = capsys.readouterr().out
    assert "4,500 rows, 200 labelled positive, 0 labelled negative, 4,300 unlabelled" in plan
    assert "all pairs in one pass" in plan
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize(
    ("settings", "code", "message"),
    [
        (["source.path=/nowhere/at/all"], 3, "Source '/nowhere/at/all': does not exist."),
        (["source.format=parket"], 3, "its format is not known to Spark."),
        (["label.column=labl"], 3, "Column 'labl': not found among 52 columns. Did you mean 'label'?"),
        (["select.method=jmmi"], 2, "Did you mean 'jmi'?"),
        (["output.path=/dev/null/x"], 2, "Output '/dev/null/x': '/dev/null' is a file, not a folder"),
    ],
)
def test_faults_have_their_exit_codes(
    example: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], settings: list[str], code: int, message: str
) -> None:
    more = [word for setting in settings for word in ("--set", setting)]
    assert select(example, tmp_path / "run", *more) == code
    assert message in capsys.readouterr().err
    assert not (tmp_path / "run" / "manifest.json").exists()


@pytest.fixture(scope="module")
def from_parquet(example: Path, tmp_path_factory: pytest.TempPathFactory) -> pd.DataFrame:
    """The ranking of the example as it is."""
    out = tmp_path_factory.mktemp("parquet") / "run"
    assert select(example, out, *BRIEFLY) == 0
    return pd.read_parquet(out / "ranking.parquet")


@pytest.mark.parametrize("format_", ["csv", "json", "orc"])
def test_other_formats_give_the_same_answer(
    spark: object, example: Path, from_parquet: pd.DataFrame, tmp_path: Path, format_: str
) -> None:
    table = spark.read.parquet(str(example / "table.parquet"))  # type: ignore[attr-defined]
    table.write.format(format_).option("header", "true").save(str(tmp_path / format_))
    settings = ["--set", f"source.path={tmp_path / format_}", "--set", f"source.format={format_}"]
    assert select(example, tmp_path / "run", *settings, *BRIEFLY) == 0
    ranking = pd.read_parquet(tmp_path / "run" / "ranking.parquet")
    assert dict(zip(ranking["name"], ranking["score"], strict=True)) == dict(
        zip(from_parquet["name"], from_parquet["score"], strict=True)
    )


def test_truncated_parquet_is_a_data_error(example: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    whole = (example / "table.parquet").read_bytes()
    (tmp_path / "half.parquet").write_bytes(whole[: len(whole) // 2])
    assert select(example, tmp_path / "run", "--set", f"source.path={tmp_path / 'half.parquet'}") == 3
    assert "cannot be read" in capsys.readouterr().err


def test_catalog_table(spark: object, example: Path, tmp_path: Path) -> None:
    spark.read.parquet(str(example / "table.parquet")).createOrReplaceTempView("flows")  # type: ignore[attr-defined]
    settings = ["source.table=flows", "source.path=null", f"output.path={tmp_path}"]
    assert (
        run(["select", "--config", CONF, *[word for setting in settings for word in ("--set", setting)], *BRIEFLY]) == 0
    )


def test_power_and_methods_need_no_spark(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["power", "--prior", "0.05", "--labelled", "100", "--rows", "10000"]) == 0
    assert run(["methods"]) == 0
    printed = capsys.readouterr().out
    assert "kappa" in printed
    assert "semi-iamb" in printed


def test_usage_errors(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["selct"]) == 2
    assert run(["select"]) == 2
    assert run(["power", "--prior", "2", "--labelled", "100", "--rows", "10000"]) == 2
    assert run(["--version"]) == 0


def test_a_search_runs_resumes_and_writes_likely_positives(
    example: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "run"
    settings = [
        "select.method=fscpu",
        "select.generations=1",
        "select.generation_size=32",
        "output.likely_positives=true",
    ]
    assert select(example, out, *[word for setting in settings for word in ("--set", setting)]) == 0
    clusters = json.loads((out / "selection.json").read_text())["details"]["clusters"]
    likely = pd.read_parquet(out / "likely_positives.parquet")
    assert list(likely.columns) == ["row_id", "cluster"]
    assert len(likely) == sum(c["rows"] - c["labelled"] for c in clusters if c["positive"])
    assert not (out / "checkpoint.npz").exists()
    assert run(["resume", str(out)]) == 0
    assert "Already done" in capsys.readouterr().out
    assert run(["resume", str(tmp_path / "nothing")]) == 2


SEARCH = ("--set", "select.method=fscpu", "--set", "select.generations=1", "--set", "select.generation_size=32")
LIKELY = ("--set", "output.likely_positives=true")


def test_likely_positives_asked_for_later_are_written_then(
    example: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert select(example, tmp_path, *SEARCH) == 0
    assert not (tmp_path / "likely_positives.parquet").exists()
    assert select(example, tmp_path, *SEARCH, *LIKELY) == 0
    rows = json.loads((tmp_path / "manifest.json").read_text())["tables"]["likely_positives.parquet"]["rows"]
    assert rows == len(pd.read_parquet(tmp_path / "likely_positives.parquet"))
    capsys.readouterr()
    assert select(example, tmp_path, *SEARCH, *LIKELY) == 0
    assert "Already done" in capsys.readouterr().out
    shutil.rmtree(tmp_path / "likely_positives.parquet")
    assert select(example, tmp_path, *SEARCH, *LIKELY) == 0
    assert len(pd.read_parquet(tmp_path / "likely_positives.parquet")) == rows


def test_a_run_that_fails_keeps_the_likely_positives_of_the_one_before(
    example: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Written from other rows than were counted: refused, and the old table stays."""
    assert select(example, tmp_path, *SEARCH, *LIKELY) == 0
    before = pd.read_parquet(tmp_path / "likely_positives.parquet")
    original = SparkEngine.likely_positives
    monkeypatch.setattr(SparkEngine, "likely_positives", lambda *args: original(*args).limit(1))
    again = ("--set", "output.overwrite=true", "--set", "select.k=4")
    assert select(example, tmp_path, *SEARCH, *LIKELY, *again) == 3
    assert "likely positives were counted, 1 written. Select from a table that stays" in capsys.readouterr().err
    assert pd.read_parquet(tmp_path / "likely_positives.parquet").equals(before)
    monkeypatch.undo()
    assert select(example, tmp_path, *SEARCH, *LIKELY, *again) == 0
    assert not [path for path in tmp_path.iterdir() if path.name.endswith(".partial")]


def test_likely_positives_need_clusters_and_identifiers(
    example: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    likely = ["--set", "output.likely_positives=true"]
    assert select(example, tmp_path, *likely) == 2
    assert "method 'distil' makes no clusters. Use fscpu or fscpu-mi." in capsys.readouterr().err
    assert select(example, tmp_path, *likely, "--set", "select.method=fscpu", "--set", "features.keep=[]") == 2
    assert "Name identifier columns in features.keep." in capsys.readouterr().err
