"""The open benchmark on two generated tables: protocol, hardenings, peers, the study on Spark, the script without."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import roc_auc_score
from sklearn.preprocessing import OrdinalEncoder

from spark_pufs import select
from spark_pufs.errors import ConfigError, DataError
from spark_pufs.selectors.registry import METHODS
from spark_pufs.studies.real_tables.hardening import HARDENINGS, PLAIN, SENTINEL, Given, given_to_selectors
from spark_pufs.studies.real_tables.open_benchmark import RealTables, default_methods, judge
from spark_pufs.studies.real_tables.peers import ONE_LINERS, PEERS, YARDSTICKS, not_installed, peer_choice
from spark_pufs.studies.real_tables.protocol import coded, split_of, true_aucs
from spark_pufs.studies.real_tables.summary import AUC, PAGE, PICTURE
from spark_pufs.studies.real_tables.tables import OTHER_SETS, Asked, catalogue, groups, load_table
from spark_pufs.studies.reproduce import ReproduceConfig, run_reproduce, studies_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROOT = Path(__file__).resolve().parents[3]
README = """# Two tables

| table | rows | labelled | k | what |
|---|---|---|---|---|
| two | 240 | 0.5 | 2 | text tells |
| one | 300 | 0.4 | 2 | numbers tell |

More words.
"""


def generated(rows: int, with_text: bool, seed: int) -> pd.DataFrame:
    """Columns a and b tell the class, c to e do not; ``kind`` is text that tells it too."""
    rng = np.random.default_rng(seed)
    y = rng.random(rows) < 0.35
    X = rng.normal(size=(rows, 5))
    X[:, :2] += 1.8 * y[:, None]
    table = pd.DataFrame(X, columns=list("abcde"))
    if with_text:
        table["kind"] = np.where(rng.random(rows) < 0.2, "rare", np.where(y, "high", "low"))
        table.loc[::17, "kind"] = None
        table.loc[::13, "c"] = np.nan
    return table.assign(is_positive=y)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("data") / "real_tables"
    place.mkdir()
    (place / "README.md").write_text(README)
    generated(300, False, 1).to_parquet(place / "one.parquet")
    generated(240, True, 2).to_parquet(place / "two.parquet")
    return place


def given(folder: Path, hardening: str, name: str = "two") -> Given:
    table = load_table(name, str(folder), "")
    split = split_of(table.positive, table.asked.labelled, 0)
    return given_to_selectors(table.X, table.positive, split, hardening, name, 0)


def test_the_folder_describes_its_tables(folder: Path) -> None:
    assert catalogue(str(folder)) == {"one": Asked(0.4, 2), "two": Asked(0.5, 2)}
    assert list(catalogue(str(folder))) == ["one", "two"]
    found = groups(str(folder))
    assert (found["one"], found["two"], found["spam"]) == ("choices", "reported", "seen before")
    assert list(load_table("two", str(folder), "").X) == ["a", "b", "c", "d", "e", "kind"]


def test_a_folder_without_a_catalogue_is_told(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("nothing here")
    with pytest.raises(DataError, match="no Markdown table with the columns table, labelled, k"):
        catalogue(str(tmp_path))
    alone = RealTables(data=str(tmp_path), folder="nowhere", sets=())
    assert alone.absent() == (
        "folder 'nowhere' with its README.md is not in the data folder, and no other sets are named"
    )
    wanted = {"real_tables": {"folder": "nowhere", "sets": []}, "surrogate_tests": {}, "run": {"data": str(tmp_path)}}
    ready, absent = studies_of(ReproduceConfig.model_validate({**wanted, "output": {"path": str(tmp_path)}}))
    assert [study.name for study in ready] == ["surrogate_tests"]
    assert absent == [f"real_tables is left out: {alone.absent()}"]


def test_splits_and_labels_are_those_of_the_protocol(folder: Path) -> None:
    """Drawn again here as the protocol says it, with scikit-learn's own functions."""
    from sklearn.model_selection import train_test_split

    y = load_table("one", str(folder), "").positive
    split = split_of(y, 0.4, 3)
    train, test = train_test_split(np.arange(300), test_size=0.4, stratify=y, random_state=3)
    assert (split.train == train).all()
    assert (split.test == test).all()
    positives = train[y[train]]
    known = np.random.default_rng(103).choice(positives, max(5, round(0.4 * len(positives))), replace=False)
    assert set(train[split.labelled]) == set(known)
    assert split_of(y, 0.001, 3).labelled.sum() == 5


