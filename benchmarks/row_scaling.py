"""Time and memory as rows grow: 1, 3 and 10 million generated rows of 81 features on local[2].

    OMP_NUM_THREADS=1 python benchmarks/row_scaling.py --scratch SCRATCH --millions 1 3 10

The table is written to Parquet in SCRATCH first (some 100 MB per million rows) and read from there, so reading is part
of the time. Each size has a process of its own. Reported are CPU and wall seconds of the profile, of packing with the
count of all pairs, of a second count from cached blocks with the ranking of 41 features, and the peak resident memory
of the driver's Python (from the kernel), the JVM and the Python workers.
"""

from __future__ import annotations

import argparse
import json
import resource
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from process_tree import Spent, measured

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FEATURES, RELEVANT, K = 81, 20, 41
PARTITIONS = 16
COLUMNS = (("profile", "profile"), ("pack", "pack + count"), ("rank", "count + rank"))


def session() -> SparkSession:
    from spark_pufs.spark.session import open_session

    return open_session("local[2]", {})


def generate(spark: SparkSession, rows: int, path: Path) -> None:
    """A tenth of the rows positive, a tenth of those labelled; the first features shift with the class."""

    def fill(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            n = len(batch)
            rng = np.random.default_rng(batch.column(0)[0].as_py())  # its first row names the batch
            y = rng.random(n) < 0.1
            values = rng.integers(0, 500, (FEATURES, n), np.int16)
            values[:RELEVANT] += (y * 10 * np.arange(RELEVANT, 0, -1)[:, None]).astype(np.int16)
            s = (y & (rng.random(n) < 0.1)).astype(np.int32)
            yield pa.RecordBatch.from_arrays([pa.array(s), *(pa.array(x / 10) for x in values)], names)

    names = ["s", *(f"f{j}" for j in range(FEATURES))]
    schema = "s int, " + ", ".join(f"{name} double" for name in names[1:])
    spark.range(0, rows, 1, PARTITIONS).mapInArrow(fill, schema).write.mode("overwrite").parquet(str(path))


def select(path: Path) -> dict[str, Any]:
    """The phases of one selection, and the peak of every kind of process."""
    from spark_pufs.request import Request
    from spark_pufs.run.execution import prepare
    from spark_pufs.selectors.information.greedy import forward
    from spark_pufs.selectors.information.ranking import JMI
    from spark_pufs.spark.engine import SparkEngine
    from spark_pufs.table.counter import Counter
    from spark_pufs.table.pu_table import pack
    from spark_pufs.types import LabelRule

    spark = session()
    spark.range(10).count()
    request = Request(LabelRule("s"), "semi-jmi", k=K)
    phases: dict[str, Spent] = {}
    with measured(memory=True) as phases["profile"]:
        plan = prepare(SparkEngine(spark.read.parquet(str(path))), request)
    with measured(memory=True) as phases["pack"]:
        table = pack(plan, request)
        Counter(table, request.pair_memory_mb).expect_pairs()
    with measured(memory=True) as phases["rank"]:
        counter = Counter(table, request.pair_memory_mb)
        chosen = forward(JMI(table.layout, "y0"), counter, plan.limits_on(plan.features))[0]
    peaks = {kind: max(p.peak.get(kind, 0) for p in phases.values()) for kind in ("java", "workers")}
    return {
        "rows": plan.profile.rows,
        "found": sum(int(plan.features[i][1:]) < RELEVANT for i in chosen[:RELEVANT]),
        "phases": {name: [p.cpu, p.wall] for name, p in phases.items()},
        "driver": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
        **peaks,
    }


def child(script: str, *arguments: str) -> Any:
    """What a run of ``script`` in a process of its own prints last."""
    done = subprocess.run([sys.executable, script, *arguments], capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(done.stderr)
    return json.loads(done.stdout.strip().splitlines()[-1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scratch", type=Path, required=True, help="a folder with room for the tables")
    parser.add_argument("--millions", type=float, nargs="+", default=[1, 3, 10])
    parser.add_argument("--generate", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--select", type=Path, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.select:
        print(json.dumps(select(args.select)))
        return
    if args.generate:
        began = time.perf_counter()
        generate(session(), args.generate, args.scratch / "table")
        print(json.dumps(time.perf_counter() - began))
        return
    titles = "".join(f" | {title:>15s}" for _, title in COLUMNS)
    print(f"{'rows':>11s}{titles} | driver    JVM workers (MB) | relevant (CPU s / wall s)")
    for millions in args.millions:
        written = child(__file__, "--scratch", str(args.scratch), "--generate", str(round(millions * 1e6)))
        found = child(__file__, "--scratch", str(args.scratch), "--select", str(args.scratch / "table"))
        shutil.rmtree(args.scratch / "table")
        times = "".join(f" | {'{:.1f} / {:.1f}'.format(*found['phases'][name]):>15s}" for name, _ in COLUMNS)
        sizes = " ".join(f"{found[kind] / 2**20:6.0f}" for kind in ("driver", "java", "workers"))
        told = f"{found['found']} of {RELEVANT} (table written in {written:.0f} s)"
        print(f"{found['rows']:11,d}{times} | {sizes}      | {told}", flush=True)


if __name__ == "__main__":
    main()
