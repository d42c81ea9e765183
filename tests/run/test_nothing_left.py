"""Features that add nothing to those chosen: in the order of what each tells alone, and said."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from spark_pufs import Selection, select
from spark_pufs.run.nothing_left import ordered, say_nothing_left
from spark_pufs.selectors.base import Outcome
from spark_pufs.table.limits import Limits


def limits(k: int, count: int, must: tuple[int, ...] = (), never: tuple[int, ...] = ()) -> Limits:
    barred = np.zeros(count, bool)
    barred[list(never)] = True
    return Limits(k, np.ones(count), np.inf, must, barred)


def outcome(scores: list[float], chosen: list[int]) -> Outcome:
    return Outcome(chosen, np.array(scores), np.zeros(len(scores)))


ALONE = np.array([0.1, 0.9, 0.3, 0.2, 0.4])


def test_a_choice_in_column_order_becomes_one_by_what_is_told_alone() -> None:
    own = limits(3, 5)
    found, order = ordered(outcome([0, 5, 0, 0, 1e-12], [1, 4, 0]), ALONE, own)
    assert found.chosen == [1, 4, 2]
    assert order == [1, 4, 2, 3, 0]
    assert say_nothing_left(found, tuple("abcde"), own) == (
        "After 'b' nothing is left to add: the order of the other 4 features is by their own relevance, not by what "
        "they add.",
    )


def test_another_order_of_the_method_stays_but_the_rest_is_sorted() -> None:
    found, order = ordered(outcome([0, 5, 0, 0, 0], [1, 3, 0]), ALONE, limits(3, 5))
    assert found.chosen == [1, 3, 0]
    assert order == [1, 3, 0, 4, 2]


def test_nothing_is_said_where_all_that_was_chosen_scores() -> None:
    own = limits(2, 5)
    found, order = ordered(outcome([3, 5, 0, 0, 0], [1, 0]), ALONE, own)
    assert order == [1, 0, 4, 2, 3]
    assert say_nothing_left(found, tuple("abcde"), own) == ()


def test_one_feature_that_is_left_has_no_order() -> None:
    own = limits(2, 2)
    assert say_nothing_left(outcome([1, 0], [0, 1]), ("a", "b"), own) == (
        "After 'a' nothing is left to add: 'b' adds nothing.",
    )


def test_what_must_be_chosen_is_no_news() -> None:
    own = limits(2, 3, must=(2,))
    found, order = ordered(outcome([1, 0, 0], [2, 0]), ALONE[:3], own)
    assert (found.chosen, order) == ([2, 0], [2, 0, 1])
    assert say_nothing_left(found, ("a", "b", "c"), own) == ()


def test_a_feature_that_is_never_chosen_does_not_count() -> None:
    own = limits(3, 4, never=(3,))
    found, _ = ordered(outcome([2, 0, 0, 1], [0, 1, 2]), ALONE[:4], own)
    assert "After 'a' nothing is left" in say_nothing_left(found, tuple("abcd"), own)[0]


def test_scores_of_zero_throughout_are_ordered_by_what_is_told_alone() -> None:
    own = limits(2, 5)
    found, order = ordered(outcome([0, 0, 0, 0, 0], [0, 1]), ALONE, own)
    assert (found.chosen, order) == ([1, 4], [1, 4, 2, 3, 0])


def leaking(**more: object) -> Selection:
    """``leak`` determines the label; of the others ``strong`` tells more than ``weak``, ``noise`` nothing."""
    rng = np.random.default_rng(3)
    y = rng.random(1000) < 0.3
    frame = pd.DataFrame(
        {
            "noise": rng.normal(size=1000),
            "weak": rng.normal(size=1000) + y,
            "leak": y * 7,
            "strong": rng.normal(size=1000) + 3 * y,
            "label": y.astype(int),
        }
    )
    return select(frame, label="label", **{"k": 3, **more})  # type: ignore[arg-type]


@pytest.mark.parametrize("method", ["semi-jmi", "jmi", "cmim"])
@pytest.mark.parametrize("k", [2, 3, "all"])
def test_after_a_leak_the_others_stand_by_what_they_tell(method: str, k: int | str) -> None:
    found = leaking(method=method, k=k, correction="none")  # information as counted is exactly 0 after a leak
    assert [f.name for f in found.features] == ["leak", "strong", "weak", "noise"]
    assert [w for w in found.warnings if w.startswith("After")] == [
        "After 'leak' nothing is left to add: the order of the other 3 features is by their own relevance, not by "
        "what they add."
    ]
    assert found.relevance[:2] == pytest.approx([1, 0])


def test_limits_hold_where_nothing_is_left() -> None:
    assert leaking(must=["noise"], never=["strong"], k=3).names == ["noise", "leak", "weak"]
    assert leaking(k=None, budget=3, costs={"strong": 5}).names == ["leak", "weak", "noise"]
    assert leaking(k=1).warnings[0].startswith("Column 'leak': determines the label of every row")
    assert not [warning for warning in leaking(k=1).warnings if warning.startswith("After")]
