from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from spark_pufs.core.search.budget import Budget
from spark_pufs.core.search.mask_regression import Effects
from spark_pufs.core.search.searches import (
    SEARCHES,
    ContrastSearch,
    ContrastSettings,
    PaperSearch,
    ScoreLog,
    combined,
    jmi_of_masks,
)

Objective = Callable[[NDArray[np.bool_], tuple[int, int]], NDArray[np.float64]]


def noisy(effects: NDArray[np.float64], noise: float) -> Objective:
    def score(masks: NDArray[np.bool_], seed: tuple[int, int]) -> NDArray[np.float64]:
        value: NDArray[np.float64] = masks @ effects + noise * np.random.default_rng([*seed, 7]).normal(size=len(masks))
        return value

    return score


def run(search: PaperSearch | ContrastSearch, objective: Objective, most: int = 10**6) -> None:
    for _ in range(most):
        if search.stopped:
            return
        search.tell(objective(search.ask(), search.evaluation_seed))


@pytest.mark.parametrize("name", list(SEARCHES))
@pytest.mark.parametrize(("features", "wanted"), [(2, 1), (3, 2), (5, 1), (5, 5), (12, 4), (40, 39)])
def test_finds_the_best_features_at_every_size(name: str, features: int, wanted: int) -> None:
    effects = np.linspace(0, 1, features)
    search = SEARCHES[name](Budget.of(np.ones(features), wanted), 1)
    run(search, noisy(effects, 0.0))
    chosen = search.selection()
    assert chosen.sum() == wanted
    assert chosen[-wanted:].mean() >= (0.9 if name == "contrast" else 0.5)
    assert search.stopped


def test_default_is_settled_and_right_under_noise() -> None:
    effects = np.where(np.arange(30) < 10, 1.0, 0.0)
    search = ContrastSearch(Budget.of(np.ones(30), 10), seed=4)
    run(search, noisy(effects, 2.0))
    assert search.selection().tolist() == (effects > 0).tolist()
    assert search.stopped.startswith("settled")
    assert search.unsettled < 3
    assert ((search.theta >= 0) & (search.theta <= 1)).all()


def test_default_works_where_the_objective_saturates() -> None:
    """All masks of full size reach the ceiling; the smaller ones still tell features apart."""
    effects = np.where(np.arange(40) < 20, 1.0, 0.0)
    inner = noisy(effects, 0.3)
    search = ContrastSearch(Budget.of(np.ones(40), 20), seed=4)
    run(search, lambda masks, seed: np.minimum(inner(masks, seed), 6.0))
    assert search.selection().tolist() == (effects > 0).tolist()


def test_no_signal_stops_and_says_that_features_are_open() -> None:
    search = ContrastSearch(Budget.of(np.ones(20), 5), seed=0, settings=ContrastSettings(max_generations=7))
    run(search, noisy(np.zeros(20), 1.0))
    assert search.generation == 7
    assert "out of generations" in search.stopped


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize(("size", "hopeless"), [(0.0, True), (2.0, False)])
def test_noise_is_hopeless_and_effects_are_not(seed: int, size: float, hopeless: bool) -> None:
    search = ContrastSearch(Budget.of(np.ones(30), 10), seed=seed, settings=ContrastSettings(max_generations=12))
    told = noisy(size * np.random.default_rng(seed).normal(size=30), 1.0)
    while search.generation < 12 and not search.stopped:
        assert not search.hopeless
        search.tell(told(search.ask(), search.evaluation_seed))
    assert search.hopeless is hopeless


def test_a_search_that_is_given_up_says_why() -> None:
    search = ContrastSearch(Budget.of(np.ones(6), 2), seed=0)
    search.give_up("no effects")
    assert search.stopped == "no effects: 6 of 6 features are still open"


@pytest.mark.parametrize("generations", [7, 30])
def test_a_constant_objective_does_no_harm(generations: int) -> None:
    settings = ContrastSettings(max_generations=generations)
    search = ContrastSearch(Budget.of(np.ones(8), 3), seed=0, settings=settings)
    run(search, lambda masks, seed: np.full(len(masks), 0.25))
    assert np.isfinite(search.theta).all()
    assert search.selection().sum() == 3


@pytest.mark.parametrize("name", list(SEARCHES))
def test_must_never_and_costs_are_honoured_in_every_mask(name: str) -> None:
    costs = np.array([1.0, 2, 3, 1.5, 2.5, 0.5, 4, 1])
    must, never = np.arange(8) == 2, np.arange(8) == 0
    search = SEARCHES[name](Budget.of(costs, 7.0, must, never), 3)
    for _ in range(8):
        masks = search.ask()
        assert (masks @ costs <= 7 + 1e-9).all()
        assert masks[:, 2].all()
        assert not masks[:, 0].any()
        search.tell(masks @ np.arange(8.0))
    chosen = search.selection()
    assert costs[chosen].sum() <= 7
    assert chosen[2]
    assert not chosen[0]
    assert search.theta[2] == 1
    assert search.theta[0] == 0


