"""Rows that a memory keeps for methods that need some: the same as a recount keeps, and they stand for the window."""

from __future__ import annotations

import itertools
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import spark_pufs
from spark_pufs import Selection
from spark_pufs.core.counting.row_sample import ALL, Wanted
from spark_pufs.engines.local import LocalEngine
from spark_pufs.errors import ConfigError
from spark_pufs.findings.run_facts import RunFacts
from spark_pufs.memory import kept_rows
from spark_pufs.memory.kept_rows import KeptRows, draw_kept, window_rows
from support.memory_days import day, days

FAST: dict[str, Any] = {"label": "label", "method": "lasso", "k": 3}


def remembered(table: pd.DataFrame, path: Path, **options: Any) -> Selection:
    return spark_pufs.select(table, **{"memory": path, "partition": "day", **FAST} | options)


def answer(found: Selection) -> Any:
    plain = json.loads(replace(found, run=RunFacts("", 0.0), findings=replace(found.findings, memory=None)).to_json())
    return {name: value for name, value in plain.items() if name not in ("fingerprint", "request")}


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"method": "distil"},
        {"method": "semi-mim", "k": "auto"},
        {"method": "semi-mim", "prior": "estimate"},
        {"method": "semi-mim", "check_labels": True},
        {"method": "fscpu-mi", "generations": 3},
        {"method": "soft-jmi"},
        {"method": "semi-iamb"},
        {"method": "prfs"},
        {"method": "k-best"},
    ],
)
def test_while_all_rows_are_kept_the_answer_is_the_plain_one(options: dict[str, Any], tmp_path: Path) -> None:
    table = days(1, 2)
    plain = spark_pufs.select(table.drop(columns="day"), **FAST | options)
    assert answer(remembered(table, tmp_path, **options)) == answer(plain)


def test_auto_compares_on_the_kept_rows(tmp_path: Path) -> None:
    options: dict[str, Any] = {"method": "auto", "methods": ["soft-mim", "semi-mim"], "folds": 2}
    found, plain = (
        remembered(days(1, 2), tmp_path, **options),
        spark_pufs.select(days(1, 2).drop(columns="day"), **FAST | options),
    )
    assert found.features == plain.features
    assert found.findings.verdict == plain.findings.verdict


