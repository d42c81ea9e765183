"""distil and soft-jmi on the full RT-IoT2022 (123,117 x 82, 60 labelled): CPU and wall seconds beside semi-jmi.

    OMP_NUM_THREADS=1 python benchmarks/soft_label_speed.py ../shared/data/rt_iot2022/rt_iot2022.parquet

In memory, then on Spark (local[2]): the first run on Spark pays for a fresh session. CPU seconds are those of the whole
process tree. A run on Spark must give the names that the run in memory gave.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from process_tree import cpu_seconds

import spark_pufs
from spark_pufs.errors import PufsWarning

POSITIVE = ("NMAP_TCP_scan", "DDOS_Slowloris")
METHODS = ("distil", "distil", "soft-jmi", "semi-jmi")
LABELLED, CHOSEN = 60, 15


def flows(path: Path) -> pd.DataFrame:
    """The table with a few attacks labelled and its truth taken away."""
    table = pd.read_parquet(path)
    attack = np.flatnonzero(table.pop("Attack_type").isin(POSITIVE))
    known = np.random.default_rng(7).choice(attack, LABELLED, replace=False)
    return table.assign(label=np.isin(np.arange(len(table)), known).astype(int))


def measured(where: str, table: Any, method: str) -> list[str]:
    """Select once, and print what it took."""
    cpu, wall = cpu_seconds(), time.perf_counter()
    names = spark_pufs.select(table, label="label", method=method, k=CHOSEN).names
    print(f"{where:10}{method:12}{cpu_seconds() - cpu:7.1f} CPU s{time.perf_counter() - wall:7.1f} wall s", flush=True)
    return names


def main() -> None:
    os.environ["PYSPARK_PYTHON"] = sys.executable
    warnings.simplefilter("ignore", PufsWarning)
    table = flows(Path(sys.argv[1]))
    in_memory = {method: measured("memory", table, method) for method in METHODS}
    from pyspark.sql import SparkSession

    with tempfile.TemporaryDirectory() as folder:
        table.to_parquet(f"{folder}/flows.parquet")
        spark = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").getOrCreate()
        for method in METHODS:
            found = measured("Spark", spark.read.parquet(f"{folder}/flows.parquet"), method)
            print("          the same names" if found == in_memory[method] else "          OTHER NAMES", flush=True)
        spark.stop()


if __name__ == "__main__":
    main()