@pytest.mark.parametrize("name", list(SEARCHES))
def test_resumes_to_the_same_bits(name: str) -> None:
    budget = Budget.of(np.ones(9), 3)
    objective = noisy(np.arange(9.0), 5.0)
    whole, first = SEARCHES[name](budget, 11), SEARCHES[name](budget, 11)
    run(whole, objective, most=9)
    run(first, objective, most=4)
    state = first.state_dict()
    assert all(isinstance(value, (np.ndarray, int, float, str)) for value in state.values())
    resumed = SEARCHES[str(state["name"])](budget, 11).restore(state)
    run(resumed, objective, most=5)
    assert resumed.generation == whole.generation
    assert resumed.theta.tobytes() == whole.theta.tobytes()
    assert resumed.ask().tobytes() == whole.ask().tobytes()
    assert resumed.best_f == whole.best_f


@pytest.mark.parametrize("name", list(SEARCHES))
def test_asking_twice_gives_the_same_masks(name: str) -> None:
    search = SEARCHES[name](Budget.of(np.ones(9), 3), 5)
    assert (search.ask() == search.ask()).all()


@pytest.mark.parametrize("name", list(SEARCHES))
def test_wrong_scores_are_refused(name: str) -> None:
    search = SEARCHES[name](Budget.of(np.ones(9), 3), 5)
    with pytest.raises(ValueError, match="expected"):
        search.tell([1.0, 2.0, 3.0])
    with pytest.raises(ValueError, match="finite"):
        search.tell(np.full(len(search.ask()), np.nan))


def test_a_starting_theta_draws_its_features_more_often() -> None:
    start = np.where(np.arange(20) < 5, 0.9, 0.1)
    search = ContrastSearch(Budget.of(np.ones(20), 5), seed=2, start=start)
    share = search.ask().mean(axis=0)
    assert share[:5].min() > 2 * share[5:].max()


def test_thousands_of_features() -> None:
    effects = np.where(np.arange(3000) < 20, 1.0, 0.0)
    settings = ContrastSettings(generation_size=96, max_generations=3)
    search = ContrastSearch(Budget.of(np.ones(3000), 600), seed=2, settings=settings)
    run(search, noisy(effects, 0.1))
    assert search.selection().sum() == 600
    assert search.selection()[:20].mean() > 0.5


def test_paper_update_by_hand() -> None:
    """eta = 1/8: the features in which the pair differs move by it, towards the better mask; clipped to [1/4, 3/4]."""
    search = PaperSearch(Budget.of(np.ones(4), 2), seed=0)
    assert search.theta.tolist() == [0.5] * 4
    pair = search.ask().astype(float)
    search.tell([1.0, 3.0])
    assert search.theta == pytest.approx(np.clip(0.5 - (pair[0] - pair[1]) / 8, 0.25, 0.75))
    before = search.theta
    search.tell([2.0, 2.0])
    assert (search.theta == before).all()
    assert (search.best_f, search.generation) == (3.0, 2)


def test_combined_uses_every_value_seen() -> None:
    first, log = combined([1.0, 3.0], [10.0, 30.0], ScoreLog.empty())
    assert first.tolist() == [1 + 1, 3 + 3]  # Std 1 and 10
    second, log = combined([5.0], [20.0], log)
    assert log.count == 3
    assert second[0] == pytest.approx(5 / np.std([1, 3, 5]) + 20 / np.std([10, 30, 20]))


def test_jmi_is_the_mean_over_ordered_pairs() -> None:
    rng = np.random.default_rng(0)
    cmi = rng.random((6, 6))
    masks = rng.random((20, 6)) < 0.5
    for mask, value in zip(masks, jmi_of_masks(masks, cmi), strict=True):
        chosen = np.flatnonzero(mask)
        pairs = [cmi[k, j] for k in chosen for j in chosen if k != j]
        assert value == pytest.approx(np.mean(pairs) if pairs else 0.0)


def test_a_prior_decides_among_open_features_only() -> None:
    search = ContrastSearch(Budget.of(np.ones(6), 3), seed=0)
    search.theta = np.array([0.99, 0.5, 0.45, 0.55, 0.4, 0.01])
    search.evidence = Effects(np.array([3.0, 0.1, 0.0, 0.2, -0.1, -3.0]), np.full(6, 1.0))
    assert np.flatnonzero(search.selection()).tolist() == [0, 1, 3]
    assert np.flatnonzero(search.selection(np.array([-9.0, -1.0, 1.0, -1.0, 1.0, 9.0]))).tolist() == [0, 2, 4]


def test_what_costs_more_than_the_budget_is_never_drawn() -> None:
    search = ContrastSearch(Budget.of([1.0, 1, 1, 3], 2), seed=0)
    assert search.free.tolist() == [True, True, True, False]
    assert search.theta.tolist() == pytest.approx([2 / 3, 2 / 3, 2 / 3, 0])
    assert not search.ask()[:, 3].any()


def test_open_features_are_drawn_more_readily_once_warm() -> None:
    search = ContrastSearch(Budget.of(np.ones(3), 1), seed=0, settings=ContrastSettings(focus=2.0))
    search.theta = np.array([0.0, 0.5, 1.0])
    assert search._weight().tolist() == [0.5, 0.5, 0.5]
    search.generation = search.settings.warm_up
    assert search._weight().tolist() == [0.5, 1.5, 0.5]


@pytest.mark.parametrize(("features", "clip"), [(10, 0.1), (2, 0.25)])
def test_paper_defaults(features: int, clip: float) -> None:
    search = PaperSearch(Budget.of(np.ones(features), 1), seed=0)
    assert search.clip == pytest.approx(clip)
    assert search.eta == pytest.approx(1 / (2 * features))
