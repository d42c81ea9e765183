"""`spark-pufs diff` and `spark-pufs history`: what changed between two runs, and over all runs of a directory."""

from __future__ import annotations

import os
from pathlib import Path

import click

from spark_pufs.cli.terminal import in_ascii, say

__all__ = ["diff", "history"]


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
    from spark_pufs.rundir.pages import write_page

    found = diff_of(before, after)
    if html is not None:
        write_page(html, found.to_html())
    say(in_ascii(found.to_json()) if as_json else str(found))
    context.exit(found.exit_code)


@click.command()
@click.argument("runs")
@click.option("--json", "as_json", is_flag=True, help="Print it as JSON.")
@click.option("--html", type=click.Path(path_type=Path), help="Where the page goes; by default history.html in RUNS.")
def history(runs: str, as_json: bool, html: Path | None) -> None:
    """All finished selections below the directory RUNS over time: features, labels, drift and alarms, as one page."""
    from spark_pufs.history.timeline import timeline
    from spark_pufs.rundir.pages import write_page

    found = timeline(runs)
    page = html or (None if "://" in runs else Path(os.path.expanduser(runs)) / "history.html")
    if page is not None:
        write_page(page, found.to_html(_way(page, runs)))
    say(in_ascii(found.to_json()) if as_json else str(found))
    if page is not None and not as_json:
        say(f"page: {page}")


def _way(page: Path, runs: str) -> str:
    """From the page to the directory of the runs, for links."""
    if "://" in runs:
        return runs.rstrip("/")
    return Path(os.path.relpath(Path(os.path.expanduser(runs)).resolve(), page.resolve().parent)).as_posix()
