"""Relevance on one scale: by hand, and what every method owes."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

import numpy as np
import pandas as pd
import pytest

from spark_pufs import Selection, select
from spark_pufs.engines.local import LocalEngine
from spark_pufs.request import Request
from spark_pufs.run.relevance import relevance_of, told_alone
from spark_pufs.selectors.base import Outcome
from spark_pufs.table.counter import Counter
from spark_pufs.table.limits import Limits
from spark_pufs.table.pu_table import inspect, pack
from spark_pufs.types import LabelRule


def limits(count: int, **more: Any) -> Limits:
    own = {"k": count, "costs": np.ones(count), "budget": np.inf, "must": (), "never": np.zeros(count, bool)}
    return Limits(**{**own, **more})


def outcome(scores: list[float], chosen: list[int], **more: Any) -> Outcome:
    return Outcome(chosen, np.array(scores), np.array(more.pop("errors", np.zeros(len(scores)))), **more)


def relevance(found: Outcome, alone: list[float], **more: Any) -> tuple[list[float], list[float]]:
    values, errors = relevance_of(found, found.order(), np.array(alone), limits(len(alone), **more))
    return values.round(6).tolist(), errors.round(6).tolist()


def test_chance_is_the_median_of_columns_that_tell_nothing_alone() -> None:
    """Chance is 1, the first is 4 above it; 1.4826 times the median distance of 1, 0.6 and 1.2 to 1 is 0.29652."""
    found = outcome([5, 3, 1, 0.6, 1.2], [0, 1])
    values, errors = relevance(found, [1, 1, -1, 0, -1])
    assert values == [1, 0.5, 0, 0, 0.05]
    assert errors == pytest.approx([0.29652 / 4] * 5, abs=1e-6)


def test_it_never_rises_down_the_ranking() -> None:
    assert relevance(outcome([4, 1, 2, 0], [0, 1]), [1, 1, 1, 1])[0] == [1, 0.25, 0.25, 0]


def test_own_errors_are_in_units_of_the_first_feature() -> None:
    assert relevance(outcome([4, 2, 0, 0], [0], errors=[1, 0.5, 0, 0]), [1] * 4)[1] == [0.25, 0.125, 0, 0]


def test_sums_over_the_features_chosen_before_become_means() -> None:
    """Chosen first, second, third, fourth: 1, 1, 2 and 3 terms; the last is not chosen and has 3."""
    found = outcome([0.4, 0.2, 0.3, 0.3, 0.03], [0, 1, 2, 3], summed=True, errors=[0.4, 0.4, 0.4, 0.3, 0.3])
    assert relevance(found, [1] * 5) == ([1, 0.5, 0.375, 0.25, 0.025], [1, 1, 0.5, 0.25, 0.25])


def test_a_score_below_zero_may_be_the_best() -> None:
    assert relevance(outcome([-1, -3, -5], [0]), [1, 1, 1])[0] == [1, 0.5, 0]


def test_a_first_feature_at_chance_leaves_nothing() -> None:
    assert relevance(outcome([0, 0, 0], [0]), [1, 1, 1]) == ([0, 0, 0], [0, 0, 0])
    assert relevance(outcome([1, 1, 1, 1], [0]), [1, -1, -1, -1])[0] == [0, 0, 0, 0]


def test_columns_that_the_user_placed_keep_their_own_value() -> None:
    """0 must be first, 3 never is chosen, 4 is too dear: 1 is the first of the method."""
    found = outcome([1, 4, 2, 3, 3, 1], [0, 1])
    bound = {"must": (0,), "never": np.array([0, 0, 0, 1, 0, 0], bool), "budget": 3.0}
    values, _ = relevance(found, [1] * 6, **bound, costs=np.array([1, 1, 1, 1, 9, 1.0]))
    assert values == [0.25, 1, 0.5, 0.75, 0.75, 0.25]


def test_chosen_columns_count_as_chance_where_there_are_no_others() -> None:
    assert relevance(outcome([5, 1, 1, 3], [0, 1, 2]), [1, -1, -1, -1])[0] == [1, 0, 0, 0]


def test_a_method_may_deliver_its_own() -> None:
    own = outcome([1, 2, 3], [2, 0], relevance=np.array([0.9, 0.2, 0.8]), relevance_errors=np.array([0.1, 0.2, 0.3]))
    assert relevance(own, [1, 1, 1]) == ([0.8, 0.2, 0.8], [0.1, 0.2, 0.3])
    bare = outcome([1, 2, 3], [2, 0], relevance=np.array([1.5, -1, 1]))
    assert relevance(bare, [1, 1, 1]) == ([1, 0, 1], [0, 0, 0])


def test_columns_of_noise_tell_nothing_alone() -> None:
    """A chi-square variable passes its mean by two deviations about once in twenty-five times."""
    rng = np.random.default_rng(2)
    label = np.arange(500) % 5 == 0
    frame = pd.DataFrame(rng.integers(0, 6, (500, 240))).assign(label=label.astype(int), same=label)
    request = Request(LabelRule("label"), "mim")
    alone = told_alone(Counter(pack(inspect(LocalEngine(frame), request), request), 1))
    assert 0.9 < (alone[:-1] <= 0).mean() < 1
    assert alone[-1] > 0.4


def table() -> pd.DataFrame:
    rng = np.random.default_rng(4)
    y = rng.random(1500) < 0.3
    X = rng.normal(size=(1500, 12))
    for i in range(4):
        X[y, i] += 1.5 - 0.3 * i
    frame = pd.DataFrame(X, columns=[f"x{i:02d}" for i in range(12)])
    return frame.assign(label=(y & (rng.random(1500) < 0.5)).astype(int))


@pytest.mark.parametrize("method", ["semi-jmi", "semi-mim", "cmim", "k-best", "lasso"])
def test_methods_agree_on_what_is_chance_and_what_is_best(method: str) -> None:
    lines = select(table(), label="label", method=method, k=6).table().set_index("name")
    assert lines["relevance"].iloc[0] == 1
    assert lines["relevance"].is_monotonic_decreasing
    noise = lines.loc[[f"x{i:02d}" for i in range(4, 12)], "relevance"]
    assert noise.max() < 0.2
    assert lines.loc["x00", "relevance"] > 0.8
    assert (lines["relevance_error"] >= 0).all()
    assert lines["relevance_error"].max() > 0


def test_the_first_bar_of_joint_information_is_the_longest() -> None:
    found = select(table(), label="label", method="semi-jmi", k=8, correction="none")
    assert found.scores != sorted(found.scores, reverse=True)  # the sum grows
    assert found.relevance[0] == 1
    assert found.relevance == sorted(found.relevance, reverse=True)


def test_a_selection_of_an_earlier_version_is_read() -> None:
    found = select(table(), label="label", k=2)
    values = json.loads(found.to_json())
    assert [f["relevance"] for f in values["features"]] == [f.relevance for f in found.features]
    for feature in values["features"]:
        del feature["relevance"], feature["relevance_error"]
    old = Selection.from_dict(values)
    assert old.relevance == [None, None]
    assert old.table()["relevance"].isna().all()
    assert asdict(old.features[0])["score"] == found.features[0].score
