"""Orders and scores that do not depend on how a table came."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from spark_pufs.core.baselines.scored import canonical_order


@given(st.integers(0, 10**6))
def test_canonical_order_tells_flags_of_equal_counts_apart(seed: int) -> None:
    rng = np.random.default_rng(seed)
    label = (np.arange(30) < 10).astype(np.uint8)
    flags = np.vstack([rng.permuted(np.tile(np.arange(n) < n // 2, (5, 1)), axis=1).T for n in (10, 20)]) * 1.0
    rows, columns = rng.permutation(30), rng.permutation(5)
    a, b = canonical_order(flags, label)
    c, d = canonical_order(flags[rows][:, columns], label[rows])
    assert np.array_equal(flags[a][:, b], flags[rows][:, columns][c][:, d])
