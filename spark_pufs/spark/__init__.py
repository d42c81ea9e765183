"""Everything that touches pyspark; nothing else in the package imports it."""

from spark_pufs.spark.engine import SparkEngine

__all__ = ["SparkEngine"]
