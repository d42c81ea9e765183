"""What stability costs: the same selection without half-samples and with a hundred of them, counted on the way.

    OMP_NUM_THREADS=1 python benchmarks/stability_cost.py --scratch SCRATCH --millions 1

The table of row_scaling.py (81 doubles and a label) on local[2], semi-jmi with 41 features. Each line is a process of
its own with a fresh session, whose start is not counted; `again` is the same in the same session, whose JVM and workers
are warm. CPU seconds of the whole process tree (/proc), then wall seconds.
"""

from __future__ import annotations

import argparse
import json
import shutil
from pathlib import Path
from typing import Any

from process_tree import Spent, measured
from row_scaling import K, child, generate, session


def select(path: str, runs: int) -> dict[str, Any]:
    from spark_pufs.request import Request
    from spark_pufs.run.execution import select_with
    from spark_pufs.spark.engine import SparkEngine
    from spark_pufs.types import LabelRule

    spark = session()
    spark.range(10).count()
    frame, request = spark.read.parquet(path), Request(LabelRule("s"), "semi-jmi", k=K, stability=runs)
    spent: dict[str, Spent] = {}
    for again in ("first", "again"):
        with measured() as spent[again]:
            found = select_with(SparkEngine(frame), request)
    told = found.findings.stability
    index = None if told is None else told.nogueira
    return {"index": index, **{what: [one.cpu, one.wall] for what, one in spent.items()}}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scratch", type=Path, required=True, help="a folder with room for the tables")
    parser.add_argument("--millions", type=float, nargs="+", default=[1])
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--generate", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--select", nargs=2, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.select:
        print(json.dumps(select(args.select[0], int(args.select[1]))))
        return
    if args.generate:
        generate(session(), args.generate, args.scratch / "table")
        print("0")
        return
    print("| rows | half-samples | CPU s | wall s | CPU s, again | wall s, again | stability |")
    print("|---|---:|---:|---:|---:|---:|---:|")
    for millions in args.millions:
        rows, table = round(millions * 1e6), args.scratch / "table"
        child(__file__, "--scratch", str(args.scratch), "--generate", str(rows))
        for runs in (0, args.runs):
            found = child(__file__, "--scratch", str(args.scratch), "--select", str(table), str(runs))
            times = " | ".join(f"{cpu:.1f} | {wall:.1f}" for cpu, wall in (found["first"], found["again"]))
            index = "" if found["index"] is None else f"{found['index']:.3f}"
            print(f"| {rows:,} | {runs} | {times} | {index} |", flush=True)
        shutil.rmtree(table)


if __name__ == "__main__":
    main()
