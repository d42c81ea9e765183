"""What is told of a table before anything is chosen."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from spark_pufs import select
from spark_pufs.errors import DataError

IDENTIFIER = "an identifier? Put it into keep or exclude."


def table(rows: int = 200) -> pd.DataFrame:
    """The first rows are the labelled ones, and customers are numbered in the order they came; the last came twice."""
    rng = np.random.default_rng(0)
    label = (np.arange(rows) < rows // 5).astype(int)
    customer = [f"customer {min(i, rows - 2):04d}" for i in range(rows)]
    return pd.DataFrame({"customer": customer, "good": rng.normal(size=rows) + label, "label": label})


@pytest.mark.parametrize("kind", ["text", "whole numbers"])
def test_identifiers_are_named(kind: str) -> None:
    frame = table()
    if kind == "whole numbers":
        frame["customer"] = np.arange(len(frame))
    found = select(frame, label="label", method="semi-mim", k=1)
    assert [w for w in found.warnings if "identifier" in w] == [
        f"Column 'customer': {kind}, nearly all different: {IDENTIFIER}"
    ]


@pytest.mark.parametrize("frame", [table(100), table().assign(customer=lambda t: t["customer"].str[:-1])])
def test_few_rows_and_groups_are_nothing_remarkable(frame: pd.DataFrame) -> None:
    assert not any("identifier" in w for w in select(frame, label="label", method="semi-mim", k=1).warnings)


def test_text_that_nearly_all_differs_tells_next_to_nothing() -> None:
    """Not even that labelled rows come first."""
    found = select(table(), label="label", method="semi-mim", k="all")
    assert found.names[0] == "good"
    assert {f.name: f.score for f in found.features}["customer"] < 0.01


def test_text_that_all_differs_is_left_out() -> None:
    """As a constant, which all others sharing a level make of it, mrmr would take it for free of redundancy."""
    frame = table().assign(customer=[f"customer {i}" for i in range(200)], fair=lambda t: t["good"] + t.index % 7)
    found = select(frame, label="label", method="mrmr", k=2)
    assert found.dropped == {"customer": "text, all values different, likely an identifier"}
    assert set(found.names) == {"good", "fair"}
    holes = frame.assign(customer=frame["customer"].mask(frame["label"] == 1))  # that none is known tells much
    assert select(holes, label="label", method="mrmr", k=2).names[0] == "customer"
    with pytest.raises(DataError, match=r"'customer' was left out \(text, all values different"):
        select(frame, label="label", method="mrmr", k=2, must=["customer"])
