from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.stats import hypergeom
from sklearn.metrics import fbeta_score, precision_score, recall_score, roc_auc_score

from spark_pufs.core.evidence.pu_scores import Beta, Counts, Estimate, pu_auc, rho_sweep, score_counts, scores
from spark_pufs.errors import ConfigError, DataError


def flags(counts: Counts) -> tuple[np.ndarray, np.ndarray]:
    """Predicted and labelled flags with the given counts."""
    row = np.arange(counts.rows)
    labelled = row < counts.labelled
    predicted = (row < counts.both) | (row >= counts.rows - (counts.predicted - counts.both))
    return predicted, labelled


HAND = Counts(rows=200, predicted=50, labelled=20, both=15)


def test_worked_by_hand() -> None:
    found = scores(*flags(HAND), rho=0.5)
    assert found.counts == HAND
    assert found.recall.value == pytest.approx(15 / 20)
    assert found.precision.value == pytest.approx(15 / (0.5 * 50))
    assert found.f.value == pytest.approx(2 * 15 / (0.5 * 50 + 20))
    assert found.ll.value == pytest.approx(0.75**2 / 0.25)
    # P = 40, P1 = 30: Var(S1) = 20 * 30/40 * 10/40 * (40-20)/(40-1) = 75/39... by fractions
    variance = Fraction(20) * Fraction(30, 40) * Fraction(10, 40) * Fraction(20, 39)
    assert found.recall.error == pytest.approx(float(variance) ** 0.5 / 20)
    assert found.precision.error == pytest.approx(float(variance) ** 0.5 / 25)
    assert found.f.error == pytest.approx(2 * float(variance) ** 0.5 / 45)
    assert found.ll.error == pytest.approx(2 * 15 / 400 / 0.25 * float(variance) ** 0.5)
    assert (found.verdict, found.warnings, found.degenerate) == ("scored", (), False)


@given(st.integers(2, 60), st.integers(2, 60), st.integers(1, 60), st.data())
def test_the_error_is_that_of_the_hypergeometric(P: int, S: int, P1: int, data: st.DataObject) -> None:
    assume(S <= P and P1 <= P)
    both = data.draw(st.integers(max(0, S + P1 - P), min(S, P1)))
    # The textbook variance at the P1 that S1 stands for; where that is a whole number, summed over all draws too.
    P1_hat = both * P / S
    expected = S * P1_hat / P * (1 - P1_hat / P) * (P - S) / (P - 1)
    if P1_hat == int(P1_hat):
        k = np.arange(S + 1)
        chance = hypergeom.pmf(k, P, int(P1_hat), S)
        assert (chance * (k - chance @ k) ** 2).sum() == pytest.approx(expected, abs=1e-9)
    found = score_counts(Counts(500, 100, S, both), rho=S / P)
    assert found.recall.error == pytest.approx(expected**0.5 / S, abs=1e-9)


@given(st.floats(0.1, 10))
def test_with_every_positive_labelled_the_scores_are_the_supervised_ones(beta: float) -> None:
    rng = np.random.default_rng(3)
    y, predicted = rng.random(100) < 0.4, rng.random(100) < 0.5
    found = scores(predicted, y, rho=1.0, beta=beta)
    assert found.recall.value == pytest.approx(recall_score(y, predicted))
    assert found.precision.value == pytest.approx(precision_score(y, predicted))
    assert found.f.value == pytest.approx(fbeta_score(y, predicted, beta=beta))
    assert found.f.error == 0
    assert found.f.low == pytest.approx(found.f.value) == found.f.high


def test_unbiased_and_covered_under_scar() -> None:
    # 1,000 draws of the labels of one table, predictor and truth held fixed.
    rng = np.random.default_rng(0)
    P, P1, M1, M, S = 200, 130, 190, 1000, 60
    precision, recall = P1 / M1, P1 / P
    f2 = 5 * precision * recall / (4 * precision + recall)
    truth = {"recall": recall, "precision": precision, "f": f2}
    found = [score_counts(Counts(M, M1, S, int(b)), S / P, 2.0) for b in rng.hypergeometric(P1, P - P1, S, 1000)]
    for name, value in truth.items():
        parts = [getattr(one, name) for one in found]
        values = np.array([part.value for part in parts])
        assert values.mean() == pytest.approx(value, abs=4 * values.std() / 1000**0.5)
        assert np.mean([part.error for part in parts]) == pytest.approx(values.std(), rel=0.1)
        assert 0.92 < np.mean([part.low <= value <= part.high for part in parts]) < 0.985