def test_text_is_coded_as_scikit_learn_does(folder: Path) -> None:
    X = load_table("two", str(folder), "").X
    numbers = coded(X)
    kind = X[["kind"]].astype(object).where(X[["kind"]].notna(), "null").map(str)
    assert (numbers[["kind"]].to_numpy() == OrdinalEncoder().fit_transform(kind)).all()
    pd.testing.assert_frame_equal(numbers.drop(columns="kind"), X.drop(columns="kind"))


def test_the_judges_ask_the_truth(folder: Path) -> None:
    table = load_table("one", str(folder), "")
    split = split_of(table.positive, 0.4, 0)
    found = true_aucs(table.X, split, table.positive, ["a"])
    # A linear model of one column ranks by that column.
    assert found["linear"] == pytest.approx(roc_auc_score(table.positive[split.test], table.X["a"].iloc[split.test]))
    assert true_aucs(table.X, split, table.positive, ["b", "a"]) == true_aucs(
        table.X, split, table.positive, ["a", "b"]
    )
    assert set(true_aucs(table.X, split, table.positive, []).values()) == {0.5}


def test_random_columns_are_half_as_many_again(folder: Path) -> None:
    plain = given(folder, PLAIN)
    numbers, text = given(folder, "random-numbers"), given(folder, "random-text")
    assert list(numbers.X)[6:] == list(text.X)[6:] == ["random_0", "random_1", "random_2"]
    assert text.X["random_0"].nunique() == 30
    pd.testing.assert_frame_equal(numbers.X.iloc[:, :6], plain.X)
    pd.testing.assert_frame_equal(numbers.X, numbers.judged)
    assert (given(folder, "random-numbers").X["random_0"] == numbers.X["random_0"]).all()


def test_copies_are_of_the_columns_that_tell_most(folder: Path) -> None:
    found = given(folder, "copies")
    assert set(found.X.columns[6:]) == {"copy_of_a", "copy_of_b", "copy_of_kind"}
    assert found.X["copy_of_kind"].equals(found.X["kind"])


def test_each_column_gets_one_outlier_that_the_judges_do_not_see(folder: Path) -> None:
    found, plain = given(folder, "outliers"), given(folder, PLAIN)
    pd.testing.assert_frame_equal(found.judged, plain.X)
    for name in "abcde":
        x, changed = plain.X[name], found.X[name] != plain.X[name]
        changed &= ~(found.X[name].isna() & x.isna())
        assert changed.sum() == 1
        row = int(np.flatnonzero(changed)[0])
        assert found.X[name].iloc[row] == pytest.approx(x.max() + 1e6 * (x.max() - x.min()))
        assert row in found.split.train[~found.labelled]
    assert found.X["kind"].equals(plain.X["kind"])


def test_sentinels_stand_in_a_twentieth_of_the_rows(folder: Path) -> None:
    found = given(folder, "sentinels")
    shares = (found.X[list("abcde")] == SENTINEL).mean()
    assert shares.mean() == pytest.approx(0.05, abs=0.03)
    assert not (found.judged == SENTINEL).any().any()


def test_one_label_in_ten_is_wrong(folder: Path) -> None:
    found = given(folder, "wrong-labels")
    y = found.positive[found.split.train]
    assert (found.labelled[y] == found.split.labelled[y]).all()
    assert (found.labelled & ~y).sum() == round(found.split.labelled.sum() / 9)


def test_skewed_labels_are_as_many_and_depend_on_a_column(folder: Path) -> None:
    found = given(folder, "skewed-labels", "one")
    y = found.positive[found.split.train]
    assert found.labelled.sum() == found.split.labelled.sum()
    assert y[found.labelled].all()
    means = [(coded(found.train)[y & found.labelled].mean() - coded(found.train)[y].mean()).max()]
    assert max(means) > 0.3


def test_peers_find_what_tells(folder: Path) -> None:
    plain = given(folder, PLAIN, "one")
    numbers = coded(plain.X).iloc[plain.split.train]
    for name in ONE_LINERS:
        assert set(peer_choice(name, numbers, plain.labelled, 2, 0)) == {"a", "b"}, name
    assert peer_choice("all", numbers, plain.labelled, 2, 0) == list("abcde")
    assert len(set(peer_choice("random", numbers, plain.labelled, 2, 0))) == 2
    for name in set(PEERS) - set(ONE_LINERS) - set(not_installed(list(PEERS))):
        assert len(set(peer_choice(name, numbers, plain.labelled, 2, 0))) == 2


def test_a_choice_of_plain_columns_is_judged_alike_on_every_hard_table(folder: Path) -> None:
    found = {one: judge(str(folder), "", "one", 0, one, "all") for one in ("outliers", "wrong-labels", PLAIN)}
    assert len({answer.auc for answer in found.values()}) == 1
    best = judge(str(folder), "", "one", 0, PLAIN, "semi-mim")
    assert set(best.names) == {"a", "b"}
    assert best.auc > judge(str(folder), "", "one", 0, PLAIN, "random").auc
    assert best.auc == pytest.approx(np.mean(list(best.aucs.values())))


