"""The method pulasso: groups, the prior, text columns."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from spark_pufs import DataError, PufsWarning, select


def table(seed: int = 0, rows: int = 800) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    y = rng.random(rows) < 0.3
    X = pd.DataFrame(rng.normal(size=(rows, 6)), columns=list("abcdef"))
    X["a"] += 1.5 * y
    X["b"] -= y
    X["t"] = np.where(rng.random(rows) < np.where(y, 0.7, 0.2), "red", rng.choice(["blue", "green"], rows))
    return X.assign(label=(y & (rng.random(rows) < 0.4)).astype(int))


def test_what_tells_comes_first_numbers_and_text() -> None:
    found = select(table(), label="label", method="pulasso", k=3, prior=0.3)
    assert set(found.names) == {"a", "b", "t"}
    assert found.details["sample"] == "all 800 rows"
    assert not any("assumes" in text for text in found.warnings)


def test_an_assumed_prior_is_told() -> None:
    with pytest.warns(PufsWarning, match="pulasso assumes that"):
        select(table(), label="label", method="pulasso", k=3)


def test_features_of_a_group_come_in_together() -> None:
    alone = select(table(), label="label", method="pulasso", k="all", prior=0.3)
    found = select(table(), label="label", method="pulasso", k="all", prior=0.3, groups=["[ac]"])
    order = [one.name for one in found.features]
    assert abs(order.index("a") - order.index("c")) == 1
    assert [one.name for one in alone.features].index("c") > 2
    with pytest.raises(DataError, match=r"Option 'groups': 'x\*' is not a feature"):
        select(table(), label="label", method="pulasso", k=2, prior=0.3, groups=["x*"])


def test_bent_columns_see_positives_that_lie_further_out() -> None:
    rng = np.random.default_rng(1)
    y = np.arange(900) < 300
    X = pd.DataFrame(rng.normal(size=(900, 5)), columns=list("abcde"))
    X.loc[y, "d"] *= 3
    frame = X.assign(label=(y & (rng.random(900) < 0.5)).astype(int))
    assert select(frame, label="label", method="pulasso", k=1, prior=1 / 3, curves="bent").names == ["d"]


def test_the_sample_is_bounded_and_told() -> None:
    found = select(table(rows=3000), label="label", method="pulasso", k=2, prior=0.3, rows=1000)
    assert found.details["sample"].startswith("a sample of ")
