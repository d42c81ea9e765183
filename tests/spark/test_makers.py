"""Tables made on Spark: the rows of the pure kernels, for any number of partitions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from spark_pufs.core.synthetic.artificial import CONDITIONS
from spark_pufs.core.synthetic.artificial_rows import ArtificialRows
from spark_pufs.core.synthetic.bayes_net import parse_bif, sample
from spark_pufs.core.synthetic.labelling import MAR_C, SAR, SCAR, draw_labels
from spark_pufs.core.synthetic.row_blocks import BLOCK, block_generator
from spark_pufs.errors import DataError
from spark_pufs.spark.makers import artificial_table, centred, count_labels, network_table, with_labels

pytestmark = pytest.mark.spark

ROWS = 2500  # two whole blocks and a short one
SMALL = ArtificialRows(CONDITIONS[1], seed=5, relevant=2, noise=6, positives=0.3)
RAIN = parse_bif("""
variable rain.today { type discrete [ 2 ] { yes, no }; }
variable wet { type discrete [ 3 ] { dry, damp, soaked }; }
probability ( rain.today ) { table 0.2, 0.8; }
probability ( wet | rain.today ) { (yes) 0.1, 0.3, 0.6; (no) 0.9, 0.1, 0.0; }""")


def collected(frame: Any) -> pd.DataFrame:
    return frame.toPandas().sort_values("row_id", ignore_index=True)


@pytest.fixture(scope="module")
def expected() -> pd.DataFrame:
    blocks = [SMALL.block(number) for number in range(3)]
    table = pd.DataFrame(np.vstack([X for X, _ in blocks])[:ROWS], columns=SMALL.names)
    table.insert(0, "class", np.concatenate([y for _, y in blocks])[:ROWS].astype(np.int32))
    table.insert(0, "row_id", np.arange(ROWS))
    return table


@pytest.mark.parametrize("partitions", [None, 1, 3])
def test_artificial_rows_for_any_partitioning(spark: Any, expected: pd.DataFrame, partitions: int | None) -> None:
    found = collected(artificial_table(spark, SMALL, ROWS, partitions))
    pd.testing.assert_frame_equal(found, expected, check_exact=True)


def test_a_longer_table_begins_with_the_shorter_one(spark: Any, expected: pd.DataFrame) -> None:
    found = collected(artificial_table(spark, SMALL, 3 * BLOCK + 1, 2))
    pd.testing.assert_frame_equal(found[:ROWS], expected, check_exact=True)


@pytest.mark.parametrize("partitions", [1, 3])
def test_network_rows(spark: Any, partitions: int) -> None:
    found = collected(network_table(spark, RAIN, "wet", ROWS, "soaked", seed=4, partitions=partitions))
    codes = np.vstack([sample(RAIN, BLOCK, block_generator(4, 0, block)) for block in range(3)])[:ROWS]
    assert list(found.columns) == ["row_id", "class", "rain.today"]
    assert (found["class"] == (codes[:, 1] == 2)).all()
    assert (found["rain.today"] == np.array(["yes", "no"])[codes[:, 0]]).all()
    assert found["class"].mean() == pytest.approx(0.12, abs=0.026)  # 0.2 x 0.6, 4 standard errors


def test_the_first_state_is_positive_unless_told(spark: Any) -> None:
    frame = network_table(spark, RAIN, "rain.today", 2048)
    assert collected(frame)["class"].mean() == pytest.approx(0.2, abs=0.036)


@pytest.mark.parametrize(
    ("target", "positive", "message"),
    [("wett", None, "'wett' is not a node. Did you mean 'wet'?"), ("wet", "dmp", "Did you mean 'damp'?")],
)
def test_unknown_targets(spark: Any, target: str, positive: str | None, message: str) -> None:
    with pytest.raises(DataError, match=message.replace("?", r"\?")):
        network_table(spark, RAIN, target, 10, positive)


@pytest.mark.parametrize("mechanism", [SCAR(0.4), MAR_C(0.5, 0.1), SAR(0.4, "noise_01", scale=5.0)])
def test_labels_are_those_of_the_kernel(spark: Any, expected: pd.DataFrame, mechanism: Any) -> None:
    x = expected[mechanism.feature].to_numpy() if mechanism.feature else None
    states = draw_labels(mechanism, np.arange(ROWS), expected["class"].to_numpy() == 1, 9, x)
    values = np.array([0, 1, -1])[states]
    for partitions in (1, 3):
        frame = artificial_table(spark, SMALL, ROWS).repartition(partitions)
        found = collected(with_labels(frame, mechanism, 9))
        assert found["label"].tolist() == values.tolist()


def test_any_frame_can_be_labelled(spark: Any) -> None:
    frame = spark.createDataFrame(
        [(i, i % 2 == 0, None if i % 4 else float(i)) for i in range(100)], "`r.id` long, `is` boolean, `a``b` double"
    )
    found = with_labels(frame, SAR(0.5, "a`b", scale=10.0), 1, truth="is", row="r.id").toPandas()
    assert found["label"].isin([0, 1]).all()
    assert not found.loc[~found["is"], "label"].any()
    assert found["label"].sum() > 10


@pytest.mark.parametrize("count", [1, 100])
def test_a_count_of_labels_is_exact(spark: Any, count: int) -> None:
    frames = [artificial_table(spark, SMALL, ROWS, partitions) for partitions in (1, 3)]
    mechanisms = {count_labels(frame, count, seed=2) for frame in frames}
    assert len(mechanisms) == 1
    found = collected(with_labels(frames[0], mechanisms.pop(), 2))
    assert found["label"].sum() == count
    assert (found.loc[found["label"] == 1, "class"] == 1).all()


def test_more_labels_than_positives(spark: Any) -> None:
    with pytest.raises(DataError, match="5000 positives are to be labelled"):
        count_labels(artificial_table(spark, SMALL, ROWS), 5000)


def test_the_centre_of_sar_is_the_median_of_the_positives(spark: Any, expected: pd.DataFrame) -> None:
    own = np.sort(expected.loc[expected["class"] == 1, "relevant_01"])
    quartiles = own[len(own) * np.arange(1, 4) // 4]
    found = [centred(artificial_table(spark, SMALL, ROWS, parts), SAR(0.1, "relevant_01")) for parts in (1, 3)]
    assert found[0] == found[1]
    assert found[0].centre == pytest.approx(quartiles[1], rel=1e-7)
    assert found[0].scale == pytest.approx((quartiles[2] - quartiles[0]) / 1.349, rel=1e-6)
