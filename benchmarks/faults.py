"""Kill a search with SIGKILL at random moments, go on, and compare the answer with an undisturbed one, bit for bit.

python benchmarks/faults.py --kills 20            in-process engine
python benchmarks/faults.py --kills 3 --spark     on local[2]
python benchmarks/faults.py --points              every file operation of every job in turn: SIGKILL, and a full disk
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
from importlib import import_module
from pathlib import Path

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


def every_point() -> int:
    """Jobs struck at each file operation as tests/support/crash_points.py says."""
    sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
    points, wrong = import_module("support.crash_points"), 0
    for job in points.JOBS:
        for full in (False, True):
            with tempfile.TemporaryDirectory() as name:
                found = points.strike_everywhere(job, Path(name), full)
            what = "full disks" if full else "kills"
            print(
                f"{job.name}: {found.strikes} {what}, {found.different} answers differ, {found.lost} files lost", end=""
            )
            print(f", {found.left} with files left over, {found.raw} other errors", flush=True)
            wrong += not found.clean
    return int(wrong > 0)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--spark", action="store_true")
    parser.add_argument("--points", action="store_true", help="strike at every file operation instead")
    arguments = parser.parse_args()
    if arguments.points:
        return every_point()
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
