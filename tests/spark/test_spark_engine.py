"""A session that users bring: workers that cannot run the package are told as such."""

from __future__ import annotations

import os
import subprocess
import sys
import venv
from pathlib import Path

import pytest
from pyspark.errors import PythonException

from spark_pufs.errors import DataError, EnvironmentFault
from spark_pufs.spark.engine import worker_errors

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = """
import sys
sys.path.insert(0, sys.argv[1])
import pandas as pd
from pyspark.sql import SparkSession
import spark_pufs

spark = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
table = spark.createDataFrame(pd.DataFrame({"a": [1, 2] * 50, "label": [1, 0] * 50}))
try:
    spark_pufs.select(table, label="label", method="semi-mim", k=1)
except spark_pufs.EnvironmentFault as error:
    print(error)
"""


def test_workers_that_are_not_like_the_driver() -> None:
    message = "Python in worker has different version: 3.11 than that in driver: 3.12, PySpark cannot run"
    with (
        pytest.raises(
            EnvironmentFault, match=r"^Workers' Python: is 3\.11, the driver's is 3\.12\. Set PYSPARK_PYTHON"
        ),
        worker_errors(),
    ):
        raise PythonException(message)


def test_other_errors_stay_what_they_are() -> None:
    with pytest.raises(PythonException, match="division by zero"), worker_errors():
        raise PythonException("spark_pufs/core/x.py ZeroDivisionError: division by zero")


def test_errors_of_the_query_are_told_as_such() -> None:
    with (
        pytest.raises(DataError, match=r"^Table: its query fails: ZeroDivisionError: division by zero"),
        worker_errors(),
    ):
        raise PythonException("ZeroDivisionError: division by zero")


@pytest.mark.integration
def test_a_session_whose_workers_lack_the_package(tmp_path: Path) -> None:
    venv.create(tmp_path / "bare", with_pip=False)
    own = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    own["PYSPARK_PYTHON"] = str(tmp_path / "bare" / "bin" / "python")
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(ROOT)], cwd=tmp_path, env=own, capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith("Workers' Python: has no module '")
    assert "Set PYSPARK_PYTHON to a Python that has the driver's version and packages" in done.stdout