def test_day_by_day_is_the_recount(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(draw_kept, "__defaults__", (60,))
    for name in ("daily", "recount"):
        remembered(days(1, 2), tmp_path / name)
    for number in (3, 4):
        found = remembered(day(number), tmp_path / "daily", window=3)
    again = remembered(days(2, 4), tmp_path / "recount", window=3)
    assert found.findings.memory is not None
    assert found.findings.memory.read == ("2026-01-04",)
    assert found.findings.sample == again.findings.sample
    assert "sample of" in str(found.findings.sample)
    assert answer(found) == answer(again)
    assert len(list((tmp_path / "daily").glob("rows-*"))) == 3


def partition(X: np.ndarray[Any, Any], label: np.ndarray[Any, Any], most: int) -> KeptRows:
    frame = pd.DataFrame(X, columns=["a", "b"]).assign(label=label)
    source = LocalEngine(frame).source(("a", "b"), (), "label")
    wanted = Wanted((0, 1), {"0": 0, "1": 1}, kept_rows.SEED)
    return draw_kept(source, wanted, int(label.sum()), int((label == 0).sum()), most)


def test_every_row_has_the_same_chance() -> None:
    """Of a partition ten times as large ten times as many; all labelled rows; in any order the same."""
    rng = np.random.default_rng(1)
    sizes = (2000, 20_000, 300)
    parts = [
        partition(rng.normal(i, 1, size=(n, 2)), (np.arange(n) < 20).astype(int), 500) for i, n in enumerate(sizes)
    ]
    assert [one.threshold == ALL for one in parts] == [False, False, True]
    found = window_rows(parts)
    share = min(one.threshold for one in parts) / ALL
    assert found.labels.positive == 60
    assert abs(found.labels.unlabelled - share * (sum(sizes) - 60)) < 4 * np.sqrt(share * sum(sizes))
    for order in itertools.permutations(parts):
        other = window_rows(order)
        np.testing.assert_array_equal(other.X, found.X)
        np.testing.assert_array_equal(other.label, found.label)


def test_a_row_that_makes_up_much_of_a_partition() -> None:
    rng = np.random.default_rng(2)
    X = rng.normal(size=(10_000, 2))
    X[:6000] = [7.0, 7.0]
    found = window_rows(
        [partition(X, np.zeros(10_000, int), 500), partition(rng.normal(size=(100, 2)), np.zeros(100, int), 500)]
    )
    assert (found.X[:, 0] == 7).sum() == 300  # 6,000 of 10,000 rows, each kept with a chance of 500 in 10,000
    assert abs((found.X[:, 0] != 7).sum() - 205) < 60


def test_rows_drawn_alike_have_the_chance_of_the_rarest_kept() -> None:
    """Labelled rows are thinned as the others are, or the others as they are; rows that occur often in equal parts."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(20_000, 2))
    X[:200] = [7.0, 7.0]  # labelled, all alike
    part = partition(X, (np.arange(20_000) < 1200).astype(int), 2000)
    alike = window_rows([part]).alike
    share = 2000 / 18_800
    assert abs(alike.labels.positive - share * 1200) < 4 * np.sqrt(share * 1000)
    assert abs((alike.X[:, 0] == 7).sum() - share * 200) <= 1
    assert abs(alike.labels.unlabelled - 2000) < 4 * np.sqrt(2000)
    many = partition(X, (np.arange(20_000) < 15_000).astype(int), 2000)
    alike = window_rows([many]).alike
    assert abs(alike.labels.positive - 2000) < 4 * np.sqrt(2000)
    assert abs(alike.labels.unlabelled - 5000 * 2000 / 15_000) < 4 * np.sqrt(700)
    few = window_rows([partition(X[:400], (np.arange(400) < 250).astype(int), 400)])
    assert few.alike.labels == few.labels


def test_clusters_are_counted_by_labelled_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All labelled rows are there; each other one stands for as many as were left out."""
    monkeypatch.setattr(draw_kept, "__defaults__", (150,))
    table = days(1, 3)
    positive = int(table["label"].sum())
    found = remembered(table, tmp_path, method="fscpu", generations=2)
    clusters = found.findings.clustering
    assert clusters is not None
    assert sum(one.labelled for one in clusters.clusters) == positive
    assert abs(sum(one.rows for one in clusters.clusters) - len(table)) <= len(clusters.clusters)
    told = [one for one in found.warnings if "passes over rows" in one]
    assert len(told) == 1
    assert f"of 1,200, with {positive} of {positive} labelled; where labelled ones count like others it" in told[0]


@pytest.mark.parametrize("method", ["soft-mim", "semi-iamb", "prfs", "k-best"])
def test_a_sample_finds_the_same_columns(method: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(draw_kept, "__defaults__", (200,))
    found = remembered(days(1, 4), tmp_path, method=method, k=1)
    assert found.names == spark_pufs.select(days(1, 4).drop(columns="day"), **FAST | {"method": method, "k": 1}).names
    assert any("passes over rows" in one for one in found.warnings)


def test_weights_are_of_the_whole_window(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from spark_pufs.selectors import sampling

    seen = []
    drawn = sampling._drawn
    monkeypatch.setattr(sampling, "_drawn", lambda *given: seen.append(drawn(*given)) or seen[-1])  # type: ignore[func-returns-value]
    monkeypatch.setattr(draw_kept, "__defaults__", (80,))
    table = days(1, 3)
    remembered(table, tmp_path)
    positive = int(table["label"].sum())
    sample = seen[-1]
    assert sample.weight[sample.labelled].sum() == pytest.approx(positive)
    assert sample.weight[~sample.labelled].sum() == pytest.approx(len(table) - positive)
    assert len(sample.X) < 700


def test_a_memory_without_rows(tmp_path: Path) -> None:
    remembered(days(1, 2), tmp_path, method="semi-mim")
    assert not list(tmp_path.glob("rows-*"))
    with pytest.raises(ConfigError, match="keeps no rows, since it was made for a method that counts"):
        remembered(day(3), tmp_path)
    found = remembered(days(1, 2), tmp_path, refit="now")
    assert answer(found) == answer(spark_pufs.select(days(1, 2).drop(columns="day"), **FAST))
    counted = remembered(day(3), tmp_path, method="semi-mim")
    assert counted.findings.memory is not None
    assert counted.findings.memory.partitions == 3
    assert remembered(day(3), tmp_path).findings.memory is not None


def test_stability_is_of_halves_of_the_kept_rows(tmp_path: Path) -> None:
    found = remembered(days(1, 2), tmp_path, method="semi-jmi", stability=2).findings.stability
    assert found is not None
    assert found.runs == 2
