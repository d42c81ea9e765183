#!/usr/bin/env python3
"""Set everything up on a fresh machine, then run: `python3 run.py demo` or `python3 run.py test`.

Needs Python 3.11 or later and nothing else; what follows the word goes to the command that is run. The demo works in
memory; `python3 run.py demo --engine spark` does it on Spark, for which Java is installed where it may be.
Tests run in two processes side by side; `-n 0` runs them in one, as a debugger wants it.
`python3 run.py test --quick` leaves out the tests that start Java or processes of their own, and slow ones.
`python3 run.py platforms delta iceberg` installs real Delta and Iceberg into .platforms/ and runs the tests on
them, which `test` skips; without names, all parts.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import venv
from pathlib import Path
from typing import TextIO

ROOT = Path(__file__).resolve().parent
VENV = ROOT / ".venv"
PYTHON = VENV / "bin" / "python"
LOCK = ROOT / "requirements-dev.txt"
QUICK = "--quick"
TWO_PROCESSES = ("-n", "2", "--dist", "loadgroup", "--no-loadscope-reorder")  # tests/conftest.py makes the groups
TEST_ENVIRONMENT = {
    "OMP_NUM_THREADS": "1",  # or each process starts a thread per core
    "OPENBLAS_NUM_THREADS": "1",
    "PYTHONDONTWRITEBYTECODE": "",  # dozens of processes import the package: compile it once
}


def main() -> int:
    jobs = {"demo": demo, "test": test, "platforms": platforms}
    if len(sys.argv) < 2 or sys.argv[1] not in jobs:
        print(__doc__)
        return 2
    if sys.version_info < (3, 11):  # noqa: UP036 - this file is what finds out
        print(f"Python 3.11 or later is needed; this is {sys.version.split()[0]}. Run with a newer python3.")
        return 4
    if needs_java(*sys.argv[1:]) and not ensure_java():
        return 4
    ensure_packages()
    return jobs[sys.argv[1]](sys.argv[2:])


def needs_java(word: str, *arguments: str) -> bool:
    """Whether Spark will be started: by all tests, and by the demo where it is asked for."""
    return QUICK not in arguments if word != "demo" else "spark" in " ".join(arguments).replace("=", " ").split()


def demo(arguments: list[str]) -> int:
    return call(PYTHON, "-m", "spark_pufs.cli", "demo", *arguments)


def test(arguments: list[str]) -> int:
    """Style, then all tests or the quick ones, and beside them types."""
    for step in (("ruff", "check", "."), ("ruff", "format", "--check", ".")):
        if code := call(PYTHON, "-m", *step):
            return code
    with tempfile.TemporaryFile("w+") as said:
        types = start(PYTHON, "-m", "mypy", output=said)
        tests = call(PYTHON, "-m", "pytest", *TWO_PROCESSES, *arguments, **TEST_ENVIRONMENT)
        code = types.wait()
        said.seek(0)
        print(said.read(), end="", flush=True)
    return code or tests


def platforms(arguments: list[str]) -> int:
    """Tests on Delta, S3 and the like: tests/platforms installs what they need and runs them."""
    return call(PYTHON, "-m", "platforms", *arguments, **TEST_ENVIRONMENT, PYTHONPATH=str(ROOT / "tests"))


def ensure_packages() -> None:
    """A virtual environment with exactly the locked packages; done again only when the lock changes."""
    stamp = VENV / "locked"
    wanted = hashlib.sha256(LOCK.read_bytes() + (ROOT / "pyproject.toml").read_bytes()).hexdigest()
    if stamp.exists() and stamp.read_text() == wanted:
        return
    print("Installing packages into .venv ...", flush=True)
    venv.create(VENV, with_pip=True, clear=True)
    pip = (PYTHON, "-m", "pip", "install", "--quiet", "--disable-pip-version-check")
    subprocess.run([*pip, "--require-hashes", "-r", LOCK], check=True, cwd=ROOT)
    subprocess.run([*pip, "--no-deps", "--no-build-isolation", "-e", ROOT], check=True, cwd=ROOT)
    stamp.write_text(wanted)


def ensure_java() -> bool:
    """A usable Java, installed where we may; otherwise say what is needed, what was found and how to get it."""
    # Standard library only, so it can be imported before anything is installed; but not by an old Python.
    from spark_pufs.spark.session import LEAST_JAVA, java_version

    found = java_version()
    if found is not None and found >= LEAST_JAVA:
        return True
    if shutil.which("apt-get") and os.geteuid() == 0:
        print("Installing openjdk-17-jre-headless ...", flush=True)
        quiet = {"stdout": subprocess.DEVNULL, "env": {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}}
        subprocess.run(["apt-get", "update", "-qq"], check=False, **quiet)
        subprocess.run(["apt-get", "install", "-y", "-qq", "openjdk-17-jre-headless"], check=False, **quiet)
        for home in Path("/usr/lib/jvm").glob("java-17-openjdk-*"):
            os.environ["JAVA_HOME"] = str(home)
        if (java_version() or 0) >= LEAST_JAVA:
            return True
    what = "none was found" if found is None else f"found version {found}"
    print(
        f"Spark needs Java {LEAST_JAVA} or later; {what}.\n"
        "Debian, Ubuntu: sudo apt-get install openjdk-17-jre-headless\n"
        "Fedora:         sudo dnf install java-17-openjdk-headless\n"
        "macOS:          brew install openjdk@17\n"
        "or set JAVA_HOME to one that is already there."
    )
    return False


def call(*command: str | Path, **environment: str) -> int:
    return subprocess.run(command, cwd=ROOT, env={**os.environ, **environment}, check=False).returncode


def start(*command: str | Path, output: TextIO) -> subprocess.Popen[bytes]:
    return subprocess.Popen(command, cwd=ROOT, stdout=output, stderr=output)


if __name__ == "__main__":
    sys.exit(main())
