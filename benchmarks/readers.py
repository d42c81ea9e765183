"""What reading costs: one Parquet table, read by our tasks, by Spark for us, by Spark for itself, and by pyarrow alone.

    OMP_NUM_THREADS=1 python benchmarks/readers.py --scratch SCRATCH --millions 1

The table of row_scaling.py (81 doubles and a label) on local[2]. Each contender has a process of its own with a fresh
session; session start is not counted, everything after it is, Python workers that start included. `pass` is the first
pass over the rows (our profile); `select` is semi-jmi with 41 features; `again` is the same in the same session, whose
JVM and workers are warm. CPU seconds of the whole process tree (/proc), then wall seconds, then CPU beside pyarrow's.
"""

from __future__ import annotations

import argparse
import glob
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from process_tree import Spent, measured
from row_scaling import FEATURES, K, child, generate, session

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

Spending = dict[str, Spent]


def by_pyarrow(path: str) -> Spending:
    """The limit: every row group read by one thread, and the least and largest value of every column."""
    spent: Spending = {}
    with measured() as spent["read, least and largest"]:
        for name in sorted(glob.glob(f"{path}/*.parquet")):
            for batch in pq.ParquetFile(name).iter_batches(10_000, use_threads=False):
                for column in batch.columns:
                    pc.min_max(column)
    return spent


def ours(reader: Any) -> Callable[[str], Spending]:
    def run(path: str) -> Spending:
        from spark_pufs.request import Request
        from spark_pufs.run.execution import execute, prepare
        from spark_pufs.spark.engine import SparkEngine
        from spark_pufs.types import LabelRule

        frame, request, spent = _opened(path), Request(LabelRule("s"), "semi-jmi", k=K), Spending()
        for again in ("", ", again"):
            with measured() as spent[f"select{again}"]:
                engine = SparkEngine(frame, reader=reader)
                with measured() as spent[f"pass{again}"]:
                    plan = prepare(engine, request)
                execute(engine, plan, request)
        return spent

    return run


def spark_sql(path: str) -> Spending:
    """Spark's own least, largest and count of every column."""
    frame, spent = _opened(path), Spending()
    parts = [f"{f}(f{j})" for j in range(FEATURES) for f in ("min", "max", "count")]
    for again in ("", ", again"):
        with measured() as spent[f"min, max, count{again}"]:
            frame.selectExpr(*parts).collect()
    return spent


def spark_ml(path: str) -> Spending:
    """Spark's own selector by an F test, with the vectors that it needs."""
    from pyspark.ml.feature import UnivariateFeatureSelector, VectorAssembler

    frame, spent = _opened(path), Spending()
    selector = UnivariateFeatureSelector(featuresCol="x", labelCol="s").setFeatureType("continuous")
    selector = selector.setLabelType("categorical").setSelectionThreshold(K)
    for again in ("", ", again"):
        with measured() as spent[f"select{again}"]:
            rows = VectorAssembler(inputCols=[f"f{j}" for j in range(FEATURES)], outputCol="x").transform(frame)
            selector.fit(rows.select("x", "s"))
    return spent


def _opened(path: str) -> DataFrame:
    spark = session()
    spark.range(10).count()
    return spark.read.parquet(path)


CONTENDERS: dict[str, Callable[[str], Spending]] = {
    "pyarrow": by_pyarrow,
    "ours, read by tasks": ours("arrow"),
    "ours, read by Spark": ours("spark"),
    "Spark SQL": spark_sql,
    "Spark ML": spark_ml,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scratch", type=Path, required=True, help="a folder with room for the tables")
    parser.add_argument("--millions", type=float, nargs="+", default=[1])
    parser.add_argument("--generate", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--run", nargs=2, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.run:
        pa.set_cpu_count(1)
        spent = CONTENDERS[args.run[0]](args.run[1])
        print(json.dumps({what: [one.cpu, one.wall] for what, one in spent.items()}))
        return
    if args.generate:
        generate(session(), args.generate, args.scratch / "table")
        print("0")
        return
    print("| rows | who | what | CPU s | wall s | CPU, pyarrow = 1 |\n|---|---|---|---:|---:|---:|")
    for millions in args.millions:
        rows, table = round(millions * 1e6), args.scratch / "table"
        child(__file__, "--scratch", str(args.scratch), "--generate", str(rows))
        limit = 0.0
        for name in CONTENDERS:
            for what, (cpu, wall) in child(__file__, "--scratch", str(args.scratch), "--run", name, str(table)).items():
                limit = limit or cpu
                print(f"| {rows:,} | {name} | {what} | {cpu:.1f} | {wall:.1f} | {cpu / limit:.1f} |", flush=True)
        shutil.rmtree(table)


if __name__ == "__main__":
    main()
