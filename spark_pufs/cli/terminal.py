"""What the command shows besides its answer: progress, warnings, errors by the names of the command's own options."""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

import click
from rich.console import Console

from spark_pufs.errors import Fault, PufsError
from spark_pufs.masking.texts import masked, visible, visible_lines

__all__ = ["IN_A_FILE", "IN_A_LINE", "block", "complain", "errors", "in_ascii", "progress", "say", "speaking"]

errors = Console(stderr=True, soft_wrap=True, highlight=False)
log = logging.getLogger("spark_pufs")

# Messages name arguments as Python has them; this is what they are called in a configuration and on a command line.
IN_A_FILE = {
    "`positive`": "label.positive",
    "`negative`": "label.negative",
    "`unlabelled`": "label.unlabelled",
    "`overwrite=True`": "output.overwrite: true",
}
IN_A_LINE = {
    "`positive`": "--positive",
    "`negative`": "--negative",
    "`unlabelled`": "--unlabelled",
    "`overwrite=True`": "--overwrite",
    "source.path or source.table": "the path or the name of the table",
    "source.path": "the path",
    "source.format": "--format",
    "source.options": "--set source.options",
    "features.keep": "--keep",
    "output.path": "folder with --out",
}


def say(text: str = "", colour: str | None = None) -> None:
    """The one way to standard output: what a terminal would obey, in names of columns for one, is shown instead."""
    click.secho(visible_lines(text), fg=colour)


def in_ascii(values: str) -> str:
    """JSON without characters that a terminal would obey; ``say`` would show them in a way that JSON does not know."""
    return json.dumps(json.loads(values), indent=2)


def complain(text: str, colour: str = "red") -> None:
    """The one way to standard error besides the log."""
    errors.print(visible_lines(text), style=colour, markup=False)


@contextmanager
def speaking(words: Mapping[str, str]) -> Iterator[None]:
    """Errors that pass through name settings by what the user typed."""
    try:
        yield
    except PufsError as error:
        raise type(error)([_in(words, fault) for fault in error.faults]) from error


def _in(words: Mapping[str, str], fault: Fault) -> Fault:
    found, fix = fault.found, fault.fix
    for ours, theirs in words.items():
        found, fix = found.replace(ours, theirs), fix.replace(ours, theirs)
    return Fault(fault.where, found, fix)


def block() -> str:
    """What a bar is made of: what the terminal can show."""
    try:
        "█".encode(sys.stdout.encoding or "utf-8")
    except (UnicodeError, LookupError):
        return "#"
    return "█"


@contextmanager
def progress() -> Iterator[Callable[[str], None]]:
    """What is being done and for how long, on a line of a terminal; a line of the log for each step elsewhere."""
    if not errors.is_terminal:
        yield log.info
        return
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    words = TextColumn("{task.description}", markup=False)
    with Progress(SpinnerColumn(), TimeElapsedColumn(), words, console=errors, transient=True) as shown:
        line = shown.add_task("starting", total=None)
        yield lambda what: shown.update(line, description=visible(masked(what)))
