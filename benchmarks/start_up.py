"""What it takes until anything happens: the package imported, the command's help, the demo in memory.

    python benchmarks/start_up.py

Each in a process of its own, the best of three; CPU seconds, then wall seconds.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time

PARTS = {
    "Python alone": ["-c", "pass"],
    "import numpy, pandas, pyarrow": ["-c", "import numpy, pandas, pyarrow"],
    "import spark_pufs": ["-c", "import spark_pufs"],
    "spark-pufs --help": ["-m", "spark_pufs", "--help"],
    "spark-pufs methods": ["-m", "spark_pufs", "methods"],
    "spark-pufs demo": ["-m", "spark_pufs", "demo"],
}


def spent(arguments: list[str]) -> tuple[float, float]:
    """CPU and wall seconds of one process and those it starts."""
    with tempfile.TemporaryDirectory() as folder:
        before, began = os.times(), time.perf_counter()
        done = subprocess.run([sys.executable, *arguments], cwd=folder, capture_output=True, text=True, check=False)
        wall, after = time.perf_counter() - began, os.times()
    if done.returncode:
        sys.exit(done.stderr)
    return after.children_user + after.children_system - before.children_user - before.children_system, wall


def main() -> None:
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    print("| what | CPU s | wall s |\n|---|---:|---:|")
    for name, arguments in PARTS.items():
        cpu, wall = min(spent(arguments) for _ in range(3))
        print(f"| {name} | {cpu:.2f} | {wall:.2f} |", flush=True)


if __name__ == "__main__":
    main()
