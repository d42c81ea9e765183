"""A method of another package, on Spark's workers."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from support.plugin import install_example

ON_SPARK = """
import spark_pufs
from spark_pufs.spark.session import open_session

spark = open_session("local[2]", {})
table = spark.range(0, 400, 1, 2).selectExpr("id % 7 as a", "id % 4 as b", "int(id % 4 = 0) as label")
found = spark_pufs.compare(table, label="label", methods=["mean-gap"], k=1, folds=2, repeats=1)
print([(one.method, one.note) for one in found.standings])
print(spark_pufs.select(table, label="label", method="mean-gap", k=1).names)
spark.stop()
"""


@pytest.mark.integration
def test_workers_find_it_too(tmp_path: Path) -> None:
    """Trials of a comparison run in Spark's workers, which look the method up by its name."""
    install_example(tmp_path)
    path = os.pathsep.join([str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])])
    run = subprocess.run(
        [sys.executable, "-c", ON_SPARK],
        env={**os.environ, "PYTHONPATH": path, "PYSPARK_PYTHON": sys.executable},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout.splitlines()[-1] == "['b']"
    assert "('mean-gap', '')" in run.stdout
