"""Text columns for methods that read numbers: the same bits on both engines, and no advantage for text that tells
nothing."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from spark_pufs import check_clusters, likely_positives, select
from spark_pufs.core.clusters.cluster_model import ClusterModel
from spark_pufs.engines.local import LocalEngine
from spark_pufs.request import Request
from spark_pufs.run.execution import select_with
from spark_pufs.selectors.clusters import fscpu
from spark_pufs.selectors.rows import baselines, lgbm_opt, library, prfs, pufs
from spark_pufs.types import LabelRule
from support.places import PLACES, Placed, Table

ROWS = 600
LABEL = LabelRule("label")
READS_NUMBERS = [one.name for room in (baselines, fscpu, lgbm_opt, library, prfs, pufs) for one in room.METHODS]
QUICK: dict[str, dict[str, Any]] = {
    "dt-rfe": {"trees": 5},
    "lgbm-opt": {"evaluations": 2, "search": "paper", "classifier": "hist-gradient-boosting"},
    "es-mcrfs": {"steps": 5, "trees": 3},
    "fw-semifs": {"samplings": 2},
    "fscpu": {"generations": 1, "generation_size": 16},
    "fscpu-mi": {"generations": 1, "generation_size": 16},
}


def mixed(seed: int = 3) -> Table:
    """``kind`` tells the class by its levels, some of them rare or missing; ``noise`` is text that tells nothing."""
    rng = np.random.default_rng(seed)
    y = rng.random(ROWS) < 0.3
    X = rng.normal(size=(ROWS, 3)) + y[:, None] * [2, 0, 0]
    level = np.where(rng.random(ROWS) < 0.15, rng.integers(0, 5, ROWS), np.where(y, rng.integers(0, 2, ROWS), 3))
    kind = [None if i % 41 == 0 else f"level {value}" for i, value in enumerate(level)]
    columns: dict[str, tuple[str, list[Any]]] = {
        "kind": ("string", kind),
        "f0": ("double", X[:, 0].tolist()),
        "noise": ("string", [f"n{value}" for value in rng.integers(0, 60, ROWS)]),
        "f1": ("double", [None if i % 17 == 0 else v for i, v in enumerate(X[:, 1].tolist())]),
        "f2": ("double", X[:, 2].tolist()),
        "label": ("int", (y & (rng.random(ROWS) < 0.5)).astype(int).tolist()),
    }
    return Table(columns)


MIXED = mixed()


def asked(method: str, **more: Any) -> Request:
    return Request(LABEL, method, k=2, options=QUICK.get(method, {}) | more)


@pytest.mark.parametrize("method", ["k-best", "prfs", "lasso", "pufs"])  # passes over all rows, and samples of them
@pytest.mark.parametrize("anywhere", [PLACES[1], PLACES[2], PLACES[5], PLACES[7]], indirect=True)
def test_same_bits_anywhere(anywhere: Placed, method: str) -> None:
    found = select_with(anywhere(MIXED), asked(method))
    expected = select_with(LocalEngine(MIXED.pandas()), asked(method))
    assert found.features == expected.features
    assert found.warnings == expected.warnings


@pytest.mark.parametrize("method", ["lasso", "semifs"])
@pytest.mark.parametrize("anywhere", [PLACES[2], PLACES[5]], indirect=True)
def test_a_sample_has_the_same_bits_too(anywhere: Placed, method: str) -> None:
    found = select_with(anywhere(MIXED), asked(method, rows=150))
    assert found.features == select_with(LocalEngine(MIXED.pandas()), asked(method, rows=150)).features


@pytest.mark.parametrize("method", READS_NUMBERS)
def test_every_method_that_reads_numbers_sees_text(method: str) -> None:
    frame = MIXED.pandas()
    found = select_with(LocalEngine(frame), asked(method))
    assert sorted(f.name for f in found.features) == ["f0", "f1", "f2", "kind", "noise"]
    assert found.dropped == {}


@pytest.mark.parametrize("method", ["fscpu", "fscpu-mi"])
@pytest.mark.parametrize("anywhere", [PLACES[1], PLACES[2], PLACES[5]], indirect=True)
def test_clusters_of_text_have_the_same_bits_anywhere(anywhere: Placed, method: str) -> None:
    """The selection, the saved model, and the rows that it finds in a table with levels it has not met."""
    request = replace(asked(method), must=("kind",))
    found, expected = select_with(anywhere(MIXED), request), select_with(LocalEngine(MIXED.pandas()), request)
    assert found.features == expected.features
    assert found.details["model"] == expected.details["model"]
    model = ClusterModel.from_dict(json.loads(json.dumps(found.details["model"])))
    assert list(model.text) == ["kind"]
    other = mixed(seed=5)
    words = ["never met", None, *other.columns["kind"][1][2:]]
    later = Table({**other.columns, "kind": ("string", words), "row": ("int", list(range(ROWS)))})
    likely = anywhere(later).likely_positives(model, LABEL, ["row"])
    likely = likely if isinstance(likely, pd.DataFrame) else likely.toPandas()
    alone = LocalEngine(later.pandas()).likely_positives(model, LABEL, ["row"])
    assert sorted(likely["row"]) == sorted(alone["row"])
    assert 0 < len(alone) < ROWS


def test_the_saved_clusters_are_those_that_were_counted() -> None:
    frame = MIXED.pandas().assign(row=range(ROWS))
    found = select(frame, label="label", method="fscpu", k=2, must=["kind"], keep=["row"], **QUICK["fscpu"])
    positive = [one for one in found.details["clusters"] if one["positive"]]
    assert len(likely_positives(found, frame)) == sum(one["rows"] - one["labelled"] for one in positive)


def test_random_text_makes_no_clusters() -> None:
    """Numbers of levels may come from labels: on noise that must not make the assumption hold."""
    verdicts = []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        frame = pd.DataFrame({f"t{i}": rng.integers(0, 30, 1000).astype(str) for i in range(6)})
        verdicts.append(
            check_clusters(frame.assign(label=(rng.random(1000) < 0.05).astype(int)), label="label").verdict
        )
    assert verdicts.count("holds") <= 1


@pytest.mark.parametrize("method", ["k-best", "lasso", "prfs", "semifs"])
def test_text_that_tells_is_chosen_and_text_that_does_not_is_not(method: str) -> None:
    chosen = [
        set(select(mixed(seed).pandas(), label="label", method=method, k=2, **QUICK.get(method, {})).names)
        for seed in range(8)
    ]
    assert sum("kind" in names for names in chosen) >= 7
    assert sum("noise" in names for names in chosen) <= 1


def test_two_levels_are_as_good_as_a_number() -> None:
    frame = MIXED.pandas().drop(columns=["kind", "noise"])
    flag = frame["f0"] > 1
    text, number = frame.assign(flag=np.where(flag, "yes", "no")), frame.assign(flag=flag.astype(float))
    for method in ("prfs", "lasso"):
        one, other = (select(t, label="label", method=method, k=2) for t in (text, number))
        assert one.names == other.names
        assert one.scores == pytest.approx(other.scores)


def test_an_all_text_table_can_be_selected_from() -> None:
    frame = MIXED.pandas()[["kind", "noise", "label"]]
    assert select(frame, label="label", method="prfs", k=1).names == ["kind"]


def test_names_of_levels_tell_nothing() -> None:
    frame = MIXED.pandas()
    levels = sorted(frame["kind"].dropna().unique())
    renamed = frame.assign(kind=frame["kind"].map(dict(zip(levels, reversed([*"abcde"]), strict=True))))
    for method in ("k-best", "prfs", "semifs"):
        one, other = (select(t, label="label", method=method, k=2) for t in (frame, renamed))
        assert one.names == other.names
        assert pd.Series(one.scores).round(9).tolist() == pd.Series(other.scores).round(9).tolist()
