"""What is being done, in words that operators see: names of jobs on a cluster, lines of the log."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

__all__ = ["METRICS", "at_work", "job_name", "method_at_work"]

METRICS = "metrics"  # the attribute of a log record that holds what its line tells, as plain values

_words: ContextVar[tuple[str, ...]] = ContextVar("spark_pufs_at_work", default=())


@contextmanager
def at_work(what: str) -> Iterator[None]:
    """The method that works inside; within it, the part of its work."""
    token = _words.set((*_words.get(), what))
    try:
        yield
    finally:
        _words.reset(token)


def method_at_work() -> str | None:
    return next(iter(_words.get()), None)


def job_name(what: str) -> str:
    """The name of a job.

    >>> with at_work("fscpu"), at_work("generation 2 of 60"):
    ...     job_name("score 200 masks")
    'spark_pufs fscpu: generation 2 of 60, score 200 masks'
    >>> job_name("profile")
    'spark_pufs: profile'
    """
    method, *parts = _words.get() or (None,)
    return f"spark_pufs{f' {method}' if method else ''}: {', '.join([*parts, what])}"
