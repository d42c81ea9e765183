"""The teacher's members against scikit-learn and by hand, folds, and what is never seen."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.naive_bayes import CategoricalNB

from spark_pufs.core.information.surrogate import Labels
from spark_pufs.core.soft.distillation import hidden_share, soft_labels, taught
from spark_pufs.core.soft.encoding import Encoding, fine_bins, fine_codes
from spark_pufs.core.soft.folds import HashedFolds
from spark_pufs.core.soft.teacher import (
    MEMBERS,
    Forest,
    additive_scores,
    linear_design,
    linear_weights,
    member_weights,
    naive_bayes_table,
    squared,
)
from spark_pufs.core.soft.trees import grown
from spark_pufs.core.synthetic.artificial import CONDITIONS, make_artificial
from spark_pufs.types import Bins


@pytest.fixture(scope="module")
def training() -> tuple[np.ndarray, np.ndarray, Encoding]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 4))
    labelled = (X[:, 0] + X[:, 1] + rng.normal(size=400) > 2.2) & (rng.random(400) < 0.6)
    bins = fine_bins(list("abcd"), X, [])
    codes = fine_codes(X, bins)
    return codes, labelled, Encoding.of(codes, bins)


def test_naive_bayes_is_scikit_learns(training) -> None:
    codes, labelled, encoding = training
    coarse = encoding.coarse_codes(codes).T
    model = CategoricalNB(alpha=1.0, class_prior=[0.5, 0.5]).fit(coarse, labelled)
    log = model.predict_log_proba(coarse)
    found = additive_scores(naive_bayes_table(codes, labelled, encoding)[None], codes, encoding.layout)[0]
    assert found == pytest.approx(log[:, 1] - log[:, 0])


def test_numbers_per_level_are_the_linear_model(training) -> None:
    codes, labelled, encoding = training
    design = linear_design(codes, encoding)
    weights = linear_weights(design, labelled)
    found = additive_scores(design.table(weights)[None], codes, encoding.layout)[0]
    direct = design.X @ weights
    assert found - found.mean() == pytest.approx(direct - direct.mean())


def test_squares_are_of_normal_scores_and_one_where_missing_or_text(training) -> None:
    codes, _, encoding = training
    bins = (*fine_bins(["a"], np.array([[1.0], [2.0], [np.nan]]), []), Bins("t", "text", categories=("u", "v")))
    found = squared(Encoding.of(np.array([[0, 1, 2], [0, 1, 1]], np.uint8), bins))
    outer = norm.ppf(0.25) ** 2  # two known values: the middle ranks are a quarter and three quarters
    assert found.score == pytest.approx([outer, outer, 1.0, 1.0, 1.0])
    assert not found.named.any()
    design = linear_design(codes, squared(encoding))
    assert design.X.mean(axis=0) == pytest.approx(np.zeros(4), abs=1e-12)


def test_positives_around_all_other_rows_are_told_by_the_spread() -> None:
    data = make_artificial(CONDITIONS[8], seed=1, negatives=1600, positives=200)
    bins = fine_bins(data.names, data.X, [])
    codes, labelled = fine_codes(data.X, bins), data.s == 1
    found, _ = taught(codes, labelled, HashedFolds.of(codes, labelled, 3, 0), Encoding.of(codes, bins), 20, 0)
    aucs = dict(zip(MEMBERS, found.aucs, strict=True))
    assert aucs.pop("spread") > max(aucs.values()) + 0.1
    assert found.auc > 0.75


def test_trees_as_arrays_say_what_the_trees_say(training) -> None:
    codes, labelled, _ = training
    trees = grown(codes, labelled, 7, 3)
    X = codes.T.astype(np.float32)
    direct = np.mean([tree.predict_proba(X)[:, 1] for tree in trees], axis=0)
    assert Forest.of(trees).scores(codes) == pytest.approx(direct)


def test_the_trees_are_as_good_as_a_forest_of_scikit_learn(training) -> None:
    codes, labelled, _ = training
    forest = ExtraTreesClassifier(60, min_samples_leaf=5, random_state=0).fit(codes.T, labelled)
    own = Forest.of(grown(codes, labelled, 60, 0)).scores(codes)
    assert np.corrcoef(own, forest.predict_proba(codes.T)[:, 1])[0, 1] > 0.97


def test_equal_rows_share_a_fold_and_labelled_rows_are_spread_evenly() -> None:
    codes = np.array([[0, 0, *range(1, 19)]], np.uint8)
    labelled = np.arange(20) >= 16
    fold = HashedFolds.of(codes, labelled, 2, seed=1).training_fold(codes, labelled)
    assert fold[0] == fold[1]
    assert sorted(fold[labelled].tolist()) == [0, 0, 1, 1]


def test_a_table_of_few_different_rows_is_still_learnt() -> None:
    codes = np.array([[0, 1] * 50, [0, 0, 1, 1] * 25], np.uint8)
    labelled = codes[0] == 0
    bins = (Bins("a", "numeric", edges=(1.0,)), Bins("b", "numeric", edges=(1.0,)))
    found, _ = taught(codes, labelled, HashedFolds.of(codes, labelled, 5, 0), Encoding.of(codes, bins), 20, 0)
    assert found.auc == 1.0


def test_a_batch_is_scored_as_its_rows_are(training) -> None:
    codes, labelled, encoding = training
    _, models = taught(codes, labelled, HashedFolds.of(codes, labelled, 3, 0), encoding, 5, 0)
    assert models[0] is not None
    whole = models[0].scores(codes, encoding.layout)
    parts = [models[0].scores(codes[:, i : i + 7], encoding.layout) for i in range(0, 400, 7)]
    assert np.array_equal(whole, np.hstack(parts))


def test_no_row_is_scored_by_a_model_that_saw_its_label() -> None:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(600, 3))
    labelled = rng.random(600) < 0.1  # of nothing
    bins = fine_bins(list("abc"), X, [])
    codes = fine_codes(X, bins)
    found, _ = taught(codes, labelled, HashedFolds.of(codes, labelled, 5, 0), Encoding.of(codes, bins), 30, 0)
    assert abs(found.auc - 0.5) < 3 * found.error
    assert not found.knows


def test_a_member_that_knows_nothing_is_hardly_heard() -> None:
    labelled = np.arange(100) < 20
    good, bad = np.where(labelled, 1.0, 0.0) + np.linspace(0, 0.5, 100), np.tile([0.0, 1.0], 50)
    weights, aucs = member_weights(np.vstack([good, bad]), labelled)
    assert aucs.tolist() == [1.0, 0.5]
    assert weights[0] > 0.99


def test_soft_labels_sum_to_the_prior_and_known_classes_stay() -> None:
    target = np.random.default_rng(2).normal(size=500)
    positive, negative = np.arange(500) < 20, np.arange(500) >= 480
    soft = soft_labels(target, positive, negative, hidden_share(0.2, Labels(20, 20, 460)))
    assert soft.mean() == pytest.approx(0.2)
    assert set(soft[positive]) == {1.0}
    assert set(soft[negative]) == {0.0}
