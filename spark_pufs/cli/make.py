"""`spark-pufs make`: tables with a known answer, by the million rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import click

from spark_pufs.cli.terminal import say
from spark_pufs.errors import ConfigError, DataError, Fault, did_you_mean
from spark_pufs.masking.addresses import address_shown
from spark_pufs.masking.texts import gist

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from spark_pufs.core.synthetic.bayes_net import Network
    from spark_pufs.core.synthetic.labelling import Mechanism

__all__ = ["make"]

CONDITIONS = 10  # of the paper; they are imported when one is made

MECHANISMS = ("scar", "mcar", "mar-c", "sar")

Option: TypeAlias = Callable[[Callable[..., None]], Callable[..., None]]  # what click.option gives: a decorator

_TABLE: list[Option] = [
    click.option("--rows", type=click.IntRange(1, 10**15), required=True, help="Rows to make."),
    click.option("--out", required=True, help="Where the table goes."),
    click.option("--format", "format_", default="parquet", show_default=True, help="Any that Spark writes."),
    click.option("--overwrite", is_flag=True, help="Replace a table that is there."),
    click.option(
        "--partitions", type=click.IntRange(1, 10**6), help="Tasks and files; any number gives the same rows."
    ),
    click.option(
        "--seed", type=click.IntRange(0, 2**64 - 1), default=0, show_default=True, help="Same seed, same rows"
    ),
    click.option("--master", default="local[*]", show_default=True, help="Spark's master, outside spark-submit."),
]
_LABELS: list[Option] = [
    click.option("--labels", type=click.Choice(MECHANISMS), default="scar", show_default=True, help="Who is labelled."),
    click.option("--share", type=float, help="Share of the positives (mcar: of all rows) that is labelled."),
    click.option("--count", type=int, help="With scar: exactly so many positives instead of a share."),
    click.option("--negative-share", type=float, help="With mar-c: share of the negatives that is labelled."),
    click.option("--feature", help="With sar: the column that labels depend on."),
    click.option(
        "--slope", type=float, default=3.0, show_default=True, help="With sar: how strongly; may be negative."
    ),
]


def _options(*groups: Sequence[Option]) -> Option:
    every = [option for group in groups for option in group]
    return lambda command: reduce(lambda inner, option: option(inner), reversed(every), command)


@click.group()
def make() -> None:
    """Tables with a known answer: row_id, class (the hidden truth), features, label (1, -1 negative, 0 unlabelled)."""


@make.command()
@click.option("--condition", type=click.IntRange(1, CONDITIONS), required=True, help="Column of the paper's table.")
@click.option("--relevant", type=int, default=25, show_default=True, help="Number of relevant features.")
@click.option("--noise", type=int, default=25, show_default=True, help="Features that do not.")
@click.option("--positives", type=float, default=1 / 9, help="Share of positives; the paper's 1/9 by default.")
@_options(_LABELS, _TABLE)
def artificial(condition: int, relevant: int, noise: int, positives: float, **given: Any) -> None:
    """One of the ten artificial conditions of the FSCPU paper; its label rate unless --share or --count is given."""
    from spark_pufs.core.synthetic.artificial import CONDITIONS as PAPERS
    from spark_pufs.core.synthetic.artificial_rows import ArtificialRows
    from spark_pufs.spark.makers import artificial_table

    own = PAPERS[condition - 1]
    table = ArtificialRows(own, given["seed"], relevant, noise, positives)
    rate = own.label_rate if given["labels"] in ("scar", "sar") else None
    mechanism = _mechanism(given, rate, table.names)
    _write(lambda spark: artificial_table(spark, table, given["rows"], given["partitions"]), mechanism, given, True)


@make.command()
@click.option("--bif", type=click.Path(path_type=Path), required=True, help="A network, .bif or .bif.gz.")
@click.option("--target", required=True, help="The node that is the class.")
@click.option("--positive", help="Its state that is positive; the first by default.")
@_options(_LABELS, _TABLE)
def network(bif: Path, target: str, positive: str | None, **given: Any) -> None:
    """Rows drawn from a Bayesian network; its Markov blanket is the answer."""
    from spark_pufs.core.synthetic.bayes_net import markov_blanket
    from spark_pufs.spark.makers import network_table, target_state

    net = _network(bif)
    target_state(net, target, positive)
    if given["labels"] == "sar":
        fault = Fault("Option 'labels'", "sar needs a numeric feature, a network has none", "Use scar, mcar or mar-c.")
        raise ConfigError(fault)
    mechanism = _mechanism(given, None, [name for name in net.names if name != target])
    rows, seed, partitions = given["rows"], given["seed"], given["partitions"]
    _write(lambda spark: network_table(spark, net, target, rows, positive, seed, partitions), mechanism, given)
    say(f"Markov blanket of {target}: {', '.join(sorted(markov_blanket(net, target)))}")


def _mechanism(given: dict[str, Any], rate: float | None, features: list[str]) -> Mechanism | None:
    """Who is labelled; None where a count says it, which needs the table."""
    from spark_pufs.core.synthetic.labelling import MAR_C, MCAR, SAR, SCAR

    labels, share = given["labels"], rate if given["share"] is None else given["share"]
    if given["count"] is not None and (labels != "scar" or given["share"] is not None):
        fault = Fault("Option 'count'", "goes with scar alone, instead of a share", "Leave one of them out.")
        raise ConfigError(fault)
    if given["count"] is not None:
        return None
    needed = {"share": share}
    needed |= {"negative-share": given["negative_share"]} if labels == "mar-c" else {}
    needed |= {"feature": given["feature"]} if labels == "sar" else {}
    faults = [
        Fault(f"Option '{name}'", f"is missing, and {labels} needs it", f"Give --{name}.")
        for name, value in needed.items()
        if value is None
    ]
    if labels == "sar" and given["feature"] is not None and given["feature"] not in features:
        found = f"'{given['feature']}' is not a feature"
        faults.append(Fault("Option 'feature'", found, did_you_mean(given["feature"], features)))
    if faults:
        raise ConfigError(faults)
    if labels == "sar":
        return SAR(float(share or 0), given["feature"], given["slope"])
    if labels == "mar-c":
        return MAR_C(float(share or 0), given["negative_share"])
    return (MCAR if labels == "mcar" else SCAR)(float(share or 0))


def _write(
    build: Callable[[SparkSession], DataFrame], mechanism: Mechanism | None, given: dict[str, Any], drawn: bool = False
) -> None:
    from spark_pufs.core.synthetic.labelling import SAR
    from spark_pufs.spark.io import write_table
    from spark_pufs.spark.makers import centred, count_labels, with_labels
    from spark_pufs.spark.session import open_session

    frame, seed = build(open_session(given["master"], {})), given["seed"]
    if mechanism is None:
        mechanism = count_labels(frame, given["count"], seed)
    elif isinstance(mechanism, SAR):
        mechanism = centred(frame, mechanism)
    write_table(with_labels(frame, mechanism, seed), given["out"], given["format_"], given["overwrite"], drawn)
    say(f"{given['rows']:,} rows, labels by {given['labels']}: {address_shown(given['out'])}")


def _network(path: Path) -> Network:
    from spark_pufs.core.synthetic.bayes_net import read_bif

    try:
        return read_bif(path.read_bytes())
    except OSError as error:
        fix = "Give the path of a BIF file, .bif or .bif.gz."
        raise DataError(Fault(f"Network '{path}'", f"cannot be read: {gist(error)}", fix)) from error
