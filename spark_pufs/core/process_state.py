"""What all threads of a process share, and how to leave it as it was: BLAS threads and warning filters.

Both belong to the process, whoever sets them. Set and put back by two selections at once, the second takes what the
first has set for the user's own and leaves it behind. So users are counted: the first one in keeps what is there, and
the last one out puts it back.
"""

from __future__ import annotations

import re
import sys
import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import lru_cache
from threading import RLock
from typing import Any

__all__ = ["single_thread", "undisturbed", "without_warnings"]

_lock = RLock()


class Shared(ABC):
    """Something of the process that is held by any number of users at once."""

    users = 0

    @abstractmethod
    def take(self) -> None:
        """Called for each user who comes; ``users`` others are there already."""

    @abstractmethod
    def give_back(self) -> None:
        """Called when the last one has gone."""

    @contextmanager
    def held(self) -> Iterator[None]:
        with _lock:
            self.take()
            self.users += 1
        try:
            yield
        finally:
            with _lock:
                self.users -= 1
                if not self.users:
                    self.give_back()


class BlasThreads(Shared):
    """One thread in every BLAS: sums round by their number, and our own threads are as many as there are cores."""

    def __init__(self) -> None:
        self._found: dict[str, tuple[Any, int]] = {}  # by file: its controller and its own number of threads

    def take(self) -> None:
        for one in _libraries("blas"):  # some may have been loaded since
            if one.filepath not in self._found:
                self._found[one.filepath] = one, one.num_threads
                _limit(one, 1)

    def give_back(self) -> None:
        for one, threads in self._found.values():
            if one.get_num_threads() == 1:  # else somebody has set it meanwhile, and knows better
                _limit(one, threads)
        self._found = {}


class Filters(Shared):
    """The warning filters. ``warnings.catch_warnings``, which scikit-learn uses in every fit, is not for threads: one
    that ends while another has begun leaves the other's filters behind, or adds its own to the list of the first."""

    def __init__(self) -> None:
        self._list: list[Any] = []
        self._entries: tuple[Any, ...] = ()

    def take(self) -> None:
        if not self.users:
            self._list = _filters_now()
            self._entries = tuple(self._list)

    def give_back(self) -> None:
        if _filters_now() is not self._list or tuple(self._list) != self._entries:
            self._list[:] = self._entries
            _set_filters(self._list)


class Silence(Filters):
    """No warnings of scikit-learn, in any thread, while somebody fits what warns of things that we tell ourselves."""

    def take(self) -> None:
        super().take()
        if not self.users:
            _set_filters([("ignore", None, Warning, re.compile("sklearn"), 0), *self._entries])


_blas, _filters, _silence = BlasThreads(), Filters(), Silence()


@contextmanager
def undisturbed() -> Iterator[None]:
    """Work with one BLAS and OpenMP thread per thread; what the process had is there again after.

    >>> before = warnings.filters
    >>> with undisturbed():
    ...     warnings.filters = [*before]
    >>> warnings.filters is before
    True
    """
    openmp = [(one, one.num_threads) for one in _libraries("openmp")]  # which keeps its number per thread
    with _blas.held(), _filters.held():
        single_thread()
        try:
            yield
        finally:
            for one, threads in openmp:
                one.set_num_threads(threads)


def single_thread() -> None:
    """One OpenMP thread for this thread, which is ours and ends with our work."""
    for one in _libraries("openmp"):
        one.set_num_threads(1)


def without_warnings() -> AbstractContextManager[None]:
    """A context in which scikit-learn does not warn."""
    return _silence.held()


def _filters_now() -> list[Any]:
    found: Any = warnings.filters
    return found  # type: ignore[no-any-return]


def _set_filters(filters: list[Any]) -> None:
    warnings.filters = filters
    with warnings.catch_warnings():
        pass  # tells the interpreter that the filters are others, in all versions of Python


def _limit(blas: Any, threads: int) -> None:
    """Set by whichever thread: newer threadpoolctl obeys only the one that was first, and here users are counted."""
    freed = getattr(blas, "clear_controlling_thread", lambda force: None)
    freed(force=True)
    blas.set_num_threads(threads)
    freed(force=True)


def _libraries(kind: str) -> list[Any]:
    """Controllers of the loaded libraries of one kind; looking for them takes milliseconds."""
    return [one for one in _controllers(len(sys.modules)) if one.user_api == kind]


@lru_cache(maxsize=1)
def _controllers(modules: int) -> list[Any]:
    """As long as no module is loaded there is no other library."""
    try:
        from threadpoolctl import ThreadpoolController
    except ImportError:
        return []  # a worker without it: OMP_NUM_THREADS rules there, which Spark sets to spark.task.cpus
    return list(ThreadpoolController().lib_controllers)
