"""The console command. Exit codes: 0 done, 2 configuration, 3 data, 4 environment, 5 stopped, 1 anything else.

`diff` tells its verdict by codes of its own, from 10 on. A command imports what it needs when it is called: --help
need not wait for numpy and pandas.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click
from rich.console import Console

from spark_pufs.cli.changes import diff, history
from spark_pufs.cli.log_lines import JsonLines, Masked
from spark_pufs.cli.make import make
from spark_pufs.cli.options import ENGINE, OVERRIDES
from spark_pufs.cli.reproduce import reproduce
from spark_pufs.cli.tables import check, check_labels, compare, estimate_prior, select, tell
from spark_pufs.cli.terminal import IN_A_FILE, complain, errors, progress, say, speaking
from spark_pufs.errors import PufsError, Stopped
from spark_pufs.masking.texts import MOST_READ, foreign, visible
from spark_pufs.version import __version__

__all__ = ["app", "main", "run"]

log = logging.getLogger("spark_pufs")


def main() -> None:
    """Run the command and leave with an exit code that a scheduler can act on."""
    sys.exit(run(sys.argv[1:]))


def run(arguments: list[str]) -> int:
    """The exit code of one command; who calls it from Python has the log as before after it."""
    with _log_kept():
        return _code(arguments)


@contextmanager
def _log_kept() -> Iterator[None]:
    before = log.handlers, log.propagate, log.level
    try:
        yield
    finally:
        log.handlers, log.propagate = before[:2]
        log.setLevel(before[2])


def _code(arguments: list[str]) -> int:
    try:
        code = app.main(arguments, prog_name="spark-pufs", standalone_mode=False)
    except PufsError as error:
        complain(f"error: {error}")
        return error.exit_code
    except click.exceptions.Exit as done:
        return done.exit_code
    except click.ClickException as error:
        _without_values(error).show()
        return error.exit_code
    except (KeyboardInterrupt, click.Abort):
        complain("stopped", "yellow")
        return Stopped.exit_code
    except ImportError as error:  # commands import what they need when they are called
        from spark_pufs.jobs.doctor import broken

        log.debug("unexpected", exc_info=True)
        return broken(error)
    except Exception as error:  # a fault of ours or of a library: one line and an exit code, no stack
        log.debug("unexpected", exc_info=True)
        line = next(iter(str(error).splitlines()), "")[:MOST_READ]  # below the first Spark puts a Java stack
        first = visible(foreign(line))
        complain(f"error: {type(error).__name__}: {first} (--verbose shows all)")
        return 1
    return code if isinstance(code, int) else 0  # a command may leave with a code of its own


def _without_values(error: click.ClickException) -> click.ClickException:
    """Words that nobody expects are not repeated: ``--set name = value`` leaves a value alone on the line."""
    text = error.format_message()
    told = "Got unexpected arguments." if "unexpected extra argument" in text else visible(foreign(text))
    return click.UsageError(told, getattr(error, "ctx", None))


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__)
@click.option("--verbose", "-v", is_flag=True, help="Say more.")
@click.option(
    "--log",
    "lines",
    type=click.Choice(["text", "json"]),
    default="text",
    envvar="SPARK_PUFS_LOG",
    help="Lines of the log: for people, or JSON with the rows, bytes and seconds of each pass.",
)
def app(verbose: bool, lines: str) -> None:
    """Feature selection for tables with a few labelled positives and no negatives."""
    people = lines == "text" and errors.is_terminal
    handler = _terminal_handler() if people else logging.StreamHandler()
    text = Masked("%(message)s" if people else "%(asctime)s %(levelname)s %(message)s")
    handler.setFormatter(JsonLines() if lines == "json" else text)
    log.handlers, log.propagate = [handler], False
    log.setLevel(logging.DEBUG if verbose else logging.WARNING if people else logging.INFO)


def _terminal_handler() -> logging.Handler:
    from rich.logging import RichHandler

    return RichHandler(console=errors, show_path=False)


app.add_command(diff)
app.add_command(history)
app.add_command(make)
app.add_command(reproduce)
app.add_command(select)
app.add_command(compare)
app.add_command(check)
app.add_command(check_labels)
app.add_command(estimate_prior)


@app.command()
@click.option("--out", type=click.Path(path_type=Path), default=Path("runs/demo"), help="Where it all goes.")
@click.option("--method", default="semi-jmi", help="See `spark-pufs methods`.")
@ENGINE
def demo(out: Path, method: str, engine: str | None) -> None:
    """The built-in example, end to end, with a report to open; --engine spark does the same on Spark."""
    from spark_pufs.jobs.demo import demo_config, found_text, write_example
    from spark_pufs.jobs.select_job import run_select
    from spark_pufs.selectors.registry import method_named

    method_named(method)
    write_example(out / "table.parquet")
    with progress() as note:
        report = run_select(demo_config(out, method).on(engine), note=note)
    if report.selection is not None:
        say(found_text(report.selection))
    say(f"Report:  {out / method / 'report.html'}\nResults: {out / method}")
    if report.selection is not None and report.selection.run.engine == "memory":
        say(f"Again on Spark, which needs Java: spark-pufs demo --engine spark --out {out}-spark")


@app.command()
@click.argument("run_dir")
@OVERRIDES
def resume(run_dir: str, overrides: tuple[str, ...]) -> None:
    """Go on with a run that was stopped, from its last checkpoint; --set-file gives secrets again."""
    from spark_pufs.jobs.select_job import resume as resume_run

    with speaking(IN_A_FILE), progress() as note:
        report = resume_run(run_dir, overrides, note)
    tell(report)


@app.command()
@click.option("--prior", type=float, required=True, help="Believed share of positives, p(y=1).")
@click.option("--prior-high", type=float, help="Upper end, where the belief is a range.")
@click.option("--labelled", type=int, required=True, help="Rows labelled positive.")
@click.option("--rows", type=int, required=True, help="Rows in the table.")
@click.option("--effect", type=float, multiple=True, help="Mutual information in nats; may be repeated.")
@click.option("--alpha", type=float, default=0.05, show_default=True, help="Significance level.")
@click.option("--levels", type=int, default=5, show_default=True, help="Levels (bins) of the feature.")
@click.option("--target", type=float, default=0.8, show_default=True, help="Power to reach.")
def power(
    prior: float,
    prior_high: float | None,
    labelled: int,
    rows: int,
    effect: tuple[float, ...],
    alpha: float,
    levels: int,
    target: float,
) -> None:
    """How strong a dependence can be seen, and how many rows and labels it takes."""
    from spark_pufs.core.information.power import power_report

    belief = prior if prior_high is None else (prior, prior_high)
    report = power_report(belief, labelled, rows, effect=effect or None, alpha=alpha, levels=levels, target=target)
    say(str(report))


@app.command()
@click.option("--master", default="local[2]", show_default=True, help="For the tiny job; spark-submit has its own.")
def doctor(master: str) -> None:
    """Check Java, Python, versions and a tiny job, and say what to fix; exit code 4 if something must be."""
    from spark_pufs.jobs.doctor import examine, report

    report(examine(master), say)


@app.command()
def methods() -> None:
    """Every method: what it does, what it assumes, when to use it."""
    from rich.table import Table

    from spark_pufs.selectors.registry import every_method

    table = Table("method", "what it does", "assumes", "use it for", title=f"spark_pufs {__version__}")
    for method in every_method():
        table.add_row(method.name, method.summary, method.assumes, method.use_when)
    Console().print(table)
