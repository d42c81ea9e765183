"""Spark's daemon of Python workers for tests: what tasks need is imported once, before workers are forked from it."""

from __future__ import annotations

import gc

import pandas  # noqa: F401
import pyarrow  # noqa: F401
import pyspark.daemon
import pyspark.worker

import spark_pufs.selectors.registry
import spark_pufs.spark.engine  # noqa: F401

if __name__ == "__main__":
    gc.freeze()  # Spark collects garbage after every task, and what is imported here would be searched each time
    pyspark.daemon.manager()
