"""Hadoop's own daemons: HDFS, and YARN with two nodes, on hosts that are network namespaces."""

from __future__ import annotations

from pathlib import Path

from platforms.network import check_namespaces
from platforms.tools import jars

HADOOP = "3.4.1"


def install(folder: Path) -> None:
    check_namespaces()
    yarn = ("resourcemanager", "nodemanager", "timelineservice")
    servers = ("hadoop-hdfs", *(f"hadoop-yarn-server-{name}" for name in yarn))
    jars(folder, *(f"org.apache.hadoop:{name}:{HADOOP}" for name in ("hadoop-client", *servers)))
