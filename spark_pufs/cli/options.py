"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path

import click

__all__ = ["CONFIG", "ENGINE", "OVERRIDES"]

CONFIG = click.option(
    "--config", type=click.Path(path_type=Path), required=True, help="YAML; the files in conf/ explain every key."
)
OVERRIDES = click.option("--set", "overrides", multiple=True, help="Replace one value: section.key=value.")
ENGINE = click.option(
    "--engine", type=click.Choice(["auto", "spark", "memory"]), help="Where rows are; small tables need no Java."
)
