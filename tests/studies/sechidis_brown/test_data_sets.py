"""Tables 4 to 7 and Figs 11 and 12 of Sechidis & Brown on sets small enough to know."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from spark_pufs.errors import ConfigError, DataError
from spark_pufs.studies.han_shen.pufs_protocol import PufsProtocol
from spark_pufs.studies.sechidis_brown import data_sets, label_consistency
from spark_pufs.studies.sechidis_brown.data_sets import SETS, Labelled, biased, chosen, labelled_as, read_set
from spark_pufs.studies.sechidis_brown.label_consistency import LabelConsistency
from spark_pufs.studies.sechidis_brown.published_errors import ERRORS
from spark_pufs.studies.sechidis_brown.selection_error import (
    METHODS,
    READING,
    READINGS,
    SelectionError,
    average_ranks,
    critical_difference,
    readings,
)
from spark_pufs.studies.sechidis_brown.surrogate_ranking import SurrogateRanking
from spark_pufs.studies.sechidis_brown.surrogate_tests import SurrogateTests
from spark_pufs.studies.study import COLUMNS, Study, long_form

SHARED = Path(__file__).resolve().parents[3].parent / "shared" / "data"


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[str]:
    """A small set in the place of splice: twelve codes 1 to 4 follow the class less and less, the others are noise."""
    rng = np.random.default_rng(0)
    y = rng.random(600) < 0.4
    strength = np.r_[np.linspace(0.9, 0.3, 12), np.zeros(8)]
    follows = rng.random((600, 20)) < strength
    codes = np.where(follows, np.where(y, 1, 3)[:, None], 0) + rng.integers(1, 3, (600, 20))
    table = pd.DataFrame(codes, columns=[f"base{i}" for i in range(20)]).assign(**{"class": np.where(y, 1, 3)})
    (tmp_path / "splice").mkdir()
    table.to_csv(tmp_path / SETS["splice"].file, index=False)
    for cache in (read_set, label_consistency._with_all_labels):
        cache.cache_clear()
    yield str(tmp_path)
    for cache in (read_set, label_consistency._with_all_labels):
        cache.cache_clear()


def frame(study: Study) -> pd.DataFrame:
    return pd.DataFrame([long_form(study.name, row, 0.0) for unit in study.units() for row in study.run(unit)])


@pytest.mark.skipif(not SHARED.is_dir(), reason="the folder of public data is not there")
@pytest.mark.parametrize("name", SETS)
def test_sets_are_those_of_table_3(name: str) -> None:
    X, positive = read_set(str(SHARED), name)
    source = SETS[name]
    assert X.shape == (source.rows, source.features)
    assert round(float(positive.mean()), 2) == source.prior


def test_a_set_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"'waveform/waveform\.csv\.gz' is not in the data folder"):
        read_set(str(tmp_path), "waveform")


def test_published_errors_are_complete_and_repeat_each_other() -> None:
    assert len(ERRORS) == 2 * 7 * 7
    assert {method for _, _, method in ERRORS} == set(METHODS)
    assert ERRORS["0.5", "krvskp", "MINT"].text(3) == "0.108 ± 0.067"
    assert ERRORS["0", "waveform", "CLS"].text(3) == "0.424"


@pytest.mark.parametrize(("prior", "positive"), [(0.3, 0.3), (0.3, 0.15), (0.52, 0.78)])
def test_labels_have_the_share_and_the_mixture_asked_for(prior: float, positive: float) -> None:
    y = np.arange(200_000) < 200_000 * prior
    label = labelled_as(pd.DataFrame(index=range(len(y))), y, biased(prior, 0.25, positive), 1).label
    assert np.mean(label > 0) == pytest.approx(0.25, abs=0.005)
    assert np.mean(label[label > 0] == 1) == pytest.approx(positive, abs=0.01)
    assert not ((label == 1) & ~y).any()


def test_where_positives_are_too_few_the_ratio_holds() -> None:
    mechanism = biased(0.15, 0.25, 2 / 3)  # musk2 in Fig. 12
    assert mechanism.positive == 1
    assert 0.15 * mechanism.positive / (0.85 * mechanism.negative) == pytest.approx(2)


def test_choosing_with_all_labels_finds_the_planted_features(folder: str) -> None:
    X, y = read_set(folder, "splice")
    data = labelled_as(X, y, data_sets.MAR_C(1.0, 1.0), 0)
    assert chosen(data, "mim", 3, 0) == [0, 1, 2]


def test_readings_by_brute_force() -> None:
    rng = np.random.default_rng(1)
    train, test = rng.random((40, 3)) * [1, 100, 1], rng.random((15, 3)) * [1, 100, 1]
    positive, truth = rng.random(40) < 0.5, rng.random(15) < 0.5
    label = np.where(np.arange(40) % 2, 0, np.where(positive, 1, 2)).astype(np.uint8)
    data = Labelled(pd.DataFrame(train), positive, label)
    found = dict(readings(data, pd.DataFrame(test), truth, [0, 1], 3))
    assert list(found) == READINGS
    for name, rows in (("all labels, raw", np.arange(40)), ("few labels, raw", np.flatnonzero(label))):
        square = ((test[:, None, :2] - train[None, rows, :2]) ** 2).sum(axis=2)
        votes = positive[rows][np.argsort(square, axis=1)[:, :3]].mean(axis=1) > 0.5
        assert found[name] == pytest.approx(np.mean(votes != truth))


def test_errors_of_a_small_set_end_to_end(folder: str) -> None:
    study = SelectionError(folder, sets=("splice",), methods=("MINT", "Semi-MIM", "Semi-JMI", "RRPC"), repeats=2)
    results = frame(study)
    assert len(results) == 2 * 4 * 4 * len(READINGS)
    worst = results[results["measure"] == READING].groupby("method")["value"].max()
    assert worst.drop("RRPC").max() < 0.1
    assert worst["RRPC"] > 0.3  # the class lowers every code, and its correlations are signed
    files = study.tables(results)
    assert set(files) == {
        *(f"sechidis_table_{number}.md" for number in (4, 5, 6, 7)), "sechidis_readings.md", "sechidis_figs_13_14.md",
    }  # fmt: skip
    assert "(paper 0.044 ± 0.004" in files["sechidis_table_4.md"]
    assert "| krvskp | – (paper 0.366)" in files["sechidis_table_6.md"]
    assert study.pictures(results)["sechidis_tables_4_7.png"].startswith(b"\x89PNG")


def test_a_biased_unit_takes_fewer_and_more_positives_in_turn(folder: str, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[float] = []
    real = biased

    def record(prior: float, labelled: float, positive: float) -> data_sets.MAR_C:
        seen.append(positive / prior)
        return real(prior, labelled, positive)

    monkeypatch.setattr("spark_pufs.studies.sechidis_brown.selection_error.biased", record)
    frame(SelectionError(folder, sets=("splice",), methods=("Semi-MIM",), biases=(0.5,), repeats=2))
    assert seen == pytest.approx([0.5, 1.5])


def test_ranks_and_their_critical_difference() -> None:
    ranks = average_ranks(pd.DataFrame({"a": [1.0, 1.0], "b": [2.0, 3.0], "c": [3.0, 2.0]}))
    assert ranks.tolist() == [1.0, 2.5, 2.5]
    # Demsar 2006, Table 5b: q of 0.10 is 2.052 for three classifiers.
    assert critical_difference(3, 10) == pytest.approx(2.052 * np.sqrt(3 * 4 / 60), abs=1e-3)


def test_unknown_sets_and_methods_are_named() -> None:
    with pytest.raises(ConfigError, match=r"'splic' is not one of .*Did you mean 'splice'"):
        SelectionError(sets=("splic",)).units()
    with pytest.raises(ConfigError, match="'JMI' is not one of"):
        SelectionError(methods=("JMI",)).units()
    with pytest.raises(ConfigError, match="'iris' is not one of"):
        LabelConsistency(sets=("iris",)).units()


def test_consistency_of_a_small_set(folder: str) -> None:
    study = LabelConsistency(folder, sets=("splice",), repeats=2, k=5)
    results = frame(study)
    assert len(results) == 2 * 2 * 6
    assert results["value"].between(-0.5, 1).all()
    semi = results[results["method"] == "Semi-MIM"]["value"]
    assert semi.mean() > 0.3
    text = study.tables(results)["sechidis_figs_11_12.md"]
    assert "Fig. 11, MCAR" in text
    assert "Fig. 12, MAR-C" in text
    assert study.pictures(results)["sechidis_figs_11_12.png"].startswith(b"\x89PNG")


@pytest.mark.parametrize(
    "study", [SelectionError(), LabelConsistency(), PufsProtocol(), SurrogateTests(), SurrogateRanking()]
)
def test_a_study_of_which_nothing_is_done_yet_has_no_numbers(study: Study) -> None:
    empty = pd.DataFrame({name: [] for name in COLUMNS})
    assert all("paper" in text or not text for text in study.tables(empty).values())
    assert all(picture.startswith(b"\x89PNG") for picture in study.pictures(empty).values())
