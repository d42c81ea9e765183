"""`spark-pufs make` on a real Spark session."""

from __future__ import annotations

import gzip
from pathlib import Path

import pandas as pd
import pyarrow.parquet as pq
import pytest

from spark_pufs.cli import run

pytestmark = pytest.mark.spark

BIF = """
variable rain { type discrete [ 2 ] { yes, no }; }
variable wet { type discrete [ 2 ] { yes, no }; }
variable slip { type discrete [ 2 ] { yes, no }; }
probability ( rain ) { table 0.4, 0.6; }
probability ( wet | rain ) { (yes) 0.9, 0.1; (no) 0.1, 0.9; }
probability ( slip | wet ) { (yes) 0.5, 0.5; (no) 0.0, 1.0; }"""
FEW = ["--rows", "2000", "--relevant", "2", "--noise", "5"]


def make(*words: str | Path) -> int:
    return run(["make", *map(str, words)])


def test_artificial_with_the_label_rate_of_the_condition(spark: object, tmp_path: Path) -> None:
    assert make("artificial", "--condition", 6, *FEW, "--seed", 3, "--out", tmp_path / "t") == 0
    table = pd.read_parquet(tmp_path / "t")
    names = ["relevant_01", "relevant_02", *(f"noise_{i:02d}" for i in range(1, 6))]
    assert list(table.columns) == ["row_id", "class", *names, "label"]
    assert sorted(table["row_id"]) == list(range(2000))
    assert table.loc[table["label"] == 1, "class"].eq(1).all()
    assert table.loc[table["class"] == 1, "label"].mean() == pytest.approx(0.1, abs=0.08)


def test_drawn_numbers_are_written_without_dictionaries(spark: object, tmp_path: Path) -> None:
    """A dictionary for each of some thousand columns of numbers that do not repeat would not fit Spark's memory."""
    assert make("artificial", "--condition", "1", *FEW, "--out", tmp_path / "t") == 0
    file = next((tmp_path / "t").glob("*.parquet"))
    group = pq.ParquetFile(file).metadata.row_group(0)
    assert not any(group.column(i).has_dictionary_page for i in range(group.num_columns))


def test_a_table_is_not_replaced_unawares(spark: object, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["artificial", "--condition", "1", *FEW, "--count", "7", "--out", str(tmp_path / "t"), "--format", "csv"]
    assert make(*words) == 0
    assert make(*words) == 2
    assert "is there already" in capsys.readouterr().err
    assert make(*words, "--overwrite", "--partitions", "2") == 0
    table = pd.concat(map(pd.read_csv, (tmp_path / "t").glob("*.csv")))
    assert len(table) == 2000
    assert table["label"].sum() == 7


@pytest.mark.parametrize(
    ("words", "allowed"),
    [
        (["--labels", "mcar", "--share", "0.5"], {-1, 0, 1}),
        (["--labels", "mar-c", "--share", "0.5", "--negative-share", "0.2"], {-1, 0, 1}),
        (["--labels", "sar", "--feature", "noise_02", "--slope=-2"], {0, 1}),
    ],
)
def test_other_mechanisms(spark: object, tmp_path: Path, words: list[str], allowed: set[int]) -> None:
    assert make("artificial", "--condition", 9, *FEW, *words, "--out", tmp_path / "t") == 0
    assert set(pd.read_parquet(tmp_path / "t")["label"]) == allowed


@pytest.mark.parametrize("packed", [False, True])
def test_network(spark: object, tmp_path: Path, capsys: pytest.CaptureFixture[str], packed: bool) -> None:
    bif = tmp_path / ("rain.bif.gz" if packed else "rain.bif")
    bif.write_bytes(gzip.compress(BIF.encode()) if packed else BIF.encode())
    assert make("network", "--bif", bif, "--target", "wet", "--share", 0.5, "--rows", 500, "--out", tmp_path / "t") == 0
    assert "Markov blanket of wet: rain, slip" in capsys.readouterr().out
    table = pd.read_parquet(tmp_path / "t")
    assert list(table.columns) == ["row_id", "class", "rain", "slip", "label"]
    assert table.loc[table["slip"] == "yes", "class"].eq(1).all()


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["artificial", "--condition", "1", "--noise", "-1"], 2, "Option 'noise': must be from 0 to 100,000, got -1"),
        (["artificial", "--condition", "11"], 2, "11 is not in the range"),
        (["artificial", "--condition", "1", "--labels", "mcar"], 2, "Option 'share': is missing, and mcar needs it"),
        (["artificial", "--condition", "1", "--labels", "mar-c", "--share", "0.1"], 2, "Give --negative-share."),
        (["artificial", "--condition", "1", "--labels", "sar"], 2, "Give --feature."),
        (["artificial", "--condition", "1", "--labels", "sar", "--feature", "nois_01"], 2, "mean 'noise_01'?"),
        (["artificial", "--condition", "1", "--share", "0.1", "--count", "3"], 2, "instead of a share"),
        (["artificial", "--condition", "1", "--share", "2"], 2, "must be above 0 and at most 1, got 2.0"),
        (["artificial", "--condition", "1", "--count", "30"], 3, "30 positives are to be labelled, there are"),
        (["artificial", "--condition", "1", "--format", "parket"], 2, "Format 'parket': is not known to Spark"),
        (["network", "--bif", "no.bif", "--target", "x", "--share", "0.1"], 3, "Network 'no.bif': cannot be read"),
    ],
)
def test_faults(
    spark: object, tmp_path: Path, capsys: pytest.CaptureFixture[str], words: list[str], code: int, message: str
) -> None:
    assert make(*words, "--rows", "20", "--out", tmp_path / "t") == code
    assert message in " ".join(capsys.readouterr().err.split())
    assert not (tmp_path / "t").exists()


@pytest.mark.parametrize(
    ("more", "message"),
    [(["--target", "wett"], "Did you mean 'wet'?"), (["--target", "wet", "--labels", "sar"], "sar needs")],
)
def test_faults_of_networks(tmp_path: Path, capsys: pytest.CaptureFixture[str], more: list[str], message: str) -> None:
    (tmp_path / "rain.bif").write_text(BIF)
    words = ["--bif", tmp_path / "rain.bif", "--rows", "20", "--share", "0.1", "--out", tmp_path / "t"]
    assert make("network", *words, *more) in (2, 3)
    assert message in capsys.readouterr().err
