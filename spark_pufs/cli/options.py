"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import click

__all__ = ["CONFIG", "ENGINE", "OVERRIDES"]

CONFIG = click.option(
    "--config", type=click.Path(path_type=Path), required=True, help="YAML; the files in conf/ explain every key."
)
_FILES = f"{__name__}.files"
Command = TypeVar("Command", bound=Callable[..., object])


def _read(context: click.Context, option: click.Parameter, files: tuple[str, ...]) -> None:
    from spark_pufs.jobs.config import overrides_in

    context.meta[_FILES] = tuple(line for file in files for line in overrides_in(file))


def _joined(context: click.Context, option: click.Parameter, given: tuple[str, ...]) -> tuple[str, ...]:
    return (*context.meta.get(_FILES, ()), *given)


def OVERRIDES(command: Command) -> Command:
    """``--set``, and ``--set-file`` for what must not stand on a command line, which every user of a machine can read;
    both come as one argument, and what stands on the line counts."""
    told = "Lines as --set takes them, from a file or '-': for secrets, which others could read on the command line."
    replaced = "Replace one value: section.key=value."
    once = click.option("--set", "overrides", multiple=True, callback=_joined, help=replaced)
    files = click.option("--set-file", multiple=True, callback=_read, is_eager=True, expose_value=False, help=told)
    return once(files(command))


ENGINE = click.option(
    "--engine", type=click.Choice(["auto", "spark", "memory"]), help="Where rows are; small tables need no Java."
)
