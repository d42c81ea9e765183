"""Error control: what is chosen by an error rate, what stands in the table, and what is said where nothing is found."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from spark_pufs import ConfigError, select
from spark_pufs.core.evidence.false_discoveries import q_values
from spark_pufs.core.information.independence import log_p_values
from spark_pufs.local import PUSelector
from spark_pufs.selection import Selection
from spark_pufs.types import Layout

ROWS, NOISE = 1_500, 12


def table(seed: int = 0, effect: float = 1.5) -> pd.DataFrame:
    """Two columns that are higher for positives, one that spreads further, a rare text, and noise."""
    rng = np.random.default_rng(seed)
    y = rng.random(ROWS) < 0.2
    X = rng.normal(size=(ROWS, NOISE + 3))
    X[y, :2] += effect
    X[y, 2] *= 1 + effect
    frame = pd.DataFrame(X, columns=["high", "higher", "wide", *(f"noise{i:02d}" for i in range(NOISE))])
    word = np.where(y & (rng.random(ROWS) < 0.1), "odd", np.array(["a", "b"])[rng.integers(2, size=ROWS)])
    return frame.assign(word=word, label=(y & (rng.random(ROWS) < 0.4)).astype(int))


@pytest.mark.parametrize("method", ["semi-mim", "semi-jmi", "semi-iamb", "lasso", "pufs"])
def test_any_method_ranks_what_is_found(method: str) -> None:
    found = select(table(), label="label", method=method, fdr=0.05)
    assert {"high", "higher", "wide", "word"} <= set(found.names)
    assert len(found.names) <= 5
    lines = found.table()
    assert (lines["selected"] == (lines["q_value"] <= 0.05)).all()
    assert found.findings.control is not None
    assert found.findings.control.found == len(found.names)


def test_expected_false_bounds_the_number() -> None:
    found = select(table(), label="label", method="semi-mim", expected_false=0.3)
    lines = found.table()
    assert (lines["selected"] == (lines["p_value"] * len(lines) <= 0.3)).all()
    assert len(found.names) >= 4


def test_every_line_has_a_q_value_and_copies_that_of_their_column() -> None:
    twins = table().assign(same=lambda t: t["high"], near=lambda t: 2 * t["high"] + 1)
    lines = select(twins, label="label", method="semi-mim", k=3).table().set_index("name")
    assert lines["q_value"].notna().all()
    assert lines.loc["same", "q_value"] == lines.loc["high", "q_value"]
    alone = lines.drop(index=["same", "near"])
    assert q_values(alone["p_value"].to_numpy(float)) == pytest.approx(alone["q_value"].to_numpy(float))


def test_copies_are_not_found_twice() -> None:
    twins = table().assign(same=lambda t: t["high"], near=lambda t: 2 * t["high"] + 1)
    names = select(twins, label="label", method="semi-mim", fdr=0.05).names
    assert sum(name in ("high", "same", "near") for name in names) == 1


def echoes(seed: int = 0) -> pd.DataFrame:
    """``high`` with three noisy echoes of it, which tell nothing given it, and ``other``, which does."""
    rng = np.random.default_rng(seed)
    y = rng.random(3_000) < 0.2
    high = np.where(y, 1, 0) * (rng.random(3_000) < 0.9) + rng.integers(0, 2, 3_000) * 2.0  # four values: bins hold all
    frame = pd.DataFrame({"high": high, "other": rng.normal(size=3_000) + y})
    for i in range(3):
        frame[f"echo{i}"] = np.where(rng.random(3_000) < 0.75, high, rng.integers(0, 4, 3_000))
    noise = pd.DataFrame(rng.normal(size=(3_000, 6)), columns=[f"noise{i}" for i in range(6)])
    return pd.concat([frame, noise], axis=1).assign(label=(y & (rng.random(3_000) < 0.5)).astype(int))


@pytest.mark.parametrize("rate", [{"fdr": 0.05}, {"expected_false": 0.3}])
def test_what_a_stronger_feature_explains_is_no_finding_of_its_own(rate: dict[str, float]) -> None:
    every = select(echoes(), label="label", method="semi-mim", **rate)
    distinct = select(echoes(), label="label", method="semi-mim", distinct=True, **rate)
    assert {"high", "other", "echo0", "echo1", "echo2"} <= set(every.names)
    assert {"high", "other"} <= set(distinct.names)
    assert not {"echo0", "echo1", "echo2"} & set(distinct.names)
    assert "distinct=True" in _page(distinct)[1]
    assert "without features that stronger ones explain" in _page(distinct)[1]


def test_explained_features_keep_the_larger_p_value() -> None:
    """By hand: that of the G-test of the echo within the levels of ``high``."""
    rows = echoes()
    found = select(rows, label="label", method="semi-mim", fdr=0.05, distinct=True).table().set_index("name")
    counts = np.zeros((2, 4, 4), np.int64)
    np.add.at(counts, (rows["label"], rows["high"].astype(int), rows["echo0"].astype(int)), 1)
    given_high = float(np.exp(log_p_values(counts, Layout((4,)))[0]))
    assert found.loc["echo0", "p_value"] >= given_high * (1 - 1e-9)
    plain = select(rows, label="label", method="semi-mim", fdr=0.05).table().set_index("name")
    assert found.loc["high", "p_value"] == plain.loc["high", "p_value"]


def test_distinct_goes_with_an_error_rate_alone() -> None:
    with pytest.raises(ConfigError, match="Option 'distinct': is for what an error rate finds"):
        select(table(), label="label", method="semi-mim", k=3, distinct=True)
    with pytest.raises(ConfigError, match="Option 'distinct': cannot go with labelled_by"):
        select(table(), label="label", method="semi-mim", fdr=0.1, distinct=True, labelled_by="high")


def test_where_nothing_is_found_it_is_said_why() -> None:
    with pytest.warns(UserWarning, match=r"No feature is found at a false share of at most 0\.1: the lowest p-value"):
        found = select(table(effect=0).drop(columns="word"), label="label", method="semi-mim", fdr=0.1)
    assert found.names == []
    assert "None of 15 features was chosen" in "".join(_page(found))
    assert 0 < found.findings.control.least < 1


def _page(found: Selection) -> list[str]:
    from spark_pufs.report import to_html, to_markdown

    return [to_html(found), to_markdown(found)]


def test_must_is_chosen_in_any_case_and_never_is_not() -> None:
    with pytest.warns(UserWarning, match="No feature is found"):
        none = select(table(effect=0).drop(columns="word"), label="label", method="semi-mim", fdr=0.1, must="noise03")
    assert none.names == ["noise03"]
    some = select(table(), label="label", method="semi-jmi", fdr=0.05, must="noise03", never="high")
    assert {"noise03", "higher", "wide"} <= set(some.names)
    assert "high" not in some.names


def test_one_thing_says_how_many() -> None:
    for given in ({"k": 3}, {"budget": 2.0}, {"expected_false": 1}, {"k": "auto"}):
        with pytest.raises(ConfigError, match="each say how many features are chosen"):
            select(table(), label="label", method="semi-mim", fdr=0.1, **given)
    for wrong in (0, 1, "much", True):
        with pytest.raises(ConfigError, match="Option 'fdr': must be a share between 0 and 1"):
            select(table(), label="label", method="semi-mim", fdr=wrong)


def test_the_answer_travels_and_can_be_asked_for_again() -> None:
    found = select(table(), label="label", method="semi-mim", fdr=0.05)
    again = Selection.from_dict(found.as_dict())
    assert again.features == found.features
    assert again.findings.control == found.findings.control
    assert "fdr=0.05" in _page(found)[1]
    assert "share of false features at most 0.05" in _page(found)[1]


def test_the_transformer_takes_an_error_rate_in_place_of_its_k() -> None:
    frame = table().drop(columns="word")
    fitted = PUSelector("semi-mim", fdr=0.05).fit(frame.drop(columns="label"), frame["label"])
    assert set(fitted.get_feature_names_out()) >= {"high", "higher", "wide"}
    assert ((fitted.q_values_ <= 0.05) == fitted.support_).all()
