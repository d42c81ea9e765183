"""What a mask of a search may cost, from what the user asked for."""

from __future__ import annotations

import numpy as np

from spark_pufs.core.search.budget import Budget
from spark_pufs.errors import ConfigError, Fault
from spark_pufs.selectors.base import Task

__all__ = ["mask_budget"]


def mask_budget(task: Task) -> Budget:
    """What a mask may cost: k features or a budget; half of the features if neither is given."""
    limits, request = task.limits, task.request
    if request.k is not None and request.budget is not None:
        fault = Fault("Options 'k' and 'budget'", "a search takes one of them, got both", "Leave one out.")
        raise ConfigError(fault)
    must = np.zeros(len(limits.costs), np.bool_)
    must[list(limits.must)] = True
    if request.budget is not None:
        return Budget.of(limits.costs, request.budget, must, limits.never)
    k = limits.in_features(limits.k) if request.k is not None else -(-int((~limits.never).sum()) // 2)
    return Budget.of(np.ones(len(must)), max(k, len(limits.must)), must, limits.never)
