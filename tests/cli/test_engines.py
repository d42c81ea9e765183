"""`engine: memory`: the command without a JVM, and the same files as with Spark."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import spark_pufs.spark.session
from spark_pufs.cli import make, run
from spark_pufs.core.synthetic.artificial import CONDITIONS

ROOT = Path(__file__).parents[2]
CONF = str(ROOT / "conf" / "select_features.yaml")
SEARCH = ("select.method=fscpu", "select.generations=2", "select.generation_size=32", "output.likely_positives=true")
QUICK = ("select.method=semi-jmi", "select.k=5")


@pytest.fixture
def no_spark(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*arguments: object) -> None:
        raise AssertionError("a session was asked for")

    monkeypatch.setattr(spark_pufs.spark.session, "open_session", refuse)


@pytest.fixture(scope="module")
def example(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("demo")
    assert run(["demo", "--engine", "memory", "--out", str(folder)]) == 0
    return folder


def select(source: Path, out: Path, *settings: str, engine: str | None = None, more: tuple[str, ...] = ()) -> int:
    words = [f"source.path={source}", f"output.path={out}", *settings]
    chosen = () if engine is None else ("--engine", engine)
    return run(["select", "--config", CONF, *[part for word in words for part in ("--set", word)], *chosen, *more])


def answer(out: Path) -> dict[str, Any]:
    """selection.json without what differs from run to run."""
    found: dict[str, Any] = json.loads((out / "selection.json").read_text())
    found.pop("run")
    return found


@pytest.mark.usefixtures("no_spark")
def test_the_demo_starts_no_spark_and_names_the_second_step(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["demo", "--out", str(tmp_path / "demo")]) == 0
    said = capsys.readouterr().out
    assert "Found 24 of the 25 features that matter" in said
    assert f"spark-pufs demo --engine spark --out {tmp_path / 'demo'}-spark" in said
    assert (tmp_path / "demo" / "semi-jmi" / "report.html").stat().st_size > 1000


@pytest.mark.usefixtures("no_spark")
def test_select_in_memory_is_a_no_op_the_second_time(
    example: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = example / "table.parquet"
    assert select(table, tmp_path / "run", *QUICK, more=("--dry-run",)) == 0
    assert "4,500 rows, 200 labelled positive, 0 labelled negative" in capsys.readouterr().out
    assert not (tmp_path / "run").exists()
    assert select(table, tmp_path / "run", *QUICK) == 0
    assert json.loads((tmp_path / "run" / "selection.json").read_text())["run"]["engine"] == "memory"
    assert select(table, tmp_path / "run", *QUICK) == 0
    assert run(["resume", str(tmp_path / "run")]) == 0
    assert capsys.readouterr().out.count("Already done") == 2
    assert select(table, tmp_path / "run", *QUICK, "select.seed=1") == 2


@pytest.mark.usefixtures("no_spark")
@pytest.mark.parametrize(
    ("settings", "code", "message"),
    [
        (["source.path=/nowhere/at/all"], 3, "Source '/nowhere/at/all': does not exist."),
        (["label.column=labl"], 3, "Column 'labl': not found among 52 columns. Did you mean 'label'?"),
        (["source.format=avro"], 2, "Setting 'engine': memory does not read this source as Spark does: format avro."),
        (["source.table=lake.flows", "source.path=null"], 2, "a table of a catalog. Set engine: spark, or auto."),
    ],
)
def test_faults_in_memory(
    example: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], settings: list[str], code: int, message: str
) -> None:
    assert select(example / "table.parquet", tmp_path / "run", *settings, engine="memory") == code
    assert message in capsys.readouterr().err


def test_an_engine_that_is_none(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config = tmp_path / "run.yaml"
    config.write_text(Path(CONF).read_text().replace("engine: auto ", "engine: dask "))
    assert run(["select", "--config", str(config)]) == 2
    assert "Setting 'engine': input should be 'auto', 'spark' or 'memory', got 'dask'." in capsys.readouterr().err


@pytest.mark.parametrize(
    "settings",
    [["spark.master=spark://head:7077"], ["spark.conf.spark.sql.shuffle.partitions=3"]],
    ids=["a cluster", "settings"],
)
def test_auto_leaves_to_spark_what_was_meant_for_it(
    example: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settings: list[str]
) -> None:
    monkeypatch.setattr(spark_pufs.spark.session, "open_session", _session_wanted)
    assert select(example / "table.parquet", tmp_path / "run", *QUICK, *settings) == 1
    assert select(example / "table.parquet", tmp_path / "run", *QUICK, *settings, engine="memory") == 0


def test_under_spark_submit_it_is_spark_unless_set(
    example: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYSPARK_GATEWAY_PORT", "1")
    monkeypatch.setattr(spark_pufs.spark.session, "open_session", _session_wanted)
    assert select(example / "table.parquet", tmp_path / "run", *QUICK) == 1
    assert select(example / "table.parquet", tmp_path / "run", *QUICK, engine="memory") == 0


def _session_wanted(*arguments: object) -> None:
    raise RuntimeError("a session was asked for")


@pytest.mark.spark
@pytest.mark.parametrize("settings", [(*QUICK, "select.stability=4"), SEARCH, ("select.k=5",)], ids=str)
def test_both_engines_leave_the_same_files(
    spark: object, example: Path, tmp_path: Path, settings: tuple[str, ...]
) -> None:
    for engine in ("memory", "spark"):
        assert select(example / "table.parquet", tmp_path / engine, *settings, engine=engine) == 0
    one, other = tmp_path / "memory", tmp_path / "spark"
    assert answer(one) == answer(other)
    assert sorted(path.name for path in one.iterdir()) == sorted(path.name for path in other.iterdir())
    for name in ("ranking.parquet", "report.md"):
        assert (one / name).read_bytes() == (other / name).read_bytes(), name
    manifests = [json.loads((folder / "manifest.json").read_text()) for folder in (one, other)]
    metrics = [manifest.pop("metrics") for manifest in manifests]
    for manifest in manifests:
        manifest.pop("files")
    assert manifests[0] == manifests[1]
    for name in ("rows", "masks"):  # the others say what each engine did
        assert metrics[0][name] == metrics[1][name]
    if "output.likely_positives=true" in settings:
        rows = [pd.read_parquet(folder / "likely_positives.parquet") for folder in (one, other)]
        assert (
            rows[0]
            .sort_values("row_id")
            .reset_index(drop=True)
            .equals(rows[1].sort_values("row_id").reset_index(drop=True))
        )


HELP = """
import sys
from spark_pufs.cli import run
assert run(["--help"]) == 0
assert run(["make", "artificial", "--help"]) == 0
print("loaded:", *sorted({name.split(".")[0] for name in sys.modules} & set(sys.argv[1:])))
"""


@pytest.mark.integration
def test_help_loads_nothing_heavy() -> None:
    heavy = ["numpy", "pandas", "scipy", "sklearn", "pyarrow", "pyspark", "pydantic", "yaml", "jinja2", "lightgbm"]
    done = subprocess.run([sys.executable, "-c", HELP, *heavy], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "loaded:"


def test_the_number_of_conditions_is_known_without_loading_them() -> None:
    assert len(CONDITIONS) == make.CONDITIONS
