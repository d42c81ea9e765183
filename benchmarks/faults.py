"""Strike jobs, run them again, and compare the answer with an undisturbed one, bit for bit.

python benchmarks/faults.py --points              every file operation of every job in turn: SIGKILL, and a full disk
python benchmarks/faults.py --points --spark      the same on local[2]; killed is the driver
python benchmarks/faults.py --random 20           every job so many times at a random moment; --spark as above
python benchmarks/faults.py --store 50            a memory, day after day, at random operations on its folder; --spark
python benchmarks/faults.py --kills 20            a longer search, from the start of its process on
"""

from __future__ import annotations

import argparse
import json
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import nullcontext
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import pandas as pd

from spark_pufs.core.synthetic.artificial import CONDITIONS, make_artificial
from spark_pufs.rundir.checkpoint import CHECKPOINT

CHILD = """
import json, sys
import pandas as pd
import spark_pufs

table = pd.read_parquet(sys.argv[1])
if sys.argv[4] == "spark":
    from spark_pufs.spark.session import open_session
    table = open_session("local[2]", {}).read.parquet(sys.argv[1])
checkpoint = sys.argv[2] or None
found = spark_pufs.select(table, label="label", method="fscpu-mi", k=25, seed=7, generations=10, checkpoint=checkpoint)
answer = {"features": [[f.name, f.score, f.standard_error] for f in found.features], "details": found.details}
open(sys.argv[3], "w").write(json.dumps(answer))
"""


def start(folder: Path, checkpoint: Path | None, answer: Path, engine: str) -> subprocess.Popen[bytes]:
    arguments = [str(folder / "table.parquet"), str(checkpoint or ""), str(answer), engine]
    return subprocess.Popen([sys.executable, "-c", CHILD, *arguments], stderr=subprocess.DEVNULL)


def stamp(checkpoint: Path) -> int:
    file = checkpoint / CHECKPOINT
    return file.stat().st_mtime_ns if file.exists() else 0


def kill_once(folder: Path, checkpoint: Path, answer: Path, engine: str, rng: random.Random) -> bool:
    """Start or go on, wait for a few generations and a random while more, kill; False if it finished first."""
    child = start(folder, checkpoint, answer, engine)
    last, generations = stamp(checkpoint), rng.randint(0, 1)
    while generations and child.poll() is None:
        if stamp(checkpoint) != last:
            last, generations = stamp(checkpoint), generations - 1
        time.sleep(0.002)
    time.sleep(rng.uniform(0, 4))
    finished = child.poll() is not None
    child.send_signal(signal.SIGKILL)
    child.wait()
    return not finished


def every_job(arguments: argparse.Namespace) -> int:
    """Jobs struck as tests/support/crash_points.py says."""
    sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
    points, jobs = import_module("support.crash_points"), import_module("support.crash_jobs")
    java = import_module("support.shared_java").shared_java if arguments.spark else nullcontext
    rng = random.Random(arguments.seed)
    total: dict[str, Any] = {}
    with java():
        for job in (one for one in (jobs.SPARK_JOBS if arguments.spark else jobs.JOBS) if arguments.job in one.name):
            for what, strike in _strikes(points, arguments, rng).items():
                with tempfile.TemporaryDirectory() as name:
                    found = strike(job, Path(name))
                print(f"{job.name}: {told(found, what)}", flush=True)
                total[what] = total.get(what, points.Tally()) + found
    for what, found in total.items():
        print(f"all: {told(found, what)}")
    return int(not all(found.clean for found in total.values()))


def one_store(arguments: argparse.Namespace) -> int:
    """A memory of counts struck as tests/support/crash_store.py says."""
    sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
    strike = import_module("support.crash_store").strike_the_store
    java = import_module("support.shared_java").shared_java if arguments.spark else nullcontext
    engine = "spark" if arguments.spark else "memory"
    with java(), tempfile.TemporaryDirectory() as name:
        found = strike(Path(name), arguments.store, random.Random(arguments.seed), engine)
    print(f"a memory on {engine}: {told(found, 'kills')}")
    return int(not found.clean)


def _strikes(points: Any, arguments: argparse.Namespace, rng: random.Random) -> dict[str, Callable[[Any, Path], Any]]:
    if arguments.random:
        return {"kills": partial(points.strike_at_random, kills=arguments.random, rng=rng)}
    everywhere = partial(points.strike_everywhere, every=arguments.every)
    return {"kills": everywhere, "full disks": partial(everywhere, full=True)}


def told(found: Any, what: str) -> str:
    words = f"{found.strikes} {what}, {found.different} answers differ, {found.lost} files lost"
    return f"{words}, {found.left} with files left over, {found.raw} other errors"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--spark", action="store_true")
    parser.add_argument("--points", action="store_true", help="strike at every file operation")
    parser.add_argument("--every", type=int, default=1, help="or at every so manyth")
    parser.add_argument("--job", default="", help="only jobs with this in their name")
    parser.add_argument("--store", type=int, default=0, help="strike a memory so many times")
    parser.add_argument("--random", type=int, default=0, help="strike every job so many times")
    arguments = parser.parse_args()
    if arguments.points or arguments.random:
        return every_job(arguments)
    if arguments.store:
        return one_store(arguments)
    engine, rng = "spark" if arguments.spark else "local", random.Random(arguments.seed)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        data = make_artificial(CONDITIONS[4], seed=1)
        pd.DataFrame(data.X, columns=data.names).assign(label=data.s.astype(int)).to_parquet(folder / "table.parquet")
        start(folder, None, folder / "whole.json", engine).wait()
        kills = rounds = wrong = 0
        while kills < arguments.kills:
            rounds += 1
            checkpoint, answer = folder / f"run{rounds}", folder / f"answer{rounds}.json"
            while kills < arguments.kills and kill_once(folder, checkpoint, answer, engine, rng):
                kills += 1
            if not answer.exists():
                start(folder, checkpoint, answer, engine).wait()
            wrong += json.loads(answer.read_text()) != json.loads((folder / "whole.json").read_text())
    print(f"{engine}: {kills} kills in {rounds} runs, {wrong} answers differ")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
