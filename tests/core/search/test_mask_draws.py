"""Masks are what (theta, seed, number) say, whoever draws them."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from spark_pufs.core.search.budget import Budget
from spark_pufs.core.search.compact_ga import PaperSearch
from spark_pufs.core.search.main_effects import ContrastSearch, ContrastSettings
from spark_pufs.core.search.mask_draws import CHUNK, GivenMasks, SizedMasks, every_mask


def sized(theta: list[float], fraction: float, budget: Budget, count: int = 4000, seed: int = 1) -> np.ndarray:
    free = ~budget.must & ~budget.never
    return every_mask(SizedMasks(np.array(theta), np.full(count, fraction), budget, free, (seed, 0, 1)))


@pytest.mark.parametrize("costs", [np.ones(9), np.linspace(1, 2, 9)], ids=["equal", "unequal"])
def test_a_worker_draws_the_chunk_that_the_driver_drew(costs: np.ndarray) -> None:
    search = ContrastSearch(Budget.of(costs, 4), 3, ContrastSettings(generation_size=2 * CHUNK + 5))
    for _ in range(6):
        asked, there = search.ask(), pickle.loads(pickle.dumps(search.draws))
        assert there.count == len(asked)
        for first in (2 * CHUNK, 0, CHUNK):
            np.testing.assert_array_equal(there.chunk(first), asked[first : first + CHUNK])
        search.tell(asked @ np.arange(9.0))


def test_the_pair_of_the_papers_search() -> None:
    search = PaperSearch(Budget.of(np.ones(6), 2), seed=0)
    np.testing.assert_array_equal(every_mask(pickle.loads(pickle.dumps(search.draws))), search.ask())


def test_the_first_feature_is_drawn_by_its_weight() -> None:
    masks = sized([1.0, 2.0, 5.0, 0.0], 0.5, Budget.of(np.ones(4), 2))
    assert (masks.sum(axis=1) == 1).all()
    assert masks.mean(axis=0) == pytest.approx([1 / 8, 2 / 8, 5 / 8, 0], abs=0.03)


def test_two_features_without_replacement() -> None:
    """P(0 in it) = 1/8 first, or second after 1 or 2: 2/8 * 1/6 + 5/8 * 1/3."""
    masks = sized([1.0, 2.0, 5.0], 1.0, Budget.of(np.ones(3), 2))
    assert (masks.sum(axis=1) == 2).all()
    assert masks[:, 0].mean() == pytest.approx(1 / 8 + 2 / 8 / 6 + 5 / 8 / 3, abs=0.03)


def test_must_and_never_and_a_budget_beyond_all_features() -> None:
    budget = Budget.of(np.ones(5), 3, must=np.eye(5)[0], never=np.eye(5)[4])
    masks = sized([0.5] * 5, 1.0, budget, 40)
    assert masks[:, 0].all()
    assert not masks[:, 4].any()
    assert (masks.sum(axis=1) == 3).all()
    assert sized([0.5] * 3, 1.0, Budget.of(np.ones(3), 9), 5).all()


def test_given_masks_are_cut_into_chunks() -> None:
    masks = np.eye(40, dtype=bool)
    np.testing.assert_array_equal(every_mask(GivenMasks(masks)), masks)
