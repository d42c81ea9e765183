"""What a task does once for the Python worker that runs it: Spark keeps workers from task to task."""

from __future__ import annotations

import gc
from functools import cache

__all__ = ["freeze_loaded"]


@cache
def freeze_loaded() -> None:
    """Take what the worker has loaded out of the garbage collections that Spark makes after every task.

    With the modules that kernels need, each of them takes some 50 ms, more than most tasks on a small partition.
    """
    gc.collect()
    gc.freeze()
