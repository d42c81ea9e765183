"""Tables with known answers, made on Spark: rows by the hundred million, the same for any partitioning.

One task makes some of a table's blocks of rows; nothing is shuffled and nothing comes to the driver. The columns are
``row_id``, ``class`` (the hidden truth, 0 or 1) and the features; ``with_labels`` adds ``label``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray

from spark_pufs.core.counting.quantiles import PASSES, RadixKernel, edges_from_prefixes, narrow, wanted_ranks
from spark_pufs.core.process_state import undisturbed
from spark_pufs.core.synthetic.artificial_rows import ArtificialRows
from spark_pufs.core.synthetic.bayes_net import Network, sample
from spark_pufs.core.synthetic.labelling import SAR, Counted, Mechanism, SmallestKeys, counted, draw_labels
from spark_pufs.core.synthetic.row_blocks import BLOCK, block_generator, block_rows, row_keys
from spark_pufs.errors import DataError, Fault, did_you_mean
from spark_pufs.spark import scan
from spark_pufs.types import LABELLED_NEGATIVE, LABELLED_POSITIVE, UNLABELLED, RawBatch, Text

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = [
    "CLASS",
    "LABEL",
    "ROW",
    "artificial_table",
    "centred",
    "count_labels",
    "network_table",
    "target_state",
    "with_labels",
]

ROW, CLASS, LABEL = "row_id", "class", "label"
TASK_BYTES = 128 * 2**20
IQR_OF_NORMAL = 1.349  # quartiles of N(0, 1) lie this far apart
VALUE_OF_STATE = {UNLABELLED: 0, LABELLED_POSITIVE: 1, LABELLED_NEGATIVE: -1}

Maker = Callable[[int], tuple[list[pa.Array], NDArray[np.bool_]]]


def artificial_table(spark: SparkSession, table: ArtificialRows, rows: int, partitions: int | None = None) -> DataFrame:
    """The first ``rows`` rows of an artificial condition; features as doubles."""

    def make(block: int) -> tuple[list[pa.Array], NDArray[np.bool_]]:
        X, positive = table.block(block)
        return [pa.array(column) for column in np.ascontiguousarray(X.T)], positive

    return _table(spark, make, table.names, "double", rows, partitions)


def network_table(
    spark: SparkSession,
    network: Network,
    target: str,
    rows: int,
    positive: str | None = None,
    seed: int = 0,
    partitions: int | None = None,
) -> DataFrame:
    """Rows of a Bayesian network: every node but ``target`` as text, and whether the target is ``positive``.

    ``positive`` defaults to the target's first state, as in the study of Markov blankets.
    """
    place, state = target_state(network, target, positive)
    nodes = [node for node in network.nodes.values() if node.name != target]

    def make(block: int) -> tuple[list[pa.Array], NDArray[np.bool_]]:
        codes = sample(network, BLOCK, block_generator(seed, 0, block))
        others = np.delete(codes, place, axis=1).T
        return [_states(own, node.states) for own, node in zip(others, nodes, strict=True)], codes[:, place] == state

    return _table(spark, make, [node.name for node in nodes], "string", rows, partitions)


def with_labels(frame: DataFrame, mechanism: Mechanism, seed: int = 0, truth: str = CLASS, row: str = ROW) -> DataFrame:
    """The frame with a column ``label``: 1 labelled positive, -1 labelled negative, 0 unlabelled.

    ``truth``: the column that is 1 for positives; ``row``: a whole number that is each row's own.
    """
    from pyspark.sql import functions as F
    from pyspark.sql.pandas.functions import pandas_udf

    def drawn(*columns: pd.Series) -> pd.Series:
        rows, positive, *values = (column.to_numpy() for column in columns)
        return pd.Series(_VALUES[draw_labels(mechanism, rows, positive == 1, seed, *values)])

    columns = [F.col(_quoted(row)).cast("bigint"), F.col(_quoted(truth)).cast("int")]
    if mechanism.feature is not None:
        columns.append(F.col(_quoted(mechanism.feature)).cast("double"))
    udf = pandas_udf(drawn, "int")  # type: ignore[call-overload]
    return frame.withColumn(LABEL, udf(*columns))


def count_labels(frame: DataFrame, count: int, seed: int = 0, truth: str = CLASS, row: str = ROW) -> Counted:
    """The mechanism that labels exactly ``count`` positives of the frame; one pass, ``count`` numbers come back."""

    def keys(batches: Iterator[pa.RecordBatch]) -> Iterator[NDArray[np.uint64]]:
        for batch in batches:
            yield row_keys(batch.column(0).to_numpy(), seed)

    positives = frame.where(f"{_quoted(truth)} = 1").selectExpr(f"cast({_quoted(row)} as bigint) as row")
    return counted(scan.reduce(positives, keys, SmallestKeys(count)), count)


def centred(frame: DataFrame, mechanism: SAR, truth: str = CLASS) -> SAR:
    """The mechanism with the median of its feature among positives as centre, and their spread from the quartiles."""

    def values(batches: Iterator[pa.RecordBatch]) -> Iterator[RawBatch]:
        nothing = Text(np.zeros(0, np.int32), [])
        for batch in batches:
            x = batch.column(0).to_numpy(zero_copy_only=False)[:, None]
            yield RawBatch(x, np.zeros(1, np.int64), [], nothing)

    column = f"cast({_quoted(mechanism.feature)} as double) as x"
    positives = frame.where(f"{_quoted(truth)} = 1").selectExpr(column).dropna()
    ranks = wanted_ranks(np.array([positives.count()]), 4)
    prefixes = np.zeros(ranks.shape, np.uint64)
    for known in range(PASSES):  # order statistics: a mean would depend on the order of the sum
        kernel = RadixKernel(prefixes, known)
        prefixes, ranks = narrow(kernel, scan.reduce(positives, values, kernel), ranks)
    low, middle, high = edges_from_prefixes(prefixes)[0].tolist()
    return replace(mechanism, centre=middle, scale=(high - low) / IQR_OF_NORMAL or 1.0)


_VALUES = np.array([VALUE_OF_STATE[state] for state in sorted(VALUE_OF_STATE)], np.int32)


def _table(
    spark: SparkSession, make: Maker, features: Sequence[str], kind: str, rows: int, partitions: int | None
) -> DataFrame:
    names = [ROW, CLASS, *features]

    def fill(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        with undisturbed():
            for block in (block for batch in batches for block in batch.column(0).to_pylist()):
                columns, positive = make(block)
                own = block_rows(block, rows)
                arrays = [pa.array(own), pa.array(positive[: len(own)].astype(np.int32))]
                yield pa.RecordBatch.from_arrays([*arrays, *(column[: len(own)] for column in columns)], names)

    blocks = -(-rows // BLOCK)
    tasks = partitions or max(scan.slots(spark), rows * len(names) * 8 // TASK_BYTES)
    schema = ", ".join([f"{ROW} bigint", f"{CLASS} int", *(f"{_quoted(name)} {kind}" for name in features)])
    return spark.range(0, blocks, 1, max(1, min(blocks, tasks))).mapInArrow(fill, schema)


def _states(codes: NDArray[np.uint8], states: tuple[str, ...]) -> pa.Array:
    return pa.DictionaryArray.from_arrays(pa.array(codes.astype(np.int32)), pa.array(states)).cast(pa.string())


def target_state(network: Network, target: str, positive: str | None) -> tuple[int, int]:
    """Where the target stands among the nodes, and the code of its positive state."""
    if target not in network.names:
        raise DataError(Fault("Option 'target'", f"'{target}' is not a node", did_you_mean(target, network.names)))
    states = network.nodes[target].states
    if positive is not None and positive not in states:
        found = f"'{positive}' is not a state of '{target}'"
        raise DataError(Fault("Option 'positive'", found, did_you_mean(positive, states)))
    return network.names.index(target), states.index(positive) if positive else 0


def _quoted(name: str) -> str:
    """A column name as SQL wants it: any sign may be part of it.

    >>> _quoted("a.b`c")
    '`a.b``c`'
    """
    return "`" + name.replace("`", "``") + "`"
