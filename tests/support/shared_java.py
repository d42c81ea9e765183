"""One Java for many drivers: each driver is a process of its own that joins the Spark context of another.

Starting Java takes most of the time of a small job. A driver that is killed leaves Java and the context as they are, as
it does where spark-submit started Java; what it wrote to files is all that the next driver finds.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

__all__ = ["joined", "shared_java"]

HOLDER = """
import sys
from spark_pufs.spark.session import open_session
gateway = open_session("local[2]", {}).sparkContext._gateway.gateway_parameters
print(gateway.port, gateway.auth_token, flush=True)
sys.stdin.read()
"""
PORT, SECRET = "SHARED_JAVA_PORT", "SHARED_JAVA_SECRET"


@contextmanager
def shared_java() -> Iterator[None]:
    """Inside, ``joined`` gives sessions in this process and in its forks."""
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLDER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=os.environ
    )
    assert holder.stdin is not None
    assert holder.stdout is not None
    try:
        port, secret = holder.stdout.readline().split()
        with patch.dict(os.environ, {PORT: port, SECRET: secret, "PYSPARK_PYTHON": sys.executable}):
            yield
    finally:
        holder.stdin.close()
        holder.wait()


def joined(*_: Any) -> Any:
    """A session in the context of the shared Java; takes the arguments of ``open_session``."""
    from pyspark import SparkConf, SparkContext
    from pyspark.java_gateway import launch_gateway
    from pyspark.sql import SparkSession

    own = {"PYSPARK_GATEWAY_PORT": os.environ[PORT], "PYSPARK_GATEWAY_SECRET": os.environ[SECRET]}
    with patch.dict(os.environ, own):
        gateway = launch_gateway()
    java = gateway.jvm
    context = java.org.apache.spark.api.java.JavaSparkContext.fromSparkContext(
        java.org.apache.spark.SparkContext.getOrCreate()
    )
    return SparkSession(SparkContext(gateway=gateway, jsc=context, conf=SparkConf(_jconf=context.getConf())))
