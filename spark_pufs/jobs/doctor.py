"""`spark-pufs doctor`: is all that a run needs here? Each check says what was found and, where it must be, the fix.

Nothing but the standard library is imported before it was looked at.
"""

from __future__ import annotations

import platform
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from importlib import metadata

from spark_pufs.errors import EnvironmentFault, Fault
from spark_pufs.masking.texts import gist
from spark_pufs.spark.session import check_java, java_version, open_session, under_submit
from spark_pufs.spark.versions import check_workers, pyspark_version, release_fault, within
from spark_pufs.version import __version__

__all__ = ["Finding", "broken", "examine", "report"]

# The bounds of pyproject.toml: from the first up to, without, the second.
PYTHON = ">=3.11"
BOUNDS = {
    "numpy": ">=1.26,!=2.0.0,<3",
    "scipy": ">=1.13,<2",
    "pandas": ">=2.0,<3",
    "pyarrow": ">=15",
    "scikit-learn": ">=1.4,<2",
    "pydantic": ">=2.7,<3",
    "pyyaml": ">=6,<7",
    "click": ">=8.1,<9",
    "rich": ">=13",
    "jinja2": ">=3.1,<4",
}


@dataclass(frozen=True)
class Finding:
    """One thing looked at; ``fault`` where it must be fixed."""

    what: str
    found: str
    fault: Fault | None = None

    def __str__(self) -> str:
        return f"{'ok' if self.fault is None else 'FIX':4}{self.what:14}{self.found}"


def report(findings: Iterable[Finding], say: Callable[[str], None]) -> None:
    """Say each finding as it comes; raise all that must be fixed at the end."""
    faults = []
    for finding in findings:
        say(str(finding))
        faults += [finding.fault] if finding.fault is not None else []
    if faults:
        raise EnvironmentFault(faults)
    say("All is well.")


def examine(master: str | None) -> Iterator[Finding]:
    """All findings, cheap ones first; the tiny job on ``master`` only where it can run."""
    yield Finding("spark_pufs", __version__)
    packages = [_package(name, bounds) for name, bounds in BOUNDS.items()]
    first = [_python(), *packages]
    if master is not None:
        first += [_spark(), _java(master)]
    yield from first
    if master is not None and all(finding.fault is None for finding in first):
        yield from _tiny_job(master)


def _python() -> Finding:
    version = platform.python_version()
    found = f"{version} ({sys.executable})"
    if within(version, PYTHON):
        return Finding("Python", found)
    return Finding("Python", found, Fault("Python", f"needs {PYTHON}, found {version}", "Run with a newer Python."))


def _package(name: str, bounds: str) -> Finding:
    try:
        version = metadata.version(name)
    except metadata.PackageNotFoundError:
        fix = f'pip install "{name}{bounds}"'
        return Finding(name, "not installed", Fault(f"Package '{name}'", "is not installed", f"Run: {fix}"))
    if within(version, bounds):
        return Finding(name, version)
    fault = Fault(f"Package '{name}'", f"needs {bounds}, found {version}", f'Run: pip install "{name}{bounds}"')
    return Finding(name, version, fault)


def _spark() -> Finding:
    """The pyspark that would be used: a cluster's own is on the path without being an installed package."""
    try:
        version = pyspark_version()
    except ImportError:
        fix = "Install spark-pufs[spark], or run jobs/doctor.py with the spark-submit of your cluster."
        return Finding("pyspark", "not installed", Fault("Package 'pyspark'", "is not installed", fix))
    return Finding("pyspark", version, release_fault(version))


def _java(master: str) -> Finding:
    if master.startswith("sc://"):
        return Finding("Java", "not needed: the Spark Connect server has it")
    if under_submit():
        return Finding("Java", "runs already: spark-submit has started it")
    version = java_version()
    try:
        check_java()
    except EnvironmentFault as error:
        return Finding("Java", "none" if version is None else str(version), error.faults[0])
    return Finding("Java", str(version))


def _tiny_job(master: str) -> list[Finding]:
    try:
        places = check_workers(open_session(master, {}))
    except EnvironmentFault as error:
        return [Finding("tiny job", "failed", fault) for fault in error.faults]
    hosts, programs = {place.host for place in places}, sorted({place.executable for place in places})
    return [Finding("tiny job", f"ran on {len(hosts)} host{'s' * (len(hosts) > 1)} with {', '.join(programs)}")]


def broken(error: ImportError) -> int:
    """Say which packages are missing, too old or too new; exit code 4."""
    try:
        report(examine(None), print)
        fix = "Install it again: pip install --force-reinstall spark-pufs"
        raise EnvironmentFault(Fault("A package", f"does not load: {gist(error)}", fix))
    except EnvironmentFault as fault:
        print(f"error: {fault}", file=sys.stderr)
        return fault.exit_code
