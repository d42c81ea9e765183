"""Counting kernels against np.add.at and pandas, for any split and order of the rows."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spark_pufs.core.counting import counts as module
from spark_pufs.core.counting.counts import FeatureKernel, LabelKernel, PairKernel, SetKernel, one_hot, pair_bytes
from spark_pufs.types import Block, Layout

seeds = st.integers(0, 2**32 - 1)


def random_block(rng: np.random.Generator, levels: tuple[int, ...], rows: int) -> Block:
    codes = np.array([rng.integers(0, top, rows) for top in levels], np.uint8).reshape(len(levels), rows)
    return Block(codes, rng.choice(3, rows, p=[0.7, 0.2, 0.1]).astype(np.uint8))


def brute_pairs(block: Block, layout: Layout) -> np.ndarray:
    """Label x level x level, one row at a time."""
    counts = np.zeros((3, layout.total, layout.total), np.int64)
    position = block.codes + layout.offsets[:-1, None]
    for row, label in enumerate(block.label):
        np.add.at(counts, (label, position[:, row, None], position[None, :, row]), 1)
    return counts


def count(kernel: Any, *blocks: Block) -> Any:
    state = kernel.start()
    for block in blocks:
        state = kernel.add(state, block)
    return state


def kernels(layout: Layout) -> list[Any]:
    last = layout.features - 1
    return [
        LabelKernel(layout),
        PairKernel(layout),
        FeatureKernel(layout, (last, 0)),
        SetKernel(layout, ()),
        SetKernel(layout, (0,)),
        SetKernel(layout, (last, 0)),
    ]


def same(left: Any, right: Any) -> bool:
    return type(left) is type(right) and all(
        np.array_equal(getattr(left, one.name), getattr(right, one.name)) for one in fields(left)
    )


def take(block: Block, rows: np.ndarray) -> Block:
    return Block(np.ascontiguousarray(block.codes[:, rows]), block.label[rows])


def test_one_hot_by_hand() -> None:
    hot = one_hot(np.array([[0, 1, 1], [2, 0, 2]], np.uint8), Layout((2, 3)))
    assert hot.tolist() == [[1, 0, 0], [0, 1, 1], [0, 1, 0], [0, 0, 0], [1, 0, 1]]


@given(seeds)
def test_one_hot_equals_pandas_dummies(seed: int) -> None:
    rng = np.random.default_rng(seed)
    levels = tuple(rng.integers(1, 6, 4).tolist())
    block = random_block(rng, levels, 25)
    columns = [pd.Categorical(row, categories=range(top)) for row, top in zip(block.codes, levels, strict=True)]
    expected = np.vstack([pd.get_dummies(column).to_numpy().T for column in columns])
    np.testing.assert_array_equal(one_hot(block.codes, Layout(levels)), expected)


@given(seeds)
def test_tables_equal_brute_force(seed: int) -> None:
    rng = np.random.default_rng(seed)
    layout = Layout(tuple(rng.integers(1, 5, rng.integers(1, 5)).tolist()))
    block = random_block(rng, layout.levels, int(rng.integers(0, 40)))
    pairs = brute_pairs(block, layout)
    np.testing.assert_array_equal(count(PairKernel(layout), block).counts, pairs)
    diagonal = np.diagonal(pairs, axis1=1, axis2=2)
    np.testing.assert_array_equal(count(LabelKernel(layout), block).counts, diagonal)
    for feature in range(layout.features):
        found = count(FeatureKernel(layout, (feature,)), block).counts
        np.testing.assert_array_equal(found, pairs[:, layout.span(feature)])


def test_label_counts_equal_crosstab() -> None:
    block = random_block(np.random.default_rng(3), (4, 2), 500)
    layout = Layout((4, 2))
    found = count(LabelKernel(layout), block).counts
    for feature in range(2):
        table = pd.crosstab(block.label, block.codes[feature])
        np.testing.assert_array_equal(found[:, layout.span(feature)], table)


@pytest.mark.parametrize("given_set", [(), (1,), (2, 0), (0, 1, 2)])
def test_set_counts_equal_grouped_rows(given_set: tuple[int, ...]) -> None:
    layout = Layout((2, 3, 4))
    block = random_block(np.random.default_rng(4), layout.levels, 80)
    state = count(SetKernel(layout, given_set), block)
    frame = pd.DataFrame(block.codes.T.astype(int)).assign(label=block.label.astype(int))
    groups = frame.groupby([*given_set, "label"])
    assert len(state.keys) == groups.ngroups
    for (*configuration, label), rows in groups:
        key = 0
        for feature, digit in zip(given_set, configuration, strict=True):
            key = key * layout.levels[feature] + digit
        found = state.counts[state.keys.tolist().index(key * 3 + label)]
        for feature in range(3):
            expected = np.bincount(rows[feature], minlength=layout.levels[feature])
            np.testing.assert_array_equal(found[layout.span(feature)], expected)


@given(seeds, st.integers(1, 5))
def test_any_order_and_any_split_give_the_same_state(seed: int, parts: int) -> None:
    rng = np.random.default_rng(seed)
    layout = Layout(tuple(rng.integers(1, 5, 3).tolist()))
    block = random_block(rng, layout.levels, 30)
    rows = np.array_split(rng.permutation(30), np.sort(rng.integers(0, 31, parts - 1)))
    pieces = [take(block, r) for r in rows]
    for kernel in kernels(layout):
        whole = count(kernel, block)
        merged = kernel.start()
        for piece in pieces:
            merged = count(kernel, piece).merge(merged)
        assert same(count(kernel, *pieces), whole)
        assert same(merged, whole)


@given(seeds)
def test_columns_in_another_order_give_the_same_counts_there(seed: int) -> None:
    rng = np.random.default_rng(seed)
    levels = rng.integers(1, 5, 4)
    order = rng.permutation(4)
    layout, moved = Layout(tuple(levels.tolist())), Layout(tuple(levels[order].tolist()))
    block = random_block(rng, layout.levels, 30)
    where = np.concatenate([np.arange(layout.total)[layout.span(i)] for i in order])
    other = Block(block.codes[order], block.label)
    for kernel in (LabelKernel, PairKernel):
        before, after = count(kernel(layout), block).counts, count(kernel(moved), other).counts
        expected = before[:, where] if before.ndim == 2 else before[:, where][:, :, where]
        np.testing.assert_array_equal(after, expected)


def test_a_wide_table_is_counted_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "CHUNK", 3)
    layout = Layout((2, 3, 1, 4, 2, 5, 2))
    block = random_block(np.random.default_rng(8), layout.levels, 60)
    found = count(FeatureKernel(layout, (3,)), block).counts
    np.testing.assert_array_equal(found, brute_pairs(block, layout)[:, layout.span(3)])


def test_all_levels_of_a_byte() -> None:
    layout = Layout((255, 2))
    codes = np.array([np.arange(255), np.arange(255) % 2], np.uint8)
    block = Block(codes, np.ones(255, np.uint8))
    np.testing.assert_array_equal(count(PairKernel(layout), block).counts, brute_pairs(block, layout))


def test_size_of_the_pair_table() -> None:
    layout = Layout((5, 5, 3))
    assert pair_bytes(layout) == count(PairKernel(layout)).counts.nbytes == 3 * 13 * 13 * 8


@given(seeds)
def test_several_features_at_once_are_each_as_alone(seed: int) -> None:
    rng = np.random.default_rng(seed)
    layout = Layout(tuple(rng.integers(1, 5, 5).tolist()))
    block = random_block(rng, layout.levels, int(rng.integers(1, 40)))
    kernel = FeatureKernel(layout, (3, 0, 4))
    together = count(kernel, block).counts
    for position, feature in enumerate(kernel.features):
        alone = brute_pairs(block, layout)[:, layout.span(feature)]
        np.testing.assert_array_equal(together[:, kernel.part.span(position)], alone)


@pytest.mark.parametrize("levels", [(2, 2), (2, 3, 1), (5, 4, 3, 2), (3,) * 9])
def test_two_counts_in_one_product_are_told_apart(levels: tuple[int, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LEAF", 1)
    layout, block = Layout(levels), random_block(np.random.default_rng(5), levels, 60)
    assert module.pair_sums(block.codes, layout).tolist() == brute_pairs(block, layout).sum(axis=0).tolist()


def test_counts_as_large_as_a_product_can_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every one of 4,095 rows is at the last level of all features: both counts of a product are at their largest."""
    monkeypatch.setattr(module, "LEAF", 1)
    rows = 2 * module.ROWS + 1
    found = module.pair_sums(np.ones((4, rows), np.uint8), Layout((2,) * 4))
    assert found[1::2, 1::2].tolist() == [[rows] * 4] * 4
    assert found.sum() == 16 * rows
