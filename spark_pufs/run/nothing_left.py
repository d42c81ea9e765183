"""Where the chosen features tell all there is, the others score 0: ordered by what each tells alone, and said so."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from spark_pufs.selectors.base import Outcome
from spark_pufs.selectors.by_score import by_score, first_within
from spark_pufs.table.limits import Limits

__all__ = ["ordered", "say_nothing_left"]

ROUNDING = 1e-9  # of the largest score: information that differs from 0 by so little is 0


def ordered(outcome: Outcome, alone: NDArray[np.float64], limits: Limits) -> tuple[Outcome, list[int]]:
    """The outcome and its ranking, in which features that score 0 stand in the order of ``alone`` (D,).

    They are chosen in that order too where the method took them in column order.
    """
    order = outcome.order()
    head = _telling(outcome, order, limits)
    tail = sorted(order[head:], key=lambda i: (-alone[i], i))
    if outcome.chosen == by_score(outcome.scores, limits):
        outcome = replace(outcome, chosen=first_within([*order[:head], *tail], limits))
    chosen = set(outcome.chosen)
    return outcome, [*outcome.chosen, *(i for i in [*order[:head], *tail] if i not in chosen)]


def say_nothing_left(outcome: Outcome, names: tuple[str, ...], limits: Limits) -> tuple[str, ...]:
    """A warning where features were chosen that add nothing to those before them."""
    order = outcome.order()
    head = _telling(outcome, order, limits)
    left = len(outcome.chosen) - head
    if not head or left <= 0 or set(outcome.chosen[head:]) <= set(limits.must):
        return ()
    after = f"After '{names[order[head - 1]]}' nothing is left to add"
    if len(order) - head == 1:
        return (f"{after}: '{names[order[head]]}' adds nothing.",)
    others = f"the other {len(order) - head:,} features"
    return (f"{after}: the order of {others} is by their own relevance, not by what they add.",)


def _telling(outcome: Outcome, order: list[int], limits: Limits) -> int:
    """Features of the ranking up to the last one that scores something and may be chosen; 0 where none does."""
    least = ROUNDING * float(np.abs(outcome.scores).max(initial=0.0))
    some = np.abs(outcome.scores) > least
    if outcome.beyond_chance and not some.all():
        some &= outcome.scores > 0  # beside features that add exactly nothing, those below chance add nothing either
    found = [rank for rank, i in enumerate(order, 1) if some[i] and not limits.never[i]]
    return found[-1] if found else 0
