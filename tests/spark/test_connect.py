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
spark.conf.set("fs.viewfs.mounttable.elsewhere.link./t", "file://" + sys.argv[3])
for place in (sys.argv[3], "viewfs://elsewhere/t"):
    try:
        spark_pufs.select(spark.read.parquet(place).where("x >= 0"), label="label", method="mim", k=1)
    except spark_pufs.DataError as error:
        answers[place] = str(error)
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
    (tmp_path / "lacking").mkdir()
    for name, columns in (("a", ["x", "label"]), ("b", ["x"])):
        pd.DataFrame({column: [0, 1] for column in columns}).to_parquet(tmp_path / "lacking" / f"{name}.parquet")
    environment = {**os.environ, "PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
    environment["SPARK_TESTING"] = "1"  # any free port: others may run a server too
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(tmp_path / "table.parquet"), json.dumps(CALLS), str(tmp_path / "lacking")],
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
    for place in (str(tmp_path / "lacking"), "viewfs://elsewhere/t"):
        assert found[place].startswith("Column 'label': is not in 1 of 2 files, 'b.parquet' for one."), place
    assert found["likely"] == sorted(spark_pufs.likely_positives(local, table)["row"])
