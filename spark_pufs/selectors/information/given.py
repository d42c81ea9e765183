"""Counts given the columns by which rows were labelled: what a feature tells beyond them of who is labelled.

Where the chance of a label depends on some columns E besides the class, a feature is ranked by I(X; S | E): E itself,
and what only follows it, tells nothing then.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from spark_pufs.core.schema import match, patterns
from spark_pufs.errors import ConfigError, Fault
from spark_pufs.selectors.base import Task

__all__ = ["columns_given", "counts_given"]


def columns_given(task: Task) -> tuple[int, ...]:
    """The features that rows were labelled by; a copy counts as the column that stands for it."""
    plan, names = task.table.plan, task.table.names
    stands = {**plan.copies, **{name: copy.of for name, copy in plan.near_copies.items()}}
    wanted = match(plan.columns, patterns(task.request.labelled_by, plan.schema.table))
    found = {_standing(name, stands) for name in wanted}
    return tuple(i for i, name in enumerate(names) if name in found)


def _standing(name: str, stands: dict[str, str]) -> str:
    while name in stands:
        name = stands[name]
    return name


def counts_given(task: Task) -> NDArray[np.int64] | None:
    """Label x configuration of those columns x level of every feature, (3, C, L); None where there are none."""
    given = columns_given(task)
    if not given:
        return None
    if len(given) == 1:
        return task.counter.with_feature(given[0])
    if not task.counter.set_fits(given):
        found = f"its {len(given)} columns have too many combinations of levels"
        raise ConfigError(Fault("Option 'labelled_by'", found, "Name fewer, or raise pair_memory_mb."))
    return task.counter.given(given).counts
