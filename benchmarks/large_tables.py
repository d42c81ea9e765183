"""Large tables on local[2]: CPU, wall time and memory of every phase, against rows and against features.

    OMP_NUM_THREADS=1 python benchmarks/large_tables.py --scratch SCRATCH --sizes 1000000x81 10000000x81 200000x3000 \
        --out large_tables.json
    OMP_NUM_THREADS=1 python benchmarks/large_tables.py --scratch SCRATCH --sizes 20000x3000 --before OTHER_CHECKOUT

A size is rows x features. Tables are condition 5 of the FSCPU paper (8 negative clusters, 1 positive, a tenth of the
positives labelled) with 25 relevant features, the rows that ``spark-pufs make artificial`` gives, written to Parquet in
SCRATCH by pyarrow and removed after. Each size runs in a process of its own: profile, pack, counts, semi-mim, semi-jmi
and fscpu, 25 features each. A phase ends with its pass over the rows; what the driver does after a pass belongs to the
phase that follows. Memory is the sum of resident sizes, looked at every 0.3 s: pages that Python workers share count
twice. ``--before`` runs each size with the package of another checkout too, in turn. FSCPU's search is held to
``--generations``, so that tables can be compared.
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import shutil
import subprocess
import sys
import threading
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from process_tree import cpu_seconds, resident

RELEVANT, K, SEED = 25, 25, 0
PARTS = 16
GROUP_BYTES = 64 * 2**20
METHODS = ("semi-mim", "semi-jmi", "fscpu")
PHASES = ("profile", "pack", "label counts", "pairs", "ranking", "sample", "search", "verdict", "other")


def write_part(part: int, rows: int, features: int, folder: Path) -> None:
    """Every sixteenth run of blocks as one Parquet file; the same rows as the project's maker."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    from spark_pufs.core.synthetic.artificial import CONDITIONS
    from spark_pufs.core.synthetic.artificial_rows import ArtificialRows
    from spark_pufs.core.synthetic.labelling import SCAR, draw_labels
    from spark_pufs.core.synthetic.row_blocks import BLOCK, block_rows

    table = ArtificialRows(CONDITIONS[4], SEED, RELEVANT, features - RELEVANT)
    schema = pa.schema([("label", pa.int32()), *((name, pa.float64()) for name in table.names)])
    blocks = np.array_split(np.arange(-(-rows // BLOCK)), PARTS)[part]
    together = max(1, GROUP_BYTES // (8 * features * BLOCK))
    if not len(blocks):
        return
    with pq.ParquetWriter(folder / f"part-{part:02d}.parquet", schema, use_dictionary=False, compression="none") as out:
        for first in range(0, len(blocks), together):
            made = [(table.block(int(b)), block_rows(int(b), rows)) for b in blocks[first : first + together]]
            X = np.concatenate([values[: len(own)] for (values, _), own in made])
            positive = np.concatenate([truth[: len(own)] for (_, truth), own in made])
            numbers = np.concatenate([own for _, own in made])
            label = draw_labels(SCAR(CONDITIONS[4].label_rate), numbers, positive, SEED).astype(np.int32)
            out.write_table(pa.table([pa.array(label), *map(pa.array, np.ascontiguousarray(X.T))], schema=schema))


def write_table(rows: int, features: int, folder: Path) -> float:
    """Seconds that it took."""
    began = time.perf_counter()
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(partial(write_part, rows=rows, features=features, folder=folder), range(PARTS)))
    return time.perf_counter() - began


class Clock(logging.Handler):
    """CPU, wall time and peak memory between ends of phases; a pass over rows ends one by what it was for."""

    def __init__(self) -> None:
        super().__init__()
        self.phases: dict[str, dict[str, Any]] = {}
        self._done = threading.Event()
        self._start()
        self._watcher = threading.Thread(target=self._watch, daemon=True)
        self._watcher.start()

    def end(self, phase: str) -> None:
        known = self.phases.setdefault(phase, {"cpu": 0.0, "wall": 0.0, "times": 0, "peak": {}})
        known["cpu"] += cpu_seconds() - self._cpu
        known["wall"] += time.perf_counter() - self._wall
        known["times"] += 1
        known["peak"] = {kind: max(size, known["peak"].get(kind, 0)) for kind, size in self._peak.items()}
        self._start()

    def emit(self, record: logging.LogRecord) -> None:
        if record.msg.startswith("pass "):
            self.end(phase_of(str(record.args[1])))  # type: ignore[index]

    def hear(self, what: str) -> None:
        if what.startswith("generation "):
            self.end("search")

    def stop(self) -> None:
        self._done.set()
        self._watcher.join()

    def _start(self) -> None:
        self._cpu, self._wall, self._peak = cpu_seconds(), time.perf_counter(), dict[str, int]()

    def _watch(self) -> None:
        while not self._done.wait(0.3):
            sizes, peak = resident(), self._peak
            for kind, size in {**sizes, "all": sum(sizes.values())}.items():
                peak[kind] = max(size, peak.get(kind, 0))


def phase_of(what: str) -> str:
    known = {"label x feature": "label counts", "heavy rows": "sample", "sample with heavy rows": "sample"}
    return "pairs" if "pairs" in what else known.get(what, what if what in PHASES else "other")


def run(folder: Path, methods: list[str], generations: int, memory: str) -> dict[str, Any]:
    """All phases of one table, on one packed copy."""
    from spark_pufs.request import Request
    from spark_pufs.run.execution import IN_PROCESS, prepare
    from spark_pufs.selectors.base import read_options
    from spark_pufs.selectors.registry import method_named
    from spark_pufs.selectors.task import make_task
    from spark_pufs.spark.engine import SparkEngine
    from spark_pufs.spark.session import open_session
    from spark_pufs.types import LabelRule

    spark = open_session("local[2]", {"spark.driver.memory": memory})
    spark.range(10).count()
    clock, log = Clock(), logging.getLogger("spark_pufs")
    log.setLevel(logging.INFO)
    log.addHandler(clock)
    engine = SparkEngine(spark.read.parquet(str(folder)))
    request = Request(LabelRule("label"), "fscpu", k=K, options={"generations": generations})
    plan = prepare(engine, request)
    first = make_task(engine, plan, method_named("fscpu"), request, IN_PROCESS, note=clock.hear)
    first.counter.labels()
    found: dict[str, float] = {}
    facts: dict[str, Any] = {}
    for name in methods:
        method = method_named(name)
        options = first.options if name == "fscpu" else read_options(method, {})
        outcome = method.run(replace(first, request=replace(request, method=name), options=options))
        clock.end("ranking" if name != "fscpu" else "other")
        found[name] = sum(plan.features[i].startswith("relevant") for i in outcome.chosen[:K]) / RELEVANT
        wanted = ("generations", "unconverged", "sample_rows", "lift", "stopped", "screened")
        told = outcome.findings.as_dict()
        facts |= {key: told[key] for key in wanted if key in told}
    first.table.blocks.release()
    clock.stop()
    passes = [(one.what, round(one.seconds, 2)) for one in engine.passes]
    return {"phases": clock.phases, "relevant": found, "passes": passes, **facts}


def child(folder: Path, methods: list[str], generations: int, memory: str, package: Path) -> Any:
    script, environment = str(Path(__file__).resolve()), {**os.environ, "PYTHONPATH": str(package)}
    call = [sys.executable, script, "--run", "--scratch", str(folder.resolve()), "--methods", *methods]
    call += ["--generations", str(generations), "--memory", memory]
    # From its own folder: Spark's workers look there first, whatever the path says.
    done = subprocess.run(call, capture_output=True, text=True, check=False, env=environment, cwd=package)
    if done.returncode:
        sys.exit(done.stderr)
    return json.loads(done.stdout.strip().splitlines()[-1])


def show(name: str, found: dict[str, Any]) -> None:
    print(f"{name}: relevant {found['relevant']}, {found.get('sample_rows')} sample rows, {found.get('stopped')}")
    for phase in (phase for phase in PHASES if phase in found["phases"]):
        spent = found["phases"][phase]
        sizes = ", ".join(f"{kind} {size / 2**20:.0f}" for kind, size in spent["peak"].items())
        print(f"  {phase:13s} {spent['cpu']:7.1f} CPU s {spent['wall']:7.1f} wall s, {spent['times']:2d} x; MB {sizes}")
    sys.stdout.flush()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scratch", type=Path, required=True, help="a folder with room for one table at a time")
    parser.add_argument("--sizes", nargs="+", default=["1000000x81"], help="rows x features")
    parser.add_argument("--methods", nargs="+", default=list(METHODS), choices=METHODS)
    parser.add_argument("--generations", type=int, default=12)
    parser.add_argument("--memory", default="1g", help="heap of the JVM; Spark's default is 1g")
    parser.add_argument("--before", type=Path, help="a checkout of another version, run beside this one")
    parser.add_argument("--out", type=Path, help="JSON; what it holds of other sizes stays")
    parser.add_argument("--run", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.run:
        print(json.dumps(run(args.scratch, args.methods, args.generations, args.memory)))
        return
    packages = {
        "now": Path(__file__).resolve().parents[1],
        **({"before": args.before.resolve()} if args.before else {}),
    }
    for size in args.sizes:
        rows, features = map(int, size.split("x"))
        written = write_table(rows, features, args.scratch / "table")
        for name, package in packages.items():
            found = child(args.scratch / "table", args.methods, args.generations, args.memory, package)
            found |= {"rows": rows, "features": features, "written": written}
            show(f"{rows:,} x {features:,} ({name})", found)
            if args.out:
                known = json.loads(args.out.read_text()) if args.out.exists() else {}
                args.out.write_text(json.dumps({**known, f"{size} {name}": found}, indent=1) + "\n")
        shutil.rmtree(args.scratch / "table")


if __name__ == "__main__":
    main()
