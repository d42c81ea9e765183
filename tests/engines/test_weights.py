"""Weights: a row of weight w is w equal rows, at every door and for every kind of method."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from spark_pufs import ConfigError, DataError, compare, select
from spark_pufs.engines import weights
from spark_pufs.engines.weights import repeated_table, repeats
from spark_pufs.jobs.config import parse
from spark_pufs.jobs.select_job import run_select
from spark_pufs.local import PUSelector


def table(rows: int = 240) -> pd.DataFrame:
    rng = np.random.default_rng(1)
    y = np.arange(rows) % 3 == 0
    X = pd.DataFrame(rng.normal(size=(rows, 4)).round(3), columns=list("abcd"))
    X["b"] += 2 * y
    X["c"] -= y
    X["t"] = np.where(rng.random(rows) < np.where(y, 0.6, 0.3), "red", "blue")
    return X.assign(w=rng.integers(0, 4, rows), label=(y & (np.arange(rows) % 2 == 0)).astype(int))


def repeated(frame: pd.DataFrame) -> pd.DataFrame:
    """Every row as often as it counts, one by one."""
    rows = [i for i, w in enumerate(frame["w"]) for _ in range(w)]
    return frame.drop(columns="w").iloc[rows]


def lines(selection: Any) -> list[tuple[object, ...]]:
    return [(f.name, f.rank, f.score, f.standard_error, f.relevance, f.p_value, f.selected) for f in selection.features]


@pytest.mark.parametrize(
    ("method", "options"),
    [("semi-jmi", {}), ("distil", {"trees": 10}), ("fscpu", {"generations": 3}), ("k-best", {}), ("semi-iamb", {})],
)
def test_a_row_of_weight_w_is_w_rows(method: str, options: dict[str, Any]) -> None:
    given = {"label": "label", "method": method, "k": 2, **options}
    weighted = select(table(), weights="w", **given)
    plain = select(repeated(table()), **given)
    assert lines(weighted) == lines(plain)
    assert weighted.facts == plain.facts
    assert weighted.request.weights == "w"


def test_weights_of_one_change_nothing() -> None:
    frame = table().assign(w=1)
    weighted = select(frame, label="label", method="semi-mim", k=2, weights="w", keep="w")
    assert lines(weighted) == lines(select(frame.drop(columns="w"), label="label", method="semi-mim", k=2))
    assert list(weighted.apply(frame)) == [*sorted(weighted.names), "w", "label"]  # weights are no feature and stay


def test_every_door_in_memory(tmp_path: Path) -> None:
    frame, given = table(), {"method": "semi-mim", "k": 2}
    wanted = lines(select(frame, label="label", weights="w", **given))
    assert lines(select(pa.Table.from_pandas(frame), label="label", weights="w", **given)) == wanted
    X = frame.drop(columns=["w", "label"])
    assert lines(PUSelector(**given).fit(X, frame["label"], sample_weight=frame["w"]).selection_) == wanted
    frame.to_parquet(tmp_path / "in.parquet")
    done = run_select(
        parse(
            {
                "source": {"path": str(tmp_path / "in.parquet")},
                "label": {"column": "label"},
                "select": {**given, "weights": "w"},
                "output": {"path": str(tmp_path / "out")},
            }
        )
    )
    assert done.selection is not None
    assert lines(done.selection) == wanted


def test_methods_are_compared_on_repeated_rows() -> None:
    common = {"label": "label", "methods": ["semi-mim"], "k": 2, "repeats": 1, "folds": 3}
    weighted, plain = compare(table(), weights="w", **common), compare(repeated(table()), **common)
    assert [one.auc for one in weighted.standings] == [one.auc for one in plain.standings]


@pytest.mark.parametrize(
    ("values", "told"),
    [
        ([1.0, np.nan, 2.0], "1 values are missing or no numbers. Give every row one."),
        ([1.0, 0.5, -1.0], "2 values are no whole numbers from 0 on. Multiply them and round"),
        ([1.0, np.inf], "1 values are no whole numbers"),
        ([0.0, 0.0], "every weight is zero"),
        ([2e6, 1.0], "the largest is 2,000,000, at most 1,000,000 is possible"),
    ],
)
def test_wrong_weights(values: list[float], told: str) -> None:
    with pytest.raises(DataError, match="Weights 'w'") as found:
        repeats("w", np.array(values))
    assert told in str(found.value)


def test_more_rows_than_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(weights, "MOST_ROWS", 5)
    with pytest.raises(DataError, match="they sum to 6 rows, more than 5 are not repeated in memory"):
        repeats("w", np.array([3.0, 3.0]))
    assert repeats("w", np.ones(6)).tolist() == list(range(6))  # as many as there were anyway


def test_a_column_of_weights_that_is_not_there_and_one_of_text() -> None:
    with pytest.raises(DataError, match="Weights 'ww': not found among 7 columns"):
        select(table(), label="label", k=2, weights="ww")
    with pytest.raises(DataError, match="Weights 't': 240 values are missing or no numbers"):
        select(table(), label="label", k=2, weights="t")
    with pytest.raises(DataError, match="Weights 'a': occurs twice"):
        repeated_table(pa.table([[1], [2]], names=["a", "a"]), "a")


def test_what_does_not_go_with_weights(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="Option 'weights': names the label"):
        select(table(), label="label", k=2, weights="label")
    with pytest.raises(ConfigError, match="Option 'weights': are not kept with the counts of a memory"):
        select(table(), label="label", method="semi-mim", k=2, weights="w", memory=tmp_path, partition="t")
    places = {"source": {"path": "in"}, "label": {"column": "label"}, "features": {"keep": ["id"]}}
    config = {
        **places,
        "select": {"method": "fscpu", "weights": "w"},
        "output": {"path": "o", "likely_positives": True},
    }
    with pytest.raises(ConfigError, match="would list a row as often as it counts"):
        run_select(parse(config))
