"""Lists with a promise: the conformal cut by hand, coverage over draws, kinds that are missed."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from spark_pufs import ConfigError, DataError, select
from spark_pufs.core.soft.recall_list import cut_for, missed_kinds


def test_the_cut_by_hand() -> None:
    """Of 9 labelled rows the lowest is the cut for 0.9, of 19 the second lowest; of 8 there is none."""
    assert cut_for(np.arange(9.0), 0.9) == 0
    assert cut_for(np.arange(19.0), 0.9) == 1
    assert cut_for(np.arange(8.0), 0.9) is None
    assert cut_for(np.arange(8.0), 1e-12) == 7  # the highest: a further one passes it in one case of nine


@pytest.mark.parametrize("recall", [0.5, 0.8, 0.9])
def test_a_further_positive_passes_the_cut_often_enough(recall: float) -> None:
    rng = np.random.default_rng(0)
    draws = rng.normal(size=(4_000, 31))
    passed = np.mean([own[30] >= (cut_for(own[:30], recall) or -np.inf) for own in draws])
    assert recall - 0.02 < passed < recall + 1 / 31 + 0.02


def test_a_kind_that_is_left_out_is_named() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(0, 0.2, (40, 3))
    X[:6, 1] += 4
    listed = np.arange(40) >= 6
    (kind,) = missed_kinds(X, listed, ["a", "duration", "c"])
    assert (kind.rows, kind.listed, kind.feature, kind.higher) == (6, 0.0, "duration", True)
    assert missed_kinds(X, np.ones(40, bool), ["a", "duration", "c"]) == ()
    assert missed_kinds(rng.normal(size=(40, 3)), listed, ["a", "b", "c"]) == ()


def table(seed: int, labelled: int = 40) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(900, 4))
    y = np.arange(900) < 200
    X[y, :2] += 2.5
    own = np.zeros(900, int)
    own[rng.choice(200, labelled, replace=False)] = 1
    word = np.where(y, "odd", "even")
    return pd.DataFrame(X, columns=list("abcd")).assign(word=word, row=np.arange(900), label=own)


def test_the_list_holds_the_share_of_positives() -> None:
    found = []
    for seed in range(3):
        rows = table(seed).drop(columns="word")
        chosen = select(rows, label="label", method="semi-mim", k=2, keep=["row"])
        listed = chosen.likely_positives(rows, recall=0.8)
        hidden = set(np.flatnonzero((rows["label"] == 0) & (rows["row"] < 200)))
        found.append(len(hidden & set(listed["row"])) / len(hidden))
        assert "at least 80 %" in listed.attrs["promise"]
        assert not set(listed["row"]) & set(np.flatnonzero(rows["label"]))
    assert np.mean(found) > 0.77


def test_text_is_read_and_bad_questions_are_told() -> None:
    rows = table(0)
    chosen = select(rows, label="label", method="semi-mim", k=3, keep=["row"])
    assert (chosen.likely_positives(rows, recall=0.9)["row"] < 200).mean() > 0.9
    with pytest.raises(ConfigError, match="Option 'recall': must be a share between 0 and 1, got 1"):
        chosen.likely_positives(rows, recall=1)
    with pytest.raises(DataError, match=r"8 labelled rows cannot promise 0\.9 of the positives, 9 can"):
        chosen.likely_positives(table(0, labelled=8), recall=0.9)
