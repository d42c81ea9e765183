"""Methods that cannot be distributed: one task, on a bounded sample of rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from spark_pufs.core.counting.row_sample import LabelledRows
from spark_pufs.selectors.base import Task
from spark_pufs.selectors.sampling import Rows

__all__ = ["in_one_task"]

Settings = TypeVar("Settings")
Result = TypeVar("Result")


def in_one_task(
    task: Task,
    kernel: Callable[[LabelledRows, Settings], Result],
    rows: Rows,
    settings: Settings,
    result: type[Result],
) -> Result:
    """``kernel(rows, settings)`` once, where the engine computes; settings and result are dataclasses that travel."""
    return task.engine.each(kernel, rows.plain, [settings], result)[0]
