"""Do the workers have the driver's Python and packages? One tiny job tells, before any work is done."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from spark_pufs.errors import EnvironmentFault, Fault
from spark_pufs.masking.texts import foreign

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = [
    "SPARK",
    "Place",
    "check_release",
    "check_workers",
    "differences",
    "here",
    "pyspark_version",
    "release_fault",
    "within",
    "worker_places",
]

SPARK = ">=3.5,<5"  # as pyproject.toml has it

MOST_TASKS = 64
CONNECT_TASKS = 8  # Spark Connect does not tell how many run at once
NAMED = 3  # hosts named in a message
PACKAGES = ("numpy", "scipy", "pandas", "pyarrow", "scikit-learn", "spark_pufs")
PYTHON_FIX = (
    "Set PYSPARK_PYTHON to a Python that has the driver's version and packages on every worker, "
    "or ship one with --archives: see docs/clusters.md."
)
PACKAGE_FIX = "Ship the package: spark-submit --py-files spark_pufs.zip, see docs/clusters.md."


@dataclass(frozen=True)
class Place:
    """A Python that runs our code; what cannot be loaded has no version but a reason in ``broken``."""

    host: str
    executable: str
    python: str
    versions: Mapping[str, str]
    broken: Mapping[str, str]


def here() -> Place:
    """The Python of this process."""
    return _place(_probe(PACKAGES)(0))


def pyspark_version() -> str:
    """The version of the pyspark on the path, installed or a cluster's own."""
    import pyspark

    return str(pyspark.__version__)


def check_release() -> None:
    """Raise where this is a pyspark that we do not know."""
    fault = release_fault(pyspark_version())
    if fault is not None:
        raise EnvironmentFault(fault)


def release_fault(version: str) -> Fault | None:
    """What is wrong with a version of pyspark."""
    if within(version, SPARK):
        return None
    return Fault("Package 'pyspark'", f"needs {SPARK}, found {version}", "Use Spark 3.5 or 4.")


def within(version: str, bounds: str) -> bool:
    """Whether a version lies in bounds such as ``>=2.0,<3``.

    >>> within("2.10.1", ">=2.2,<3"), within("3.0.0", ">=2.2,<3"), within("4.1.0.dev1", ">=4.1")
    (True, False, True)
    """
    have = _numbers(version)
    tests: dict[str, Callable[[list[int]], bool]] = {
        ">=": lambda bound: have >= bound,
        "<": lambda bound: have < bound,
        "!=": lambda bound: have != bound,
    }
    return all(tests[sign](_numbers(bound)) for sign, bound in re.findall(r"(>=|<|!=)([\d.]+)", bounds))


def _numbers(version: str) -> list[int]:
    found = re.match(r"\d+(\.\d+)*", version)
    return [int(part) for part in found.group().split(".")] if found else []


def worker_places(spark: SparkSession) -> list[Place]:
    """The Pythons that answered a job of as many tasks as run at once; each once."""
    from pyspark.sql import functions as F
    from pyspark.sql.types import StringType

    # Not an Arrow function: a worker without pyarrow must be able to say so.
    probe = F.udf(_probe(PACKAGES), StringType(), useArrow=False)
    count = _tasks(spark)
    try:
        rows = spark.range(0, count, 1, count).select(probe("id")).collect()
    except Exception as error:  # Spark and py4j raise many kinds; all mean that the workers' Python does not run
        raise EnvironmentFault(no_answer(str(error))) from error
    return [_place(text) for text in sorted({row[0] for row in rows})]


def check_workers(spark: SparkSession) -> list[Place]:
    """The workers' Pythons; raises where one is not like the driver's."""
    places = worker_places(spark)
    faults = differences(here(), places)
    if faults:
        raise EnvironmentFault(faults)
    return places


def differences(driver: Place, workers: Sequence[Place]) -> list[Fault]:
    """What is wrong with the workers, a fault for each kind of difference."""
    hosts: dict[tuple[str, str, str], list[str]] = {}
    for worker in workers:
        parts = [*_python(driver, worker), *_packages(driver, worker)]
        if parts:
            fix = PACKAGE_FIX if all(part.startswith("spark_pufs") for part in parts) else PYTHON_FIX
            hosts.setdefault((worker.executable, "; ".join(parts), fix), []).append(worker.host)
    return [
        Fault(f"Workers' Python '{program}' on {_names(found)}", what, fix)
        for (program, what, fix), found in hosts.items()
    ]


def no_answer(message: str) -> Fault:
    """Why the tiny job failed, read from Spark's message."""
    where = "Workers' Python"
    if found := re.search(r"has different version: (\S+) than that in driver: (\S+?),", message):
        return Fault(where, f"is {found.group(1)}, the driver's is {found.group(2)}", PYTHON_FIX)
    if found := re.search(r'Cannot run program "([^"]+)"', message):
        return Fault(where, f"no program '{found.group(1)}' on a worker", PYTHON_FIX)
    if found := re.search(r"No module named '?([\w.]+)", message):
        return Fault(where, f"has no module '{found.group(1)}'", PYTHON_FIX)
    gist = next((line.strip() for line in message.splitlines() if line.strip()), "no message")
    return Fault(
        where, f"a tiny job failed: {foreign(gist)[:300]}", "Run `spark-pufs doctor`; the workers' logs say more."
    )


def _python(driver: Place, worker: Place) -> list[str]:
    # Only the minor version decides what a pickled function means.
    same = driver.python.split(".")[:2] == worker.python.split(".")[:2]
    return [] if same else [f"Python {worker.python} where the driver has {driver.python}"]


def _packages(driver: Place, worker: Place) -> list[str]:
    parts = [f"{name} cannot be loaded ({why})" for name, why in worker.broken.items()]
    both = [name for name in driver.versions if name in worker.versions]
    other = [name for name in both if worker.versions[name] != driver.versions[name]]
    return parts + [f"{name} {worker.versions[name]} where the driver has {driver.versions[name]}" for name in other]


def _names(hosts: Sequence[str]) -> str:
    more = f" and {len(hosts) - NAMED} more" if len(hosts) > NAMED else ""
    return ", ".join(hosts[:NAMED]) + more


def _tasks(spark: SparkSession) -> int:
    from spark_pufs.spark.own_session import is_connect
    from spark_pufs.spark.scan import slots

    return CONNECT_TASKS if is_connect(spark) else min(slots(spark), MOST_TASKS)


def _place(text: str) -> Place:
    return Place(**json.loads(text))


def _probe(packages: Sequence[str]) -> Callable[[object], str]:
    """A function that travels whole, because the worker may lack this very package: it uses only its own names."""

    def tell(_: object) -> str:
        import importlib
        import json
        import platform
        import socket
        import sys
        from importlib import metadata

        def version(name: str) -> str:
            if name in ("numpy", "pyarrow", "spark_pufs"):  # loaded by any task, so they must load, not just be there
                return str(importlib.import_module(name).__version__)
            return metadata.version(name)

        versions, broken = {}, {}
        for name in packages:
            try:
                versions[name] = version(name)
            except Exception as error:  # a broken binary raises anything
                broken[name] = f"{type(error).__name__}: {error}"[:200]
        place = {"host": socket.gethostname(), "executable": sys.executable, "python": platform.python_version()}
        return json.dumps({**place, "versions": versions, "broken": broken})

    return tell
