"""Ends and distinct values of columns, taken in batch by batch, against one look at all rows."""

from __future__ import annotations

import numpy as np
import pytest

from spark_pufs.core.counting.column_profile import SKETCH, ColumnProfiles
from spark_pufs.core.counting.hashing import mix

nan, inf = np.nan, np.inf


def taken(*batches: np.ndarray) -> ColumnProfiles:
    found = ColumnProfiles.none(batches[0].shape[1])
    for values in batches:
        found.take(values)
    return found


@pytest.mark.parametrize("distinct", [3, 200, 700, 5000])
@pytest.mark.parametrize("rows", [[6000], [3000, 3000], [10, 2000, 90, 3900]])
@pytest.mark.parametrize("order", ["C", "F"])
def test_the_smallest_hashes_of_the_values(distinct: int, rows: list[int], order: str) -> None:
    rng = np.random.default_rng(distinct)
    values = rng.integers(0, distinct, (6000, 2)) / 7
    values[rng.random(values.shape) < 0.1] = nan
    batches = [np.array(part, order=order) for part in np.split(values, np.cumsum(rows)[:-1])]
    found = taken(*batches).sketch
    for column, kept in zip(values.T, found, strict=True):
        present = np.unique(column[~np.isnan(column)])
        smallest = np.sort(mix(present.view(np.uint64)))[:SKETCH]
        assert kept[: len(smallest)].tolist() == smallest.tolist()
        assert (kept[len(smallest) :] == 2**64 - 1).all()


CASES = {
    "falling": [[5, 4], [3], [2, 1]],
    "rising": [[1, 2], [3], [4, 5]],
    "repeated end": [[1, 2], [1, 1], [2]],
    "between the two": [[1, 9], [5], [3, 1]],
    "next is met again": [[1, 2, 2], [2, 3]],
    "one value": [[7], [7, 7]],
    "odd values": [[nan, inf], [-inf, 4, nan], [4, 2]],
    "nothing finite": [[nan], [inf, -inf]],
}


@pytest.mark.parametrize("name", CASES)
def test_the_outermost_values_their_rows_and_the_next(name: str) -> None:
    batches = [np.array(part, float)[:, None] for part in CASES[name]]
    found = taken(*batches)
    values = np.concatenate(batches)[:, 0]
    finite = values[np.isfinite(values)]
    for ends, sign in ((found.lowest, 1), (found.highest, -1)):
        inwards = [*np.unique(sign * finite), inf, inf]
        rows = int((sign * finite == inwards[0]).sum())
        assert (ends.value[0], ends.rows[0], ends.next[0]) == (inwards[0], rows, inwards[1])
    assert found.nans[0] == np.isnan(values).sum()
    assert found.infinite[0] == np.isinf(values).sum()
    assert found.whole[0]


def test_one_fraction_is_enough() -> None:
    assert taken(np.array([[1.0, 2.0]]), np.array([[1.5, -3.0]]), np.array([[1.0, inf]])).whole.tolist() == [
        False,
        True,
    ]
