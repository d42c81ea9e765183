"""The witness of a pass: blind to order and partitioning, not to any value."""

from __future__ import annotations

from dataclasses import asdict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spark_pufs.core.counting.pass_checksum import Nothing, Witnessed, witness_of
from spark_pufs.core.counting.profile import ProfileKernel
from spark_pufs.core.records import like, to_bytes
from spark_pufs.types import RawBatch, Text

WORDS = ["x", "y", "zz"]


def batch(X: np.ndarray, text: np.ndarray, label: np.ndarray) -> RawBatch:
    words = Text(text.astype(np.int32), WORDS)
    return RawBatch(X, np.zeros(X.shape[1], np.int64), [words], Text(label.astype(np.int32), ["0", "1"]))


def rows(seed: int, n: int = 40) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, 3)).round(1), rng.integers(-1, 3, n), rng.integers(-1, 2, n)


@given(st.integers(0, 10**6), st.integers(1, 39))
def test_order_and_partitioning_do_not_matter(seed: int, cut: int) -> None:
    parts = rows(seed)
    order = np.random.default_rng(seed).permutation(40)
    shuffled = [part[order] for part in parts]
    first, second = (batch(*(part[where] for part in shuffled)) for where in (slice(cut), slice(cut, None)))
    assert (witness_of(first) + witness_of(second)).tolist() == witness_of(batch(*parts)).tolist()
    assert witness_of(batch(*parts))[1] == 40


@given(st.integers(0, 10**6), st.integers(0, 39), st.integers(0, 4))
def test_one_other_value_anywhere_is_seen(seed: int, row: int, column: int) -> None:
    X, text, label = rows(seed)
    before = witness_of(batch(X, text, label)).tolist()
    if column < 3:
        X[row, column] = np.nextafter(X[row, column], np.inf)
    else:
        changed = text if column == 3 else label
        changed[row] = -1 if changed[row] >= 0 else 0
    assert witness_of(batch(X, text, label)).tolist() != before


@pytest.mark.parametrize("swap", [(0, 1), (1, 2)])
def test_values_in_each_other_s_column_are_seen(swap: tuple[int, int]) -> None:
    X, text, label = rows(3)
    other = X.copy()
    other[:, list(swap)] = other[:, list(swap)[::-1]]
    assert witness_of(batch(X, text, label)).tolist() != witness_of(batch(other, text, label)).tolist()


def test_the_names_in_a_dictionary_count_not_their_numbers() -> None:
    X, text, label = rows(5)
    turned = RawBatch(
        X, np.zeros(3, np.int64), [Text(np.where(text < 0, -1, 2 - text).astype(np.int32), WORDS[::-1])],
        Text(label.astype(np.int32), ["0", "1"]),
    )  # fmt: skip
    assert witness_of(turned).tolist() == witness_of(batch(X, text, label)).tolist()


def test_the_kernel_inside_gives_what_it_gives_alone() -> None:
    parts = [batch(*rows(seed)) for seed in range(3)]
    alone, both = ProfileKernel(3, 1), Witnessed(ProfileKernel(3, 1), witness_of)
    seen = both.add(both.start(), parts[0]).merge(both.add(both.add(both.start(), parts[1]), parts[2]))
    expected = alone.add(alone.start(), parts[0]).merge(alone.add(alone.add(alone.start(), parts[1]), parts[2]))
    assert alone.read(seen.state).fingerprint == alone.read(expected).fingerprint
    np.testing.assert_equal(asdict(seen.state), asdict(expected))
    assert seen.witness.tolist() == sum(witness_of(part) for part in parts).tolist()
    again = like(both.start(), to_bytes(seen))
    np.testing.assert_equal(asdict(again), asdict(seen))
    idle = Witnessed(Nothing(), witness_of)
    assert idle.add(idle.start(), parts[0]).witness.tolist() == witness_of(parts[0]).tolist()
