"""Counts of grades against sums over rows, and the same for any way to cut the rows."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spark_pufs.core.counting.soft_counts import SoftFeatureKernel, SoftLabelKernel, SoftPairKernel
from spark_pufs.types import FULL_GRADE, Block, Layout

LAYOUT = Layout((2, 3, 4))


def rows(seed: int, count: int = 60) -> Block:
    rng = np.random.default_rng(seed)
    codes = np.vstack([rng.integers(0, levels, count) for levels in LAYOUT.levels]).astype(np.uint8)
    return Block(codes, rng.integers(0, FULL_GRADE + 1, count).astype(np.uint8))


def by_hand(block: Block) -> np.ndarray:
    """Counts (2, L, L) row by row."""
    counts = np.zeros((2, LAYOUT.total, LAYOUT.total), np.int64)
    for codes, grade in zip(block.codes.T, block.label, strict=True):
        levels = LAYOUT.offsets[:-1] + codes
        for state, weight in enumerate((FULL_GRADE - int(grade), int(grade))):
            counts[state, levels[:, None], levels] += weight
    return counts


def test_pairs_by_hand() -> None:
    block = rows(0)
    kernel = SoftPairKernel(LAYOUT)
    assert np.array_equal(kernel.add(kernel.start(), block).counts, by_hand(block))


def test_labels_are_the_diagonal_and_features_the_rows_of_pairs() -> None:
    block, pairs = rows(1), by_hand(rows(1))
    label = SoftLabelKernel(LAYOUT)
    assert np.array_equal(label.add(label.start(), block).counts, np.diagonal(pairs, axis1=1, axis2=2))
    some = SoftFeatureKernel(LAYOUT, (2, 0))
    found = some.add(some.start(), block).counts
    assert np.array_equal(found, np.concatenate([pairs[:, LAYOUT.span(2)], pairs[:, LAYOUT.span(0)]], axis=1))


@settings(max_examples=20, deadline=None)
@given(cut=st.integers(0, 60), seed=st.integers(0, 1000))
def test_any_cut_of_the_rows_gives_the_same_counts(cut: int, seed: int) -> None:
    block = rows(seed)
    parts = [Block(block.codes[:, part], block.label[part]) for part in (slice(0, cut), slice(cut, None))]
    for kernel in (SoftPairKernel(LAYOUT), SoftLabelKernel(LAYOUT), SoftFeatureKernel(LAYOUT, (1,))):
        whole = kernel.add(kernel.start(), block).counts
        halves = [kernel.add(kernel.start(), part) for part in parts]
        assert np.array_equal(halves[0].merge(halves[1]).counts, whole)


def test_a_full_batch_of_full_grades_is_exact() -> None:
    many = 65_536
    block = Block(np.zeros((3, many), np.uint8), np.full(many, FULL_GRADE, np.uint8))
    kernel = SoftLabelKernel(LAYOUT)
    assert kernel.add(kernel.start(), block).counts[1, 0] == many * FULL_GRADE


@pytest.mark.parametrize("grade", [0, FULL_GRADE])
def test_known_classes_count_as_whole_rows(grade: int) -> None:
    block = Block(rows(3).codes, np.full(60, grade, np.uint8))
    kernel = SoftLabelKernel(LAYOUT)
    counts = kernel.add(kernel.start(), block).counts / FULL_GRADE
    assert counts[:, LAYOUT.span(0)].sum(axis=1).tolist() == ([60.0, 0.0] if grade == 0 else [0.0, 60.0])
