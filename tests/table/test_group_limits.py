"""Groups of columns: limits, costs and choices by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from spark_pufs import ConfigError, DataError, compare, select
from spark_pufs.request import Request
from spark_pufs.selectors.by_score import by_score, first_within, mask_within, whole_units
from spark_pufs.table.limits import Limits, asked_for_more, groups_of, limits_of
from spark_pufs.types import LabelRule

NAMES = ("a1", "b1", "a2", "c", "b2")
GROUPS = {"A": ["a?"], "B": ["b1", "b2"]}


def asked(**options: Any) -> Request:
    return Request.of(LabelRule("s"), method="mim", **{"groups": GROUPS, **options})


def limits(**options: Any) -> Limits:
    return limits_of(asked(**options), NAMES, NAMES)


def test_a_group_is_one_unit() -> None:
    found = limits(k=2)
    assert found.unit.tolist() == [0, 1, 0, 3, 1]
    assert (found.count([0, 2, 3]), found.most(), found.in_features(2)) == (2, 2, 4)
    assert groups_of(asked(), NAMES, NAMES) == {"A": [0, 2], "B": [1, 4]}


def test_no_groups_and_groups_of_one_are_no_units() -> None:
    assert limits(groups={}).units is None
    assert limits(groups={"A": ["a1"]}).units is None


def test_a_begun_group_is_finished_before_anything_else() -> None:
    found = limits(k=2)
    assert np.flatnonzero(found.open([0])).tolist() == [2]
    assert found.has_to_go_on([0])
    assert np.flatnonzero(found.open([0, 2])).tolist() == [1, 3, 4]
    assert not found.open([0, 2, 3]).any()


def test_a_group_stands_where_its_best_column_does() -> None:
    scores = np.array([0.1, 0.2, 0.9, 0.8, 0.3])
    assert by_score(scores, limits(k=2)) == [2, 0, 3]
    assert by_score(scores, limits(k="all")) == [2, 0, 3, 4, 1]


def test_costs_of_groups_by_hand() -> None:
    """A costs 3 as said, B what its columns do: 2 + 1; c costs 1."""
    found = limits(budget=4, costs={"A": 3, "b*": 2, "b2": 1})
    assert found.costs.tolist() == [1.5, 2, 1.5, 1, 1]
    assert found.unit_costs.tolist() == [3, 3, 3, 1, 3]
    assert first_within([0, 1, 3, 2, 4], found) == [0, 2, 3]
    assert np.flatnonzero(found.open([0, 2])).tolist() == [3]
    assert found.most() == 2


def test_must_and_never_take_the_whole_group() -> None:
    assert limits(must="a2").must == limits(must="A").must == (0, 2)
    assert np.flatnonzero(limits(never=["b1"]).never).tolist() == [1, 4]
    with pytest.raises(ConfigError, match="names 2 groups and single features, k is 1"):
        limits(must=["a1", "c"], k=1)
    with pytest.raises(ConfigError, match="'must' and 'never': both name 'a1', 'a2'"):
        limits(must=["a1"], never=["a2"])


def test_more_units_than_there_are() -> None:
    request = asked(k=4, never="c")
    told = asked_for_more(request, limits_of(request, NAMES, NAMES))
    assert told == ("Asked for 4 groups and single features, 2 can be chosen: all of them are.",)


def test_limits_on_some_of_the_features_keep_their_groups() -> None:
    own = limits(k=3, never="c").of([4, 3, 1, 0])
    assert (own.k, own.unit.tolist(), own.never.tolist()) == (2, [0, 1, 0, 3], [False, True, False, False])
    assert limits().of([0, 1, 3]).units is None


def test_what_a_method_left_incomplete_is_completed() -> None:
    assert whole_units([3, 1], [3, 1, 0, 2, 4], limits(k=2)) == [3, 1, 4]
    assert whole_units([3, 1], [3, 1, 0, 2, 4], limits(k=2, groups={})) == [3, 1]


def test_a_mask_becomes_whole_units() -> None:
    mask, scores = np.array([1, 1, 0, 1, 0], bool), np.array([0.5, 0.4, 0.1, 0.3, 0.2])
    assert mask_within(mask, scores, limits(k=2)).tolist() == [True, True, True, False, True]
    assert mask_within(mask, scores, limits(k=2, groups={})) is mask


@pytest.mark.parametrize(
    ("groups", "told"),
    [
        ({"A": ["a?"], "B": ["*2"]}, "'a2' is in 'A' and in 'B'. Put each column into one group."),
        ([None], "must be columns by the name of their group, got [None]"),
        ({"A": [1.5, None]}, "'A' must be names of columns or patterns of them, got"),
        ({"A": []}, "'A' must be names of columns or patterns of them, got ()"),
    ],
)
def test_wrong_groups(groups: Any, told: str) -> None:
    with pytest.raises(ConfigError) as found:
        limits(groups=groups)
    assert told in str(found.value)


def test_a_pattern_alone_is_a_group_of_its_own_name() -> None:
    assert asked(groups=["a?", "b?"]).groups == {"a?": ("a?",), "b?": ("b?",)}
    assert asked(groups="a?").groups == {"a?": ("a?",)}


def table() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    y = np.arange(600) % 3 == 0
    X = pd.DataFrame(rng.normal(size=(600, 6)), columns=["a_1", "a_2", "b_1", "b_2", "c", "d"])
    X["a_2"] += 2 * y
    X["c"] += 1.5 * y
    return X.assign(copy=X["a_2"], label=(y & (np.arange(600) % 2 == 0)).astype(int))


def test_groups_and_error_rates_are_not_mixed() -> None:
    with pytest.raises(ConfigError, match=r"Options 'groups' and 'fdr': an error rate is kept for columns one by one"):
        select(table(), label="label", method="semi-mim", groups=["a_*"], fdr=0.1)


def test_a_group_of_no_column() -> None:
    with pytest.raises(DataError, match=r"Option 'groups': 'x_\*' is not a feature"):
        select(table(), label="label", method="semi-mim", groups=["x_*"], k=1)


def test_the_answer_tells_the_groups_and_a_copy_outside_takes_no_column_from_one() -> None:
    found = select(table(), label="label", method="semi-mim", k=2, groups={"A": ["a_*"]}, must="copy")
    assert found.names == ["copy", "a_2", "a_1"]
    assert {one.name for one in found.features if "in group A" in one.notes} == {"a_1", "a_2"}
    assert found.cost == 3


def test_sizes_are_numbers_of_units() -> None:
    found = select(table(), label="label", method="semi-mim", groups={"A": ["a_*"], "B": ["b_*"]}, copies="all")
    sizes = [point.k for point in found.findings.sizes.points]
    assert max(sizes) == 5  # A, B, c, d, copy
    assert "groups and single features" in found.findings.sizes.why


def test_trials_choose_groups_too_and_know_costs_of_copies() -> None:
    found = compare(table(), label="label", methods=["semi-mim"], k=1, repeats=1, groups=["a_*"], costs={"copy": 2})
    own = next(one for one in found.standings if one.method == "semi-mim")
    assert (own.features, own.cost) == (2, 2)
