"""How long `spark-pufs history` takes over many runs, and how large its page is.

Usage: python benchmarks/history_page.py [--runs 1000] [--keep FOLDER]

A dozen days are selected from, on one of them a column comes in another unit; their run directories are copied to as
many days as are asked for, links to reports with them. Measured is the command, in a process of its own.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import subprocess
import sys
import tempfile
from datetime import date, timedelta
from pathlib import Path

from alarms import day, selected, unit

DAYS, CHANGED = 12, 7


def runs_in(folder: Path, runs: int) -> None:
    """Run directories, a day each, without a break."""
    first = date(2024, 1, 1)
    for number in range(runs):
        place, model = folder / str(first + timedelta(days=number)), folder / str(first + timedelta(number % DAYS))
        if number < DAYS:
            selected(day(number, unit if number == CHANGED else None)).write(place)
        else:
            shutil.copytree(model, place, copy_function=os.link)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--keep", type=Path, help="a folder that stays")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = given.keep or Path(scratch) / "runs"
        runs_in(folder, given.runs)
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        program = Path(sys.executable).with_name("spark-pufs")
        said = subprocess.run([program, "history", folder], check=True, stdout=subprocess.PIPE, text=True).stdout
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        print(said.splitlines()[0].replace(str(folder), "the folder"))
        cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        size = (folder / "history.html").stat().st_size
        print(f"{cpu:.1f} CPU s, {after.ru_maxrss / 2**10:.0f} MB; history.html {size / 2**20:.1f} MB")


if __name__ == "__main__":
    main()
