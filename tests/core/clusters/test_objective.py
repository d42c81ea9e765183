from __future__ import annotations

from itertools import chain, combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spark_pufs.core.clusters.objective import positive_clusters, recall_precision

clusters = st.lists(
    st.tuples(st.integers(0, 30), st.integers(0, 30)).map(lambda p: (p[0], p[0] + p[1])),
    min_size=1,
    max_size=7,
)


def subsets(K: int) -> chain[tuple[int, ...]]:
    return chain.from_iterable(combinations(range(K), r) for r in range(1, K + 1))


@given(clusters)
def test_equals_the_maximum_over_all_subsets(pairs: list[tuple[int, int]]) -> None:
    a, c = np.array(pairs, float).T
    total = max(a.sum(), 1)
    brute = 0.0
    for chosen in subsets(len(a)):
        A, B = a[list(chosen)].sum(), c[list(chosen)].sum()
        brute = max(brute, A * A / (total * B) if B else 0.0)
    assert recall_precision([a], [c], total)[0] == pytest.approx(brute, abs=1e-12)


@given(clusters)
def test_positive_clusters_reach_the_value(pairs: list[tuple[int, int]]) -> None:
    a, c = np.array(pairs, float).T
    total = max(a.sum(), 1)
    chosen = positive_clusters([a], [c])[0]
    A, B = a[chosen].sum(), c[chosen].sum()
    assert recall_precision([a], [c], total)[0] == pytest.approx(A * A / (total * B) if B else 0.0)
    assert not chosen[c == 0].any()


@given(st.lists(st.integers(1, 40), min_size=1, max_size=5), st.lists(st.integers(1, 40), max_size=5))
def test_equal_shares_against_none_give_the_first_group_back(good: list[int], bad: list[int]) -> None:
    """Prop. 4.2 with beta = 1/4."""
    rows = np.array([4 * n for n in good] + bad)
    labelled = np.array(good + [0] * len(bad))
    expected = np.arange(len(rows)) < len(good)
    assert positive_clusters([labelled], [rows])[0].tolist() == expected.tolist()
    assert recall_precision([labelled], [rows], sum(good))[0] == pytest.approx(0.25)


def test_the_larger_prefix_wins_a_tie() -> None:
    # 2^2/2 = 2 for the first cluster alone, (2+2)^2/8 = 2 for both.
    assert positive_clusters([[2, 2]], [[2, 6]]).tolist() == [[True, True]]


def test_masks_are_scored_independently() -> None:
    a, c = np.array([[8, 2, 0], [0, 0, 10]]), np.array([[10, 40, 50], [45, 45, 10]])
    assert recall_precision(a, c, 10).tolist() == [0.64, 1.0]


def test_empty_clusters_and_no_labelled_rows() -> None:
    assert recall_precision([[0, 0]], [[0, 0]], 5).tolist() == [0.0]
    assert recall_precision([[0, 0]], [[3, 4]], 0).tolist() == [0.0]
    assert not positive_clusters([[0, 0]], [[3, 4]]).any()


def test_shapes_must_agree() -> None:
    with pytest.raises(ValueError, match=r"\(M, K\)"):
        recall_precision([1, 2], [3, 4], 1)
