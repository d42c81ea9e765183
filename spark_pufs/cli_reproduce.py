"""`spark-pufs reproduce`: published tables run again."""

from __future__ import annotations

from pathlib import Path

import click

from spark_pufs.config import load_settings

__all__ = ["reproduce"]


@click.command()
@click.option(
    "--config", type=click.Path(path_type=Path), required=True, help="YAML; conf/reproduce.yaml explains every key."
)
@click.option("--set", "overrides", multiple=True, help="Replace one value: section.key=value.")
def reproduce(config: Path, overrides: tuple[str, ...]) -> None:
    """Run published experiments again; the same command goes on where a run was stopped."""
    from spark_pufs.cli import progress
    from spark_pufs.studies.reproduce import EXAMPLE, ReproduceConfig, run_reproduce

    loaded = load_settings(config, ReproduceConfig, overrides, EXAMPLE)
    with progress() as note:
        message = run_reproduce(loaded, note)
    click.echo(message)
