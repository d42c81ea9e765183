"""Workers that differ from the driver are named before any work is done."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from spark_pufs.spark.versions import (
    PACKAGE_FIX,
    PACKAGES,
    PYTHON_FIX,
    Place,
    _probe,
    check_workers,
    differences,
    here,
    no_answer,
)

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

DRIVER = Place("edge", "/opt/py/bin/python", "3.12.1", {"numpy": "2.1.0", "spark_pufs": "0.1.0"}, {})


def test_the_same_everywhere_is_no_fault() -> None:
    assert differences(DRIVER, [replace(DRIVER, host="a"), replace(DRIVER, host="b", python="3.12.9")]) == []


def test_other_versions_are_named_once_for_all_hosts() -> None:
    other = replace(DRIVER, python="3.11.2", versions={"numpy": "1.26.4", "spark_pufs": "0.1.0"})
    faults = differences(DRIVER, [replace(other, host=host) for host in "abcde"])
    assert [str(fault) for fault in faults] == [
        "Workers' Python '/opt/py/bin/python' on a, b, c and 2 more: Python 3.11.2 where the driver has 3.12.1; "
        f"numpy 1.26.4 where the driver has 2.1.0. {PYTHON_FIX}"
    ]


def test_a_package_that_is_missing_says_why() -> None:
    without = replace(DRIVER, versions={"spark_pufs": "0.1.0"}, broken={"numpy": "ModuleNotFoundError: No module"})
    (fault,) = differences(DRIVER, [DRIVER, without])
    assert fault.found == "numpy cannot be loaded (ModuleNotFoundError: No module)"
    assert fault.fix == PYTHON_FIX


@pytest.mark.parametrize("change", [{"versions": {"numpy": "2.1.0", "spark_pufs": "0.0.9"}},
                                    {"versions": {"numpy": "2.1.0"}, "broken": {"spark_pufs": "no"}}])  # fmt: skip
def test_where_only_our_package_differs_it_is_to_be_shipped(change: dict[str, dict[str, str]]) -> None:
    (fault,) = differences(DRIVER, [replace(DRIVER, **change)])  # type: ignore[arg-type]
    assert fault.fix == PACKAGE_FIX


@pytest.mark.parametrize(
    ("message", "found"),
    [
        ("x\n[PYTHON_VERSION_MISMATCH] Python in worker has different version: 3.11 than that in driver: 3.12, PySpark",
         "is 3.11, the driver's is 3.12"),
        ('java.io.IOException: Cannot run program "env/bin/python": error=2, No such file or directory',
         "no program 'env/bin/python' on a worker"),
        ("Error from python worker:\n  /usr/bin/python3: No module named pyspark", "has no module 'pyspark'"),
        ("\n Job aborted: lost all executors\n at org.apache", "a tiny job failed: Job aborted: lost all executors"),
        ("", "a tiny job failed: no message"),
    ],
)  # fmt: skip
def test_why_no_worker_answered(message: str, found: str) -> None:
    assert no_answer(message).found == found


@pytest.mark.integration
def test_the_probe_travels_without_the_package_and_without_numpy() -> None:
    import pyspark

    # Like a worker's: no site packages and no repository, only what Spark puts on the path.
    zips = [str(path) for path in Path(pyspark.__file__).parent.glob("python/lib/*.zip")]
    code = f"import sys; sys.path += {zips}; import pickle; print(pickle.loads(sys.stdin.buffer.read())(0))"
    data = pyspark.cloudpickle.dumps(_probe(PACKAGES))
    done = subprocess.run([sys.executable, "-I", "-S", "-c", code], input=data, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
    told = json.loads(done.stdout)
    assert set(told["broken"]) == set(PACKAGES)
    assert told["broken"]["numpy"] == "ModuleNotFoundError: No module named 'numpy'"


@pytest.mark.spark
def test_the_workers_of_this_session_are_like_the_driver(spark: SparkSession) -> None:
    places = check_workers(spark)
    assert [place.versions for place in places] == [here().versions] * len(places)
    assert set(here().versions) == set(PACKAGES)
    assert not here().broken
