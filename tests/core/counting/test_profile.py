"""The profile of a table, by hand and against pandas; the fingerprint, blind to order and to nothing else."""

from __future__ import annotations

from dataclasses import asdict, replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spark_pufs.core.counting import profile as profile_module
from spark_pufs.core.counting.column_profile import SKETCH, distinct_values
from spark_pufs.core.counting.profile import MOST_VALUES, Profile, ProfileKernel
from spark_pufs.core.records import like, to_bytes
from spark_pufs.types import RawBatch, Text

nan, inf = np.nan, np.inf


def encoded(values: list[str | None]) -> Text:
    codes, words = pd.factorize(np.array(values, object))
    return Text(codes.astype(np.int32), [str(word) for word in words])


def batch(
    numeric: list[list[float]] | np.ndarray,
    texts: list[list[str | None]] = (),
    label: list[str | None] | None = None,
    nulls: list[int] | None = None,
) -> RawBatch:
    """Rows of ``numeric`` (n, D); ``nulls``: how many of each column's NaN are null."""
    X = np.array(numeric, float)
    count = np.zeros(X.shape[1], np.int64) if nulls is None else np.array(nulls, np.int64)
    return RawBatch(X, count, [encoded(text) for text in texts], encoded(label or ["0"] * len(X)))


def profile(*batches: RawBatch) -> Profile:
    kernel = ProfileKernel(batches[0].numeric.shape[1], len(batches[0].text))
    state = kernel.start()
    for part in batches:
        state = kernel.add(state, part)
    return kernel.read(state)


def part_of(whole: RawBatch, rows: np.ndarray) -> RawBatch:
    texts = [Text(text.codes[rows], text.values) for text in whole.text]
    return RawBatch(whole.numeric[rows], 0 * whole.nulls, texts, Text(whole.label.codes[rows], whole.label.values))


MIXED = batch(
    [[1.5, 7.0, 0.0], [nan, 7.0, -0.0], [inf, 7.0, nan], [-2.0, 7.0, 3.0], [nan, 7.0, -inf]],
    [["a", "b", None, "a", "a"]],
    ["1", None, "0", None, "0"],
    nulls=[1, 0, 0],
)


def test_a_table_by_hand() -> None:
    found = profile(MIXED)
    assert found.rows == 5
    assert found.labels == {"1": 1, "0": 2, None: 2}
    assert not found.too_many_labels
    assert found.nulls.tolist() == [1, 0, 0]
    assert found.nans.tolist() == [1, 0, 1]
    assert found.infinite.tolist() == [1, 0, 1]
    assert found.low.tolist() == [-2.0, 7.0, 0.0]
    assert found.high.tolist() == [1.5, 7.0, 3.0]
    assert found.whole.tolist() == [False, True, True]
    assert found.distinct.tolist() == [3.0, 1.0, 3.0]  # 0.0 and -0.0 are one value, NaN is none
    assert found.text_nulls.tolist() == [1]
    assert found.text_counts == [{"a": 3, "b": 1}]


def test_no_rows() -> None:
    found = profile(batch(np.empty((0, 2)), [[]]))
    assert (found.rows, found.labels, found.distinct.tolist()) == (0, {}, [0.0, 0.0])


@pytest.mark.parametrize("distinct", [1, 2, 200, SKETCH - 1])
def test_few_distinct_values_are_counted_exactly(distinct: int) -> None:
    values = np.random.default_rng(distinct).permutation(np.arange(3 * distinct) % distinct) / 7
    assert profile(batch(values[:, None])).distinct.tolist() == [distinct]


