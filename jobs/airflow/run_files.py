"""What the DAG reads and writes of run directories; neither Airflow nor spark_pufs is needed for it.

Folders are pathlib's, or Airflow's ObjectStoragePath, which has the same methods.
"""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

CURRENT = "current.json"
CHANGES = "changes.html"
FIRST = "first run"
ALARMS = ("changed", "refit needed")


class NotWhole(Exception):
    """A run directory is not as its manifest says, or names what it must not."""


@dataclass(frozen=True)
class Published:
    """One interval's run as it is published.

    ``verdict``: that of ``spark-pufs diff`` against the run before, or "first run". ``current``: whether no run of a
    later interval is published.
    """

    interval: str
    run: str
    report: str
    changes: str
    fingerprint: str
    method: str
    features: tuple[str, ...]
    verdict: str
    reasons: tuple[str, ...]
    current: bool

    @property
    def alarm(self) -> bool:
        return self.verdict in ALARMS

    def as_dict(self) -> dict[str, Any]:
        """Plain values, for XCom, asset events and current.json."""
        return {**asdict(self), "features": list(self.features), "reasons": list(self.reasons)}


def publish_run(folder: Any, run: str, pages: str) -> Published:
    """Check a run's files against its manifest, then point ``current.json`` to it unless a later interval is there.

    ``pages``: where the run's pages are served.
    """
    manifest = manifest_of(folder, run)
    for name, digest in manifest["files"].items():
        place = inside(folder, name)
        if not place.exists() or hashlib.sha256(place.read_bytes()).hexdigest() != digest:
            raise NotWhole(f"{run}/{name} is not the file that its manifest names; select again")
    since, features = answer_of(folder, run)
    interval = run.rstrip("/").rpartition("/")[2]
    latest = latest_interval(folder.parent)
    published = Published(
        interval=interval,
        run=run,
        report=f"{pages}/report.html",
        changes=f"{pages}/{CHANGES}" if CHANGES in manifest["files"] else "",
        fingerprint=manifest["fingerprint"],
        method=manifest["method"],
        features=features,
        verdict=since.get("verdict", FIRST),
        reasons=tuple(since.get("reasons", ())),
        current=latest is None or interval >= latest,
    )
    if published.current:
        replace_text(folder.parent / CURRENT, json.dumps(published.as_dict(), indent=2))
    return published


def manifest_of(folder: Any, run: str) -> dict[str, Any]:
    """What a run says of itself, with the digest of each file by name."""
    try:
        found = json.loads((folder / "manifest.json").read_text())
        digests = {str(name): str(facts["sha256"]) for name, facts in found["files"].items()}
        return {"fingerprint": found["fingerprint"], "method": found["method"], "files": digests}
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise NotWhole(f"{run}/manifest.json is not a run's manifest ({error!r}); select again") from error


def answer_of(folder: Any, run: str) -> tuple[dict[str, Any], tuple[str, ...]]:
    """What changed since the run before, empty where there is none, and the features that were chosen."""
    try:
        found = json.loads((folder / "selection.json").read_text())
        chosen = [one for one in found["features"] if one["selected"]]
        names = tuple(str(one["name"]) for one in sorted(chosen, key=lambda one: one["rank"]))
        return found["details"].get("since") or {}, names
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise NotWhole(f"{run}/selection.json is not a selection ({error!r}); select again") from error


def inside(folder: Any, name: str) -> Any:
    """The file of a folder; a name that leads out of it, itself or by a link, is refused."""
    place = folder / name
    plain = re.fullmatch(r"(?!\.{1,2}$)[^/\\\x00-\x1f]+", name) is not None
    linked = plain and isinstance(place, Path) and not place.resolve().is_relative_to(folder.resolve())
    if not plain or linked:
        raise NotWhole(f"{folder}/manifest.json names {name!r}, which leads out of the run directory")
    return place


def latest_interval(output: Any) -> str | None:
    """The interval of the run that is published last; their names sort by time."""
    place = output / CURRENT
    if not place.exists():
        return None
    try:
        return str(json.loads(place.read_text())["run"]).rstrip("/").rpartition("/")[2]
    except (ValueError, KeyError, TypeError) as error:
        raise NotWhole(f"{output}/{CURRENT} is damaged ({error!r}); delete it, publish the last run again") from error


def replace_text(place: Any, text: str) -> None:
    """An object store replaces whole; a local file is written beside the old one first."""
    if isinstance(place, Path):
        partial = place.with_name(f".{place.name}.partial")
        partial.write_text(text)
        partial.replace(place)
    else:
        place.write_text(text)


def holds_login(address: str) -> bool:
    """Whether an address says who logs in, or asks for something with a signature; a container@account does not."""
    if address.lower().startswith("jdbc:"):
        return any(mark in address for mark in "@?;")
    scheme, there, rest = address.partition("://")
    host = rest.partition("/")[0]
    container = scheme.startswith(("abfs", "wasb")) and host.count("@") == 1 and ":" not in host
    return bool(there) and (("@" in host and not container) or any(mark in rest for mark in "?#;"))


def exit_code(message: str) -> int | None:
    """The code that our job ended with, from what the Spark hook says; a driver pod's own code comes first."""
    found = re.search(r"Error code is: (\d+)\.(?: Kubernetes spark exit code is: (\d+))?", message)
    return int(found.group(2) or found.group(1)) if found else None


def arguments(config: str, settings: dict[str, str], settings_file: str) -> list[str]:
    """The command line of a job; a setting that is empty is left to the configuration.

    >>> arguments("flows.yaml", {"source.path": "day=1", "memory.path": "", "memory.window": "30"}, "")[2:]
    ['--set', 'source.table=null', '--set', 'source.path="day=1"', '--set', 'memory.window=30']
    """
    instead = {"source.path": "source.table", "source.table": "source.path"}
    values = {}
    for name, text in settings.items():
        if text:
            values |= {instead[name]: "null"} if name in instead else {}
            bare = not name.endswith((".path", ".table")) and re.fullmatch(r"\d+|true|false", text)
            values[name] = text if bare else json.dumps(text)
    secret = ["--set-file", settings_file] if settings_file else []
    return ["--config", config, *secret, *(word for pair in values.items() for word in ("--set", "=".join(pair)))]
