"""Everything that can go wrong for a user, as one tree.

    PufsError                 exit code 1: anything else
    |-- ConfigError           exit code 2: configuration or usage; retrying does not help
    |-- DataError             exit code 3: the table; retrying does not help
    |-- EnvironmentFault      exit code 4: Java, versions, packages
    |-- Busy                  exit code 1: another run is at work there; retrying helps
    `-- Stopped               exit code 5: stopped by the user, work saved

An error carries one or more faults, gathered first and raised once. A fault says where, what was found, and
what to do about it, and never a secret: addresses in it are masked, and what a terminal would obey is shown. Errors of
configuration and of data are ValueErrors too: scikit-learn's tools expect that.
"""

from __future__ import annotations

import difflib
import sys
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from spark_pufs.masking.texts import masked, visible

__all__ = [
    "Busy",
    "ConfigError",
    "DataError",
    "EnvironmentFault",
    "Fault",
    "PufsError",
    "PufsWarning",
    "Stopped",
    "did_you_mean",
    "warn",
]


MOST_READ, MOST_SHOWN = 10_000, 2_000  # characters of a part of a fault
SHOWN = 10  # names listed where none is close


@dataclass(frozen=True)
class Fault:
    """One thing that is wrong: ``where: found. fix``.

    >>> print(Fault("Column 'label'", "expected 1 or null, found 2 in 37 rows", "Add 2 to `positive`."))
    Column 'label': expected 1 or null, found 2 in 37 rows. Add 2 to `positive`.
    """

    where: str
    found: str
    fix: str

    def __post_init__(self) -> None:
        for name in ("where", "found", "fix"):
            text = visible(masked(str(getattr(self, name))[:MOST_READ]))
            object.__setattr__(self, name, text if len(text) <= MOST_SHOWN else f"{text[:MOST_SHOWN]}...")

    def __str__(self) -> str:
        return f"{self.where}: {self.found}. {self.fix}"


class PufsError(Exception):
    """Base of every error this package raises on purpose."""

    exit_code = 1

    def __init__(self, faults: Fault | Sequence[Fault]) -> None:
        self.faults: tuple[Fault, ...] = (faults,) if isinstance(faults, Fault) else tuple(faults)
        super().__init__(self._message())

    def _message(self) -> str:
        if len(self.faults) == 1:
            return str(self.faults[0])
        lines = [f"{len(self.faults)} faults:"] + [f"  - {fault}" for fault in self.faults]
        return "\n".join(lines)


class ConfigError(PufsError, ValueError):
    """A setting is unknown, missing or has a value it cannot have."""

    exit_code = 2


class DataError(PufsError, ValueError):
    """The table does not allow what was asked."""

    exit_code = 3


class EnvironmentFault(PufsError):
    """Java, Python or a package is missing or has the wrong version."""

    exit_code = 4


class Busy(PufsError):
    """Another run holds the run directory; a scheduler may try again later."""


class Stopped(PufsError):
    """The user stopped the run; what was done is saved."""

    exit_code = 5


class PufsWarning(UserWarning):
    """Something to look at before relying on an answer; ``select`` and ``fit`` give one for each warning of it.

    ``warnings.simplefilter("ignore", PufsWarning)`` silences them all; ``selection.warnings`` keeps them.
    """


def warn(texts: Iterable[str]) -> None:
    """Each text as a PufsWarning at the line of the user that led here, past this package and what calls it."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and _is_ours(frame.f_globals.get("__name__", "")):
        frame, level = frame.f_back, level + 1
    for text in texts:
        warnings.warn(PufsWarning(visible(masked(text))), stacklevel=level)


def _is_ours(module: str) -> bool:
    return module.partition(".")[0] in ("spark_pufs", "sklearn", "pyspark")


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Advice for a mistyped name.

    >>> did_you_mean("semi-jim", ["semi-jmi", "mim"])
    "Did you mean 'semi-jmi'?"
    >>> did_you_mean("zzz", ["b", "a"])
    'Known: a, b.'
    """
    names = sorted(known)
    close = difflib.get_close_matches(name, names, n=1)
    if close:
        return f"Did you mean '{close[0]}'?"
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return f"Known: {', '.join(names[:SHOWN])}{more}."
