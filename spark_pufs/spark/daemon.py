"""Spark's daemon of Python workers, for sessions of our own on this machine: what tasks need is loaded once, before
workers are forked from it, and not by every worker again."""

from __future__ import annotations

import sys
from pathlib import Path

__all__ = ["installed_first"]


def installed_first(path: list[str]) -> list[str]:
    """Places of modules (``sys.path``), with what is installed before Spark's archives of the same modules.

    Spark has workers load pyspark from ``pyspark.zip`` inside of the installed pyspark, where Python finds nothing
    compiled: that takes a second for every daemon. Of a Spark that is not installed as a package nothing changes.
    """
    archives = [place for place in path if place.endswith(".zip") and _beside_package(Path(place), path)]
    return [place for place in path if place not in archives] + archives


def _beside_package(archive: Path, path: list[str]) -> bool:
    """Whether an archive lies in the folder of a pyspark that can be imported."""
    package = archive.parent.parent.parent
    return package.name == "pyspark" and str(package.parent) in path and (package / "__init__.py").is_file()


if __name__ == "__main__":
    sys.path[:] = installed_first(sys.path)

    import pyspark.daemon
    import pyspark.worker

    import spark_pufs.core.counting.grouped_counts
    import spark_pufs.core.counting.profile
    import spark_pufs.engines.parquet.reading
    import spark_pufs.spark.blocks  # noqa: F401
    from spark_pufs.spark.worker import freeze_loaded

    freeze_loaded()
    pyspark.daemon.manager()