@pytest.mark.parametrize("distinct", [SKETCH, 1_000, 50_000])
def test_many_distinct_values_are_estimated(distinct: int) -> None:
    columns = np.random.default_rng(1).permuted(np.tile(np.arange(distinct), (8, 1)), axis=1).T
    X = columns * np.arange(1, 9) / 3  # eight columns of other values
    found = profile(batch(X[: distinct // 2]), batch(X[distinct // 2 :])).distinct
    assert (abs(found / distinct - 1) < 0.25).all()


def test_text_with_too_many_values_is_given_up_however_it_is_split() -> None:
    words = [f"w{i}" for i in range(MOST_VALUES + 1)]
    numbers = np.zeros((len(words), 1))
    whole = batch(numbers, [words], words)
    split = [part_of(whole, rows) for rows in np.array_split(np.arange(len(words)), 5)]
    for found in (profile(whole), profile(*split)):
        assert found.text_counts == [None]
        assert found.too_many_labels
    fewer = profile(part_of(whole, np.arange(MOST_VALUES)))
    assert len(fewer.text_counts[0]) == len(fewer.labels) == MOST_VALUES


@given(st.integers(0, 2**32 - 1), st.integers(1, 6))
def test_any_order_and_any_split_give_the_same_state(seed: int, parts: int) -> None:
    rng = np.random.default_rng(seed)
    X = rng.choice([0.0, -0.0, 1.0, 2.5, nan, inf, -inf, rng.normal()], (30, 3))
    words = rng.choice(np.array(["a", "b", "c", None], object), 30).tolist()
    whole = batch(X, [words], rng.choice(np.array(["1", None], object), 30).tolist())
    rows = np.array_split(rng.permutation(30), np.sort(rng.integers(0, 31, parts - 1)))
    kernel = ProfileKernel(3, 1)
    states = [kernel.add(kernel.start(), part_of(whole, r)) for r in rows]
    merged = kernel.start()
    for state in states:
        merged = like(kernel.start(), to_bytes(state)).merge(merged)
    one, many = kernel.read(kernel.add(kernel.start(), whole)), kernel.read(merged)
    np.testing.assert_equal(asdict(many), asdict(one))


@pytest.mark.parametrize("parts", [1, 2, 7, 60])
def test_a_full_sample_holds_the_rows_with_the_smallest_hashes(parts: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows that come and go leave what one look at all rows would take, each with all its repeats."""
    monkeypatch.setattr(profile_module, "SAMPLE_ROWS", 8)
    rng = np.random.default_rng(parts)
    X = rng.integers(0, 40, (600, 1)).astype(float)
    whole, kernel = batch(X, [[str(value) for value in X[:, 0]]]), ProfileKernel(1, 1)
    first, *others = np.array_split(rng.permutation(600), parts)
    left, right = kernel.add(kernel.start(), part_of(whole, first)), kernel.start()
    for i, rows in enumerate(others):
        left, right = (kernel.add(left, part_of(whole, rows)), right) if i % 2 else (
            left, kernel.add(right, part_of(whole, rows)))  # fmt: skip
    found = left.merge(right).sample.sorted()
    values, count = np.unique(X, return_counts=True)
    every = {float(value): int(n) for value, n in zip(values, count, strict=True)}
    assert len(found.hash) == 8
    assert [every[value] for value in found.rows[:, 0].tolist()] == found.count.tolist()
    monkeypatch.setattr(profile_module, "SAMPLE_ROWS", 100)
    all_rows = kernel.add(kernel.start(), whole).sample.sorted()
    assert found.hash.tolist() == all_rows.hash[:8].tolist()
    assert found.rows.tolist() == all_rows.rows[:8].tolist()
    assert found.texts.tolist() == all_rows.texts[:8].tolist()


def test_against_pandas() -> None:
    rng = np.random.default_rng(5)
    X = rng.normal(size=(200, 4)).round(1)
    X[rng.random(X.shape) < 0.1] = nan
    frame, found = pd.DataFrame(X), profile(batch(X))
    assert found.nans.tolist() == frame.isna().sum().tolist()
    assert found.low.tolist() == frame.min().tolist()
    assert found.high.tolist() == frame.max().tolist()
    assert found.distinct.tolist() == frame.nunique().tolist()


CHANGES = {
    "one value": replace(MIXED, numeric=np.where(MIXED.numeric == 1.5, 1.5000000001, MIXED.numeric)),
    "one value swapped between columns": replace(MIXED, numeric=MIXED.numeric[:, [1, 0, 2]]),
    "values moved within a column": replace(
        MIXED, numeric=np.column_stack([MIXED.numeric[::-1, 0], MIXED.numeric[:, 1:]])
    ),
    "a number goes missing": replace(MIXED, numeric=np.where(MIXED.numeric == 3.0, nan, MIXED.numeric)),
    "infinity changes sign": replace(MIXED, numeric=np.where(np.isinf(MIXED.numeric), -MIXED.numeric, MIXED.numeric)),
    "a word": replace(MIXED, text=[encoded(["a", "b", None, "a", "b"])]),
    "a word goes missing": replace(MIXED, text=[encoded(["a", "b", None, "a", None])]),
    "a label moves": replace(MIXED, label=encoded([None, "1", "0", None, "0"])),
    "a label changes": replace(MIXED, label=encoded(["1", "0", "0", None, "0"])),
    "a row fewer": part_of(MIXED, np.arange(4)),
    "a row twice": part_of(MIXED, np.array([0, 1, 2, 3, 4, 4])),
}


@pytest.mark.parametrize("change", CHANGES)
def test_fingerprint_sees_every_change(change: str) -> None:
    assert profile(CHANGES[change]).fingerprint != profile(MIXED).fingerprint


SAME = {
    "rows in another order": part_of(MIXED, np.array([3, 1, 4, 0, 2])),
    "another dictionary": replace(MIXED, text=[Text(np.array([2, 1, -1, 2, 2], np.int32), ["x", "b", "a"])]),
    "the other zero": replace(MIXED, numeric=np.where(MIXED.numeric == 0, -0.0, MIXED.numeric)),
    "another NaN": replace(MIXED, numeric=np.where(np.isnan(MIXED.numeric), -nan, MIXED.numeric)),
    "null for NaN": replace(MIXED, nulls=np.array([2, 0, 1])),
}


@pytest.mark.parametrize("change", SAME)
def test_fingerprint_does_not_see_how_the_rows_are_held(change: str) -> None:
    assert profile(SAME[change]).fingerprint == profile(MIXED).fingerprint


def test_distinct_values_from_a_full_sketch_by_hand() -> None:
    # the last of 256 hashes at half of all hashes: 255 values below a half
    full = np.arange(SKETCH, dtype=np.uint64)
    full[-1] = 2**63
    assert distinct_values(full[None]).tolist() == [2 * (SKETCH - 1)]


def checksums(*batches: RawBatch) -> list[tuple[int, ...]]:
    found = profile(*batches)
    return [tuple(column) for column in np.hstack([found.checksums, found.text_checksums]).T.tolist()]


def test_equal_columns_have_equal_checksums_and_others_have_not() -> None:
    """Columns 0 and 2 are equal but for the sign of zero; 1 has their values in other rows; 3 differs in one row."""
    X = np.array([[1, 2, 1, 1], [2, 1, 2, 2], [0, 0, -0.0, 0], [nan, nan, nan, 5]])
    words: list[list[str | None]] = [["a", "b", None, "a"], ["a", "b", None, "a"], ["b", "a", None, "a"]]
    sums = checksums(batch(X, words))
    assert sums[0] == sums[2]
    assert sums[4] == sums[5]
    assert len(set(sums)) == 5


def test_checksums_are_blind_to_partitions_and_order() -> None:
    rng = np.random.default_rng(8)
    X = rng.integers(0, 3, (40, 4)).astype(float)
    whole = batch(X, [[str(v) for v in X[:, 0]]], [str(v) for v in X[:, 1]])
    parts = [part_of(whole, rows) for rows in np.array_split(rng.permutation(40), 7)]
    assert checksums(*parts) == checksums(whole)
    assert [one[0] for one in checksums(whole)] != [one[1] for one in checksums(whole)]


def test_columns_over_repeated_rows_are_told_apart() -> None:
    """Every row many times: a sum over equal rows is a multiple of one term, which is no reason to be equal."""
    X = np.repeat([[0, 0, 0], [1, 1, 0], [0, 1, 1]], 2**12, axis=0).astype(float)
    assert len(set(checksums(batch(X)))) == 3


def test_a_part_of_a_profile_keeps_its_checksums() -> None:
    found = profile(MIXED)
    part = found.of([2, 0], [])
    assert part.checksums.tolist() == found.checksums[:, [2, 0]].tolist()
    assert part.text_checksums.shape == (2, 0)
