"""`spark-pufs reproduce`: published tables run again."""

from __future__ import annotations

from pathlib import Path

import click

from spark_pufs.cli.options import CONFIG, OVERRIDES
from spark_pufs.cli.terminal import progress, say

__all__ = ["reproduce"]


@click.command()
@CONFIG
@OVERRIDES
def reproduce(config: Path, overrides: tuple[str, ...]) -> None:
    """Run published experiments again; the same command goes on where a run was stopped."""
    from spark_pufs.jobs.config import load_settings
    from spark_pufs.studies.reproduce import EXAMPLE, ReproduceConfig, run_reproduce

    loaded = load_settings(config, ReproduceConfig, overrides, EXAMPLE)
    with progress() as note:
        message = run_reproduce(loaded, note)
    say(message)
