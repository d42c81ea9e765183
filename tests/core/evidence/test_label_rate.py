from __future__ import annotations

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC

from spark_pufs.core.evidence.label_rate import Beta, _warnings, belief, delong, estimate_rho
from spark_pufs.errors import ConfigError, DataError


def table(seed: int, apart: float, rho: float = 0.4, rows: int = 2000) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    y = rng.random(rows) < 0.3
    return rng.normal(size=(rows, 2)) + apart * y[:, None], y & (rng.random(rows) < rho), y


@pytest.mark.parametrize("rho", [0.1, 0.5, 0.9])
def test_finds_the_label_rate_of_separated_classes(rho: float) -> None:
    X, s, y = table(3, apart=8, rho=rho)
    found = estimate_rho(X, s, np.random.default_rng(1), draws=10)
    assert found.rho == pytest.approx(s.sum() / y.sum(), abs=0.04)
    assert found.positives == pytest.approx(y.sum(), rel=0.12)
    assert found.low < found.rho < found.high
    assert found.separation == pytest.approx(1, abs=0.03)
    assert found.warnings == ()


def test_the_truth_about_two_groups_gives_the_exact_value() -> None:
    # A model that says the labelled share of each group: rho is the share among positives, by hand 30 / 60.
    X = np.repeat([[1.0], [0.0]], [60, 100], axis=0)
    s = np.arange(160) < 30
    group = HistGradientBoostingClassifier(max_iter=200, min_samples_leaf=1, learning_rate=0.5, max_leaf_nodes=2)
    assert estimate_rho(X, s, np.random.default_rng(0), group, draws=0).rho == pytest.approx(0.5, abs=0.01)


def test_the_interval_covers_the_rate_of_the_table() -> None:
    # The rate of this very table is met more closely than the bootstrap, which redraws its positives, allows for.
    misses, errors, covered = [], [], []
    for seed in range(20):
        X, s, y = table(seed, apart=6, rows=600)
        found = estimate_rho(X, s, np.random.default_rng(seed), folds=3, draws=8)
        rate = s.sum() / y.sum()
        misses.append(found.rho - rate)
        errors.append(found.error)
        covered.append(found.low <= rate <= found.high)
    assert np.std(misses) < np.mean(errors) < 3 * np.std(misses)
    assert sum(covered) >= 18


def test_overlap_is_seen_and_warned_about() -> None:
    X, s, y = table(5, apart=0.7)
    found = estimate_rho(X, s, np.random.default_rng(2), draws=2)
    assert found.rho < s.sum() / y.sum()
    assert "is too small: the AUC" in found.warnings[0]
    assert "warning: " in str(found)


def test_a_classifier_that_knows_nothing_gives_the_labelled_share() -> None:
    X, s, _ = table(6, apart=3)
    found = estimate_rho(X, s, np.random.default_rng(2), DummyClassifier(strategy="prior"), draws=2)
    assert found.rho == pytest.approx(s.mean(), rel=0.01)
    assert found.prior == pytest.approx(1, rel=0.01)
    assert "does not part the classes" in found.warnings[0]


def test_a_rho_below_what_the_auc_allows_is_named() -> None:
    # Heavy shrinkage keeps the order of the rows and pulls every probability to the labelled share.
    X, s, _ = table(7, apart=8)
    shrunk = LogisticRegression(C=1e-5)
    found = estimate_rho(X, s, np.random.default_rng(2), shrunk, draws=2)
    assert found.rho < 0.95 * found.floor
    assert found.warnings


def test_same_generator_same_answer() -> None:
    X, s, _ = table(8, apart=5)
    a, b = (estimate_rho(X, s, np.random.default_rng(4), draws=3) for _ in range(2))
    assert a == b


def test_without_draws_there_is_no_interval() -> None:
    X, s, _ = table(8, apart=5)
    found = estimate_rho(X, s, np.random.default_rng(4), draws=0)
    assert np.isnan([found.low, found.high, found.error]).all()


def test_too_few_labelled_rows_are_named() -> None:
    X, s, _ = table(9, apart=5)
    few = s & (np.cumsum(s) <= 9)
    message = "Label rate: 9 labelled rows for 5 folds, at least 10 are needed. Give more labelled rows, fewer folds"
    with pytest.raises(DataError, match=message):
        estimate_rho(X, few, np.random.default_rng(0))
    assert estimate_rho(X, few, np.random.default_rng(0), folds=4, draws=2).rho > 0


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        ({"folds": 1}, ConfigError, "folds: must be at least 2"),
        ({"classifier": LinearSVC()}, ConfigError, "LinearSVC has no predict_proba"),
        ({"labelled": np.ones(5)}, DataError, r"do not fit: \(2000, 2\) and \(5,\)"),
        ({"X": np.full((2000, 2), np.nan)}, DataError, "missing or infinite"),
        ({"labelled": np.ones(2000)}, DataError, "0 unlabelled rows"),
    ],
)
def test_wrong_input_is_named(change: dict[str, object], error: type[Exception], words: str) -> None:
    X, s, _ = table(1, apart=3)
    arguments = {"X": X, "labelled": s, "rng": np.random.default_rng(0)} | change
    with pytest.raises(error, match=words):
        estimate_rho(**arguments)  # type: ignore[arg-type]


def test_a_belief_as_value_range_or_beta() -> None:
    assert belief(0.25).nodes.tolist() == [0.25]
    assert (belief((0.2, 0.5)).low, belief((0.2, 0.5)).nodes.tolist(), belief((0.2, 0.5)).high) == (0.2, [0.35], 0.5)
    # E[1/rho] = (a + b - 1) / (a - 1)
    assert (1 / belief(Beta(6, 12)).nodes).mean() == pytest.approx(17 / 5, rel=2e-3)
    assert belief(Beta(5e6, 5e6)).nodes.mean() == pytest.approx(0.5)
    assert belief(Beta(0.2, 3)).nodes.min() > 0


@pytest.mark.parametrize(
    ("share", "words"),
    [
        (0.0, r"rho: must lie in \(0, 1\], got 0.0"),
        (1.5, "got 1.5"),
        ((0.5, 0.2), "got"),
        ((2.0, 5.0), r"For a Beta give Beta\(2, 5\)"),
        (Beta(0, 1), "Beta needs two positive numbers"),
        (float("nan"), "got nan"),
    ],
)
def test_a_belief_out_of_range_is_named(share: object, words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        belief(share)  # type: ignore[arg-type]


def test_delong_by_hand() -> None:
    # 3 is above both others, 1 above one: placements 1, 1/2 and 1, 1/2; each variance 1/8, halved, twice
    auc, variance = delong(np.array([3.0, 1.0]), np.array([2.0, 0.0]))
    assert (auc, variance) == pytest.approx((0.75, 0.125))
    assert delong(np.array([3.0]), np.array([2.0, 0.0])) == (1.0, 0.0)


def test_a_warning_names_the_separation_where_there_is_one() -> None:
    assert "part the classes (AUC 0.70, 1 is needed)" in _warnings(0.3, 0.7, 0.1)[0]
    assert "part the classes:" in _warnings(0.3, float("nan"), 0.1)[0]
