"""The same answers over Spark Connect, which cannot share a process with classic Spark."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

import spark_pufs
from spark_pufs.core.synthetic.artificial import CONDITIONS, make_artificial

pytestmark = pytest.mark.integration

SCRIPT = """
import json, sys
import pandas as pd
from pyspark.sql import SparkSession
import spark_pufs
from spark_pufs.spark.own_session import in_own_session, is_ours
from spark_pufs.spark.versions import check_workers

spark = SparkSession.builder.remote("local[2]").getOrCreate()
assert type(spark).__module__.startswith("pyspark.sql.connect"), type(spark)
table = spark.read.parquet(sys.argv[1])
assert check_workers(spark)
ours = in_own_session(table).sparkSession
assert is_ours(ours) and ours.session_id != spark.session_id
answers, before = {}, dict(spark.conf.getAll)
for name, options in json.loads(sys.argv[2]).items():
    selection = spark_pufs.select(table, label="label", keep=["row"], **options)
    answers[name] = {"features": [[f.name, f.score] for f in selection.features], "f": selection.details.get("f")}
answers["likely"] = sorted(r["row"] for r in spark_pufs.likely_positives(selection, table).collect())
assert dict(spark.conf.getAll) == before
print("ANSWERS " + json.dumps(answers))
spark.stop()
"""

CALLS = {
    "semi-jmi": {"method": "semi-jmi", "k": 10, "binning": "equal-frequency"},
    "semi-iamb": {"method": "semi-iamb"},
    "fscpu": {"method": "fscpu", "k": 25, "generations": 1, "generation_size": 32},
}


def test_same_answers_as_in_process(tmp_path: Path) -> None:
    data = make_artificial(CONDITIONS[0], seed=3, negatives=400, positives=100)
    table = pd.DataFrame(data.X, columns=data.names).assign(label=data.s.astype(int), row=range(500))
    table.to_parquet(tmp_path / "table.parquet")
    environment = {**os.environ, "PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
    environment["SPARK_TESTING"] = "1"  # any free port: others may run a server too
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(tmp_path / "table.parquet"), json.dumps(CALLS)],
        capture_output=True,
        text=True,
        env=environment,
        timeout=400,
        check=False,
    )
    lines = [line for line in done.stdout.splitlines() if line.startswith("ANSWERS ")]
    assert lines, done.stderr[-3000:]
    found = json.loads(lines[0].removeprefix("ANSWERS "))
    for name, options in CALLS.items():
        local = spark_pufs.select(table, label="label", keep=["row"], **options)
        assert found[name]["features"] == [[f.name, f.score] for f in local.features], name
        assert found[name]["f"] == local.details.get("f"), name
    assert found["likely"] == sorted(spark_pufs.likely_positives(local, table)["row"])
