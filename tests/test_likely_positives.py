"""Likely positives of a table that does not fit the selection: told before any row is read again, on both engines."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

import spark_pufs
from spark_pufs.errors import DataError

ROWS = np.arange(400)
X = np.random.default_rng(0).normal(size=(400, 2)) + np.where(ROWS < 40, 6, 0)[:, None]
TABLE = pd.DataFrame(X, columns=["a", "b"]).assign(label=np.where(ROWS < 20, 1, 0), row=ROWS, cluster=ROWS % 3)


@pytest.fixture(scope="module")
def selection() -> spark_pufs.Selection:
    options = {"keep": ["row", "cluster"], "clusters": 2, "generations": 2, "generation_size": 16}
    return spark_pufs.select(TABLE, label="label", method="fscpu", k=2, **options)


@pytest.fixture(params=["pandas", pytest.param("spark", marks=pytest.mark.spark)])
def made(request: pytest.FixtureRequest) -> Callable[[pd.DataFrame], Any]:
    if request.param == "pandas":
        return lambda frame: frame
    made: Callable[[pd.DataFrame], Any] = request.getfixturevalue("spark").createDataFrame
    return made


@pytest.mark.parametrize(
    ("change", "keep", "message"),
    [
        ({"label": np.where(ROWS < 7, 2, 0)}, "row", "Column 'label': expected 0, 1 or null, found '2' in 7 rows."),
        ({}, "idd", "Option 'keep': 'idd' matches none of 5 columns."),
        ({}, ["row", "rwo"], "Option 'keep': 'rwo' matches none of 5 columns. Did you mean 'row'?"),
        ({}, ["row", "cluster"], "Option 'keep': 'cluster' is the column that is added. Rename the table's own."),
        ({}, (), "Option 'keep': 'cluster' is the column that is added. Rename the table's own."),
    ],
)
def test_what_does_not_fit(
    selection: spark_pufs.Selection, made: Callable[[pd.DataFrame], Any], change: Any, keep: Any, message: str
) -> None:
    with pytest.raises(DataError) as caught:
        spark_pufs.likely_positives(selection, made(TABLE.assign(**change)), keep)
    assert str(caught.value).startswith(message)


def test_what_fits(selection: spark_pufs.Selection, made: Callable[[pd.DataFrame], Any]) -> None:
    found = spark_pufs.likely_positives(selection, made(TABLE), "row")
    found = found if isinstance(found, pd.DataFrame) else found.toPandas()
    assert sorted(found["row"]) == list(range(20, 40))


def test_a_promised_list_is_the_same_everywhere(
    selection: spark_pufs.Selection, made: Callable[[pd.DataFrame], Any]
) -> None:
    found = selection.likely_positives(made(TABLE), "row", recall=0.9)
    found = found if isinstance(found, pd.DataFrame) else found.toPandas()
    here = spark_pufs.likely_positives(selection, TABLE, "row", recall=0.9)
    assert set(range(22, 40)) <= set(here["row"]) | {20, 21}
    assert dict(zip(found["row"], found["score"], strict=True)) == dict(zip(here["row"], here["score"], strict=True))


def test_a_column_that_stands_twice(selection: spark_pufs.Selection) -> None:
    twice = pd.concat([TABLE, TABLE[["a"]]], axis=1)
    with pytest.raises(DataError, match=r"Column 'a': occurs twice in the table\. Rename one of them\."):
        spark_pufs.likely_positives(selection, twice, "row")


def test_all_faults_at_once(selection: spark_pufs.Selection) -> None:
    with pytest.raises(DataError, match="3 faults"):
        spark_pufs.likely_positives(selection, TABLE.drop(columns=["a", "label"]), "idd")
