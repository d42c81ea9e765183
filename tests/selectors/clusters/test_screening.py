"""Searches over many features: which are taken up, and what becomes of the others."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import spark_pufs
from spark_pufs.core.synthetic.artificial import Condition
from spark_pufs.core.synthetic.artificial_rows import ArtificialRows
from spark_pufs.selectors.clusters.screening import screen


@pytest.fixture(scope="module")
def wide() -> pd.DataFrame:
    """2,048 rows, 150 features of which 10 matter, one positive cluster."""
    maker = ArtificialRows(Condition(0.5, 4, 1), seed=3, relevant=10, noise=140)
    blocks = [maker.block(i) for i in range(2)]
    X, positive = (np.concatenate(parts) for parts in zip(*blocks, strict=True))
    labelled = positive & (np.random.default_rng(0).random(len(X)) < 0.5)
    return pd.DataFrame(X, columns=maker.names).assign(label=labelled.astype(int))


QUICK = {"label": "label", "method": "fscpu", "k": 10, "generations": 6, "generation_size": 96}


def test_the_best_alone_are_searched_and_the_named_ones() -> None:
    information, nothing = np.array([5.0, 1, 4, 2, 3, 0]), np.zeros(6, bool)
    assert screen(information, (), nothing, 6, 1) is None
    assert screen(information, (), nothing, 2, 0).tolist() == [0, 2]
    assert screen(information, (), nothing, 2, 1).tolist() == [0, 2, 3, 4]  # four for each that is chosen
    assert screen(information, (5, 1), nothing, 3, 0).tolist() == [0, 1, 5]
    assert screen(information, (), np.array([1, 0, 0, 0, 0, 0], bool), 2, 0).tolist() == [2, 4]
    assert screen(information, (), np.array([1, 1, 1, 1, 0, 0], bool), 2, 0) is None


def test_a_screened_search_finds_what_matters(wide: pd.DataFrame) -> None:
    found = spark_pufs.select(wide, screen=40, **QUICK)
    assert sum(name.startswith("relevant") for name in found.names) >= 8
    assert found.details["screened"] == len(found.details["theta"]) == 40
    assert "screened" not in spark_pufs.select(wide, screen=200, **QUICK).details


def test_features_that_were_not_searched_come_last_and_say_so(wide: pd.DataFrame) -> None:
    found = spark_pufs.select(wide, screen=40, must=["noise_007"], never=["relevant_001"], **QUICK)
    assert [f.name for f in found.features if "not searched" not in f.notes] == [f.name for f in found.features[:40]]
    assert len(found.features) == 150
    assert "noise_007" in found.names
    assert "relevant_001" not in found.details["theta"]
    assert any("40 features of highest individual relevance, of 150" in warning for warning in found.warnings)


def test_the_joint_information_is_of_the_searched_features(wide: pd.DataFrame) -> None:
    """All pairs of 150 features of five levels take 13 MB, those of 40 not 1: only the latter fit."""
    found = spark_pufs.select(wide, screen=40, pair_memory_mb=1, **{**QUICK, "method": "fscpu-mi", "generations": 2})
    assert found.details["screened"] == 40
    assert sum(one.what == "profile" for one in found.run.passes) == 1  # which finds the bins, too


def test_nothing_is_screened_where_many_are_asked_for(wide: pd.DataFrame) -> None:
    found = spark_pufs.select(wide, screen=40, **{**QUICK, "k": 50, "generations": 1})
    assert "screened" not in found.details
