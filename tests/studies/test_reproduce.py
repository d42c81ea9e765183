"""The reproduction job: stopped, gone on with, refused, and what it does with a unit that fails."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import pandas as pd
import pytest

from spark_pufs.cli import run
from spark_pufs.errors import ConfigError, Stopped
from spark_pufs.jobs.config import load_settings
from spark_pufs.rundir.folder import RunFolder
from spark_pufs.studies import reproduce
from spark_pufs.studies.reproduce import (
    EXAMPLE,
    Nothing,
    ReproduceConfig,
    UnitRunner,
    Work,
    ordered,
    run_reproduce,
    studies_of,
)
from spark_pufs.studies.result_parts import UNIT, KeptResults
from spark_pufs.studies.study import ERROR, Row, Unit, fixed_settings, key_of, long_form
from spark_pufs.studies.uchikoshi_akimoto.artificial_conditions import ArtificialConditions

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROOT = Path(__file__).resolve().parents[2]
SMOKE = ROOT / "conf" / "reproduce_smoke.yaml"


@dataclass(frozen=True)
class Squares:
    """Squares of numbers; negative ones fail, and zero gives nothing."""

    name: ClassVar[str] = "squares"
    numbers: tuple[int, ...] = (2, 3)

    def units(self) -> list[Unit]:
        return [{"repeat": number} for number in self.numbers]

    def run(self, unit: Unit) -> list[Row]:
        if unit["repeat"] < 0:
            raise ValueError("no root\nof this")
        return [{"repeat": unit["repeat"], "measure": "square", "value": unit["repeat"] ** 2}] if unit["repeat"] else []

    def tables(self, results: pd.DataFrame) -> dict[str, str]:
        return {}

    def pictures(self, results: pd.DataFrame) -> dict[str, bytes]:
        return {}


def smoke(path: Path, *overrides: str) -> ReproduceConfig:
    given = [f"output.path={path}", "run.studies=[artificial_conditions]", *overrides]
    return load_settings(SMOKE, ReproduceConfig, given, EXAMPLE)


def results(path: Path) -> pd.DataFrame:
    return pd.read_parquet(path / "results.parquet").drop(columns="seconds")


def rows_of(study: Any) -> list[Row]:
    work = [Work(study.name, unit) for unit in study.units()]
    return [row for one in work for row in UnitRunner({study.name: study})(Nothing(), one).rows]


@pytest.mark.spark
def test_a_stopped_run_goes_on_to_the_same_results(spark: SparkSession, tmp_path: Path) -> None:
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    told = run_reproduce(smoke(whole))
    assert "Table 1 of Uchikoshi & Akimoto" in told
    assert told.endswith(f"Results: {whole}")
    with pytest.raises(Stopped, match="2 of 4 units left"):
        run_reproduce(smoke(parts, "run.minutes=0.000001", "run.wave=1"))  # waves of two units
    assert len(results(parts)["method"].unique()) == 1
    assert not (parts / "manifest.json").exists()
    notes: list[str] = []
    run_reproduce(smoke(parts), notes.append)
    assert notes[0] == "4 units, 2 of them done before"
    pd.testing.assert_frame_equal(results(parts), results(whole))
    assert (parts / "table_1_fsr.md").read_bytes() == (whole / "table_1_fsr.md").read_bytes()
    manifest = json.loads((parts / "manifest.json").read_text())
    assert set(manifest["files"]) == {"results.parquet", "results.csv", "config.yaml", "table_1_fsr.md"}
    assert len(list((parts / "parts").glob("part-*.parquet"))) == 2
    with pytest.raises(ConfigError, match="seed was 0, asked for is 1"):
        run_reproduce(smoke(parts, "artificial_conditions.seed=1"))
    run_reproduce(smoke(parts, "artificial_conditions.methods=[mim]", "artificial_conditions.conditions=[1]"))
    assert set(results(parts)["method"]) == {"semi-mim", "k-best", "mim"}


@pytest.mark.spark
def test_every_study_runs_and_leaves_its_tables(spark: SparkSession, tmp_path: Path, shared_data: Path) -> None:
    told = run_reproduce(smoke(tmp_path / "out", "run.studies=null", f"run.data={shared_data}"))
    assert "units failed" not in told
    found = results(tmp_path / "out")
    assert set(found["study"]) == {
        name for name in ReproduceConfig.model_fields if name not in ("run", "output", "spark")
    }
    assert not found["value"].isna().any()
    tables = {path.stem for path in (tmp_path / "out").glob("*.md")}
    assert tables == {
        "table_1_fsr", "table_3_auc", "table_3_auc_depth_3", "sechidis_figs_3_4", "sechidis_fig_5", "markov_blankets",
        "sechidis_figs_11_12", "sechidis_table_4", "sechidis_table_5", "sechidis_readings", "sechidis_figs_13_14",
        "sechidis_table_6", "sechidis_table_7", "pufs_figs_2_3", "real_tables",
    }  # fmt: skip


@pytest.mark.spark
def test_studies_that_read_public_data_are_left_out_without_it(spark: SparkSession, tmp_path: Path) -> None:
    told = run_reproduce(smoke(tmp_path / "out", "run.studies=[surrogate_ranking, open_sets, pufs_protocol]"))
    assert told.count("it reads public data, and run.data names no folder") == 2
    assert set(results(tmp_path / "out")["study"]) == {"surrogate_ranking"}


@pytest.mark.spark
def test_a_unit_that_fails_is_told_and_tried_again_when_asked(spark: SparkSession, tmp_path: Path) -> None:
    one = ("artificial_conditions.methods=[mint, mim]", "artificial_conditions.conditions=[1]")
    told = run_reproduce(smoke(tmp_path / "out", *one))
    assert "1 units failed" in told
    assert "mint failed in 1 units: Column 'label__': method 'mint' needs rows labelled negative" in told
    found = results(tmp_path / "out")
    assert found.loc[found["measure"] == ERROR, "method"].tolist() == ["mint"]
    for retry, before in (("false", 2), ("true", 1)):
        notes: list[str] = []
        run_reproduce(smoke(tmp_path / "out", *one, f"run.retry={retry}"), notes.append)
        assert notes[0] == f"2 units, {before} of them done before"
    pd.testing.assert_frame_equal(results(tmp_path / "out"), found)


@pytest.mark.spark
def test_the_console_command_leaves_with_the_code_of_a_stop(
    spark: SparkSession, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = ["--config", str(SMOKE), "--set", f"output.path={tmp_path / 'out'}"]
    given += ["--set", "run.studies=[artificial_conditions]"]
    few = ["--set", "artificial_conditions.methods=[semi-mim, mim]"]
    assert run(["reproduce", *given, *few, "--set", "run.minutes=0.000001", "--set", "run.wave=1"]) == Stopped.exit_code
    assert "Run the same command again to go on" in capsys.readouterr().err
    assert run(["reproduce", *given, *few]) == 0


def test_errors_and_empty_answers_become_rows() -> None:
    rows = rows_of(Squares((3, -1, 0)))
    assert [(row["measure"], row["value"]) for row in rows[:1]] == [("square", 9.0)]
    assert [row["message"] for row in rows] == [
        "",
        "ValueError: no root of this",
        "ValueError: the unit gave no results",
    ]
    assert [row["repeat"] for row in rows] == [3, -1, 0]
    assert [row[UNIT] for row in rows] == [key_of({"repeat": number}) for number in (3, -1, 0)]


def test_a_row_has_known_columns_only() -> None:
    with pytest.raises(ValueError, match="not columns of the results: colour"):
        long_form("squares", {"colour": 1}, 0.0)


def test_kept_rows_come_back_and_the_last_answer_of_a_unit_counts(tmp_path: Path) -> None:
    kept = KeptResults(RunFolder(tmp_path).inner("parts"))
    kept.open({"squares": fixed_settings(Squares())}, overwrite=False)
    first = rows_of(Squares((2, -1)))
    kept.add(first)
    again = [{**first[1], "measure": "square", "value": 1.0}]
    kept.add(again)
    other = KeptResults(RunFolder(tmp_path).inner("parts"))
    other.open({"squares": fixed_settings(Squares())}, overwrite=False)
    assert other.rows["value"].tolist() == [4.0, 1.0]
    pd.testing.assert_frame_equal(other.rows, kept.rows)
    anew = KeptResults(RunFolder(tmp_path).inner("parts"))
    anew.open({"squares": {"numbers": [5]}}, overwrite=True)
    assert anew.rows.empty
    assert not list((tmp_path / "parts").glob("*.parquet"))


def test_failed_units_are_done_unless_they_are_to_be_tried_again(tmp_path: Path) -> None:
    kept = KeptResults(RunFolder(tmp_path).inner("parts"))
    kept.open({"squares": {}}, overwrite=False)
    kept.add(rows_of(Squares((2, -1))))
    assert kept.done(retry=False) == {("squares", '{"repeat": 2}'), ("squares", '{"repeat": -1}')}
    assert kept.done(retry=True) == {("squares", '{"repeat": 2}')}


def test_results_stand_in_the_order_of_the_units(tmp_path: Path) -> None:
    kept = KeptResults(RunFolder(tmp_path).inner("parts"))
    kept.open({"squares": {}}, overwrite=False)
    kept.add(rows_of(Squares((4, 2, 3, 9))))
    units = [("squares", unit) for unit in Squares((2, 3, 4)).units()]
    assert ordered(kept.rows, units)["repeat"].tolist() == [2, 3, 4, 9]


def test_settings_that_choose_units_are_free() -> None:
    assert fixed_settings(ArtificialConditions()) == {"seed": 0}
    assert fixed_settings(Squares()) == {"numbers": (2, 3)}


def test_studies_without_their_data_are_left_out(tmp_path: Path) -> None:
    both = {"artificial_conditions": {}, "open_sets": {}, "output": {"path": str(tmp_path)}}
    ready, absent = studies_of(ReproduceConfig.model_validate(both))
    assert [study.name for study in ready] == ["artificial_conditions"]
    assert absent == ["open_sets is left out: it reads public data, and run.data names no folder"]
    ready, absent = studies_of(ReproduceConfig.model_validate(both | {"run": {"data": str(tmp_path)}}))
    assert ready[1].data == str(tmp_path)  # type: ignore[attr-defined]
    with pytest.raises(ConfigError, match="none can run; open_sets is left out"):
        studies_of(ReproduceConfig.model_validate(both | {"run": {"studies": ["open_sets"]}}))
    with pytest.raises(ConfigError, match=r"'opensets' has no section in the file\. Did you mean 'open_sets'"):
        studies_of(ReproduceConfig.model_validate(both | {"run": {"studies": ["opensets"]}}))


def test_the_full_configuration_is_sound() -> None:
    config = load_settings(ROOT / EXAMPLE, ReproduceConfig, [], EXAMPLE)
    for study in studies_of(config)[0]:
        units = study.units()
        assert len({key_of(unit) for unit in units}) == len(units)


def test_without_matplotlib_it_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    notes: list[str] = []
    monkeypatch.setattr(reproduce, "find_spec", lambda name: None)
    files = reproduce._files(smoke(tmp_path), [Squares()], pd.DataFrame(columns=["study"]), notes.append)
    assert "results.csv" in files
    assert notes == ["matplotlib is not installed: no pictures (pip install spark-pufs[plots])"]
