"""`spark-pufs diff`: what changed between two runs."""

from __future__ import annotations

from pathlib import Path

import click

from spark_pufs.errors import ConfigError, Fault

__all__ = ["diff"]


@click.command()
@click.argument("before")
@click.argument("after")
@click.option("--json", "as_json", is_flag=True, help="Print it as JSON.")
@click.option("--html", type=click.Path(path_type=Path), help="Write it as a page, too.")
@click.pass_context
def diff(context: click.Context, before: str, after: str, as_json: bool, html: Path | None) -> None:
    """What changed from the run in BEFORE to the one in AFTER, beyond the errors of both or not.

    Exit codes: 0 unchanged, 10 changed within error, 11 changed, 12 refit needed.
    """
    from spark_pufs.api import diff as diff_of

    found = diff_of(before, after)
    if html is not None:
        _write(html, found.to_html())
    click.echo(found.to_json() if as_json else str(found))
    context.exit(found.exit_code)


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        fix = "Name a file in a folder that is there and may be written."
        raise ConfigError(Fault(f"Page '{path}'", f"cannot be written: {error.strerror}", fix)) from error