def test_intervals_stay_honest_where_the_error_is_zero() -> None:
    found = score_counts(Counts(1000, 100, 10, 10), rho=0.2)
    assert (found.recall.value, found.recall.error) == (1, 0)
    assert found.recall.low < 0.85
    assert found.recall.high == 1


def test_a_range_gives_the_ends() -> None:
    middle, low, high = (score_counts(HAND, rho) for rho in (0.5, 0.4, 0.6))
    found = score_counts(HAND, (0.4, 0.6))
    assert found.f.value == middle.f.value
    assert found.f.low == pytest.approx(high.f.low)
    assert found.f.high == pytest.approx(low.f.high)
    assert found.recall.value == middle.recall.value


def test_a_beta_gives_the_expectation_and_its_spread() -> None:
    belief = np.random.default_rng(0).beta(50, 50, 200_000)
    found = score_counts(HAND, Beta(50, 50))
    values = 2 * 15 / (belief * 50 + 20)
    assert found.f.value == pytest.approx(values.mean(), rel=1e-3)
    inner = (1 - belief) * 15 * 5 / (20 - belief) * (2 / (belief * 50 + 20)) ** 2
    assert found.f.error == pytest.approx((inner.mean() + values.var()) ** 0.5, rel=5e-3)
    sharp = score_counts(HAND, Beta(5e6, 5e6))
    assert sharp.f.value == pytest.approx(score_counts(HAND, 0.5).f.value, rel=1e-4)
    # The paper's section 4.3, Jensen: not knowing rho makes the estimate larger.
    assert found.f.value > score_counts(HAND, 0.5).f.value


def test_a_wrong_rho_as_a_sweep() -> None:
    found = rho_sweep(*flags(HAND), rho=0.5, factors=(0.1, 1.0, 2.0, 4.0))
    assert [one.rho for one in found] == [0.1, 0.5, 1.0, 1.0]  # 0.05 would be more positives than rows
    assert [one.f.value for one in found] == sorted((one.f.value for one in found), reverse=True)
    assert found[0].precision.value == 1
    assert "precision is cut at 1" in found[0].warnings[0]
    assert found[0].f.value == pytest.approx(2 * 0.75 / 1.75)  # from recall .75 and precision 1


@pytest.mark.parametrize(
    ("counts", "verdict"),
    [
        (Counts(100, 100, 20, 20), "everything is predicted positive"),
        (Counts(100, 0, 20, 0), "nothing is predicted positive"),
    ],
)
def test_degenerate_predictors_are_named_and_score_nothing(counts: Counts, verdict: str) -> None:
    found = scores(*flags(counts), rho=0.4)
    assert found.verdict == verdict
    assert found.degenerate
    assert found.f == found.ll == Estimate(0, 0, 0, 0)
    assert str(found).startswith(verdict)


def test_without_a_labelled_row_there_is_no_score() -> None:
    found = scores([1, 0, 1], [0, 0, 0], rho=0.5)
    assert found.verdict == "no labelled row"
    assert np.isnan([found.recall.value, found.precision.value, found.f.value, found.ll.value]).all()


def test_a_predictor_that_misses_every_label_scores_zero() -> None:
    found = score_counts(Counts(100, 30, 20, 0), rho=0.4)
    assert (found.recall.value, found.f.value, found.ll.value, found.degenerate) == (0, 0, 0, False)
    assert 0 < found.recall.high < 0.2


