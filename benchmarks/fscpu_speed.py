"""FSCPU on local[2]: whole searches, what Spark adds to the same evaluations, and rows by the million.

    OMP_NUM_THREADS=1 python benchmarks/fscpu_speed.py --search spambase rt-iot
    OMP_NUM_THREADS=1 python benchmarks/fscpu_speed.py --overhead spambase rt-iot
    OMP_NUM_THREADS=1 python benchmarks/fscpu_speed.py --millions 1 10 --scratch SCRATCH

CPU seconds are those of the driver, the JVM and the Python workers together; memory is their peak. The search over
generated rows is held to a fixed number of generations, so that its time can be compared from table to table.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from process_tree import measured
from row_scaling import generate, session

DATA = Path(__file__).parents[2] / "shared" / "data"
RT_IOT = {"label": "Attack_type", "positive": ["NMAP_TCP_scan", "DDOS_Slowloris"], "unlabelled": "*", "k": 41}
SPAM = {"label": "class", "k": 29}


def table(name: str, data: Path) -> tuple[pd.DataFrame, dict[str, Any]]:
    if name == "spambase":
        return pd.read_csv(data / "spambase" / "spambase.csv.gz"), SPAM
    frame = pd.read_parquet(data / "rt_iot2022" / "rt_iot2022.parquet")
    return frame.drop(columns=["proto", "service"]), RT_IOT


def run(path: Path, options: dict[str, Any]) -> dict[str, Any]:
    """One selection from Parquet, in a process of its own."""
    import spark_pufs

    spark = session()
    spark.range(10).count()
    frame = spark.read.parquet(str(path))
    with measured(memory=True) as spent:
        found = spark_pufs.select(frame, method="fscpu", **options)
    passes = {one.what: one.seconds for one in found.run.passes}
    facts = {key: found.details[key] for key in ("generations", "unconverged", "sample_rows", "lift", "stopped")}
    search = spent.wall - sum(passes.values())
    return {"cpu": spent.cpu, "wall": spent.wall, "search": search, "passes": passes, "peak": spent.peak, **facts}


def overhead(path: Path, options: dict[str, Any]) -> dict[str, Any]:
    """The same masks scored in-process (a thread per core) and by Spark, best of three."""
    from spark_pufs.core.clusters.mixture import MixtureSettings
    from spark_pufs.core.counting.row_sample import RowSample
    from spark_pufs.core.search.mask_draws import GivenMasks
    from spark_pufs.engines.thread_scorer import ThreadScorer
    from spark_pufs.spark.scorer import SparkScorer

    frame = pd.read_parquet(path)
    positive = frame[options["label"]].isin(options.get("positive", [1])).to_numpy()
    X = frame.drop(columns=options["label"]).to_numpy(float)
    keep = positive | (np.random.default_rng(0).random(len(X)) < 50_000 / len(X))
    rows = RowSample(X[keep], positive[keep].astype(np.uint8), np.ones(int(keep.sum())))
    draws = GivenMasks(np.random.default_rng(1).random((288, X.shape[1])) < 0.3)
    times: dict[str, Any] = {}
    settings = MixtureSettings()
    for name, scorer in (
        ("in-process", ThreadScorer(rows, settings)),
        ("spark", SparkScorer(session(), rows, settings)),
    ):
        scorer.score(draws, [0, 0], len(rows.weight))  # workers start and read the sample
        best = []
        for generation in range(1, 4):
            with measured() as spent:
                scorer.score(draws, [0, generation], len(rows.weight))
            best.append((spent.wall, spent.cpu))
        times[name] = min(best)
        scorer.close()
    return times


def child(what: str, path: Path, options: dict[str, Any]) -> Any:
    call = [sys.executable, __file__, "--child", what, "--scratch", str(path), "--options", json.dumps(options)]
    done = subprocess.run(call, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(done.stderr)
    return json.loads(done.stdout.strip().splitlines()[-1])


def show(name: str, found: dict[str, Any]) -> None:
    passes = ", ".join(f"{what} {seconds:.1f}" for what, seconds in found["passes"].items())
    memory = ", ".join(f"{kind} {size / 2**20:.0f}" for kind, size in found["peak"].items())
    print(
        f"{name}: CPU {found['cpu']:.1f} s, wall {found['wall']:.1f} s (search {found['search']:.1f}; {passes});"
        f" {found['generations']} generations, open {found['unconverged']:.2f}, {found['sample_rows']:,} sample rows,"
        f" lift {found['lift']:.1f}; peak MB: {memory}; {found['stopped']}",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--search", nargs="*", default=[], choices=["spambase", "rt-iot"])
    parser.add_argument("--overhead", nargs="*", default=[], choices=["spambase", "rt-iot"])
    parser.add_argument("--millions", type=float, nargs="*", default=[])
    parser.add_argument("--scratch", type=Path, default=Path("scratch"))
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--child", help=argparse.SUPPRESS)
    parser.add_argument("--options", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.child:
        kind = {"run": run, "overhead": overhead}[args.child]
        print(json.dumps(kind(args.scratch, json.loads(args.options))))
        return
    args.scratch.mkdir(parents=True, exist_ok=True)
    for name in dict.fromkeys([*args.search, *args.overhead]):
        frame, options = table(name, args.data)
        path = args.scratch / f"{name}.parquet"
        frame.to_parquet(path)
        if name in args.search:
            show(name, child("run", path, options))
        if name in args.overhead:
            times = child("overhead", path, options)
            (wall, cpu), (spark_wall, spark_cpu) = times["in-process"], times["spark"]
            print(
                f"{name}: 288 masks in-process {wall:.2f} s wall, {cpu:.2f} s CPU; Spark {spark_wall:.2f} s wall,"
                f" {spark_cpu:.2f} s CPU; Spark adds {spark_wall / wall - 1:+.0%} wall, {spark_cpu / cpu - 1:+.0%} CPU",
                flush=True,
            )
        path.unlink()
    for millions in args.millions:
        generate(session(), round(millions * 1e6), args.scratch / "rows")
        show(f"{millions:g}M rows", child("run", args.scratch / "rows", {"label": "s", "k": 41, "generations": 4}))
        shutil.rmtree(args.scratch / "rows")


if __name__ == "__main__":
    main()
