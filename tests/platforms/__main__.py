"""Install what the tests of platforms need and run them, part by part: `python3 run.py platforms [PART ...] [-k ...]`.

Every part has a process of its own, since some need another Spark than the installed one.
"""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from collections.abc import Sequence
from itertools import takewhile
from pathlib import Path
from types import ModuleType

from platforms.parts import __path__ as parts_path
from platforms.tools import Unreachable

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / ".platforms"
NO_TESTS = 5  # what pytest ends with where -k leaves nothing of a part


def main(arguments: Sequence[str]) -> int:
    known = sorted(path.stem for path in Path(parts_path[0]).glob("[a-z]*.py"))
    names = list(takewhile(lambda one: not one.startswith("-"), arguments))
    for name in names:
        if name not in known:
            print(f"No part '{name}'. Known: {', '.join(known)}.")
            return 2
    rest = arguments[len(names) :]
    codes = [run(name, rest) for name in names or known]
    return next((code for code in codes if code not in (0, NO_TESTS)), 0)


def run(name: str, arguments: Sequence[str]) -> int:
    part, folder = importlib.import_module(f"platforms.parts.{name}"), FOLDER / name
    folder.mkdir(parents=True, exist_ok=True)
    told = {"SPARK_PUFS_TEST_PLATFORM": name, "PYSPARK_PYTHON": sys.executable}
    try:
        print(f"-- {name}: installing into {folder.relative_to(ROOT)} ...", flush=True)
        part.install(folder)
        told |= part.environment(folder) if hasattr(part, "environment") else {}
    except Unreachable as why:
        print(f"-- {name}: not installed: {why}", flush=True)
        told["SPARK_PUFS_TEST_PLATFORM_LACKS"] = str(why)
    command = [sys.executable, "-m", "pytest", *tests_of(part, name), *arguments]
    return subprocess.run(command, cwd=ROOT, env={**os.environ, **told}, check=False).returncode


def tests_of(part: ModuleType, name: str) -> list[str]:
    """Never nothing, which would be all tests to pytest."""
    found = getattr(part, "TESTS", None) or sorted((ROOT / "tests" / "platforms").glob(f"test_{name}*.py"))
    return list(map(str, found)) or [f"tests/platforms/test_{name}.py"]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
