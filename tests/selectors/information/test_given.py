"""Ranking given the columns by which rows were labelled."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from spark_pufs import ConfigError, PufsWarning, select
from spark_pufs.core.information.chance import class_beyond_chance
from spark_pufs.types import Layout

ROWS = 4_000


def table(seed: int = 0) -> pd.DataFrame:
    """Positives are higher in a and b; labels follow ``region``, which ``near`` repeats with noise."""
    rng = np.random.default_rng(seed)
    y = rng.random(ROWS) < 0.2
    X = rng.normal(size=(ROWS, 6))
    X[y, 0] += 1
    X[y, 1] += 0.7
    region = rng.integers(4, size=ROWS)
    labelled = y & (rng.random(ROWS) < np.array([0.02, 0.05, 0.3, 0.6])[region])
    frame = pd.DataFrame(X, columns=["a", "b", "n1", "n2", "n3", "n4"])
    near = region + rng.normal(size=ROWS)
    return frame.assign(region=region, near=near, label=labelled.astype(int))


def test_the_column_that_labels_follow_does_not_win() -> None:
    plain = select(table(), label="label", method="semi-mim", k=2, categorical=["region"])
    assert "region" in plain.names
    with pytest.warns(PufsWarning, match="'labelled_by': ranked by semi-mim, since distil cannot rank given columns"):
        given = select(table(), label="label", k=2, categorical=["region"], labelled_by="region")
    assert given.method == "semi-mim"
    assert given.names == ["a", "b"]
    lines = given.table().set_index("name")
    assert lines.loc["region", "p_value"] == 1
    assert lines.loc["near", "q_value"] > 0.05
    assert lines.loc["a", "q_value"] < 1e-6


def test_false_features_are_counted_given_the_column() -> None:
    found = select(table(), label="label", method="semi-mim", fdr=0.05, labelled_by=["region"])
    assert set(found.names) == {"a", "b"}
    several = select(table(), label="label", method="semi-mim", fdr=0.05, labelled_by=["region", "near"])
    assert set(several.names) == {"a", "b"}


def test_scores_are_those_of_the_counts_by_hand() -> None:
    frame = pd.DataFrame({"x": [0, 1, 0, 1] * 30, "e": [0, 0, 1, 1] * 30, "label": ([1, 0, 1, 1] + [0] * 8) * 10})
    found = select(frame, label="label", method="semi-mim", k=1, labelled_by="e").table().set_index("name")
    rows, labelled = frame.groupby(["e", "x"]).size(), frame.groupby(["e", "x"])["label"].sum()
    rate = frame.groupby("e")["label"].mean()
    share = frame["label"].mean()
    weighed = [sum(rate[e] / share * rows[e, x] for e in (0, 1)) for x in (0, 1)]
    own = [labelled[0, x] + labelled[1, x] for x in (0, 1)]
    counts = np.array([[[w - a for w, a in zip(weighed, own, strict=True)]], [own]])
    assert found.loc["x", "score"] == pytest.approx(class_beyond_chance(counts, Layout((2,)))[0][0])


def test_what_cannot_be_is_told() -> None:
    with pytest.raises(ConfigError, match="method 'lasso' cannot rank given columns"):
        select(table(), label="label", method="lasso", k=1, labelled_by="region")
    with pytest.raises(Exception, match="Option 'labelled_by': 'regions' is not a feature"):
        select(table(), label="label", k=1, labelled_by="regions")
