"""Settings of a small session for tests, classic or Connect, and what its workers must find."""

from __future__ import annotations

import os
import sys
from pathlib import Path

__all__ = ["SETTINGS", "show_workers_the_packages"]

ROOT = Path(__file__).parents[2]
SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.log.level": "ERROR",
    # Workers are forked from a process that has imported what tasks need: on Connect every session starts its own.
    "spark.python.daemon.module": "support.spark_daemon",
    "spark.python.unix.domain.socket.enabled": "true",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.sql.shuffle.partitions": "4",
    "spark.sql.session.timeZone": "UTC",
}


def show_workers_the_packages() -> None:
    """Spark starts `python3` from PATH in its workers unless told; they must find this package and tests/support."""
    os.environ["PYSPARK_PYTHON"] = sys.executable
    places = [str(ROOT), str(ROOT / "tests"), os.environ.get("PYTHONPATH")]
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, places))
