"""The numpy engine: pandas tables on one machine, no JVM."""

from spark_pufs.local.engine import LocalEngine

__all__ = ["LocalEngine"]
