"""Methods on Spark: the bits of the local engine, whatever the partitions and the order of rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import spark_pufs

pytestmark = pytest.mark.spark

# One of each way to compute: counts, sums, rows in one task, units of work, a search.
METHODS: dict[str, dict[str, Any]] = {
    "semi-jmi": {},
    "mrmr": {"criterion": "miq"},
    "pucfs": {"prior": 0.3},
    "k-best": {},
    "lasso": {"rows": 300},
    "dt-rfe": {"trees": 5, "step": 2, "rows": 300},
    "lgbm-opt": {"search": "paper", "evaluations": 2, "rows": 300},
    "sselect": {"rows": 300},
    "prfs": {},
    "pulasso": {"prior": 0.3, "rows": 300, "penalties": 8},
    "distil": {"rows": 300, "trees": 10},
    "consensus": {"rows": 300, "trees": 5, "bags": 2},
    "soft-mim": {"rows": 300, "trees": 10},
    "soft-jmi": {"rows": 300, "trees": 10},
}


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    rng = np.random.default_rng(8)
    y = rng.random(900) < 0.3
    X = rng.normal(size=(900, 7)) + y[:, None] * np.linspace(0, 1.5, 7)
    X[rng.random((900, 7)) < 0.02] = np.nan
    frame = pd.DataFrame(X, columns=[f"x.{i}" for i in range(7)])
    return frame.assign(label=np.where(y & (rng.random(900) < 0.3), 1, 0))


@pytest.fixture(scope="module")
def frame(spark: Any, table: pd.DataFrame) -> Any:
    return spark.createDataFrame(table.sample(frac=1.0, random_state=2)).repartition(5).persist()


@pytest.mark.parametrize("method", list(METHODS))
def test_same_bits_as_in_process(table: pd.DataFrame, frame: Any, method: str) -> None:
    options = {"label": "label", "method": method, "k": 3, "seed": 4, **METHODS[method]}
    local, found = (spark_pufs.select(rows, **options) for rows in (table, frame))
    assert found.features == local.features
    assert found.details == local.details
    assert found.fingerprint == local.fingerprint
