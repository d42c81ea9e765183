from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

from spark_pufs.core.baselines.wrappers import es_mcrfs as es_mcrfs_module
from spark_pufs.core.baselines.wrappers.es_mcrfs import HeldOutRows, Walker, auc, es_mcrfs
from spark_pufs.core.baselines.wrappers.fw_semifs import fw_semifs, votes
from spark_pufs.core.baselines.wrappers.q_network import QNetwork
from support.planting import Planted, first


def test_votes_by_hand() -> None:
    known = np.array([0, 1, 2, 3])
    sign = np.array([1, 1, -1, -1, 0], np.int8)
    distance = np.array([[9.0] * 4 + [1], [9] * 4 + [2], [9] * 4 + [3], [9] * 4 + [4]])
    assert votes(distance, known, sign, 3)[4] == 1  # two of three for
    assert votes(distance, known, sign, 9)[4] == 0  # all there are


def test_fw_semifs_finds_what_was_planted(planted: Planted) -> None:
    found = fw_semifs(planted.X, planted.label, np.random.default_rng(0), free=first(3, 8))
    assert found.order is not None
    assert len(found.order) == 3
    assert found.order[0] in (2, 5)  # either of them says it all


def test_fw_semifs_joins_features_that_only_work_together() -> None:
    rng = np.random.default_rng(2)
    X = rng.random((300, 4))
    X[:, [0, 2]] = (X[:, [0, 2]] > 0.5) * 0.8 + 0.2 * rng.random((300, 2))
    y = (X[:, 0] > 0.5) & (X[:, 2] > 0.5)
    label = np.where(np.arange(300) < 120, np.where(y, 1, 2), 0).astype(np.uint8)
    found = fw_semifs(X, label, np.random.default_rng(0), free=first(2, 4))
    assert set(found.order or ()) == {0, 2}


def test_fw_semifs_shares_a_win_between_equals() -> None:
    # both columns part the classes: every vote is right, and each wins half of the only draw: 1/2 + 1/2
    column = np.array([0, 0.1, 0.2, 0.3, 0.7, 0.8, 0.9, 1.0])
    label = np.repeat(np.array([1, 2], np.uint8), 4)
    found = fw_semifs(np.column_stack([column, column]), label, np.random.default_rng(0), free=first(1, 2))
    assert found.scores.tolist() == pytest.approx([1.0, 1.0])


def test_fw_semifs_judges_by_rows_of_known_class_by_brute_force() -> None:
    rng = np.random.default_rng(4)
    X, y = rng.random((200, 4)), rng.random(200) < 0.5
    X[:, 1] += 0.4 * y
    known, everyone = range(12), range(200)  # so few that the nearest of all rows hold hardly any of them
    label = np.where(np.arange(200) < len(known), np.where(y, 1, 2), 0).astype(np.uint8)
    found = fw_semifs(X, label, rng, free=first(2, 4), samplings=1, sampling_rate=1.0)
    one, two = found.order or (0, 0)

    def nearest(row: int, features: list[int], rows: range) -> list[int]:
        others = [other for other in rows if other != row]
        return sorted(others, key=lambda other: float(((X[row, features] - X[other, features]) ** 2).sum()))[:3]

    def share(features: list[int], guess: list[bool], rows: range) -> float:
        pairs = [(row, near) for row in known for near in nearest(row, features, rows)]
        return float(np.mean([guess[row] == guess[near] for row, near in pairs]))

    first_shares = [share([j], y.tolist(), known) for j in range(4)]
    assert one == int(np.argmax(first_shares))
    assert found.scores[one] == pytest.approx(1 / first_shares.count(max(first_shares)) + max(first_shares) / 2)

    spread = [int(y[nearest(row, [one], known)].sum()) > 1 for row in everyone]
    guess = [bool(y[row]) if row in known else spread[row] for row in everyone]
    shares = [-1.0 if j == one else share([one, j], guess, everyone) for j in range(4)]
    assert two == int(np.argmax(shares))
    assert found.scores[two] == pytest.approx(1 / shares.count(max(shares)) + max(shares) / 2)


def test_fw_semifs_is_not_misled_by_rows_that_tie_in_the_order_of_their_classes() -> None:
    # codes of few values: of many equally near rows the first would vote, and those are all of one class
    rng = np.random.default_rng(5)
    y = np.arange(600) < 300
    X = rng.integers(0, 3, (600, 6)).astype(float)
    X[:, 4] = np.where(rng.random(600) < 0.9, y, ~y)
    label = np.where(rng.random(600) < 0.5, np.where(y, 1, 2), 0).astype(np.uint8)
    found = fw_semifs(X, label, np.random.default_rng(0), free=first(1, 6))
    assert found.order == (4,)


