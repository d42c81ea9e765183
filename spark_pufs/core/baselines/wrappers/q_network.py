"""A small network for action values: tanh units, sigmoid outputs, squared error, Adam."""

from __future__ import annotations

import numpy as np
from scipy.special import expit

from spark_pufs.core.baselines.scored import Floats

__all__ = ["QNetwork"]

_BETA, _BETA2, _EPS = 0.9, 0.999, 1e-8  # Kingma & Ba 2015


class QNetwork:
    """Values in (0, 1) of ``actions`` in a state (inputs,)."""

    def __init__(self, inputs: int, hidden: int, actions: int, rate: float, rng: np.random.Generator) -> None:
        shapes = ((inputs, hidden), (1, hidden), (hidden, actions), (1, actions))
        spread = (1 / np.sqrt(inputs), 0.0, 1 / np.sqrt(hidden), 0.0)
        self._weights = [s * rng.standard_normal(shape) for s, shape in zip(spread, shapes, strict=True)]
        self._mean = [np.zeros(shape) for shape in shapes]
        self._square = [np.zeros(shape) for shape in shapes]
        self._rate, self._steps = rate, 0

    def values(self, states: Floats) -> Floats:
        """(n, actions) of states (n, inputs)."""
        return self._forward(states)[1]

    def _forward(self, states: Floats) -> tuple[Floats, Floats]:
        V, a, U, b = self._weights
        hidden: Floats = np.tanh(states @ V + a)
        return hidden, expit(hidden @ U + b)

    def gradients(self, states: Floats, action: Floats, target: Floats, weight: Floats) -> list[Floats]:
        """Of sum_i weight_i (Q(state_i, action_i) - target_i)^2 / sum_i weight_i, in the order of the weights."""
        hidden, value = self._forward(states)
        rows = np.arange(len(states))
        taken = value[rows, action]
        out = np.zeros_like(value)
        out[rows, action] = 2 * weight / weight.sum() * (taken - target) * taken * (1 - taken)
        back = (out @ self._weights[2].T) * (1 - hidden**2)
        return [states.T @ back, back.sum(axis=0, keepdims=True), hidden.T @ out, out.sum(axis=0, keepdims=True)]

    def learn(self, states: Floats, action: Floats, target: Floats, weight: Floats) -> None:
        """One step of Adam."""
        self._steps += 1
        for i, slope in enumerate(self.gradients(states, action, target, weight)):
            self._mean[i] = _BETA * self._mean[i] + (1 - _BETA) * slope
            self._square[i] = _BETA2 * self._square[i] + (1 - _BETA2) * slope**2
            mean = self._mean[i] / (1 - _BETA**self._steps)
            square = self._square[i] / (1 - _BETA2**self._steps)
            self._weights[i] = self._weights[i] - self._rate * mean / (np.sqrt(square) + _EPS)
