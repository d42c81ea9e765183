"""pufs, pucfs, apucfs and prfs give the same bits wherever the rows lie."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from spark_pufs.engines.local import LocalEngine
from spark_pufs.request import Request
from spark_pufs.run.execution import select_with
from spark_pufs.types import LabelRule
from support.places import PLACES, Placed, Table

ROWS, FEATURES = 600, 5
LABEL = LabelRule("label")
REQUESTS = {
    "pufs": Request(LABEL, "pufs", k=3, options={"alpha": "balance"}),
    "pufs on a sample": Request(LABEL, "pufs", k=3, options={"rows": 200, "linked": 20}),
    "pucfs": Request(LABEL, "pucfs", prior=0.3),
    "apucfs": Request(LABEL, "apucfs", k=4, options={"search": "best-first"}),
    "prfs": Request(LABEL, "prfs", k=3),
}


def numbers() -> Table:
    """Features that tell a hidden class less and less, one of them with gaps, one in whole numbers."""
    rng = np.random.default_rng(3)
    y = rng.random(ROWS) < 0.3
    X = rng.normal(size=(ROWS, FEATURES)) + y[:, None] * np.linspace(3, 0, FEATURES)
    X[rng.random(ROWS) < 0.1, 1] = np.nan
    columns: dict[str, tuple[str, list[Any]]] = {f"f{i}": ("double", X[:, i].tolist()) for i in range(FEATURES)}
    columns["whole"] = ("bigint", np.round(X[:, 0]).astype(int).tolist())
    columns["label"] = ("int", (y & (rng.random(ROWS) < 0.4)).astype(int).tolist())
    return Table(columns)


NUMBERS = numbers()


@pytest.mark.parametrize("name", REQUESTS)
@pytest.mark.parametrize("anywhere", [PLACES[2], PLACES[5]], indirect=True)  # small slices; seven partitions
def test_same_bits_anywhere(anywhere: Placed, name: str) -> None:
    found = select_with(anywhere(NUMBERS), REQUESTS[name])
    expected = select_with(LocalEngine(NUMBERS.pandas()), REQUESTS[name])
    assert found.features == expected.features
    assert found.details == expected.details
    assert found.warnings == expected.warnings
