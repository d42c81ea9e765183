"""What a Python worker of Spark does once, and the daemon from which workers of this machine are forked.

Spark keeps workers from task to task. Sessions of our own on this machine start them by ``python -m`` this module: what
tasks need is loaded once, before workers are forked from it, and not by every worker again.
"""

from __future__ import annotations

import gc
import sys
from functools import cache
from pathlib import Path

__all__ = ["freeze_loaded", "installed_first"]


@cache
def freeze_loaded() -> None:
    """Take what the worker has loaded out of the garbage collections that Spark makes after every task.

    With the modules that kernels need, each of them takes some 50 ms, more than most tasks on a small partition.
    """
    gc.collect()
    gc.freeze()


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
    from spark_pufs.spark import worker

    worker.freeze_loaded()  # of the module that tasks know, so that no worker does it again
    pyspark.daemon.manager()
