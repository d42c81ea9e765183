"""Where an answer comes from: what it depends on, by which versions, in which passes."""

from __future__ import annotations

import hashlib
import json
import platform
import sys
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from importlib import metadata

from spark_pufs.engines.base import Engine
from spark_pufs.findings.run_facts import RunFacts
from spark_pufs.request import Request
from spark_pufs.selectors.registry import packages_behind
from spark_pufs.table.pu_table import Plan
from spark_pufs.types import Json
from spark_pufs.version import __version__

__all__ = ["fingerprint", "identity", "run_facts", "versions"]

PACKAGES = ("numpy", "scipy", "pandas", "pyarrow", "scikit-learn")


def identity(plan: Plan, request: Request) -> dict[str, Json]:
    """What an answer depends on, as plain values: the rows in any order, the request, the version."""
    facts = {
        "table": plan.profile.fingerprint,
        "columns": plan.schema.order,
        "request": request.as_dict(),
        "version": __version__,
    }
    if plan.frozen is not None:
        facts["cut_points"] = plan.frozen.digest
    others = packages_behind(request.method)
    if others:
        facts["packages"] = others
    plain: dict[str, Json] = json.loads(json.dumps(facts, default=str))
    return plain


def fingerprint(plan: Plan, request: Request) -> str:
    """Same identity, same fingerprint."""
    return hashlib.sha256(json.dumps(identity(plan, request), sort_keys=True).encode()).hexdigest()


def run_facts(engine: Engine, seconds: float) -> RunFacts:
    """Where the work was done, in which passes, how long it took."""
    passes = tuple(replace(one, seconds=round(one.seconds, 3)) for one in engine.passes)
    return RunFacts(engine.name, round(seconds, 3), passes, engine.reading)


def versions() -> Mapping[str, str]:
    """The packages that an answer was made with."""
    found = {name: _installed(name) for name in PACKAGES} | {"pyspark": _pyspark()}
    told = {name: version for name, version in found.items() if version is not None}
    return {"spark_pufs": __version__, "python": platform.python_version(), **told}


def _pyspark() -> str | None:
    """The one that is loaded: a cluster's own is no installed package, and is not another that is installed."""
    loaded: str | None = getattr(sys.modules.get("pyspark"), "__version__", None)
    return loaded or _installed("pyspark")


@cache  # reading what is installed takes longer than selecting from a small table
def _installed(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None  # pyspark is an extra