def test_the_truth_is_the_default_with_every_label_known(folder: Path) -> None:
    plain = given(folder, PLAIN, "one")
    known = plain.train.assign(label=plain.positive[plain.split.train].astype(int))
    k = load_table("one", str(folder), "").asked.k
    expected = select(known, label="label", k=k, seed=0).names
    assert sorted(judge(str(folder), "", "one", 0, PLAIN, "truth").names) == sorted(expected)


def test_methods_are_those_of_this_version() -> None:
    found = default_methods()
    assert {"default", "auto", "semi-jmi", "fscpu", *PEERS, *YARDSTICKS} <= set(found)
    assert set(found) <= {"default", *METHODS, *PEERS, *YARDSTICKS}


def test_units_and_their_faults(folder: Path) -> None:
    study = RealTables(data=str(folder.parent), sets=("iono",), methods=("lasso", "default", "all"), splits=2)
    units = study.units()
    assert len(units) == 3 * 3 * (2 + len(HARDENINGS))
    assert [unit["method"] for unit in units[:3]] == ["lasso", "default", "all"]
    assert [unit["dataset"] for unit in units[:9:3]] == ["iono", "one", "two"]
    assert {"spam", "rt-iot", "musk2"} <= set(OTHER_SETS)
    with pytest.raises(ConfigError, match=r"Setting 'real_tables.hardenings'.*Did you mean 'copies'"):
        RealTables(data=str(folder.parent), hardenings=("copy",)).units()
    with pytest.raises(ConfigError, match="'l2' is not a method"):
        RealTables(data=str(folder.parent), methods=("l2",)).units()


@pytest.mark.spark
def test_the_study_runs_on_spark(spark: SparkSession, folder: Path, tmp_path: Path) -> None:
    settings = {
        "real_tables": {
            "methods": ["semi-mim", "l1", "mutual_info", "random"],
            "sets": [],
            "hardenings": ["copies"],
            "splits": 1,
        },
        "run": {"data": str(folder.parent)},
        "output": {"path": str(tmp_path / "out")},
        "spark": {"master": "local[2]"},
    }
    told = run_reproduce(ReproduceConfig.model_validate(settings))
    assert "2 tables, 2 pairs of table and split, 4 methods." in told
    results = pd.read_parquet(tmp_path / "out" / "results.parquet")
    assert set(results["measure"]) == {AUC, "auc_boosting", "auc_shallow", "auc_linear"}
    assert len(results) == 4 * 2 * 4 * 2
    auc = results[(results["measure"] == AUC) & (results["condition"] == PLAIN)].groupby("method")["value"].mean()
    assert auc["semi-mim"] > auc["random"]
    here = judge(str(folder), "", "one", 0, "copies", "semi-mim").auc
    there = results[(results["dataset"] == "one") & (results["condition"] == "copies") & (results["measure"] == AUC)]
    assert there.set_index("method")["value"]["semi-mim"] == pytest.approx(here)
    assert (tmp_path / "out" / PICTURE).read_text().startswith("<svg")
    assert "copies (2)" in (tmp_path / "out" / PAGE).read_text()


@pytest.mark.integration
def test_the_script_goes_on_and_writes_the_page(folder: Path, tmp_path: Path) -> None:
    page, lines = tmp_path / "page.md", tmp_path / "lines.jsonl"
    page.write_text((ROOT / "docs" / "results" / "real_tables.md").read_text() + "\nWritten by hand.\n")
    command = [sys.executable, str(ROOT / "benchmarks" / "real_tables.py"), "--data", str(folder.parent)]
    command += ["--lines", str(lines), "--splits", "1", "--hardenings", "copies", "--page", str(page)]
    command += ["--methods", "semi-mim", "mim", "k-best", "l1", "all"]

    def run() -> str:
        return subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT).stderr

    assert run().count("\n") == 20
    kept = lines.read_text().splitlines()
    lines.write_text("\n".join(kept[:19]) + "\n" + kept[19][:30])  # the last line was cut off by a stop
    assert run().count("\n") == 1
    found = [json.loads(line) for line in lines.read_text().splitlines()[:19]]
    assert {line["method"] for line in found} == {"semi-mim", "mim", "k-best", "l1", "all"}
    text = page.read_text()
    assert "2 tables, 2 pairs of table and split, 5 methods." in text
    assert "No figures yet" not in text
    assert text.endswith("Written by hand.\n")
    assert (tmp_path / PICTURE).is_file()
