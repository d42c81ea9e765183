"""How things are had from the registries, with the ordinary client of each; nothing is done twice."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

__all__ = ["Unreachable", "go_program", "jars", "listed", "packages"]

POM = """<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>local</groupId><artifactId>jars</artifactId><version>1</version>
  <dependencies>{}</dependencies>
</project>
"""
DEPENDENCY = (
    "<dependency><groupId>{}</groupId><artifactId>{}</artifactId><version>{}</version>{}"
    "<exclusions>{}</exclusions></dependency>"
)
EXCLUSION = "<exclusion><groupId>{}</groupId><artifactId>{}</artifactId></exclusion>"


class Unreachable(Exception):
    """What a part needs cannot be had here."""


def jars(folder: Path, *coordinates: str, without: Sequence[str] = ()) -> str:
    """Jars by Maven coordinates (group:artifact:version[:classifier]) and all they need, as a list for spark.jars.

    ``without``: what is not wanted of what they need, as group:artifact; ``*:*`` is all of it.
    """
    left_out = "".join(EXCLUSION.format(*one.split(":")) for one in without)
    pom = POM.format("".join(_dependency(one, left_out) for one in coordinates))
    place = folder / "jars"
    if not _done(place, pom):
        _emptied(place)
        (folder / "pom.xml").write_text(pom, encoding="utf-8")
        goal = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies"
        ask = ["-q", "-B", "-f", str(folder / "pom.xml"), goal, f"-DoutputDirectory={place}"]
        _run("mvn", *ask, "-DincludeScope=runtime")
        _stamp(place, pom)
    return listed(folder)


def listed(folder: Path) -> str:
    """The jars of a part, for spark.jars."""
    return ",".join(map(str, sorted((folder / "jars").glob("*.jar"))))


def packages(folder: Path, *wanted: str) -> Path:
    """Packages of Python in a folder for PYTHONPATH; without what they need, where that is installed in its lock."""
    if not _done(folder, text := " ".join(wanted)):
        _emptied(folder)
        quiet = ("--quiet", "--disable-pip-version-check", "--no-deps")
        _run(sys.executable, "-m", "pip", "install", *quiet, "--target", str(folder), *wanted)
        _stamp(folder, text)
    return folder


def go_program(folder: Path, module: str) -> Path:
    """A program that is built from its sources; ``module`` is a path of Go with its version."""
    program = folder / "bin" / module.partition("@")[0].rpartition("/")[2]
    if not _done(folder / "bin", module) or not program.exists():
        _run("go", "install", module, GOBIN=str(folder / "bin"), GOFLAGS="")
        _stamp(folder / "bin", module)
    return program


def _dependency(coordinates: str, exclusions: str) -> str:
    group, artifact, version, *classifier = coordinates.split(":")
    kind = f"<classifier>{classifier[0]}</classifier>" if classifier else ""
    return DEPENDENCY.format(group, artifact, version, kind, exclusions)


def _run(program: str, *arguments: str, **environment: str) -> None:
    if shutil.which(program) is None:
        raise Unreachable(f"there is no {program} on this machine")
    done = subprocess.run(
        [program, *arguments], capture_output=True, text=True, env={**os.environ, **environment}, check=False
    )
    if done.returncode:
        said = [line for line in (done.stdout + done.stderr).splitlines() if line.strip()]
        raise Unreachable(f"{Path(program).name} failed: {' | '.join(said[:3])[:600]}")


def _emptied(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)


def _done(folder: Path, what: str) -> bool:
    stamp = folder / ".installed"
    return stamp.exists() and stamp.read_text(encoding="utf-8") == _digest(what)


def _stamp(folder: Path, what: str) -> None:
    (folder / ".installed").write_text(_digest(what), encoding="utf-8")


def _digest(what: str) -> str:
    return hashlib.sha256(what.encode()).hexdigest()
