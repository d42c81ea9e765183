"""All that a process and a Spark session share with their user, to be compared before and after."""

from __future__ import annotations

import copy
import gc
import logging
import os
import random
import signal
import sys
import tempfile
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["assert_unchanged", "changes", "files_in", "host_state", "session_state"]


def host_state() -> dict[str, Any]:
    """What belongs to the process."""
    import sklearn

    return {
        "working directory": os.getcwd(),
        "environment": dict(os.environ),
        "temporary files": sorted(os.listdir(tempfile.gettempdir())),
        "numpy's random state": [str(part) for part in np.random.get_state()],  # noqa: NPY002
        "random state": hash(random.getstate()),
        "warning filters": (id(warnings.filters), list(warnings.filters), warnings.showwarning),
        "threads of libraries": _library_threads(),
        "threads": sorted(one.name for one in threading.enumerate() if "py4j" not in one.name.lower()),
        "signal handlers": {number: signal.getsignal(number) for number in signal.valid_signals()},
        "logging": _logging(),
        "numpy": (np.geterr(), np.get_printoptions()),
        "pandas": copy.deepcopy(pd._config.config._global_config),  # type: ignore[attr-defined]
        "scikit-learn": sklearn.get_config(),
        "garbage collection": (gc.isenabled(), gc.get_threshold(), gc.get_freeze_count() > 0),  # frozen ones die too
        "import path": list(sys.path),
        "streams": (sys.stdout, sys.stderr, sys.stdin, sys.excepthook, threading.excepthook),
        "limits": (sys.getrecursionlimit(), sys.getswitchinterval()),
    }


def _library_threads() -> dict[str, int]:
    from threadpoolctl import threadpool_info

    return {one["filepath"]: one["num_threads"] for one in threadpool_info()}


def _logging() -> dict[str, Any]:
    names = ("", "spark_pufs", "py4j", "lightgbm", "sklearn")
    found = [logging.getLogger(name) for name in names]
    return {one.name: (one.level, list(one.handlers), list(one.filters), one.propagate) for one in found}


def session_state(spark: SparkSession) -> dict[str, Any]:
    """What belongs to a classic session and its context."""
    from pyspark import RDD
    from pyspark.core.files import SparkFiles
    from pyspark.sql import SparkSession as Sessions

    context: Any = spark.sparkContext
    java: Any = spark._jsparkSession  # type: ignore[attr-defined]
    return {
        "settings": dict(spark.conf.getAll),
        "cached": (sorted(context._jsc.getPersistentRDDs()), java.sharedState().cacheManager().isEmpty()),
        "files": (sorted(context.listFiles), sorted(os.listdir(SparkFiles.getRootDirectory()))),
        "context's temporary files": sorted(os.listdir(context._temp_dir)),
        "views": sorted(table.name for table in spark.catalog.listTables()),
        "job": [context.getLocalProperty(f"spark.{name}") for name in ("jobGroup.id", "job.description", "job.tags")],
        "default session": (id(Sessions._instantiatedSession), id(Sessions._activeSession)),
        "active in Java": java.equals(_active(spark)),
        "conversion of RDDs": id(RDD.toDF),
    }


def _active(spark: Any) -> Any:
    sessions = getattr(spark._jvm, "org.apache.spark.sql.classic.SparkSession")
    return sessions.getActiveSession().get()


def changes(before: dict[str, Any], after: dict[str, Any]) -> dict[str, tuple[Any, Any]]:
    """What differs, by name; of mappings, the entries that do. Libraries that were loaded meanwhile are no change."""
    found: dict[str, tuple[Any, Any]] = {}
    for name, was in before.items():
        now = after[name]
        if isinstance(was, dict) and isinstance(now, dict):
            keys = was if name == "threads of libraries" else {**was, **now}
            found |= {f"{name}: {key}": (was.get(key), now.get(key)) for key in keys if was.get(key) != now.get(key)}
        elif was != now:
            found[name] = (was, now)
    return found


@contextmanager
def assert_unchanged(spark: SparkSession | None = None) -> Iterator[None]:
    """Fails where the host is not as it was."""

    def now() -> dict[str, Any]:
        return host_state() | (session_state(spark) if spark else {})

    before = now()
    yield
    found = changes(before, now())
    assert not found, found


def files_in(folder: Path) -> dict[str, bytes]:
    """Every file below a folder with its bytes."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
