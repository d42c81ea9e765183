"""The console command."""

from __future__ import annotations

from spark_pufs.cli.commands import app, main, run

__all__ = ["app", "main", "run"]
