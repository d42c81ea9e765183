"""prior: estimate at every door, and what is said where it cannot be."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from spark_pufs import DataError, estimate_prior, select
from spark_pufs.cli import run
from spark_pufs.request import Request
from spark_pufs.selection import Selection
from spark_pufs.types import LabelRule


def table(gap: float = 3.0, labelled: int = 80) -> pd.DataFrame:
    """300 of 1,200 rows are positive."""
    X = np.random.default_rng(1).normal(size=(1_200, 5))
    X[:300, :3] += gap
    return pd.DataFrame(X, columns=list("abcde")).assign(label=(np.arange(1_200) < labelled).astype(int))


def test_the_share_of_positives_is_found() -> None:
    found = estimate_prior(table(), label="label")
    assert found.low < 0.25 < found.high
    assert abs(found.prior - 0.25) < 0.05
    assert set(found.estimates) == {"elkan-noto", "tice", "best-bin", "dedpul"}
    assert estimate_prior(table().sample(frac=1, random_state=3), label="label") == found


def test_a_method_takes_the_estimate_as_its_prior() -> None:
    with pytest.raises(Exception, match="needs one"):
        select(table(), label="label", method="pucfs", k=2)
    found = select(table(), label="label", method="pucfs", k=2, prior="estimate")
    told = found.findings.estimated_prior
    assert told is not None
    given = select(table(), label="label", method="pucfs", k=2, prior=told.prior)
    assert given.names == found.names
    assert given.scores == found.scores
    again = Selection.from_dict(found.as_dict())
    assert again.findings.estimated_prior == told
    assert Request.of(LabelRule("label"), method="mim", prior="estimate").estimate_prior


def test_too_few_labels_are_told() -> None:
    with pytest.raises(DataError, match="9 rows are labelled, at least 10 are needed"):
        estimate_prior(table(labelled=9), label="label")


def test_the_command(tmp_path, capsys: pytest.CaptureFixture[str]) -> None:
    table().to_parquet(tmp_path / "rows.parquet")
    assert run(["estimate-prior", str(tmp_path / "rows.parquet"), "--label", "label", "--engine", "memory"]) == 0
    assert "of all rows are positive" in capsys.readouterr().out
