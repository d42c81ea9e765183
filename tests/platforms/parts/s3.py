"""A server of S3 that is built from its Go sources, and Hadoop's means to reach it for the installed Spark."""

from __future__ import annotations

from pathlib import Path

from platforms.tools import go_program, jars

SERVER = "github.com/versity/versitygw/cmd/versitygw@v1.8.0"
HADOOP = "3.5.0"  # what the installed pyspark brings


def install(folder: Path) -> None:
    go_program(folder, SERVER)
    jars(folder, f"org.apache.hadoop:hadoop-aws:{HADOOP}")
