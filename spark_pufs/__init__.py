"""Feature selection for tables with a few labelled positives and no negatives, on Apache Spark or in memory."""

from __future__ import annotations

import importlib
import platform
import sys
from typing import TYPE_CHECKING

from spark_pufs.version import __version__

if TYPE_CHECKING:
    from spark_pufs.api import (
        check_clusters,
        check_labels,
        compare,
        diff,
        estimate_prior,
        likely_positives,
        methods,
        select,
    )
    from spark_pufs.core.evidence.pu_scores import scores
    from spark_pufs.core.information.power import power, power_report, sample_size
    from spark_pufs.errors import Busy, ConfigError, DataError, EnvironmentFault, PufsError, PufsWarning, Stopped
    from spark_pufs.selection import Selection

__all__ = [
    "Busy",
    "ConfigError",
    "DataError",
    "EnvironmentFault",
    "PufsError",
    "PufsWarning",
    "Selection",
    "Stopped",
    "__version__",
    "check_clusters",
    "check_labels",
    "compare",
    "diff",
    "estimate_prior",
    "likely_positives",
    "methods",
    "power",
    "power_report",
    "sample_size",
    "scores",
    "select",
]

# Names are loaded when first used: a Spark worker imports single kernels and must not pay for the rest.
_HOMES = {
    "likely_positives": "api",
    "methods": "api",
    "select": "api",
    "power": "core.information.power",
    "power_report": "core.information.power",
    "scores": "core.evidence.pu_scores",
    "check_clusters": "api",
    "check_labels": "api",
    "compare": "api",
    "diff": "api",
    "estimate_prior": "api",
    "sample_size": "core.information.power",
    "Selection": "selection",
    "Busy": "errors",
    "ConfigError": "errors",
    "DataError": "errors",
    "EnvironmentFault": "errors",
    "PufsError": "errors",
    "PufsWarning": "errors",
    "Stopped": "errors",
}


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


def __getattr__(name: str) -> object:
    if sys.version_info < (3, 11) and name in _HOMES:
        errors = importlib.import_module("spark_pufs.errors")
        found = f"needs version 3.11 or later, found {platform.python_version()}"
        raise errors.EnvironmentFault(errors.Fault("Python", found, "Run with a newer Python."))
    if name not in _HOMES:
        raise AttributeError(f"module 'spark_pufs' has no attribute {name!r}")
    return getattr(importlib.import_module(f"spark_pufs.{_HOMES[name]}"), name)