def test_gradients_by_finite_differences() -> None:
    rng = np.random.default_rng(0)
    net = QNetwork(5, 3, 2, 1e-3, rng)
    states, action = rng.random((4, 5)), np.array([0, 1, 1, 0])
    target, weight = rng.random(4), rng.random(4)

    def loss() -> float:
        error = net.values(states)[np.arange(4), action] - target
        return float(weight @ error**2 / weight.sum())

    for W, slope in zip(net._weights, net.gradients(states, action, target, weight), strict=True):
        for place in np.ndindex(W.shape):
            W[place] += 1e-6
            up = loss()
            W[place] -= 2e-6
            down = loss()
            W[place] += 1e-6
            assert slope[place] == pytest.approx((up - down) / 2e-6, abs=1e-7)


def test_the_network_learns_values() -> None:
    net = QNetwork(2, 16, 2, 1e-2, np.random.default_rng(1))
    states, action, target = np.eye(2)[[0, 1, 0, 1]], np.array([0, 0, 1, 1]), np.array([0.2, 0.8, 0.7, 0.4])
    for _ in range(2000):
        net.learn(states, action, target, np.ones(4))
    assert net.values(np.eye(2)) == pytest.approx(np.array([[0.2, 0.7], [0.8, 0.4]]), abs=0.02)


@given(st.lists(st.tuples(st.integers(0, 4), st.booleans()), min_size=2, max_size=30))
def test_auc_as_scikit_learn(rows: list[tuple[int, bool]]) -> None:
    score, y = np.array([row[0] for row in rows], float), np.array([row[1] for row in rows])
    expected = roc_auc_score(y, score) if 0 < y.sum() < len(y) else 0.5
    assert auc(score, y) == pytest.approx(expected)


@pytest.mark.parametrize("reward", ["accuracy", "auc"])
def test_reward_knows_good_features(planted: Planted, reward: str) -> None:
    judge = HeldOutRows(planted.X, planted.y, 20, reward, np.random.default_rng(0))
    good, bad = np.isin(np.arange(8), [2, 5]), np.isin(np.arange(8), [0, 1])
    assert judge(good) > 0.95 > judge(bad)
    assert judge(good & bad) == 0.0


def test_walks_end_and_are_counted() -> None:
    walker = Walker(6, 0.5, np.random.default_rng(0))
    masks = []
    for _ in range(20):
        masks.append(walker.walk())
        walker.learn(0.5)
    assert 20 <= walker.steps <= 120
    assert len({tuple(mask) for mask in masks}) > 5


def test_policy_finds_what_was_planted(planted: Planted) -> None:
    options = {"select": 3, "steps": 600, "trees": 3, "reward": "auc"}
    scores = es_mcrfs(planted.X, planted.label, np.random.default_rng(1), answer="policy", **options).scores  # type: ignore[arg-type]
    assert int(np.argmax(scores)) in (2, 5)
    assert (np.abs(scores) < 1).all()


def test_last_walk_of_the_wanted_size_comes_first(planted: Planted) -> None:
    options = {"select": 3, "steps": 120, "trees": 2}
    last, policy = (
        es_mcrfs(planted.X, planted.label, np.random.default_rng(1), answer=answer, **options).scores  # type: ignore[arg-type]
        for answer in ("last", "policy")
    )
    assert (last - policy).round(9).tolist().count(1.0) == 3


def test_a_walk_that_does_not_explore_goes_to_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    # behaviour is the target, the weight stays 1: not below what a walk may end at
    monkeypatch.setattr(es_mcrfs_module, "STOP", 1.0)
    walker = Walker(50, 0.0, np.random.default_rng(0))
    walker.walk()
    assert walker.steps == 50


def test_a_walk_that_only_explores_keeps_half() -> None:
    walker = Walker(1, 1.0, np.random.default_rng(0))
    kept = [walker.walk()[0] for _ in range(400)]
    assert np.mean(kept) == pytest.approx(0.5, abs=0.1)  # 4 standard errors


def test_the_first_step_of_adam_has_the_length_of_its_rate() -> None:
    network = QNetwork(3, 4, 2, 0.01, np.random.default_rng(0))
    before = [weights.copy() for weights in network._weights]
    network.learn(np.eye(3), np.array([0, 1, 0]), np.array([0.9, 0.1, 0.8]), np.ones(3))
    for old, new in zip(before, network._weights, strict=True):
        assert np.abs(new - old) == pytest.approx(np.full(old.shape, 0.01), rel=1e-4)
