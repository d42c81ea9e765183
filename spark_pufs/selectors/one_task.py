"""Methods that cannot be distributed: one task, on a bounded sample of rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from spark_pufs.core.search.kept_state import State
from spark_pufs.selectors.base import Task
from spark_pufs.selectors.sampling import Rows

__all__ = ["in_one_task"]


def in_one_task(task: Task, kernel: Callable[[State, State], State], rows: Rows, **settings: Any) -> State:
    """``kernel(shared, unit)`` once, where the engine computes: shared has X and label, unit the seed and settings."""
    unit = {"seed": task.request.seed, **settings}
    return task.engine.each(kernel, {"X": rows.X, "label": rows.label}, [unit])[0]
