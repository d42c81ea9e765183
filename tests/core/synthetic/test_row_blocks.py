"""Random numbers of blocks and rows."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from spark_pufs.core.synthetic.row_blocks import BLOCK, block_generator, block_rows, row_keys


def test_a_block_has_its_own_numbers_and_always_the_same() -> None:
    draws = {place: tuple(block_generator(*place).random(4)) for place in [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]}
    assert len(set(draws.values())) == 4
    assert tuple(block_generator(0, 1, 0).random(4)) == draws[0, 1, 0]


@given(st.integers(1, 5000))
def test_blocks_hold_every_row_once(rows: int) -> None:
    blocks = [block_rows(block, rows) for block in range(-(-rows // BLOCK))]
    assert np.concatenate(blocks).tolist() == list(range(rows))
    assert max(map(len, blocks)) <= BLOCK


@given(st.integers(0, 2**63 - 1), st.integers(0, 2**63 - 2000))
def test_keys_are_different_for_different_rows_and_even(seed: int, first: int) -> None:
    keys = row_keys(np.arange(first, first + 1000), seed)
    assert len(np.unique(keys)) == 1000
    # the mean of 1,000 uniform numbers has a standard error of 0.009
    assert abs((keys / 2.0**64).mean() - 0.5) < 0.06


def test_keys_of_two_seeds_are_unrelated() -> None:
    rows = np.arange(20_000)
    one, two = (row_keys(rows, seed) / 2.0**64 for seed in (0, 1))
    assert abs(np.corrcoef(one, two)[0, 1]) < 0.03  # 4 standard errors
