"""ES-MCRFS: one agent walks through the features and keeps or skips each (Liu, Wang, Wang, Du, Wu & Fu 2021)."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from spark_pufs.core.baselines.scored import Bools, Floats, Labels, Scored
from spark_pufs.core.baselines.wrappers.q_network import QNetwork
from spark_pufs.core.baselines.wrappers.small_forest import forest_share
from spark_pufs.types import LABELLED_POSITIVE

__all__ = ["HeldOutRows", "Walker", "auc", "es_mcrfs"]

BATCH = 8
HIDDEN = 64
TEMPERATURE = 0.3
STOP = 0.1  # a walk of smaller importance may end early
HELD_OUT = 0.25


def es_mcrfs(
    X: Floats,
    label: Labels,
    rng: np.random.Generator,
    *,
    select: int,
    steps: int = 6000,
    trees: int = 100,
    reward: str = "accuracy",
    answer: str = "last",
    explore: float = 0.5,
) -> Scored:
    """Off-policy Monte Carlo control with importance sampling over walks through the features.

    A walk is rewarded at its end with the score of a random forest for the label on held-out rows. The behaviour policy
    mixes the target policy, a softmax of Q, with chance (``explore``). It stops early with a probability that falls as
    rho, the product of target over behaviour probabilities so far, rises, since walks of small weight teach nothing:
    read as max(0, 1 - 10 rho). Batches of 8, Adam at 0.001, squared error, tanh and sigmoid units and 6,000 decisions
    are Uchikoshi & Akimoto's; the state is the mask so far and the feature in question, where the paper describes the
    chosen columns by their statistics.

    Scores are Q(keep) - Q(skip), in (-1, 1). With ``answer`` "last" the features of the last walk that kept ``select``
    of them come first, plus 1, as Uchikoshi & Akimoto chose; "policy" leaves it at what was learnt. Accuracy, the
    published reward, hardly moves where few rows are labelled; ``reward`` "auc" does.
    """
    judge = HeldOutRows(X, label == LABELLED_POSITIVE, trees, reward, rng)
    walker = Walker(X.shape[1], explore, rng)
    last = np.zeros(X.shape[1], bool)
    while walker.steps < steps:
        kept = walker.walk()
        walker.learn(judge(kept))
        if answer == "last" and kept.sum() == select:
            last = kept
    return Scored(walker.advantage() + last)


class HeldOutRows:
    """Scores a mask: a random forest learns the label on three quarters of the rows and is judged on the rest."""

    def __init__(self, X: Floats, y: Bools, trees: int, reward: str, rng: np.random.Generator) -> None:
        self._X, self._y, self._trees, self._reward, self._rng = X, y, trees, reward, rng
        place = np.zeros(len(y))
        for value in (False, True):  # the same share of each class
            rows = rng.permutation(np.flatnonzero(y == value))
            place[rows] = (np.arange(len(rows)) + 0.5) / max(len(rows), 1)
        self._test = place > 1 - HELD_OUT

    def __call__(self, mask: Bools) -> float:
        """In [0, 1]; 0 for no feature."""
        y, test = self._y, self._test
        if not mask.any() or y[~test].all() or not y[~test].any():
            return 0.0
        X = self._X[:, mask]
        chance = forest_share(X[~test], y[~test], X[test], self._trees, self._rng)
        return auc(chance, y[test]) if self._reward == "auc" else float(((chance > 0.5) == y[test]).mean())


def auc(score: Floats, y: Bools) -> float:
    """The share of pairs in the right order; 1/2 if there is no pair."""
    from scipy.stats import rankdata

    ones = int(y.sum())
    pairs = ones * (len(y) - ones)
    if not pairs:
        return 0.5
    return float((rankdata(score)[y].sum() - ones * (ones + 1) / 2) / pairs)


@dataclass
class _Memory:
    """Decisions of all walks: the state, what was done, with what weight, and what it came to."""

    state: list[Floats] = field(default_factory=list)
    action: list[int] = field(default_factory=list)
    weight: list[float] = field(default_factory=list)
    reward: list[float] = field(default_factory=list)


class Walker:
    """The agent: ``walk`` gives a mask, ``learn`` takes its reward."""

    def __init__(self, features: int, explore: float, rng: np.random.Generator) -> None:
        self._features, self._explore, self._rng = features, explore, rng
        self._Q = QNetwork(2 * features, HIDDEN, 2, 1e-3, rng)
        self._memory = _Memory()
        self.steps = 0

    def walk(self) -> Bools:
        """Keep or skip each feature in turn until the last, or until the walk has become too unlikely."""
        mask, rho = np.zeros(self._features, bool), 1.0
        for feature in range(self._features):
            state = self._state(mask, feature)
            target = self._policy(state)
            behaviour = (1 - self._explore) * target + self._explore / 2
            action = int(self._rng.random() < behaviour[1])
            rho *= target[action] / behaviour[action]
            self._note(state, action, rho)
            mask[feature] = bool(action)
            if self._rng.random() < 1 - rho / STOP:
                break
        return mask

    def learn(self, reward: float) -> None:
        """The reward is the return of every decision of the walk; then one batch for each of them."""
        memory = self._memory
        fresh = len(memory.state) - len(memory.reward)
        memory.reward += [reward] * fresh
        for _ in range(fresh):
            some = self._rng.integers(len(memory.state), size=BATCH).tolist()
            parts = (memory.state, memory.action, memory.reward, memory.weight)
            self._Q.learn(*(np.array([part[i] for i in some]) for part in parts))

    def advantage(self) -> Floats:
        """Q(keep) - Q(skip) of each feature along the target policy's own walk, (D,), in (-1, 1)."""
        mask, gain = np.zeros(self._features, bool), np.zeros(self._features)
        for feature in range(self._features):
            value = self._Q.values(self._state(mask, feature)[None])[0]
            gain[feature] = value[1] - value[0]
            mask[feature] = gain[feature] > 0
        return gain

    def _state(self, mask: Bools, feature: int) -> Floats:
        here = np.arange(self._features) == feature
        return np.concatenate([mask, here]).astype(np.float64)

    def _policy(self, state: Floats) -> Floats:
        value = self._Q.values(state[None])[0] / TEMPERATURE
        odds = np.exp(value - value.max())
        share: Floats = odds / odds.sum()
        return share

    def _note(self, state: Floats, action: int, rho: float) -> None:
        self._memory.state.append(state)
        self._memory.action.append(action)
        self._memory.weight.append(rho)
        self.steps += 1
