"""Warnings of a selection reach whoever calls it from Python: at the caller's line, and in what is printed."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline

from spark_pufs import PufsWarning, Selection, select
from spark_pufs.errors import warn
from spark_pufs.local import PUSelector

FEW = "Only 5 rows labelled positive: expect changes with more labels."


def table() -> pd.DataFrame:
    X = np.random.default_rng(0).integers(0, 3, (200, 3))
    return pd.DataFrame(X, columns=list("abc")).assign(label=(np.arange(200) < 5).astype(int))


def test_select_warns_at_the_line_of_the_user() -> None:
    with pytest.warns(PufsWarning) as told:
        found = select(table(), label="label", method="mim", k=1)
    assert [str(one.message) for one in told] == [FEW] == list(found.warnings)
    assert [one.filename for one in told] == [__file__]


def test_a_transformer_warns_at_the_line_of_the_user_also_in_a_pipeline() -> None:
    X, s = table()[["a", "b", "c"]], table()["label"]
    own = PUSelector("mim", 1)
    for fit in (own.fit, own.fit_transform, make_pipeline(own).fit_transform):
        with pytest.warns(PufsWarning) as told:
            fit(X, s)
        assert [(str(one.message), one.filename) for one in told] == [(FEW, __file__)]


def test_trials_do_not_warn() -> None:
    rows = table().assign(label=(np.arange(200) < 60).astype(int))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = select(rows, label="label", method="semi-mim", k=3, stability=3)
    assert found.warnings == ()


def test_a_warning_may_be_turned_off_or_into_an_error() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error", PufsWarning)
        with pytest.raises(PufsWarning, match="Only 5 rows"):
            select(table(), label="label", method="mim", k=1)


def test_secrets_are_masked() -> None:
    with pytest.warns(PufsWarning, match=r"s3://\*\*\*@bucket"):
        warn(["Column 's3://me:pw@bucket/x': look at it."])


def printed(count: int) -> Selection:
    found = select(table(), label="label", method="mim", k="all")
    return replace(found, warnings=tuple(f"Fact {i}." for i in range(count)))


def test_what_is_printed_tells_up_to_five() -> None:
    first = printed(0).summary
    assert str(printed(0)) == first
    assert first.startswith("mim: 3 of 3 features: ")
    assert str(printed(2)).splitlines() == [first, "warning: Fact 0.", "warning: Fact 1."]
    assert repr(printed(8)).splitlines() == [first, *(f"warning: Fact {i}." for i in range(5)), "and 3 more"]


def test_a_leak_is_seen_in_what_is_printed() -> None:
    rng = np.random.default_rng(1)
    rows = table().assign(label=(rng.random(200) < 0.3).astype(int))
    found = select(rows.assign(copy_of_label=rows["label"]), label="label", k=2)
    verdict, answer, warning = str(found).splitlines()[:3]
    assert verdict == found.verdict
    assert verdict.startswith("Better than chance: held-out AUC 1.000 ")
    assert answer == found.summary
    assert warning.startswith("warning: Column 'copy_of_label': determines the label of every row")
