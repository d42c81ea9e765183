"""Configurations of a selection, read as the command reads them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from spark_pufs.jobs.config import EXAMPLE, RunConfig, load_settings

__all__ = ["load_config"]


def load_config(path: str | Path, overrides: Sequence[str] = ()) -> RunConfig:
    return load_settings(path, RunConfig, overrides, EXAMPLE)