def test_few_labels_are_named() -> None:
    assert "only 5 labelled rows" in score_counts(Counts(100, 30, 5, 3), rho=0.2).warnings
    assert "only 9 labelled rows" in score_counts(Counts(100, 30, 9, 3), rho=0.2).warnings
    assert score_counts(Counts(100, 30, 10, 3), rho=0.2).warnings == ()


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: scores([1, 0], [1, 0, 0], 0.5), DataError, "predicted: 2 predictions for 3 labels"),
        (lambda: scores([0.3, 1], [1, 0], 0.5), DataError, "predicted: expected 0 and 1, found 0.3 in 1 rows"),
        (lambda: scores([1, 0, 0], [1, 2, 2], 0.5), DataError, "labelled: expected 0 and 1, found 2 in 2 rows"),
        (lambda: scores(["1", "0"], [1, 0], 0.5), DataError, "predicted: expected 0 and 1, found '1', '0' in 2 rows"),
        (lambda: scores([True, None], [1, 0], 0.5), DataError, "predicted: expected 0 and 1, found None in 1 rows"),
        (lambda: scores([], [], 0.5), DataError, r"expected 0 and 1 in one dimension, got shape \(0,\)"),
        (lambda: scores([[1, 0]], [1, 0], 0.5), DataError, r"in one dimension, got shape \(1, 2\)"),
        (lambda: scores([1, 0], [1, 0], "0.5"), ConfigError, r"rho: must be a number, a range \(low, high\) or a Beta"),
        (lambda: scores([1, 0], [1, 0], (0.1, "x")), ConfigError, "rho: must be a number"),
        (lambda: scores([1, 0], [1, 0], Beta("3", 2)), ConfigError, "rho: must be a number"),
        (lambda: scores([1, 0], [1, 0], 0.5, beta=0), ConfigError, "beta: must be positive, got 0"),
        (lambda: scores([1, 0], [1, 0], 0.5, beta="1"), ConfigError, "beta: must be positive, got '1'"),
        (lambda: score_counts(HAND, 0.05), ConfigError, "rho: 0.05 would mean more positives than the 200 rows"),
        (lambda: score_counts(HAND, 1.2), ConfigError, r"rho: must lie in \(0, 1\]"),
        (lambda: pu_auc([1.0, np.nan], [1, 0]), DataError, "score: expected 2 finite numbers, got 1"),
        (lambda: pu_auc([1.0], [1, 0]), DataError, r"in shape \(1,\)"),
        (lambda: pu_auc([1.0, 2.0], [1, 0], pi=1.0), ConfigError, "pi: must stay below 1"),
    ],
)
def test_wrong_input_is_named(call: object, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        call()  # type: ignore[operator]


@given(st.lists(st.tuples(st.integers(0, 6), st.booleans()), min_size=2, max_size=30))
def test_auc_and_its_error_by_brute_force(pairs: list[tuple[int, bool]]) -> None:
    score, s = np.array([p[0] for p in pairs], float), np.array([p[1] for p in pairs])
    assume(1 < s.sum() < len(s) - 1)
    wins = np.where(score[s][:, None] > score[~s], 1.0, np.where(score[s][:, None] == score[~s], 0.5, 0.0))
    found = pu_auc(score, s)
    assert found.auc.value == pytest.approx(wins.mean()) == roc_auc_score(s, score)
    variance = wins.mean(axis=1).var(ddof=1) / s.sum() + wins.mean(axis=0).var(ddof=1) / (~s).sum()
    assert found.auc.error == pytest.approx(variance**0.5, abs=1e-9)


def test_the_corrected_auc_is_that_of_the_hidden_class() -> None:
    rng = np.random.default_rng(1)
    covered, misses, errors = [], [], []
    for _ in range(200):
        y = np.arange(1000) < 250
        score = rng.normal(size=1000) + 1.0 * y
        s = y & (rng.permutation(1000) < 400)
        pi = (y & ~s).sum() / (~s).sum()
        found = pu_auc(score, s, pi=float(pi)).corrected
        assert found is not None
        truth = 0.7602  # Phi(1 / sqrt 2)
        covered.append(found.low <= truth <= found.high)
        misses.append(found.value - truth)
        errors.append(found.error)
    assert abs(np.mean(misses)) < 4 * np.std(misses) / 200**0.5
    assert np.mean(errors) == pytest.approx(np.std(misses), rel=0.15)
    assert np.mean(covered) > 0.9


def test_degenerate_scores_have_no_auc_to_show() -> None:
    flat = pu_auc([1.0] * 6, [1, 1, 0, 0, 0, 0])
    assert (flat.verdict, flat.auc.value) == ("every row has the same score", 0.5)
    assert pu_auc([1.0, 2.0], [0, 0]).verdict == "no labelled row"
    assert np.isnan(pu_auc([1.0, 2.0], [1, 1]).auc.value)
    perfect = pu_auc([3.0, 2.0, 1.0, 0.0], [1, 1, 0, 0])
    assert (perfect.auc.value, perfect.auc.error) == (1, 0)
    assert perfect.auc.low < 0.5


def test_a_pi_that_the_auc_rules_out_is_named() -> None:
    found = pu_auc([3.0, 2.0, 1.0, 0.0], [1, 1, 0, 0], pi=(0.2, 0.4))
    assert found.corrected is not None
    assert found.corrected.value == 1
    assert "pi is at most 0" in found.warnings[0]
