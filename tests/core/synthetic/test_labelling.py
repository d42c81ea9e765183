"""Labelling mechanisms: the chances they promise, and what SAR does to a ranking that assumes SCAR."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit
from scipy.stats import spearmanr

from spark_pufs.core.counting.bins import code_numeric, equal_width_edges
from spark_pufs.core.counting.counts import LabelKernel
from spark_pufs.core.information.mutual_information import class_of_features
from spark_pufs.core.information.surrogate import apply_surrogate
from spark_pufs.core.synthetic.artificial import CONDITIONS
from spark_pufs.core.synthetic.artificial_rows import ArtificialRows
from spark_pufs.core.synthetic.labelling import MAR_C, MCAR, SAR, SCAR, SmallestKeys, counted, draw_labels
from spark_pufs.core.synthetic.row_blocks import row_keys
from spark_pufs.errors import ConfigError, DataError
from spark_pufs.types import Bins, Block, Layout

ROWS = np.arange(200_000)
POSITIVE = ROWS % 5 == 0


def shares(mechanism: object, x: np.ndarray | None = None) -> tuple[float, float]:
    """Labelled shares of the positives and of the negatives."""
    state = draw_labels(mechanism, ROWS, POSITIVE, seed=3, x=x)  # type: ignore[arg-type]
    assert set(np.unique(state[POSITIVE])) <= {0, 1}
    assert set(np.unique(state[~POSITIVE])) <= {0, 2}
    return float((state[POSITIVE] > 0).mean()), float((state[~POSITIVE] > 0).mean())


@pytest.mark.parametrize(
    ("mechanism", "positive", "negative"),
    [(SCAR(0.1), 0.1, 0), (SCAR(1.0), 1, 0), (MCAR(0.3), 0.3, 0.3), (MAR_C(0.4, 0.05), 0.4, 0.05)],
)
def test_each_class_is_labelled_as_often_as_promised(mechanism: object, positive: float, negative: float) -> None:
    assert shares(mechanism) == pytest.approx((positive, negative), abs=0.01)  # 4 standard errors of 40,000


def test_sar_follows_its_curve_and_keeps_the_share() -> None:
    x = np.random.default_rng(0).normal(2.0, 3.0, len(ROWS))
    mechanism = SAR(0.2, "x", slope=2.0, centre=2.0, scale=3.0)
    assert shares(mechanism, x) == pytest.approx((0.2, 0.0), abs=0.01)
    labelled = draw_labels(mechanism, ROWS, POSITIVE, 3, x)[POSITIVE] == 1
    for low in (-4.0, 2.0, 5.0):
        inside = (x[POSITIVE] >= low) & (x[POSITIVE] < low + 0.5)
        expected = 0.4 * expit(2 * (low + 0.25 - 2) / 3)
        assert labelled[inside].mean() == pytest.approx(expected, abs=4 * 0.5 / np.sqrt(inside.sum()))


def test_sar_takes_a_missing_value_for_the_centre() -> None:
    assert shares(SAR(0.3, "x"), np.full(len(ROWS), np.nan)) == pytest.approx((0.3, 0.0), abs=0.01)


@given(st.integers(1, 300), st.lists(st.integers(1, 299), max_size=4), st.integers(0, 9))
def test_a_count_is_met_exactly_for_any_partitioning(count: int, cuts: list[int], seed: int) -> None:
    rows = np.arange(0, 900, 3)
    kernel = SmallestKeys(count)
    state = kernel.start()
    for part in reversed(np.split(rows, sorted(cuts))):
        state = kernel.add(kernel.start(), row_keys(part, seed)).merge(state)
    every = np.arange(900)
    label = draw_labels(counted(state, count), every, every % 3 == 0, seed)
    assert label.sum() == count
    assert set(np.flatnonzero(label)) <= set(rows)


def test_rows_keep_their_luck_wherever_they_lie() -> None:
    whole = draw_labels(MCAR(0.5), ROWS, POSITIVE, seed=8)
    order = np.random.default_rng(1).permutation(len(ROWS))[:1000]
    np.testing.assert_array_equal(draw_labels(MCAR(0.5), ROWS[order], POSITIVE[order], seed=8), whole[order])
    assert (draw_labels(MCAR(0.5), ROWS, POSITIVE, seed=9) != whole).any()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: SCAR(0.0), "Option 'positive': must be above 0 and at most 1, got 0.0"),
        (lambda: MAR_C(0.1, 1.5), "Option 'negative': must be above 0 and at most 1, got 1.5"),
        (lambda: SAR(0.6, "x"), "Option 'share': must be above 0 and at most 0.5, got 0.6"),
        (lambda: SAR(0.1, "x", scale=0.0), "Option 'scale': must be above 0"),
        (lambda: counted(SmallestKeys(1).start(), 0), "Option 'count'"),
    ],
)
def test_impossible_settings(make: object, message: str) -> None:
    with pytest.raises(ConfigError, match=message.replace("(", r"\(")):
        make()  # type: ignore[operator]


def test_more_labels_than_positives_is_a_fault_of_the_data() -> None:
    kernel = SmallestKeys(7)
    state = kernel.add(kernel.start(), row_keys(np.arange(5), 0))
    with pytest.raises(DataError, match="7 positives are to be labelled, there are 5"):
        counted(state, 7)


def test_sar_without_values_is_a_fault_of_the_program() -> None:
    with pytest.raises(ValueError, match="need the values of 'x'"):
        draw_labels(SAR(0.1, "x"), ROWS, POSITIVE)


def information(X: np.ndarray, state: np.ndarray) -> np.ndarray:
    """What semi-mim scores: I(X; Y0) in five equal-width bins."""
    bins = [Bins("x", "numeric", edges=equal_width_edges(x.min(), x.max(), 5)) for x in X.T]
    codes = np.array([code_numeric(x, own) for x, own in zip(X.T, bins, strict=True)])
    layout = Layout(tuple(own.levels for own in bins))
    kernel = LabelKernel(layout)
    counts = kernel.add(kernel.start(), Block(codes, state)).counts
    return class_of_features(apply_surrogate(counts, "y0"), layout)[0]


@pytest.fixture(scope="module")
def wide() -> tuple[np.ndarray, np.ndarray]:
    table = ArtificialRows(CONDITIONS[2], seed=11)
    parts = [table.block(number) for number in range(40)]
    return np.vstack([X for X, _ in parts]), np.concatenate([positive for _, positive in parts])


def relevant_found(scores: np.ndarray) -> int:
    return int((np.argsort(-scores, kind="stable")[:25] < 25).sum())


def test_scar_keeps_the_ranking_of_semi_mim_and_sar_breaks_it(wide: tuple[np.ndarray, np.ndarray]) -> None:
    """Sechidis & Brown 2017, Theorem 8, needs labels that depend on the class alone."""
    X, positive = wide
    rows = np.arange(len(X))
    truth = information(X, positive.astype(np.uint8))
    scar = information(X, draw_labels(SCAR(0.4), rows, positive, 1))
    noise = SAR(0.4, "noise_01", slope=3, centre=0.0, scale=5.8)
    sar = information(X, draw_labels(noise, rows, positive, 1, X[:, 25]))
    assert spearmanr(scar[:25], truth[:25])[0] > 0.97
    assert relevant_found(scar) == relevant_found(truth)
    # the noise column that drives the labels is independent of the class
    assert truth[25] < 0.0005
    assert scar[25] < 0.0005
    assert (sar > sar[25]).sum() < 15
    assert sar[25] > 30 * scar[25]


def test_sar_on_a_relevant_feature_reverses_what_it_tells() -> None:
    """Positives lie above the others, but only low ones are labelled: the best feature seems to tell nothing."""
    rng = np.random.default_rng(4)
    rows = np.arange(40_000)
    positive = rng.random(len(rows)) < 0.2
    X = rng.normal(0, 1, (len(rows), 3)) + positive[:, None] * np.array([1.0, 0.7, 0.0])
    scar = information(X, draw_labels(SCAR(0.3), rows, positive, 2))
    sar = information(X, draw_labels(SAR(0.3, "a", slope=-2, centre=1.0), rows, positive, 2, X[:, 0]))
    assert np.argsort(-scar).tolist() == [0, 1, 2]
    assert np.argmax(sar) == 1
