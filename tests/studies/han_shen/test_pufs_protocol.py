"""The protocol of the PUFS paper on a set small enough to know."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import roc_auc_score

from spark_pufs.errors import ConfigError, DataError
from spark_pufs.studies.han_shen.pufs_protocol import ALL, GRID, MEASURES, SETS, PufsProtocol, mean_roc, read_set
from spark_pufs.studies.study import long_form

SHARED = Path(__file__).resolve().parents[3].parent / "shared" / "data"


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[str]:
    """A small set in the place of G241: the first three of twelve features tell the class."""
    rng = np.random.default_rng(0)
    y = rng.random(300) < 0.5
    X = rng.normal(size=(300, 12)) + np.where(np.arange(12) < 3, 1.5, 0.0) * y[:, None]
    table = pd.DataFrame(X, columns=[f"x{i}" for i in range(12)]).assign(y=np.where(y, 1, -1))
    (tmp_path / "ssl_g241c").mkdir()
    table.to_parquet(tmp_path / SETS["G241"][0])
    read_set.cache_clear()
    yield str(tmp_path)
    read_set.cache_clear()


@pytest.mark.skipif(not SHARED.is_dir(), reason="the folder of public data is not there")
def test_sets_of_the_book() -> None:
    found = {name: read_set(str(SHARED), name) for name in SETS}
    assert {name: X.shape for name, (X, _) in found.items()} == dict.fromkeys(SETS, (1500, 241))
    # Table 1 of the paper has 750 positives in USPS and 748 in G241: these are not quite its files.
    assert {name: int(positive.sum()) for name, (_, positive) in found.items()} == {
        "USPS": 300,
        "COIL": 750,
        "G241": 750,
    }


def test_a_set_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"'ssl_usps/ssl_usps\.parquet' is not in the data folder"):
        read_set(str(tmp_path), "USPS")


def test_the_mean_curve_of_a_clear_and_of_a_blind_feature() -> None:
    rng = np.random.default_rng(1)
    y = np.arange(200) % 2 == 0
    clear = mean_roc((y + 0.01 * rng.random(200))[:, None], y, 5, 0)
    assert np.trapezoid(clear, GRID) == pytest.approx(1.0, abs=0.01)
    blind = mean_roc(rng.random((200, 1)), y, 5, 0)
    assert 0.3 < np.trapezoid(blind, GRID) < 0.7
    assert (np.diff(blind) >= 0).all()


def test_the_area_of_one_curve_is_the_auc() -> None:
    rng = np.random.default_rng(2)
    y = rng.random(4000) < 0.5
    X = rng.normal(size=(4000, 1)) + y[:, None]
    assert np.trapezoid(mean_roc(X, y, 2, 0), GRID) == pytest.approx(roc_auc_score(y, X[:, 0]), abs=0.005)


def test_a_small_set_end_to_end(folder: str) -> None:
    study = PufsProtocol(folder, sets=("G241",), methods=("prfs", "rfs"), sizes=(3, 8), repeats=1)
    results = pd.DataFrame([long_form(study.name, row, 0.0) for unit in study.units() for row in study.run(unit)])
    assert len(results) == len(MEASURES) * (2 * 2 + 1)
    assert set(results.loc[results["method"] == ALL, "at"]) == {12}
    auc = results[results["measure"] == "auc"].set_index(["method", "at"])["value"]
    assert auc["prfs", 3] > 0.85
    text = study.tables(results)["pufs_figs_2_3.md"]
    assert text.count("| all features |") == len(MEASURES)
    assert "Average rank by AUC" in text
    assert study.pictures(results)["pufs_figs_2_3.png"].startswith(b"\x89PNG")


def test_methods_of_a_repeat_see_the_same_rows(folder: str) -> None:
    study = PufsProtocol(folder, sets=("G241",), methods=("prfs",), sizes=(12,), repeats=1)
    prfs, everything = (study.run(unit) for unit in study.units())
    assert [row["value"] for row in prfs] == pytest.approx([row["value"] for row in everything], abs=0.02)


def test_an_unknown_set_is_named() -> None:
    with pytest.raises(ConfigError, match="'usps' is not one of USPS, COIL, G241"):
        PufsProtocol(sets=("usps",)).units()
