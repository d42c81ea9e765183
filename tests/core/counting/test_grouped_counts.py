"""Counts per group against counts of the same rows, and halves against halves drawn row by row."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from spark_pufs.core.counting import grouped_counts as module
from spark_pufs.core.counting.counts import LabelKernel, PairKernel
from spark_pufs.core.counting.grouped_counts import (
    GROUPS,
    GroupedCounts,
    GroupKernel,
    HalfSamples,
    crowded_states,
    group_bytes,
    row_groups,
)
from spark_pufs.core.records import like, to_bytes
from spark_pufs.types import Block, Layout, RawBatch, Text

LAYOUT = Layout((2, 3, 1, 4))


def random_block(rows: int, seed: int = 0) -> Block:
    rng = np.random.default_rng(seed)
    codes = np.array([rng.integers(0, levels, rows) for levels in LAYOUT.levels], np.uint8)
    label = rng.choice(3, rows, p=[0.6, 0.3, 0.1]).astype(np.uint8)
    return Block(codes, label, group=rng.integers(0, GROUPS, rows).astype(np.uint8))


def take(block: Block, rows: np.ndarray) -> Block:
    assert block.group is not None
    return Block(block.codes[:, rows], block.label[rows], group=block.group[rows])


def scanned(kernel: GroupKernel, *blocks: Block) -> GroupedCounts:
    state = kernel.start()
    for block in blocks:
        state = kernel.add(state, block)
    return state


def plain(block: Block, pairs: bool) -> np.ndarray:
    kernel = PairKernel(LAYOUT) if pairs else LabelKernel(LAYOUT)
    return kernel.add(kernel.start(), block).counts


class InOrder(np.random.Generator):
    """Draws the first ones."""

    def __init__(self) -> None:
        super().__init__(np.random.PCG64(0))

    def permutation(self, x: object, axis: int = 0) -> np.ndarray:
        return np.arange(x) if isinstance(x, int) else np.asarray(x)


@pytest.mark.parametrize("pairs", [True, False])
@pytest.mark.parametrize("crowded", [(), (0,), (0, 1, 2)])
def test_the_whole_is_what_plain_kernels_count(crowded: tuple[int, ...], pairs: bool) -> None:
    block, kernel = random_block(500), GroupKernel(LAYOUT, crowded, pairs)
    assert HalfSamples(kernel, scanned(kernel, block)).whole().tolist() == plain(block, pairs).tolist()


@pytest.mark.parametrize("pairs", [True, False])
def test_half_of_the_groups_and_half_of_the_single_rows_by_hand(pairs: bool) -> None:
    """The first eight groups of unlabelled rows; of the others, in the order of their codes, the first half."""
    block, kernel = random_block(500), GroupKernel(LAYOUT, (0,), pairs)
    assert block.group is not None
    wanted = [np.flatnonzero((block.label == 0) & (block.group < GROUPS // 2))]
    for state in (1, 2):
        own = np.flatnonzero(block.label == state)
        own = own[np.lexsort(block.codes[:, own])]
        wanted.append(own[: -(-len(own) // 2)])
    half = HalfSamples(kernel, scanned(kernel, block)).half(InOrder())
    assert half.counts.tolist() == plain(take(block, np.concatenate(wanted)), pairs).tolist()
    assert half.rows.tolist() == [len(rows) for rows in wanted]


def test_halves_do_not_depend_on_order_or_partitions() -> None:
    block, kernel = random_block(300), GroupKernel(LAYOUT, (0,), True)
    parts = np.array_split(np.random.default_rng(1).permutation(300), [10, 200])
    merged = kernel.start()
    for rows in parts:
        merged = like(kernel.start(), to_bytes(scanned(kernel, take(block, rows)))).merge(merged)
    one, many = (HalfSamples(kernel, state) for state in (scanned(kernel, block), merged))
    for seed in range(3):
        left, right = (halves.half(np.random.default_rng(seed)) for halves in (one, many))
        assert left.counts.tolist() == right.counts.tolist()
        assert left.rows.tolist() == right.rows.tolist()


def test_halves_by_groups_vary_as_halves_by_rows_do() -> None:
    """A level of n of N rows is found in half of them n/2 times, with the variance of draws without replacement."""
    rows, share = 200_000, 0.2
    rng = np.random.default_rng(3)
    codes = (rng.random((40, rows)) < share).astype(np.uint8)
    block = Block(codes, np.zeros(rows, np.uint8), group=rng.integers(0, GROUPS, rows).astype(np.uint8))
    kernel = GroupKernel(Layout((2,) * 40), (0,), False)
    halves = HalfSamples(kernel, scanned(kernel, block))
    assert halves.even
    draws = [halves.half(rng) for _ in range(100)]
    shares = np.array([half.counts[0, 1::2] / half.rows[0] for half in draws])
    expected = share * (1 - share) / rows  # half of the rows are left out: n/4 of n (1 - 1/2) / (n/2)^2
    assert shares.var(axis=0).mean() == pytest.approx(expected, rel=0.25)


def batch(values: np.ndarray, label: str = "0") -> RawBatch:
    return RawBatch(values, np.zeros(values.shape[1], np.int64), [], Text(np.zeros(len(values), np.int32), [label]))


def test_groups_are_of_the_content_alone() -> None:
    values = np.random.default_rng(4).normal(size=(2000, 3))
    values[:2] = [[0.0, np.nan, 1.0], [-0.0, -np.nan, 1.0]]
    found = row_groups(batch(values))
    assert found[0] == found[1]
    assert (np.bincount(found, minlength=GROUPS) > 80).all()
    assert row_groups(batch(np.asfortranarray(values[::-1]))).tolist() == found[::-1].tolist()
    assert row_groups(batch(values, "1")).tolist() != found.tolist()


@pytest.mark.parametrize(("different", "even"), [(20_000, True), (500, False)])
def test_rows_that_repeat_make_uneven_groups(different: int, even: bool) -> None:
    rng = np.random.default_rng(5)
    values = rng.normal(size=(different, 2))[np.arange(20_000) % different]
    block = Block(np.zeros((1, 20_000), np.uint8), np.zeros(20_000, np.uint8), group=row_groups(batch(values)))
    kernel = GroupKernel(Layout((2,)), (0,), False)
    assert HalfSamples(kernel, scanned(kernel, block)).even is even


def test_rows_without_groups_are_not_counted() -> None:
    kernel = GroupKernel(LAYOUT, (0,), True)
    with pytest.raises(ValueError, match="packed without their groups"):
        kernel.add(kernel.start(), replace(random_block(9), group=None))


def test_sizes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "FEW", 10)
    assert crowded_states([11, 10, 12]) == (0, 2)
    assert group_bytes(GroupKernel(LAYOUT, (0, 2), True)) == 2 * 16 * 6 * 6 * 8
    assert group_bytes(GroupKernel(LAYOUT, (0,), False)) == 16 * 6 * 8
