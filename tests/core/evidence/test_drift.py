"""Drift of a column: values by hand, and by brute force from the rows behind the counts."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chi2_contingency

from spark_pufs.core.counting.bins import code_numeric
from spark_pufs.core.evidence.drift import ColumnCounts, drift_between, homogeneity
from spark_pufs.types import LABELLED_POSITIVE, UNLABELLED, Bins

NONE = (0, 0)


def numeric(values: list[float], edges: tuple[float, ...], missing: bool = False) -> ColumnCounts:
    bins = Bins("x", "numeric", edges=edges, missing=missing)
    counts = np.zeros((3, bins.levels), np.int64)
    counts[UNLABELLED] = np.bincount(code_numeric(np.array(values), bins), minlength=bins.levels)
    return ColumnCounts.of(bins, counts)


def text(counts: dict[str, int], others: int | None = None, missing: int | None = None) -> ColumnCounts:
    bins = Bins("x", "text", categories=tuple(counts), pooled=others is not None, missing=missing is not None)
    own = (*counts.values(), *([] if others is None else [others]), *([] if missing is None else [missing]))
    return ColumnCounts(bins, (own, (0,) * len(own), (0,) * len(own)))


def test_homogeneity_is_scipys_chi_square() -> None:
    counts = np.array([[30, 50, 20], [45, 40, 55]])
    distance, log_p = homogeneity(counts)
    assert distance == pytest.approx((abs(0.3 - 45 / 140) + abs(0.5 - 40 / 140) + abs(0.2 - 55 / 140)) / 2)
    assert np.exp(log_p) == pytest.approx(chi2_contingency(counts, correction=False).pvalue)


def test_rare_levels_are_pooled() -> None:
    rare, plain = np.array([[100, 1, 0], [100, 0, 1]]), np.array([[100, 1], [100, 1]])
    assert homogeneity(rare)[1] == homogeneity(plain)[1] == 0.0
    assert homogeneity(rare)[0] == pytest.approx(1 / 101)


def test_equal_counts_have_not_moved_and_rows_of_another_state_do_not_count() -> None:
    column = numeric([1, 2, 3, 4], (2.5,))
    found = drift_between(column, column, UNLABELLED)
    assert found is not None
    assert (found.distance, found.log_p, found.rows) == (0.0, 0.0, (4, 4))
    assert drift_between(column, column, LABELLED_POSITIVE) is None
    assert drift_between(column, text({"a": 4}), UNLABELLED) is None


def test_a_unit_that_changed_is_seen_whatever_the_cuts() -> None:
    values = [float(v) for v in range(100)]
    found = drift_between(
        numeric(values, (20, 40, 60, 80)), numeric([1000 * v for v in values], (2e4, 4e4, 6e4, 8e4)), UNLABELLED
    )
    # 80 rows lie below the last cut point before; after at most the 20 of its first bin do.
    assert found is not None
    assert found.distance == pytest.approx(0.6)
    assert found.log_p < -30


def test_a_sensor_that_died_is_a_share_of_missing_values() -> None:
    dead = ColumnCounts(Bins("x", "numeric", edges=(), missing=True), ((0, 100), NONE, NONE))
    found = drift_between(numeric([float(v) for v in range(100)], (50.0,)), dead, UNLABELLED)
    assert found is not None
    assert found.distance == 1.0


@settings(max_examples=60)
@given(
    st.lists(st.integers(0, 30), min_size=1, max_size=60),
    st.lists(st.integers(0, 30), min_size=1, max_size=60),
    st.sets(st.integers(0, 31), max_size=5),
    st.sets(st.integers(0, 31), max_size=5),
)
def test_the_bound_is_never_more_than_what_the_rows_say(
    left: list[int], right: list[int], cuts_left: set[int], cuts_right: set[int]
) -> None:
    before = numeric([float(v) for v in left], tuple(map(float, sorted(cuts_left))))
    after = numeric([float(v) for v in right], tuple(map(float, sorted(cuts_right))))
    found = drift_between(before, after, UNLABELLED)
    shares = [np.bincount(values, minlength=31) / len(values) for values in (left, right)]
    assert found is not None
    assert 0 <= found.distance <= np.abs(shares[0] - shares[1]).sum() / 2 + 1e-12
    assert found.log_p <= 0


def test_categories_that_one_run_pooled_are_pooled_for_both() -> None:
    before, after = text({"a": 50, "b": 30}, others=20), text({"a": 50, "c": 50})
    # b is told by the run without a pool (no row of it); c is not told by the run that pooled: it is one of the others.
    found = drift_between(before, after, UNLABELLED)
    assert found is not None
    assert found.distance == pytest.approx(0.3)  # b's share went to the others


def test_missing_text_is_a_level_of_its_own() -> None:
    found = drift_between(text({"a": 50, "b": 50}), text({"a": 50, "b": 40}, missing=10), UNLABELLED)
    assert found is not None
    assert found.distance == pytest.approx(0.1)


@pytest.mark.parametrize(
    "column", [numeric([1.0, 2.0, np.inf], (1.5, np.inf), missing=True), text({"a": 1, "ä": 2}, others=3, missing=0)]
)
def test_counts_survive_strict_json(column: ColumnCounts) -> None:
    assert ColumnCounts.from_dict(json.loads(json.dumps(column.as_dict(), allow_nan=False))) == column


def placed(edges: tuple[float, ...], labelled: tuple[int, ...], others: tuple[int, ...]) -> ColumnCounts:
    counts = np.zeros((3, len(labelled)), np.int64)
    counts[LABELLED_POSITIVE], counts[UNLABELLED] = labelled, others
    return ColumnCounts.of(Bins("x", "numeric", edges=edges), counts)


def test_labelled_rows_that_changed_their_places_are_seen_whatever_the_cuts() -> None:
    before = placed((1.0, 2.0), (100, 50, 50), (900, 950, 950))
    after = placed((1.1, 2.1), (50, 50, 100), (950, 950, 900))
    found = drift_between(before, after, LABELLED_POSITIVE)
    assert found is not None
    assert found.distance == pytest.approx(0.25)  # a quarter of them left the lowest third for the highest
    pearson = chi2_contingency([[100, 50, 50], [50, 50, 100]], correction=False).pvalue
    assert found.log_p == pytest.approx(np.log(2 * pearson))


def test_bins_that_hold_other_shares_of_the_rows_are_no_places() -> None:
    before = placed((1.0, 2.0), (100, 50, 50), (900, 950, 950))
    after = placed((1.1, 2.1), (50, 50, 100), (1950, 950, 900))
    found = drift_between(before, after, LABELLED_POSITIVE)
    # Before, at least 100 of 200 lie below 1.1; after, exactly 50 do.
    assert found is not None
    assert found.distance == pytest.approx(0.25)
    assert found.log_p > np.log(2 * chi2_contingency([[100, 50, 50], [50, 50, 100]], correction=False).pvalue)
