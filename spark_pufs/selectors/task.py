"""From a table that was found fit to what a method is given."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from spark_pufs.core.counting.grouped_counts import GroupKernel, crowded_states
from spark_pufs.engines.base import Engine, InProcess, Keeper, NoKeeper
from spark_pufs.request import Request
from spark_pufs.selectors.base import Method, Task, read_options
from spark_pufs.table.counter import Counter
from spark_pufs.table.pu_table import Plan, pack

__all__ = ["make_task", "task_of"]


def make_task(
    engine: Engine,
    plan: Plan,
    method: Method,
    request: Request,
    in_process: InProcess,
    keeper: Keeper | None = None,
    note: Callable[[str], None] = lambda what: None,
) -> Task:
    """Pack the rows and read the limits; release ``task.table.blocks`` when done.

    ``in_process`` makes the engine of trials, which run wherever ``engine`` has room.
    """
    limits = plan.limits_on(plan.features)
    options = read_options(method, request.options)
    # Where only some of the rows can still be drawn, as from a memory, halves are halves of these.
    halved = bool(request.stability and method.counts and plan.drawn_from in (None, plan.labels))
    crowded = crowded_states(plan.labels.by_state) if halved else ()
    table = pack(plan, request, grouped=bool(crowded))
    groups = GroupKernel(table.layout, crowded, method.counts == "pairs") if halved else None
    counter = Counter(table, request.pair_memory_mb, halved=groups)
    return Task(table, counter, limits, request, options, engine, in_process, keeper or NoKeeper(), note)


def task_of(task: Task, plan: Plan) -> Task:
    """The task on some of its features, by another plan of its rows; they are packed anew if something is counted."""
    table = pack(plan, task.request, task.table.bins if plan.binning == task.table.plan.binning else ())
    limits = task.limits.of([task.table.names.index(name) for name in plan.features])
    return replace(task, table=table, counter=Counter(table, task.request.pair_memory_mb), limits=limits)
