"""Agreement of columns against scipy's rank correlation and Cohen's kappa by hand; any split into batches."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import spearmanr

from spark_pufs.core.counting.agreement import AgreementKernel, NamePair, Names, RankPair, Ranks, name_pair, rank_pairs
from spark_pufs.core.counting.hashing import text_hashes
from spark_pufs.types import RawBatch, Text

ROWS = 3_000
RNG = np.random.default_rng(0)
X = RNG.normal(size=ROWS)
LABELLED = np.arange(ROWS) < 60


def batch(X: np.ndarray, words: list[Text], rows: slice = slice(None)) -> RawBatch:
    text = [Text(word.codes[rows], word.values) for word in words]
    label = Text(np.where(LABELLED, 0, -1).astype(np.int32)[rows], ["1"])
    return RawBatch(X[rows], np.zeros(X.shape[1], np.int64), text, label)


def agreement(one: np.ndarray, other: np.ndarray, turned: bool = False, parts: int = 1) -> float:
    columns = np.column_stack([one, other])
    ranks = tuple(Ranks.of(name, column, np.ones(ROWS)) for name, column in zip("ab", columns.T, strict=True))
    kernel = AgreementKernel(ranks, (), (RankPair(0, 1, turned),), {"1": 1})
    state = kernel.start()
    for first in range(0, ROWS, -(-ROWS // parts)):
        part = batch(columns, [], slice(first, first + -(-ROWS // parts)))
        state = state.merge(kernel.add(kernel.start(), part))
    return float(kernel.agreements(state)[0])


@pytest.mark.parametrize("noise", [0.05, 0.3, 1.0])
def test_it_is_the_rank_correlation_where_labelled_rows_are_like_all(noise: float) -> None:
    other = X + noise * np.random.default_rng(1).normal(size=ROWS)
    expected = float(spearmanr(X, other).statistic)
    assert agreement(X, other) <= expected + 0.002
    assert agreement(X, other) == pytest.approx(expected, abs=0.15 * (1 - expected) + 0.002)


def test_a_monotone_function_agrees_wholly() -> None:
    assert agreement(X, np.exp(3 * X)) == agreement(X, 5 * X - 2) == 1
    assert agreement(X, -X, turned=True) == pytest.approx(1, abs=1e-3)
    assert agreement(X, -X) < 0


def test_labelled_rows_have_to_agree_too() -> None:
    other = np.where(LABELLED, -X, X)
    assert spearmanr(X, other).statistic > 0.95
    assert agreement(X, other) < 0


def test_batches_do_not_matter() -> None:
    other = X + 0.1 * np.random.default_rng(2).normal(size=ROWS)
    assert agreement(X, other) == agreement(X, other, parts=7)


def test_pairs_are_proposed_by_rank_alone() -> None:
    missing = np.where(np.arange(ROWS) % 3 == 0, np.nan, X)
    table = np.column_stack([X, RNG.normal(size=ROWS), np.exp(X), -X, missing, np.zeros(ROWS)])
    assert [(p.one, p.other, p.turned) for p in rank_pairs(table)] == [(0, 2, False), (0, 3, True), (2, 3, True)]


def names(values: np.ndarray) -> tuple[Names, Text]:
    known = tuple(sorted({str(value) for value in values}))
    return Names(known), Text(np.searchsorted(known, values.astype(str)).astype(np.int32), list(known))


def of_names(one: np.ndarray, other: np.ndarray) -> float | None:
    (a, text_a), (b, text_b) = names(one), names(other)
    pair = name_pair((0, 1), (a.codes(text_a), b.codes(text_b)), (a.levels, b.levels), np.ones(ROWS))
    if pair is None:
        return None
    kernel = AgreementKernel((), (a, b), (pair,), {"1": 1})
    found = kernel.agreements(kernel.add(kernel.start(), batch(np.empty((ROWS, 0)), [text_a, text_b])))
    return float(found[0])


def test_names_of_the_same_levels() -> None:
    level = RNG.integers(0, 5, ROWS)
    renamed = np.array(list("qzxwa"))[level]
    assert of_names(level, renamed) == 1
    assert of_names(level, np.where(level == 4, 3, level)) is None  # coarser: it does not tell the other
    slipped = np.where(np.arange(ROWS) >= ROWS - 12, "q", renamed)
    apart = float((slipped != renamed).mean())
    assert of_names(level, slipped) == pytest.approx(1 - apart / 0.8, abs=0.002)  # five even levels: .8 apart by chance


def test_two_rare_levels_are_no_copies_because_most_rows_agree() -> None:
    """Of independent columns that are nearly constant 99 in 100 rows agree, as chance would have it."""
    rng = np.random.default_rng(3)
    one, other = (np.where(rng.random(ROWS) < 0.005, "rare", "usual") for _ in range(2))
    assert (one == other).mean() > 0.98
    assert of_names(one, other) is None


def test_hashes_and_texts_have_the_same_codes() -> None:
    own = Names(("a", "c"))
    rows = Text(np.array([0, 1, 2, -1], np.int32), ["c", "zz", "a"])
    hashes = text_hashes(["c", "zz", "a", "none"])
    assert own.codes(rows).tolist() == own.of_hashes(hashes, "none").tolist() == [1, 2, 0, 3]
    assert own.levels == 4


def test_levels_that_the_sample_did_not_show_are_apart() -> None:
    pair = NamePair(0, 1, np.array([0, -1, -1]), np.array([0, -1, -1]), 0.5)
    kernel = AgreementKernel((), (Names(("a",)), Names(("b",))), (pair,), {"1": 1})
    words = [Text(np.array([0, 0, 0, 1], np.int32), values) for values in (["a", "new"], ["b", "newer"])]
    rows = RawBatch(np.empty((4, 0)), np.zeros(0, np.int64), words, Text(np.full(4, -1, np.int32), []))
    assert kernel.agreements(kernel.add(kernel.start(), rows)).tolist() == [0.5]  # a quarter apart, half by chance
