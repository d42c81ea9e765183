"""`spark-pufs select`, `compare` and `check`: a table and its label on one line, or a configuration in a file."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict, TypeVar, Unpack

import click

from spark_pufs.cli.options import ENGINE, OVERRIDES
from spark_pufs.cli.terminal import IN_A_FILE, IN_A_LINE, block, complain, progress, say, speaking

if TYPE_CHECKING:
    from spark_pufs.jobs.config import RunConfig
    from spark_pufs.jobs.one_line import OneLine
    from spark_pufs.jobs.select_job import RunOutcome

    Config = TypeVar("Config", bound=RunConfig)

Function = Callable[..., None]
Decorator = Callable[[Function], Function]

__all__ = ["check", "check_labels", "compare", "estimate_prior", "select", "tell"]

_TABLE: list[Decorator] = [
    click.argument("table", required=False),
    click.option("--label", help="The column that says which rows are labelled."),
    click.option("--positive", multiple=True, help="Its value of labelled positives; 1 by default. May be repeated."),
    click.option("--negative", multiple=True, help="Its value of labelled negatives, where there are any."),
    click.option("--unlabelled", multiple=True, help="Its value of unlabelled rows; 0 by default, '*' is all others."),
    click.option("--features", "include", multiple=True, help="Columns to choose from, names or globs."),
    click.option("--exclude", multiple=True, help="Columns never to look at, names or globs such as 'id*'."),
    click.option("--keep", multiple=True, help="Identifiers: kept in the table, never features."),
    click.option("--categorical", multiple=True, help="Numbers that are names, such as ports or zip codes."),
    click.option("--format", "format_", help="Of the file, where its name does not tell it."),
    click.option("--config", type=click.Path(path_type=Path), help="YAML instead of TABLE; conf/ explains every key."),
    OVERRIDES,
    ENGINE,
]
_GROUPS: Decorator = click.option(
    "--group", "groups", multiple=True, help="Columns chosen together or not at all: 'a_*', or with a name, device=a_*."
)
_WEIGHTS: Decorator = click.option("--weights", help="The column that says how often each row counts.")
_SIZE: Decorator = click.option("-k", "k", help="How many features: a number, all, or auto, which is the default.")
_OUT: list[Decorator] = [
    click.option("--out", help="Where results go; by default a folder in runs/ that is named by the table."),
    click.option("--overwrite", is_flag=True, help="Replace what another run has left in --out."),
    click.option("--save-config", type=click.Path(path_type=Path), help="Keep these settings as a YAML file."),
]
# What says a thing that a configuration says too.
_LINE = ("label", "positive", "negative", "unlabelled", "include", "exclude", "keep", "categorical", "format_", "k",
         "groups", "weights", "method", "methods", "out", "overwrite")  # fmt: skip


class Given(TypedDict, total=False):
    """What was typed, by the names that click gives it."""

    table: str | None
    label: str | None
    positive: tuple[str, ...]
    negative: tuple[str, ...]
    unlabelled: tuple[str, ...]
    include: tuple[str, ...]
    exclude: tuple[str, ...]
    keep: tuple[str, ...]
    categorical: tuple[str, ...]
    k: str | None
    groups: tuple[str, ...]
    weights: str | None
    format_: str | None
    config: Path | None
    overrides: tuple[str, ...]
    engine: str | None
    method: str | None
    methods: tuple[str, ...]
    out: str | None
    overwrite: bool
    judge: bool
    save_config: Path | None


_COLOURS = {"danger": "red", "caution": "yellow", "note": "cyan"}


def _options(*options: Decorator) -> Decorator:
    return lambda command: reduce(lambda inner, option: option(inner), reversed(options), command)


@click.command()
@_options(*_TABLE[:8], _SIZE, _GROUPS, _WEIGHTS, *_TABLE[8:])
@click.option("--method", help="See `spark-pufs methods`; distil by default.")
@click.option("--judge/--no-judge", default=True, help="Judge the choice on rows held out, beside all features.")
@_options(*_OUT)
@click.option("--dry-run", is_flag=True, help="Check everything, print the plan, do nothing.")
@click.option("--open", "open_", is_flag=True, help="Open the report in the browser.")
def select(dry_run: bool, open_: bool, **given: Unpack[Given]) -> None:
    """Choose features of TABLE, a file, a folder or a table of a catalog; or as a configuration says.

    \b
    spark-pufs select flows.csv --label confirmed -k 10 --exclude 'id*'
    spark-pufs select --config conf/select_features.yaml
    """
    with _asked(given):
        from spark_pufs.jobs.config import EXAMPLE, RunConfig
        from spark_pufs.jobs.select_job import run_select

        config = _config(given, RunConfig, EXAMPLE)
        with progress() as note:
            report = run_select(config, dry_run, note)
    tell(report)
    _as_a_job(given, config)
    if open_ and not dry_run:
        click.launch(f"{report.folder}/report.html")


@click.command()
@_options(*_TABLE[:8], _SIZE, _GROUPS, _WEIGHTS, *_TABLE[8:])
@click.option("--method", "methods", multiple=True, help="A method to compare; may be repeated.")
@_options(*_OUT)
def compare(**given: Unpack[Given]) -> None:
    """Methods side by side on one TABLE, judged on labels that were held out.

    \b
    spark-pufs compare flows.csv --label confirmed -k 10 --method distil --method lasso
    spark-pufs compare --config conf/compare_methods.yaml
    """
    with _asked(given):
        from spark_pufs.jobs.compare_job import EXAMPLE, CompareConfig, run_compare
        from spark_pufs.selectors.evidence.auto import CANDIDATES

        given["methods"] = given["methods"] or (CANDIDATES if given["table"] else ())
        config = _config(given, CompareConfig, EXAMPLE)
        with progress() as note:
            message = run_compare(config, note)
    say(message)
    _as_a_job(given, config)


@click.command()
@_options(*_TABLE)
def check(**given: Unpack[Given]) -> None:
    """Does the cluster assumption, which fscpu rests on, hold for the features of TABLE or of a configuration?

    Settings of fscpu, such as select.clusters, count where it is the method.
    """
    with _asked(given):
        from spark_pufs.jobs.config import EXAMPLE, RunConfig
        from spark_pufs.jobs.select_job import run_check

        given["method"] = "fscpu" if given["table"] else None
        config = _config(given, RunConfig, EXAMPLE)
        with progress() as note:
            message = run_check(config, note)
    say(message)


@click.command("check-labels")
@_options(*_TABLE)
def check_labels(**given: Unpack[Given]) -> None:
    """Does who is labelled depend on the columns of TABLE, or of a configuration, among the positives?"""
    with _asked(given):
        from spark_pufs.jobs.config import EXAMPLE, RunConfig
        from spark_pufs.jobs.select_job import run_check_labels

        config = _config(given, RunConfig, EXAMPLE)
        with progress() as note:
            message = run_check_labels(config, note)
    say(message)


@click.command("estimate-prior")
@_options(*_TABLE)
def estimate_prior(**given: Unpack[Given]) -> None:
    """How many positives are there in TABLE, or in the table of a configuration? Their share, with an interval."""
    with _asked(given):
        from spark_pufs.jobs.config import EXAMPLE, RunConfig
        from spark_pufs.jobs.select_job import run_estimate_prior

        config = _config(given, RunConfig, EXAMPLE)
        with progress() as note:
            message = run_estimate_prior(config, note)
    say(message)


def tell(report: RunOutcome) -> None:
    """The answer, if this run has one, then where it lies; what to look at in colour."""
    if report.selection is not None:
        from spark_pufs.report.terminal import answer_lines
        from spark_pufs.report.verdict import verdict_of

        *lines, last = answer_lines(report.selection, block())
        alerts = verdict_of(report.selection).alerts
        say("\n".join(lines))
        say(last, _COLOURS[alerts[0].level] if alerts else None)  # colour on a terminal alone
        for alert in alerts[1:]:
            complain(f"look at: {alert.text}", _COLOURS[alert.level])
        say()
    say(report.message)


@contextmanager
def _asked(given: Given) -> Iterator[None]:
    """Either a table with its label or a configuration, and errors in the words of the one that was given."""
    table, config = given["table"], given["config"]
    if (table is None) == (config is None):
        raise click.UsageError("Give a table and its label, or --config; see --help for both.")
    if table is not None and not given["label"]:
        raise click.UsageError("Say which column is the label: --label NAME.")
    doubled = [name for name in _LINE if config is not None and given.get(name)]
    if doubled:
        option = {"include": "features", "format_": "format", "methods": "method", "groups": "group"}.get(
            doubled[0], doubled[0]
        )
        dashes = "-" if len(option) == 1 else "--"
        raise click.UsageError(f"{dashes}{option} goes with a table; with --config use --set.")
    with speaking(IN_A_LINE if config is None else IN_A_FILE):
        yield


def _config(given: Given, model: type[Config], example: str) -> Config:
    from spark_pufs.jobs.config import load_settings
    from spark_pufs.jobs.one_line import save_config

    file = given["config"]
    if file is not None:
        config = load_settings(file, model, given["overrides"], example)
    else:
        config = _line(given).config(model, given["overrides"], example)
    config = config.on(given["engine"])
    if (saved := given.get("save_config")) is not None:
        save_config(saved, config)
    return config


def _line(given: Given) -> OneLine:
    from spark_pufs.jobs.one_line import OneLine

    return OneLine(
        table=given["table"] or "",
        label=given["label"] or "",
        positive=given["positive"],
        negative=given["negative"],
        unlabelled=given["unlabelled"],
        include=given["include"],
        exclude=given["exclude"],
        keep=given["keep"],
        categorical=given["categorical"],
        format=given["format_"],
        k=given.get("k"),
        groups=given.get("groups", ()),
        weights=given.get("weights"),
        method=given.get("method"),
        methods=given.get("methods", ()),
        out=given.get("out"),
        overwrite=given.get("overwrite", False),
        judge=given.get("judge", False),
    )


def _as_a_job(given: Given, config: RunConfig) -> None:
    """The configuration that the line stood for."""
    from spark_pufs.jobs.one_line import as_yaml

    if given["config"] is not None:
        return
    saved = given["save_config"]
    say(f"The same as a job: --config {saved}" if saved else "The same as a job (--save-config FILE keeps it):")
    if not saved:
        say("\n".join(f"  {line}" for line in as_yaml(config).splitlines()))
